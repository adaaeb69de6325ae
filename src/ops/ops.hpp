// Primitives that others than their own file name, by family, and the few functions on arrays that rules share.
// Operands here are already of one dtype and of one shape (or 0-d): promotion and broadcasting happen before
// (promote.hpp).
#pragma once
#include "core/construct.hpp"
#include "core/primitive.hpp"

namespace cotan::ops {

// arithmetic.cpp
extern const Primitive neg_p, abs_p, sign_p, add_p, sub_p, mul_p, div_p, rem_p, max_p, min_p, pow_p, integer_pow_p,
    square_p, sqrt_p, rsqrt_p, cbrt_p, atan2_p, hypot_p, hypot_share_p, nextafter_p, clamp_p;
// transcendental.cpp
extern const Primitive exp_p, exp2_p, expm1_p, log_p, log2_p, log10_p, log1p_p, sin_p, cos_p, tan_p, asin_p, acos_p,
    atan_p, sinh_p, cosh_p, tanh_p, asinh_p, acosh_p, atanh_p, logistic_p, logaddexp_p, logaddexp2_p;
// gamma_functions.cpp
extern const Primitive digamma_p, polygamma_p;
// rounding.cpp
extern const Primitive floor_p, ceil_p, round_p, trunc_p;
// compare.cpp
extern const Primitive eq_p, ne_p, lt_p, le_p, gt_p, ge_p, is_finite_p, select_p;
// bitwise.cpp
extern const Primitive and_p, or_p, xor_p, not_p, shift_left_p, shift_right_logical_p, shift_right_arithmetic_p,
    population_count_p, clz_p;
// cast.cpp
extern const Primitive convert_element_type_p, bitcast_convert_type_p, stop_gradient_p;
// complex.cpp
extern const Primitive complex_p, real_p, imag_p, conj_p;
// precision.cpp, barrier.cpp
extern const Primitive reduce_precision_p, optimization_barrier_p;
// platform.cpp
extern const Primitive platform_index_p;
/// Which platform of the parameters has that name; as many as there are where none has.
std::int32_t number_of_platform(const Params& params, std::string_view name);
// reshape.cpp, broadcast.cpp, slice.cpp, pad.cpp, concatenate.cpp, iota.cpp
extern const Primitive reshape_p, transpose_p, broadcast_in_dim_p, slice_p, pad_p, rev_p, concatenate_p, iota_p;
// reduce.cpp
extern const Primitive reduce_sum_p, reduce_prod_p, reduce_max_p, reduce_min_p, reduce_and_p, reduce_or_p, reduce_xor_p;
// window.cpp, window_places.cpp
extern const Primitive reduce_window_sum_p, reduce_window_max_p, reduce_window_min_p;
// cumulative.cpp
extern const Primitive cumsum_p, cumprod_p, cummax_p, cummin_p, cumlogsumexp_p, linear_recurrence_p;
// dot.cpp
extern const Primitive dot_general_p;
// attention.cpp
extern const Primitive attention_p, attention_tangent_p, attention_backward_p;
// conv.cpp
extern const Primitive conv_general_dilated_p;
// gather_scatter.cpp, dynamic_slice.cpp
extern const Primitive gather_p, scatter_p, scatter_add_p, scatter_mul_p, scatter_min_p, scatter_max_p, dynamic_slice_p,
    dynamic_update_slice_p;
// fft.cpp
extern const Primitive fft_p, fft_pairs_p, butterfly_p;
// sort.cpp
extern const Primitive sort_p, top_k_p;
// linalg/: decompositions
extern const Primitive cholesky_p, triangular_solve_p, lu_p, qr_p, eigh_p, svd_p;
// random_bits.cpp
extern const Primitive threefry2x32_p;
// sampler_math.cpp, sampler_exp.cpp
extern const Primitive fma_p, sampler_exp_p, sampler_log_p, sampler_log1p_p, sampler_erf_inv_p;

/// Puts primitives into the list of all; every file has one, below what it defines.
struct Listed {
  Listed(std::initializer_list<const Primitive*> primitives);
};
/// All that are listed, sorted by name: what the feature table and the tests go through.
std::vector<const Primitive*> all_primitives();

// Shape functions that rules use; no-ops return their argument.
Array cast(const Array& a, DType dtype);
Array reshape(const Array& a, const Shape& shape);
Array transpose(const Array& a, const Ints& permutation);
Array move_axis(const Array& a, int from, int to);
/// Operand axis i becomes axis dims[i] of the result.
Array broadcast_in_dim(const Array& a, const Shape& shape, const Ints& dims);
/// NumPy's rule: axes are aligned at the end.
Array broadcast_to(const Array& a, const Shape& shape);
/// Every element is `value`, a 0-d array.
Array full(const Shape& shape, const Array& value);
Array zeros_like(const Array& a);
Array slice(const Array& a, const Ints& start, const Ints& limit, const Ints& strides = {});
Array slice_axis(const Array& a, int axis, std::int64_t start, std::int64_t limit, std::int64_t stride = 1);
/// Per axis: elements before, after and between; negative ones before or after crop.
Array pad(const Array& a, const Array& value, const Ints& low, const Ints& high, const Ints& interior);
Array rev(const Array& a, const Ints& dimensions);
Array concatenate(std::span<const Array> parts, int axis);
Array iota(DType dtype, const Shape& shape, int axis);
Array reduce_sum(const Array& a, const Ints& axes);
/// re + i im, and its parts; a real number's are itself and zero.
Array complex(const Array& re, const Array& im);
Array real(const Array& a);
Array imag(const Array& a);
Array conj(const Array& a);
Array reduce_max(const Array& a, const Ints& axes);
Array select(const Array& predicate, const Array& on_true, const Array& on_false);
Array dot_general(const Array& a, const Array& b, const Ints& contract_a, const Ints& contract_b, const Ints& batch_a,
                  const Ints& batch_b);

/// Sum of tangents or cotangents; either may be undefined.
Array add_cotangents(const Array& a, const Array& b);
Array zeros_of(const AbstractValue& aval);
/// Moves the batch axis to the front, adding one by broadcasting where there is none.
Array batch_at_front(const Array& value, int dim, std::int64_t size);
/// Sums a cotangent over the axes along which an operand of type `aval` was broadcast (0-d operands).
Array unbroadcast(const Array& ct, const AbstractValue& aval);

Shape erase_axes(const Shape& shape, const Ints& axes);
std::int64_t product(const Shape& shape);
/// Row-major strides in elements.
Ints strides_of(const Shape& shape);

}  // namespace cotan::ops
