#include "control/rows_rules.hpp"

#include <map>

#include "ops/ops.hpp"

namespace cotan::rows {

namespace {

/// Numbers of axes after one of them is removed.
Ints renumbered(Ints axes, int gone) {
  for (auto& a : axes) a -= a > gone;
  return axes;
}
bool has(const Ints& a, std::int64_t x) { return std::find(a.begin(), a.end(), x) != a.end(); }
int place_in(const Ints& a, std::int64_t x) { return static_cast<int>(std::find(a.begin(), a.end(), x) - a.begin()); }

Answer elementwise_on_rows(const Question& q) {
  int axis = whole;
  for (int a : q.axes) axis = std::max(axis, a);  // operands of unknown origin are taken for stacks along axis 0
  if (axis == whole) return {};
  OnRows on{{}, axis, q.e.params};
  for (const AbstractValue& t : q.in) on.in.push_back(t.ndim() > 0 ? axis : whole);
  return on;
}
Answer broadcast_on_rows(const Question& q) {
  const Ints &dims = q.ints("broadcast_dimensions"), &shape = q.ints("shape");
  OnRows on{{q.axes[0]}, whole, q.e.params};
  Ints from = dims;
  if (q.axes[0] != whole) {
    on.out = static_cast<int>(dims[static_cast<std::size_t>(q.axes[0])]);
    from = without(dims, q.axes[0]);
  }
  for (int axis = 0; axis < q.out.ndim() && on.out == whole; ++axis)
    if (!has(dims, axis) && shape[static_cast<std::size_t>(axis)] >= least_rows) on.out = axis;
  if (on.out == whole) return {};
  on.params = on.params.with("shape", without(shape, on.out)).with("broadcast_dimensions", renumbered(from, on.out));
  return on;
}
Answer reshape_on_rows(const Question& q) {
  if (q.axes[0] == whole) return {};
  const Shape &from = q.in[0].shape, &to = q.out.shape;
  const auto before = [](const Shape& s, int axis) { return ops::product(Shape(s.begin(), s.begin() + axis)); };
  for (int axis = 0; axis < q.out.ndim(); ++axis)
    if (to[static_cast<std::size_t>(axis)] == from[static_cast<std::size_t>(q.axes[0])] &&
        before(to, axis) == before(from, q.axes[0]))
      return OnRows{{q.axes[0]}, axis, q.e.params.with("new_sizes", without(to, axis))};
  return {};
}
Answer transpose_on_rows(const Question& q) {
  if (q.axes[0] == whole) return {};
  const int out = place_in(q.ints("permutation"), q.axes[0]);
  return OnRows{
      {q.axes[0]}, out, q.e.params.with("permutation", renumbered(without(q.ints("permutation"), out), q.axes[0]))};
}
/// An operation that keeps its axes and has a list parameter with an entry per axis.
Answer by_axis_on_rows(const Question& q, std::initializer_list<const char*> lists) {
  const int axis = q.axes[0];
  if (axis == whole || q.in[0].shape[static_cast<std::size_t>(axis)] != q.out.shape[static_cast<std::size_t>(axis)])
    return {};
  OnRows on{std::vector<int>(q.in.size(), whole), axis, q.e.params};
  on.in[0] = axis;
  for (const char* key : lists) on.params = on.params.with(key, without(q.ints(key), axis));
  return on;
}
Answer slice_on_rows(const Question& q) { return by_axis_on_rows(q, {"start_indices", "limit_indices", "strides"}); }
Answer pad_on_rows(const Question& q) {
  if (q.axes[0] != whole && q.ints("low")[static_cast<std::size_t>(q.axes[0])] != 0) return {};
  return by_axis_on_rows(q, {"low", "high", "interior"});
}
Answer rev_on_rows(const Question& q) {
  const Ints& dims = q.ints("dimensions");
  if (q.axes[0] == whole || has(dims, q.axes[0])) return {};
  return OnRows{{q.axes[0]}, q.axes[0], q.e.params.with("dimensions", renumbered(dims, q.axes[0]))};
}
Answer concatenate_on_rows(const Question& q) {
  const auto all = elementwise_on_rows(q);
  const std::int64_t dimension = q.e.params.integer("dimension");
  if (!all || dimension == all->out) return {};
  return OnRows{all->in, all->out, q.e.params.with("dimension", dimension - (dimension > all->out))};
}
Answer reduced_on_rows(const Question& q, const Ints& axes, const Params& params) {
  if (q.axes[0] == whole || has(axes, q.axes[0])) return {};
  const auto before = std::count_if(axes.begin(), axes.end(), [&](auto a) { return a < q.axes[0]; });
  return OnRows{{q.axes[0]}, q.axes[0] - static_cast<int>(before), params};
}
Answer reduction_on_rows(const Question& q) {
  return reduced_on_rows(q, q.ints("axes"), q.e.params.with("axes", renumbered(q.ints("axes"), q.axes[0])));
}
Answer argument_on_rows(const Question& q) {
  const std::int64_t axis = q.e.params.integer("axis");
  return reduced_on_rows(q, {axis}, q.e.params.with("axis", axis - (axis > q.axes[0])));
}
/// Results of products have batch axes first, then the left operand's other axes, then the right one's.
Answer product_on_rows(const Question& q) {
  const Ints &batch_a = q.ints("batch_lhs"), &batch_b = q.ints("batch_rhs"), &sum_a = q.ints("contract_lhs"),
             &sum_b = q.ints("contract_rhs");
  const int a = q.axes[0], b = q.axes[1], batches = static_cast<int>(batch_a.size());
  const auto left_before = [](int axis, const Ints& batch, const Ints& sum) {
    int n = 0;
    for (int k = 0; k < axis; ++k) n += !has(batch, k) && !has(sum, k);
    return n;
  };
  const auto answer = [&](int in_a, int in_b, int out, const Ints& to_batch_a, const Ints& to_batch_b) {
    const auto less = [](const Ints& axes, int gone) { return gone == whole ? axes : renumbered(axes, gone); };
    return OnRows{{in_a, in_b},
                  out,
                  q.e.params.with("batch_lhs", less(to_batch_a, in_a))
                      .with("batch_rhs", less(to_batch_b, in_b))
                      .with("contract_lhs", less(sum_a, in_a))
                      .with("contract_rhs", less(sum_b, in_b))};
  };
  const int shared = a != whole && b != whole ? place_in(batch_a, a) : batches;
  if (shared < batches && batch_b[static_cast<std::size_t>(shared)] == b)
    return answer(a, b, shared, without(batch_a, shared), without(batch_b, shared));
  if (a != whole && !has(batch_a, a) && !has(sum_a, a))
    return answer(a, whole, batches + left_before(a, batch_a, sum_a), batch_a, batch_b);
  if (b != whole && !has(batch_b, b) && !has(sum_b, b))
    return answer(whole, b, batches + left_before(q.in[0].ndim(), batch_a, sum_a) + left_before(b, batch_b, sum_b),
                  batch_a, batch_b);
  return {};
}
/// An index per row, into its own row or into an operand that all rows share.
Answer gather_on_rows(const Question& q) {
  const int indices = q.axes[1];
  if (indices == whole || indices == q.in[1].ndim() - 1) return {};
  const Ints &operand_batches = q.ints("operand_batching_dims"), &index_batches = q.ints("start_indices_batching_dims"),
             &offsets = q.ints("offset_dims");
  int out = -1;  // the results' axes that are no offsets are those of the indices
  for (int left = indices; left >= 0; --left) do
      ++out;
    while (has(offsets, out));
  OnRows on{{whole, indices}, out, q.e.params.with("offset_dims", renumbered(offsets, out))};
  const int batch = place_in(index_batches, indices);
  if (batch == static_cast<int>(index_batches.size())) {
    on.params = on.params.with("start_indices_batching_dims", renumbered(index_batches, indices));
    return on;
  }
  const int axis = static_cast<int>(operand_batches[static_cast<std::size_t>(batch)]);
  on.in[0] = axis;
  on.params = on.params.with("start_indices_batching_dims", renumbered(without(index_batches, batch), indices))
                  .with("operand_batching_dims", renumbered(without(operand_batches, batch), axis))
                  .with("collapsed_slice_dims", renumbered(q.ints("collapsed_slice_dims"), axis))
                  .with("start_index_map", renumbered(q.ints("start_index_map"), axis))
                  .with("slice_sizes", without(q.ints("slice_sizes"), axis));
  return on;
}
Answer lanes_on_rows(const Question& q) {
  const Lanes lanes(q.e.params);
  const Mask given = depends_on(*lanes.program, lanes.mapped);
  if (count(given) != given.size()) return {};
  OnRows on{{}, 0, q.e.params};
  for (std::size_t i = 0; i < q.in.size(); ++i) {
    if (lanes.mapped[i] && q.axes[i] != 0) return {};
    on.in.push_back(lanes.mapped[i] ? 0 : whole);
  }
  return on;
}

}  // namespace

Rule rule_of(const Primitive& p) {
  using namespace ops;
  static const std::map<const Primitive*, Rule> rules{{&broadcast_in_dim_p, broadcast_on_rows},
                                                      {&reshape_p, reshape_on_rows},
                                                      {&transpose_p, transpose_on_rows},
                                                      {&slice_p, slice_on_rows},
                                                      {&pad_p, pad_on_rows},
                                                      {&rev_p, rev_on_rows},
                                                      {&concatenate_p, concatenate_on_rows},
                                                      {&reduce_sum_p, reduction_on_rows},
                                                      {&reduce_prod_p, reduction_on_rows},
                                                      {&reduce_max_p, reduction_on_rows},
                                                      {&reduce_min_p, reduction_on_rows},
                                                      {&reduce_and_p, reduction_on_rows},
                                                      {&reduce_or_p, reduction_on_rows},
                                                      {&argmax_p, argument_on_rows},
                                                      {&argmin_p, argument_on_rows},
                                                      {&dot_general_p, product_on_rows},
                                                      {&gather_p, gather_on_rows},
                                                      {&lanes_p, lanes_on_rows}};
  if (p.scalar || p.scalars) return elementwise_on_rows;
  const auto at = rules.find(&p);
  return at == rules.end() ? nullptr : at->second;
}

}  // namespace cotan::rows
