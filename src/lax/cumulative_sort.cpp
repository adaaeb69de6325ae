// lax: running reductions and sorting by name.
#include <algorithm>
#include <cotan/lax.hpp>

#include "ops/ops.hpp"
#include "ops/promote.hpp"

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
std::pair<Array, Array> sort_key_val(const ArrayLike& keys, const ArrayLike& values, int dimension, bool is_stable) {
  const Arrays out = sort({keys, values}, dimension, 1, is_stable);
  return {out[0], out[1]};
}
std::pair<Array, Array> top_k(const ArrayLike& a, int k, int axis) {
  const int last = std::max(a->ndim() - 1, 0),
            along = a->ndim() == 0 ? 0 : numpy::resolve_axis(axis, a->ndim(), "top_k");
  const Arrays out =
      bind(ops::top_k_p, {a->ndim() == 0 ? a.array() : ops::move_axis(a, along, last)}, {{"k", std::int64_t{k}}});
  return {ops::move_axis(out[0], last, along), ops::move_axis(out[1], last, along)};
}

namespace {
void check_floating(std::string_view op, const Array& a) {
  if (!is_floating(a.dtype())) raise<TypeError>("[{}] needs floats, got {}; use top_k for integers.", op, a.aval());
}
}  // namespace

std::pair<Array, Array> approx_max_k(const ArrayLike& a, int k, int reduction_dimension) {
  check_floating("approx_max_k", a);
  return top_k(a, k, reduction_dimension);
}
std::pair<Array, Array> approx_min_k(const ArrayLike& a, int k, int reduction_dimension) {
  check_floating("approx_min_k", a);
  const auto [values, indices] = top_k(-a, k, reduction_dimension);
  return {-values, indices};
}

}  // namespace cotan::lax
