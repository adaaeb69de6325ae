// Control flow: primitives with nested programs that run many times, or not at all.
#pragma once
#include <algorithm>

#include "transforms/calls.hpp"

namespace cotan {

extern const Primitive scan_p, while_p, cond_p, associative_scan_p, associative_rest_p, lanes_p;

using Mask = std::vector<bool>;

// Small tools on programs and masks -----------------------------------------------------------------

Mask concat(const Mask& a, const Mask& b);
inline Mask part(const Mask& m, std::size_t from, std::size_t count) {
  const auto at = m.begin() + static_cast<std::ptrdiff_t>(from);
  return Mask(at, at + static_cast<std::ptrdiff_t>(count));
}
inline std::size_t count(const Mask& m) { return static_cast<std::size_t>(std::count(m.begin(), m.end(), true)); }
inline bool any(const Mask& m) { return std::find(m.begin(), m.end(), true) != m.end(); }
Mask either(const Mask& a, const Mask& b);
/// Items where the mask is set, or where it is not.
template <class T>
std::vector<T> where(const Mask& mask, std::span<const T> items, bool set = true) {
  std::vector<T> out;
  for (std::size_t i = 0; i < mask.size(); ++i)
    if (mask[i] == set) out.push_back(items[i]);
  return out;
}
/// 0, 1, …
std::vector<std::size_t> numbers(std::size_t from, std::size_t count);
template <class T>
void append(std::vector<T>& to, const std::vector<T>& more) {
  to.insert(to.end(), more.begin(), more.end());
}
/// `jaxpr` with its inputs and outputs in another order; those that nothing reads may be left out.
JaxprPtr rearranged(const Jaxpr& jaxpr, const std::vector<std::size_t>& inputs,
                    const std::vector<std::size_t>& outputs);
/// Moves captured arrays of programs with the same inputs to leading inputs, the same in all of them; appends the
/// arrays to `captured`.
std::vector<JaxprPtr> share_captured(const std::vector<ClosedJaxpr>& programs, Arrays& captured);
/// Per output: whether it depends on an input where `from`.
Mask depends_on(const Jaxpr& jaxpr, const Mask& from);
/// Per result of an equation: whether it depends on an operand where `from`.
Mask results_depend(const Equation& e, const Mask& from);
/// Per input: whether anything reads it.
Mask reads(const Jaxpr& jaxpr);
/// For two equations that become one: the equations that can go before both, and those that have to go after.
struct Around {
  std::vector<Equation> before, after;
};
/// Nothing where `then` depends on `first` other than through its operands where `direct`.
std::optional<Around> brought_together(const Jaxpr& jaxpr, std::size_t first, std::size_t then, const Mask& direct);
/// About how many operations on scalars a program takes.
double work_of(const Jaxpr& program);

// scan ------------------------------------------------------------------------------------------------

/// Operands: constants, first carries, xs. The body takes constants, carries and a slice of each x; it gives
/// carries and a slice of each y. Results: last carries, ys.
struct Scan {
  JaxprPtr body;
  std::size_t consts = 0, carries = 0;
  std::int64_t length = 0;
  bool reverse = false;
  std::int64_t unroll = 1;

  Scan() = default;
  explicit Scan(const Params& params);
  Params params() const;
  std::size_t xs() const { return body->inputs.size() - consts - carries; }
  std::size_t ys() const { return body->outputs.size() - carries; }
};
/// Binds a scan; carries that the body returns unchanged become constants.
Arrays bind_scan(const Scan& scan, std::span<const Array> args);

/// A scan cut in two by what is known. The known part gives the known results and residuals; what does not
/// depend on the step is computed before it.
struct SplitScan {
  /// Captured, known constants -> constants of the known scan, residuals that are the same for all steps.
  JaxprPtr before;
  Arrays captured;
  Scan known, unknown;
  Mask carry_unknown, ys_unknown;
  std::size_t known_consts = 0;  ///< results of `before` that are constants of the known scan
  /// Residuals that are constants or xs of the unknown scan come first in its operands; where they come from:
  enum class From : std::uint8_t { operand, before, stacked };
  struct Residual {
    From from;
    std::size_t index;  ///< into the known operands, the results of `before`, or the residual ys
  };
  std::vector<Residual> const_residuals, x_residuals;
};
SplitScan split_scan(const Scan& scan, const Mask& unknown);

// The rules, by file.
JvpResult scan_jvp(const Primitive&, std::span<const Array>, std::span<const Array>, const Params&);
BatchResult scan_batch(const Primitive&, std::span<const Array>, std::span<const int>, std::int64_t, const Params&);
Arrays scan_partial_eval(const Primitive&, PartialEvalTrace&, std::span<const Array>, const Params&);
Arrays scan_transpose(const Primitive&, std::span<const Array>, std::span<const LinearInput>, const Params&);
void simplify_scan(const Equation&, const Params&, Rewriter&);
void simplify_while(const Equation&, const Params&, Rewriter&);
void simplify_associative_scan(const Equation&, const Params&, Rewriter&);

/// The known part, run under the current trace.
struct KnownResults {
  Arrays carries, ys;  ///< those that are known
  Arrays const_residuals, x_residuals;
};
KnownResults run_known(const SplitScan& split, const Arrays& known_args, std::size_t known_consts);

// lanes -----------------------------------------------------------------------------------------------

/// Runs a program for each of many independent lanes: what vmap makes of a small loop. Operands have the lanes as axis
/// 0 where `mapped`, and so have results that depend on those.
struct Lanes {
  JaxprPtr program;
  std::int64_t size = 0;
  Mask mapped;
  bool apart = false;  ///< few and long: each is worth a thread where they do not fit side by side

