// Units: what a thread takes at once of a loop, one element or four neighbours. Where four lie side by side in memory
// they are read and written as one vector.
#pragma once
#include "backend/gpu/codegen/shader.hpp"

namespace cotan::gpu {

using compiler::Kernel;
using compiler::Loop;
using compiler::Store;

struct Unit {
  std::vector<expr::Substitution> elements;  ///< of the loops' variables, one for each element
  std::string inside;                        ///< what must hold for them to exist; empty: they do
};

/// Binds the variables of loops to parts of one running number, the last one fastest.
void bind_loops(ShaderBuilder& s, std::span<const Loop* const> loops, const std::string& number);

/// The elements of a unit along loops, the last one fastest. A loop that is cut runs over one of its pieces.
class Units {
 public:
  /// `in_fours`: the last loop is taken four elements at a time.
  Units(ShaderBuilder& shader, std::vector<const Loop*> loops, bool in_fours);
  std::int64_t count() const { return count_; }
  int width() const { return width_; }
  /// The unit of this number, an i32; `inside` is a condition or empty.
  Unit at(const std::string& number, std::string inside = {});
  /// As `at`, for a number that may be too large by `count()` or more.
  Unit at_or_outside(const std::string& number);

 private:
  ShaderBuilder& s_;
  std::vector<const Loop*> loops_;
  const int width_;
  std::int64_t count_ = 1;
};

/// Whether some of what these expressions read, or of what is stored, lies side by side along the loop, in fours that
/// begin at multiples of four.
bool lies_in_fours(const Kernel& kernel, const Loop& loop);

/// Reads what the expressions want of memory, as far as it is vectors.
void read_vectors(ShaderBuilder& s, Unit& unit, std::span<const Expr> values);

/// Stores whose values are known already.
class ReadyStores {
 public:
  ReadyStores(ShaderBuilder& s, const std::vector<Store>& stores, Unit& unit);
  /// `guard`: what must hold besides; or empty.
  void write(const std::string& guard = {}) const;
  /// Whoever reads what was stored knows it from now on.
  void remember() const;

 private:
  struct Ready {
    BufferId buffer;
    DType dtype;
    std::vector<Expr> offsets;
    std::vector<std::string> places, values;
  };
  ShaderBuilder& s_;
  std::vector<Ready> stores_;
  std::string inside_;
};

}  // namespace cotan::gpu
