// Chebyshev series on arrays, and the tables of them.
#pragma once
#include <cotan/array.hpp>
#include <span>

namespace cotan::special {

struct Series {
  std::span<const double> terms;
};
/// The sum of terms[k] T_k(t), for t from -1 to 1; of an f32 no more terms than it can tell apart.
Array chebyshev(const Series& series, const Array& t);

/// What each is of, and in which variable, chebyshev_tables.cpp says.
namespace tables {
extern const Series i0e_near, i0e_far, i1e_near, i1e_far;
extern const Series dawson_near, dawson_middle, dawson_far, erfcx_positive;
extern const Series ndtri_central, ndtri_tail, ndtri_far_tail;
extern const Series si_near, ci_near, sici_f_middle, sici_g_middle, sici_f_far, sici_g_far;
extern const Series fresnel_s_near, fresnel_c_near, fresnel_f_far, fresnel_g_far;
extern const Series expint_near, e1_far, ei_middle, ei_large, ei_far;
}  // namespace tables

}  // namespace cotan::special
