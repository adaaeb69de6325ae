// Where a file is.
#pragma once
#include <string>
#include <type_traits>

namespace cotan {

/// Where a file is: a string or a std::filesystem::path, whose header this one does without.
class FilePath {
 public:
  template <class S>
    requires std::is_convertible_v<const S&, std::string>
  FilePath(const S& path) : text_(path) {}
  template <class P>
    requires(!std::is_convertible_v<const P&, std::string> &&
             requires(const P& path) { path.lexically_normal().string(); })
  FilePath(const P& path) : text_(path.string()) {}
  /// The path.
  const std::string& str() const { return text_; }

 private:
  std::string text_;
};

}  // namespace cotan
