// Special functions as primitives: what they compute is in the file that a line names, in other operations.
#pragma once
#include "core/primitive.hpp"

namespace cotan::special {

// incomplete_gamma.cpp: of (a, x)
extern const Primitive igamma_p, igammac_p, igamma_grad_a_p, random_gamma_grad_p;
// incomplete_beta.cpp: of (a, b, x)
extern const Primitive betainc_p;
// zeta.cpp: of (s, q); the derivative by s; of (order, x)
extern const Primitive zeta_p, zeta_slope_p, polygamma_of_p;
// bessel.cpp
extern const Primitive bessel_i0e_p, bessel_i1e_p;
// normal.cpp
extern const Primitive dawsn_p, erfcx_p, ndtri_p, log_ndtr_p, owens_t_p;
// integrals.cpp: sine and cosine integrals, Fresnel's, Spence's
extern const Primitive si_p, ci_p, fresnel_s_p, fresnel_c_p, spence_p;
// exponential_integrals.cpp; expn is of (n, x)
extern const Primitive expi_p, exp1_p, expn_p;
// hypergeometric.cpp: and derivatives by a, b, c
extern const Primitive hyp1f1_p, hyp1f1_a_p, hyp1f1_b_p, hyp2f1_p, hyp2f1_a_p, hyp2f1_b_p, hyp2f1_c_p;
// logarithms.cpp
extern const Primitive xlogy_p, xlog1py_p, entr_p, logit_p, poch_p;

}  // namespace cotan::special
