// What expansions are written with: loops and lanes of functions on arrays, and the families' own functions.
#pragma once
#include <cotan/numpy.hpp>
#include <limits>

#include "control/control.hpp"
#include "ops/ops.hpp"

namespace cotan::expansions {

namespace np = numpy;

/// The results of a primitive on these operands, by other operations; none: it cannot be done for these.
using Expand = Arrays (*)(const Primitive& p, std::span<const Array> x, const Params& params);

// By file.
/// Where there is no routine that copies, the barrier has done its work once programs are as they will be.
inline Arrays barrier(const Primitive&, std::span<const Array> x, const Params&) { return {x.begin(), x.end()}; }
/// Devices that expand all routines are GPUs: there is one.
inline Arrays platform_index(const Primitive&, std::span<const Array>, const Params& params) {
  return {scalar(DType::i32, ops::number_of_platform(params, "webgpu"))};
}
Arrays cumulative(const Primitive& p, std::span<const Array> x, const Params& params);
Arrays linear_recurrence(const Primitive& p, std::span<const Array> x, const Params& params);
Arrays cholesky(const Primitive& p, std::span<const Array> x, const Params& params);
Arrays triangular_solve(const Primitive& p, std::span<const Array> x, const Params& params);
Arrays lu(const Primitive& p, std::span<const Array> x, const Params& params);
Arrays qr(const Primitive& p, std::span<const Array> x, const Params& params);
Arrays sort(const Primitive& p, std::span<const Array> x, const Params& params);
Arrays top_k(const Primitive& p, std::span<const Array> x, const Params& params);
Arrays order_of_words(const Primitive& p, std::span<const Array> x, const Params& params);
Arrays sum_of_runs(const Primitive& p, std::span<const Array> x, const Params& params);
Arrays scatter(const Primitive& p, std::span<const Array> x, const Params& params);
Arrays eigh(const Primitive& p, std::span<const Array> x, const Params& params);
Arrays svd(const Primitive& p, std::span<const Array> x, const Params& params);
Arrays fft(const Primitive& p, std::span<const Array> x, const Params& params);
Arrays attention(const Primitive& p, std::span<const Array> x, const Params& params);
Arrays polygamma(const Primitive& p, std::span<const Array> x, const Params& params);

// Loops ---------------------------------------------------------------------------------------------

/// body(carries, a slice of each x) -> carries, ys; so many times. Gives the last carries, then the stacked
/// ys.
Arrays loop(std::int64_t steps, const Arrays& carries, const Arrays& xs, const FlatFn& body, bool reverse = false);
/// body(carries) -> carries, as long as condition(carries) -> bool holds.
Arrays loop_while(const Arrays& carries, const FlatFn& condition, const FlatFn& body);
/// f(rows) -> results for every row of the operands along axis 0 and with what all rows share, a lane for
/// each; results stacked along axis 0.
Arrays for_each_lane(const Arrays& operands, const Arrays& shared, const FlatFn& f);
/// f on every matrix (the last two axes) of the operands, which have the same batch axes.
Arrays for_each_matrix(const Arrays& operands, const FlatFn& f);
/// Partial results of `combine` (two elements -> one) over slices along axis 0.
Arrays scan_associatively(const Arrays& elements, const FlatFn& combine, bool reverse = false);

// Matrices -------------------------------------------------------------------------------------------

inline std::int64_t rows(const Array& a) { return a.shape()[a.shape().size() - 2]; }
inline std::int64_t columns(const Array& a) { return a.shape().back(); }
/// Zeros on the right and below, up to [m, n].
inline Array padded(const Array& a, std::int64_t m, std::int64_t n) {
  return ops::pad(a, scalar(a.dtype(), 0), {0, 0}, {m - rows(a), n - columns(a)}, {0, 0});
}
inline Array nan_of(DType dtype) { return scalar(dtype, std::numeric_limits<double>::quiet_NaN()); }
/// Of all elements.
Array all_of(const Array& condition);

// Arrays --------------------------------------------------------------------------------------------

/// 0, 1, … as i32.
inline Array numbers(std::int64_t n) { return ops::iota(i32, {n}, 0); }
/// Slices of `a` along an axis at i32 positions that are inside it.
Array take(const Array& a, const Array& positions, int axis);
/// Row i of `a` at positions[i, …], both with the same first axes; along the last axis.
Array take_along_last(const Array& a, const Array& positions);
/// What halves are computed in; other dtypes are themselves.
inline DType wide(DType dtype) { return dtype == f16 || dtype == bf16 ? f32 : dtype; }

}  // namespace cotan::expansions
