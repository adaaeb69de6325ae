// Shader: the text of a compute shader and what it is called with. Memory is bound as few large blocks; each buffer
// that the shader names is a slot: the block it is in and where it begins there are given with each call.
#pragma once
#include <unordered_set>

#include "backend/gpu/capabilities.hpp"
#include "backend/gpu/codegen/writer.hpp"

namespace cotan::gpu {

using compiler::Program;
using compiler::Storage;

/// Memory that a dispatch is given. Arena buffers may be given one by one, or as a whole arena.
struct Slot {
  BufferId buffer = -1;    ///< -1: a whole arena …
  std::int64_t arena = 0;  ///< … of this number
  bool operator==(const Slot&) const = default;
};

/// What the host does around a dispatch: loops, whose indices it gives; branches, which the shader takes part in where
/// a value that the device has says so; places that have changed roles.
struct Surroundings {
  std::vector<Expr> indices;
  struct Guard {
    BufferId buffer;
    std::int64_t value;
    bool operator==(const Guard&) const = default;
  };
  std::vector<Guard> guards;
  std::vector<std::pair<BufferId, BufferId>> swapped;
};

struct Shader {
  std::string name;
  std::string text;  ///< with a mark where the block of a slot is named
  std::vector<Slot> slots;
  std::vector<Expr> indices;  ///< of loops around it: given with each call, after the slots
  std::array<std::uint32_t, 3> groups{1, 1, 1};
  std::uint32_t threads = 64;  ///< in a group
  bool vectors = false;        ///< blocks are arrays of vectors of four
  bool subgroups = false;
  /// So many of the same, each with its own share of the slots: the third axis of the groups.
  std::uint32_t instances = 1;

  std::size_t own_slots() const { return slots.size() / instances; }
  std::size_t words() const { return 1 + slots.size() + indices.size(); }
};
/// The text with slot k in block `blocks[k]`, counted from 0 in order of appearance.
std::string with_blocks(const Shader& shader, const std::vector<int>& blocks, const Dialect& dialect);

/// So many groups along x and y that there are `count`: no axis may have more than the device allows.
std::array<std::uint32_t, 3> grid(std::int64_t count, std::uint32_t most);

/// A shader that is being written: its body, and the memory that the body names.
class ShaderBuilder {
 public:
  ShaderBuilder(const Program& program, std::string name, const Capabilities& device);

  Writer body;
  /// How the body reads and writes element `offset` of a buffer.
  std::string loaded(BufferId b, DType dtype, const std::string& offset);
  std::string store(BufferId b, DType dtype, const std::string& offset, const std::string& value);
  /// The four elements of a buffer from `offset` on, at once; nothing where that is no multiple of four.
  std::optional<std::string> quad(BufferId b, Expr offset);
  /// Vector `number`, an expression of the shader, where a buffer is an array of vectors.
  std::optional<std::string> quad_at(BufferId b, const std::string& number);
  /// Blocks are arrays of vectors of four, and single elements their components. To be set before anything is named.
  bool vectors = false;
  /// Of the device; 0: it has no subgroups, or of several sizes.
  const std::uint32_t subgroup_size;
  bool uses_subgroups = false;
  /// Values that are in a variable of the shader and not in memory: results of reductions.
  void set_value(BufferId b, const std::string& name) { values_[b] = name; }
  void forget_values() { values_.clear(); }
  /// A buffer that is an array of the shader's own; `scalars`: a variable for each element, whose numbers must be
  /// known.
  void set_array(BufferId b, const std::string& name, std::int64_t scalars = 0) {
    arrays_[b] = name;
    if (scalars > 0) scalars_[name] = scalars;
  }
  /// One element in each thread of a subgroup: others are asked for theirs.
  void set_spread(BufferId b, const std::string& name) {
    arrays_[b] = name;
    spread_.insert(name);
    uses_subgroups = true;
  }
  void clear_array(BufferId b) { arrays_.erase(b); }
  bool has_array(BufferId b) const { return arrays_.contains(b); }
  /// While set, `b` is where `instead` lies.
  void set_alias(BufferId b, BufferId instead) { aliases_[b] = instead; }
  void clear_alias(BufferId b) { aliases_.erase(b); }
  /// The buffer whose memory `b` is in, as things stand.
  BufferId root(BufferId b) const;
  /// Memory that the threads of a group share, declared once: an array, or with `count` 0 a single value.
  void share(const std::string& name, const std::string& type, std::int64_t count = 0);
  /// The same, without asking whether it is declared already, nor how much of it there is.
  void declare_shared(const std::string& name, const std::string& type, std::int64_t count = 0) {
    declarations += body.dialect().shared(type, name, count);
  }
  /// How much of it is left, in bytes, and what one more array of so many elements takes.
  std::int64_t room() const { return group_bytes_ - shared_bytes_; }
  static std::int64_t shared_bytes(std::int64_t count) { return (count * 4 + 15) / 16 * 16; }
  /// What reductions by all threads take at most: an array for each type, and one of positions.
  static std::int64_t for_reductions(std::uint32_t threads) { return 5 * shared_bytes(threads) + 64; }
  /// Whether arena buffers are named by their place in the whole arena.
  bool whole_arena = false;
  /// The first lines: what is around the shader.
  void enter(const Surroundings& around, std::uint32_t threads);
  /// An index of a loop around the shader.
  void add_index(Expr variable);
  /// Declarations outside the function.
  std::string declarations;

  Shader finish(std::uint32_t threads, std::array<std::uint32_t, 3> groups);

 private:
  struct Place {
    std::string array;  ///< name, or a mark
    std::string base;   ///< what is added to offsets; empty: nothing
    bool typed;         ///< an array of the shader's own
  };
  Place place_of(BufferId b);
  std::string index_of(const Place& place, const std::string& offset) const;
  std::string read(const Place& place, const std::string& offset) const;
  std::string chosen(const Place& place, const std::string& index) const;
  int slot_of(BufferId b, std::int64_t arena = 0);
  const Program& program_;
  const std::int64_t group_bytes_, block_bytes_;
  std::int64_t shared_bytes_ = 0;
  std::unordered_set<std::string> shared_;
  std::string name_;
  std::vector<Slot> slots_;
  std::vector<Expr> indices_;
  std::unordered_map<BufferId, std::string> values_, arrays_;
  std::unordered_map<std::string, std::int64_t> scalars_;  ///< how many
  std::unordered_set<std::string> spread_;
  std::unordered_map<BufferId, BufferId> aliases_;
};

}  // namespace cotan::gpu
