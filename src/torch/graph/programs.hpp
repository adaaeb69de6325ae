// Compiled programs by what was recorded, and what is told of them.
#pragma once
#include <list>
#include <unordered_map>

#include "torch/graph/program.hpp"

namespace cotan::torch::detail {

/// A program that is known.
struct Compiled {
  std::vector<std::uint64_t> key;
  std::size_t hash = 0;
  std::shared_ptr<flat::JitCache> cache;

  // For reports, as they were when it was compiled:
  struct Note {
    const Call* call;
    Node::Kind kind;
    std::source_location where;
    std::uint32_t start;  ///< of its words in the key
  };
  std::vector<Note> notes;  ///< one per node
  std::string device;
  std::size_t operations = 0, arguments = 0, results = 0;
  std::vector<bool> donated;
  Arrays like;  ///< arguments without elements
  std::vector<std::string> kept;
  std::string reason;  ///< in what it differs from the nearest one then
};

/// The ones used last are kept.
class Programs {
 public:
  static constexpr std::size_t most = 512;
  /// The one of that key; made where there is none.
  std::shared_ptr<Compiled> find(const std::vector<std::uint64_t>& key, bool& known);
  /// Notes what reports say of a program before it runs the first time.
  void describe(Compiled& made, const Program& program, std::span<const Array> arguments,
                const std::vector<bool>& donated) const;

 private:
  using Entries = std::list<std::shared_ptr<Compiled>>;
  void drop_oldest();
  std::string difference(const Compiled& made) const;
  Entries entries_;
  std::unordered_multimap<std::size_t, Entries::iterator> by_hash_;
};

}  // namespace cotan::torch::detail
