// The list of all primitives.
#include <algorithm>

#include "ops/ops.hpp"

namespace cotan::ops {

std::vector<const Primitive*> all_primitives() {
  std::vector<const Primitive*> list = {
      &neg_p, &abs_p, &sign_p, &add_p, &sub_p, &mul_p, &div_p, &rem_p, &max_p, &min_p, &pow_p, &integer_pow_p, &square_p, &sqrt_p,
      &rsqrt_p, &cbrt_p, &atan2_p, &hypot_p, &nextafter_p, &clamp_p, &exp_p, &exp2_p, &expm1_p, &log_p, &log2_p, &log10_p, &log1p_p,
      &sin_p, &cos_p, &tan_p, &asin_p, &acos_p, &atan_p, &sinh_p, &cosh_p, &tanh_p, &asinh_p, &acosh_p, &atanh_p, &logistic_p, &erf_p,
      &erfc_p, &erf_inv_p, &lgamma_p, &digamma_p, &polygamma_p, &floor_p, &ceil_p, &round_p, &trunc_p, &eq_p, &ne_p, &lt_p, &le_p,
      &gt_p, &ge_p, &is_finite_p, &select_p, &and_p, &or_p, &xor_p, &not_p, &shift_left_p, &shift_right_logical_p,
      &shift_right_arithmetic_p, &population_count_p, &clz_p, &convert_element_type_p, &bitcast_convert_type_p, &stop_gradient_p,
      &reshape_p, &transpose_p, &broadcast_in_dim_p, &slice_p, &pad_p, &rev_p, &concatenate_p, &iota_p, &reduce_sum_p, &reduce_prod_p,
      &reduce_max_p, &reduce_min_p, &reduce_and_p, &reduce_or_p, &argmax_p, &argmin_p, &cumsum_p, &cumprod_p, &cummax_p, &cummin_p,
      &cumlogsumexp_p, &linear_recurrence_p, &dot_general_p, &gather_p, &scatter_p, &scatter_add_p, &scatter_mul_p, &scatter_min_p, &scatter_max_p,
      &dynamic_slice_p, &dynamic_update_slice_p, &sort_p, &top_k_p, &cholesky_p, &triangular_solve_p, &lu_p, &qr_p, &eigh_p, &svd_p,
      &threefry2x32_p, &fma_p, &sampler_log_p, &sampler_log1p_p, &sampler_erf_inv_p};
  std::sort(list.begin(), list.end(), [](const Primitive* a, const Primitive* b) { return a->name < b->name; });
  return list;
}

}  // namespace cotan::ops
