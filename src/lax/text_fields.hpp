// Texts with fields: what debug::print prints and what checks say.
#pragma once
#include <cotan/callbacks.hpp>

namespace cotan {

/// A text whose fields are filled in with arrays that come later. Parsed at once: raises where the arguments do not
/// fit.
class TextFields {
 public:
  TextFields(std::string_view op, const std::string& text, std::vector<debug::Printed> args);
  /// The arguments that are arrays.
  const Arrays& arrays() const { return arrays_; }
  /// Forgets them: programs stay in caches, and must not hold arrays.
  TextFields without_arrays() const;
  std::string filled(std::span<const Array> values) const;

 private:
  /// A piece of text, and the field after it.
  struct Piece {
    std::string text;
    std::optional<std::size_t> argument = {};  ///< none: the end
    std::string format = {};                   ///< what is after the colon
  };
  class Parser;
  std::string_view op_;  ///< a literal
  std::vector<Piece> pieces_;
  std::vector<debug::Printed> args_;
  std::vector<std::optional<std::size_t>> place_;  ///< of an argument among the arrays
  Arrays arrays_;
};

}  // namespace cotan