  Lanes() = default;
  explicit Lanes(const Params& params);
  Params params() const;
};
/// The same as one batched program: for devices that have no lanes.
JaxprPtr batched_program(const Lanes& lanes);
/// While alive, vmap of a loop on this thread is a loop over batches, and not a loop per lane.
class WholeBatches {
 public:
  WholeBatches();
  ~WholeBatches();
  WholeBatches(const WholeBatches&) = delete;
  static bool wanted();

 private:
  bool saved_;
};
/// Whether a scan is small enough for a loop per lane: all values of a step fit into registers.
bool fits_lanes(const Scan& scan, std::int64_t most_equations = 200);
/// Whether a lane's program is small loops and elementwise operations alone.
bool runs_in_lanes(const Jaxpr& program, std::int64_t most_equations = 200);

// while ----------------------------------------------------------------------------------------------

/// Operands: constants of the condition, constants of the body, carries.
struct While {
  JaxprPtr condition, body;
  std::size_t condition_consts = 0, body_consts = 0;

  While() = default;
  explicit While(const Params& params);
  Params params() const;
  std::size_t carries() const { return body->outputs.size(); }
};

// associative_scan -----------------------------------------------------------------------------------

/// Operands: constants, then elements stacked along axis 0. The function takes constants and two elements.
struct AssociativeScan {
  JaxprPtr combine;
  std::size_t consts = 0;
  bool reverse = false;

  AssociativeScan() = default;
  explicit AssociativeScan(const Params& params);
  Params params() const;
  std::size_t leaves() const { return combine->outputs.size(); }
};
/// One after the other, as a scan.
Arrays associative_scan_in_steps(const AssociativeScan& s, std::span<const Array> args);

// associative_rest -----------------------------------------------------------------------------------

/// What the derivative of an associative scan leaves: unknown leaves, given the results of the others. Operands:
/// constants, all elements, results of the known leaves. Results: those of the unknown leaves. The transpose takes
/// operands that are not linear, then cotangents of the results; it gives cotangents of the linear operands.
struct AssociativeRest {
  AssociativeScan scan;
  Mask unknown;  ///< leaves
  Types operands;
  bool transposed = false;
  Mask linear;        ///< of the transpose: operands whose cotangents are wanted
  JaxprPtr in_steps;  ///< the same, one step after the other

  AssociativeRest() = default;
  explicit AssociativeRest(const Params& params);
  Params params() const;
  void set_operands(std::int64_t length);
  /// Results of the unknown leaves, from constants, elements and the results `done` of the others.
  using Form = Arrays (*)(const AssociativeScan&, std::span<const Array> consts, std::span<const Array> elements,
                          const Mask& unknown, const Arrays& done);
  /// The equation as a program in that form; its transpose, if the equation is one.
  JaxprPtr program(Form form) const;
};
/// The same as a scan, one step after the other.
Arrays associative_rest_in_steps(const AssociativeScan& s, std::span<const Array> consts,
                                 std::span<const Array> elements, const Mask& unknown, const Arrays& done);
/// As an equation of a linear program.
Arrays record_associative_rest(PartialEvalTrace& trace, const AssociativeScan& s, std::span<const Array> args,
                               const Mask& unknown, const Arrays& done);

}  // namespace cotan
