#include "special/compose.hpp"

#include <limits>

#include "core/error.hpp"
#include "special/chebyshev.hpp"
#include "special/special.hpp"

namespace cotan::special {

Arrays evaluate(Function f, Operands x) {
  const DType dtype = x[0].dtype(), wide = dtype == DType::f16 || dtype == DType::bf16 ? DType::f32 : dtype;
  Shape shape;
  for (const Array& a : x)
    if (a.ndim() > 0) shape = a.shape();
  Arrays in;
  for (const Array& a : x) in.push_back(ops::broadcast_to(ops::cast(a, wide), shape));
  return {ops::cast(f(in), dtype)};
}

void raise_not_known(std::string_view name) {
  raise<TransformError>(
      "[{}] has no derivative by this operand; differentiate by the others, or keep it constant with stop_gradient.",
      name);
}

double epsilon_of(const Array& x) {
  return pick(x, std::numeric_limits<float>::epsilon(), std::numeric_limits<double>::epsilon());
}

Array chebyshev(const Series& series, const Array& t) {
  double largest = 0;
  for (double c : series.terms) largest = std::max(largest, std::abs(c));
  std::size_t n = series.terms.size();
  while (n > 2 && std::abs(series.terms[n - 1]) < largest * epsilon_of(t) / 16) --n;
  // Clenshaw's recurrence.
  const Array twice = t + t;
  Array later = 0.0, next = series.terms[n - 1];
  for (std::size_t k = n - 1; k-- > 1;) {
    const Array now = twice * next - later + series.terms[k];
    later = next;
    next = now;
  }
  return t * next - later + series.terms[0];
}

const ops::Listed special_listed{&igamma_p,
                                 &igammac_p,
                                 &igamma_grad_a_p,
                                 &random_gamma_grad_p,
                                 &betainc_p,
                                 &bessel_i0e_p,
                                 &bessel_i1e_p,
                                 &zeta_p,
                                 &zeta_slope_p,
                                 &polygamma_of_p,
                                 &dawsn_p,
                                 &erfcx_p,
                                 &ndtri_p,
                                 &log_ndtr_p,
                                 &si_p,
                                 &ci_p,
                                 &fresnel_s_p,
                                 &fresnel_c_p,
                                 &expi_p,
                                 &exp1_p,
                                 &expn_p,
                                 &spence_p,
                                 &owens_t_p,
                                 &hyp1f1_p,
                                 &hyp1f1_a_p,
                                 &hyp1f1_b_p,
                                 &hyp2f1_p,
                                 &hyp2f1_a_p,
                                 &hyp2f1_b_p,
                                 &hyp2f1_c_p,
                                 &xlogy_p,
                                 &xlog1py_p,
                                 &entr_p,
                                 &logit_p,
                                 &poch_p};

}  // namespace cotan::special
