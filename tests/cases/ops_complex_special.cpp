// scipy.special with complex values.
#include <cotan/cotan.hpp>

#include "cases/case_ops.hpp"

namespace cases {

namespace sp = cotan::scipy::special;

void add_complex_special_ops(OpTable& t) {
  t["special.wofz"] = one([](Args x, const Params&) { return sp::wofz(x[0]); });
  t["special.sph_harm_y"] =
      one([](Args x, const Params& p) { return sp::sph_harm_y(x[0], x[1], x[2], x[3], p.integer("n_max")); });
}

}  // namespace cases
