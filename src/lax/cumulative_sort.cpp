// lax: running reductions and sorting by name.
#include <cotan/lax.hpp>

#include "numpy/promote.hpp"
#include "ops/ops.hpp"

namespace cotan::lax {

namespace {

Array cumulative(const Primitive& p, const Array& a, int axis, bool reverse) {
  return bind1(p, {a}, {{"axis", std::int64_t{numpy::resolve_axis(axis, a.ndim(), p.name)}}, {"reverse", reverse}});
}

}  // namespace

Array cumsum(const ArrayLike& a, int axis, bool reverse) { return cumulative(ops::cumsum_p, a, axis, reverse); }
Array cumprod(const ArrayLike& a, int axis, bool reverse) { return cumulative(ops::cumprod_p, a, axis, reverse); }
Array cummax(const ArrayLike& a, int axis, bool reverse) { return cumulative(ops::cummax_p, a, axis, reverse); }
Array cummin(const ArrayLike& a, int axis, bool reverse) { return cumulative(ops::cummin_p, a, axis, reverse); }
Array cumlogsumexp(const ArrayLike& a, int axis, bool reverse) {
  return cumulative(ops::cumlogsumexp_p, a, axis, reverse);
}

std::vector<Array> sort(const ArrayList& list, int axis, int num_keys, bool is_stable) {
  const std::vector<Array>& operands = list;
  if (operands.empty()) raise<ValueError>("[sort] got no operands; give at least one.");
  return bind(ops::sort_p, operands,
              {{"dimension", std::int64_t{numpy::resolve_axis(axis, operands[0].ndim(), "sort")}},
               {"num_keys", std::int64_t{num_keys}},
               {"is_stable", is_stable}});
}
std::pair<Array, Array> top_k(const ArrayLike& a, int k, int axis) {
  if (a->ndim() == 0 || axis == -1 || axis == a->ndim() - 1) {  // the primitive raises where there is no axis
    Arrays out = bind(ops::top_k_p, {a.array()}, {{"k", std::int64_t{k}}});
    return {out[0], out[1]};
  }
  const int at = numpy::resolve_axis(axis, a->ndim(), "top_k"), last = a->ndim() - 1;
  const Arrays out = bind(ops::top_k_p, {ops::move_axis(a, at, last)}, {{"k", std::int64_t{k}}});
  return {ops::move_axis(out[0], last, at), ops::move_axis(out[1], last, at)};
}

}  // namespace cotan::lax
