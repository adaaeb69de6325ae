#include "core/rows.hpp"

namespace cotan::rows {

Answer elementwise(const Question& q) {
  int axis = whole;
  for (int a : q.axes) axis = std::max(axis, a);  // operands of unknown origin are taken for stacks along axis 0
  if (axis == whole) return {};
  OnRows on{{}, axis, q.e.params};
  for (const AbstractValue& t : q.in) on.in.push_back(t.ndim() > 0 ? axis : whole);
  return on;
}
Answer by_axis(const Question& q, std::initializer_list<const char*> lists) {
  const int axis = q.axes[0];
  if (axis == whole || q.in[0].shape[static_cast<std::size_t>(axis)] != q.out.shape[static_cast<std::size_t>(axis)])
    return {};
  OnRows on{std::vector<int>(q.in.size(), whole), axis, q.e.params};
  on.in[0] = axis;
  for (const char* key : lists) on.params = on.params.with(key, without(q.ints(key), axis));
  return on;
}
Answer reduced(const Question& q, const Ints& axes, const Params& params) {
  if (q.axes[0] == whole || has(axes, q.axes[0])) return {};
  const auto before = std::count_if(axes.begin(), axes.end(), [&](auto a) { return a < q.axes[0]; });
  return OnRows{{q.axes[0]}, q.axes[0] - static_cast<int>(before), params};
}

Rule rule_of(const Primitive& p) { return p.scalar || p.scalars ? elementwise : p.on_rows; }

}  // namespace cotan::rows
