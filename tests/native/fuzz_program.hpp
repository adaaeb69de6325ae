// Random programs that devices are checked with: what one is, how it is drawn, checked and made small.
#pragma once
#include <functional>
#include <optional>
#include <string>

#include "compose/draw.hpp"

namespace fuzz {

namespace ct = cotan;
namespace np = cotan::numpy;
namespace lax = cotan::lax;
using compose::Draw;
using ct::Array;
using ct::Arrays;
using ct::DType;
using ct::Shape;

using Apply = std::function<Array(const Arrays& operands)>;

/// How far two right implementations of an operation may be apart.
enum class Rounding {
  exact,     ///< not at all: integers, data movement, and arithmetic that IEEE defines
  function,  ///< by as much as if operands and result differed in their last place: exp, tanh, …
  sum,       ///< by that and by what many roundings in one direction add up to
};

/// A value of a program: an input, or an operation on earlier values.
struct Slot {
  std::string name;                   ///< with its parameters, for people
  std::vector<std::size_t> operands;  ///< earlier slots
  Apply apply;                        ///< none: an input
  Rounding rounding = Rounding::exact;
  Array value = {};   ///< on the reference device
  bool exact = true;  ///< every right implementation gives the same bits
};

/// The transform that a program is put under: its rules make operations that nobody writes by hand.
enum class Around { nothing, grad, vmap };

struct Program {
  std::vector<Slot> slots;
  std::vector<std::size_t> results;
  Around around = Around::nothing;
  std::string device = "native";

  Arrays inputs() const;
  /// As a user writes it: runs under jit, on any device.
  Arrays operator()(const Arrays& inputs) const;
  /// The same under its transform: gradients of the sum of all results, or several inputs at once.
  Arrays transformed(const Arrays& inputs) const;
  /// On the reference device, with everything that may be rounded otherwise moved by about a unit in the last
  /// place.
  Arrays disturbed(Draw& draw) const;
  std::string str() const;
};

/// What a generator is told.
struct Options {
  std::int64_t smallest_axis = 1, largest_axis = 5;
  int axes = 3;  ///< different sizes that shapes are made of
  /// Sizes are those where a compiler changes its mind: powers of two, their neighbours, the smallest ones.
  bool corner_sizes = false;
  int zero_axis = 40;  ///< one axis in so many has no elements
  int nodes = 8;
  int most_nodes = 0;  ///< where set: between `nodes` and so many
  std::int64_t most_elements = 4096;
  /// How often: elementwise, views, movement, reductions, products.
  std::vector<int> weights = {6, 4, 2, 2, 1};
  Around around =
      Around::nothing;   ///< anything but nothing: in f64 where the device has it, so that tolerances need no care
  bool special = false;  ///< inputs hold NaN, infinities, -0 and extreme values; all operations are exact
  /// "webgpu": no 64-bit types, and no arithmetic counts as exact.
  std::string device = "native";
};
/// A size of an axis, as the options want it.
std::int64_t random_size(Draw& draw, const Options& options);
Program random_program(Draw& draw, const Options& options);

/// Empty where the program's device gives what the reference gives; else what differs.
std::string difference(const Program& program, std::uint64_t seed);
/// A part of the program that still fails `fails`, with intermediate values made inputs where that is enough.
Program shrink(Program program, const std::function<bool(const Program&)>& fails);

/// Values that an operation can be put on, and choices among them.
class Pool {
 public:
  Pool(const std::vector<Slot>& slots, Draw& draw, const Options& options)
      : draw(draw), options(options), slots_(slots) {}
  const Array& at(std::size_t k) const { return slots_[k].value; }
  bool exact(std::size_t k) const { return slots_[k].exact; }
  std::size_t size() const { return slots_.size(); }
  /// One of the values that `fits`, more likely a late one and one with many elements.
  std::optional<std::size_t> pick(const std::function<bool(const Array&)>& fits) const;
  /// The same, and the same bits on all devices: what a comparison or a rounding may be applied to.
  std::optional<std::size_t> pick_exact(const std::function<bool(const Array&)>& fits) const;
  /// A value that broadcasts with `a` to few enough elements.
  std::optional<std::size_t> pick_partner(const Array& a, const std::function<bool(const Array&)>& fits) const;
  int axis_of(const Array& a) const { return draw.below(a.ndim()); }

  Draw& draw;
  const Options& options;

 private:
  std::optional<std::size_t> choose(const std::vector<std::size_t>& found) const;
  const std::vector<Slot>& slots_;
};

/// An operation of the catalogue: makes a slot on values of the pool, or nothing where it finds none.
struct Op {
  std::optional<Slot> (*make)(const Pool& pool);
  bool exact;  ///< only exact slots come from it
};
std::vector<Op> elementwise_ops();
std::vector<Op> view_ops();
std::vector<Op> movement_ops();
std::vector<Op> reduction_ops();
std::vector<Op> product_ops();

bool is_real(const Array& a);
bool is_integral(const Array& a);  ///< integers, without bool
std::string text(const std::vector<std::int64_t>& numbers);
Arrays values_at(const Arrays& values, const std::vector<std::size_t>& at);

/// Arrays are made on, and constants go to, a device as long as this lives.
struct OnDevice {
  std::string before = ct::default_device().name();
  explicit OnDevice(const std::string& name) { ct::default_device(name); }
  ~OnDevice() { ct::default_device(before); }
};
struct OnReference : OnDevice {
  OnReference() : OnDevice("reference") {}
};

}  // namespace fuzz
