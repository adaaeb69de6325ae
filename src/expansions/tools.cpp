#include "expansions/tools.hpp"

#include "core/error.hpp"
#include "ops/gather_scatter.hpp"
#include "passes/passes.hpp"

namespace cotan::expansions {

namespace {

Types slice_types(std::span<const Array> stacked) {
  Types out;
  for (const Array& a : stacked) out.push_back({a.dtype(), Shape(a.shape().begin() + 1, a.shape().end()), false});
  return out;
}
ClosedJaxpr traced(const FlatFn& f, const Types& types, std::string_view name) {
  ClosedJaxpr closed = trace_to_jaxpr(f, types, name);
  closed.jaxpr = eliminate_dead_code(inline_all_calls(closed.jaxpr));
  return closed;
}
Types operator+(Types a, const Types& b) {
  append(a, b);
  return a;
}

}  // namespace

Arrays loop(std::int64_t steps, const Arrays& carries, const Arrays& xs, const FlatFn& body, bool reverse) {
  const ClosedJaxpr closed = traced(body, types_of(carries) + slice_types(xs), "scan");
  Scan scan;
  scan.body = closed.jaxpr;
  scan.consts = closed.consts.size();
  scan.carries = carries.size();
  scan.length = steps;
  scan.reverse = reverse;
  return bind(scan_p, concat(concat(closed.consts, carries), xs), scan.params());
}

Arrays loop_while(const Arrays& carries, const FlatFn& condition, const FlatFn& body) {
  const ClosedJaxpr holds = traced(condition, types_of(carries), "while"),
                    step = traced(body, types_of(carries), "while");
  While loop;
  loop.condition = holds.jaxpr;
  loop.body = step.jaxpr;
  loop.condition_consts = holds.consts.size();
  loop.body_consts = step.consts.size();
  return bind(while_p, concat(concat(holds.consts, step.consts), carries), loop.params());
}

Arrays for_each_lane(const Arrays& operands, const Arrays& shared, const FlatFn& f) {
  const ClosedJaxpr closed = traced(f, slice_types(operands) + types_of(shared), "lane");
  Lanes lanes;
  lanes.size = operands[0].shape()[0];
  lanes.apart = true;
  lanes.program = closed.jaxpr;
  lanes.mapped =
      concat(concat(Mask(closed.consts.size(), false), Mask(operands.size(), true)), Mask(shared.size(), false));
  Arrays out = bind(lanes_p, concat(concat(closed.consts, operands), shared), lanes.params());
  const Mask mapped = depends_on(*lanes.program, lanes.mapped);
  for (std::size_t i = 0; i < out.size(); ++i)
    if (!mapped[i]) out[i] = ops::batch_at_front(out[i], not_batched, lanes.size);
  return out;
}

Arrays for_each_matrix(const Arrays& operands, const FlatFn& f) {
  const Shape batch(operands[0].shape().begin(), operands[0].shape().end() - 2);
  if (batch.empty()) return f(operands);
  const std::int64_t count = ops::product(batch);
  Arrays rows;
  for (const Array& a : operands) {
    Shape shape(a.shape().end() - 2, a.shape().end());
    if (count != 1) shape.insert(shape.begin(), count);
    rows.push_back(ops::reshape(a, shape));
  }
  Arrays out = count == 1 ? f(rows) : for_each_lane(rows, {}, f);
  for (Array& a : out) {
    Shape shape = batch;
    shape.insert(shape.end(), a.shape().begin() + (count == 1 ? 0 : 1), a.shape().end());
    a = ops::reshape(a, shape);
  }
  return out;
}

Arrays scan_associatively(const Arrays& elements, const FlatFn& combine, bool reverse) {
  const Types one = slice_types(elements);
  const ClosedJaxpr closed = traced(combine, one + one, "associative_scan");
  AssociativeScan scan;
  scan.combine = closed.jaxpr;
  scan.consts = closed.consts.size();
  scan.reverse = reverse;
  return bind(associative_scan_p, concat(closed.consts, elements), scan.params());
}

Array all_of(const Array& condition) {
  Ints axes;
  for (int i = 0; i < condition.ndim(); ++i) axes.push_back(i);
  return axes.empty() ? condition : bind1(ops::reduce_and_p, {condition}, {{"axes", axes}});
}

Array take(const Array& a, const Array& positions, int axis) {
  const int n = a.ndim(), k = positions.ndim();
  ops::WindowDims dims{.offset_dims = {}, .collapsed_slice_dims = {axis}, .start_index_map = {axis}};
  for (int i = 0; i < n; ++i)
    if (i != axis) dims.offset_dims.push_back(i < axis ? i : i + k - 1);
  Shape index = positions.shape();
  index.push_back(1);
  Ints sizes = a.shape();
  sizes[static_cast<std::size_t>(axis)] = 1;
  return ops::gather(a, ops::reshape(positions, index), dims, sizes, ops::mode_promise_in_bounds);
}

Array take_along_last(const Array& a, const Array& positions) {
  const int last = a.ndim() - 1;
  ops::WindowDims dims{.offset_dims = {}, .collapsed_slice_dims = {last}, .start_index_map = {last}};
  for (int i = 0; i < last; ++i) {
    dims.operand_batching_dims.push_back(i);
    dims.start_indices_batching_dims.push_back(i);
  }
  Shape index = positions.shape();
  index.push_back(1);
  return ops::gather(a, ops::reshape(positions, index), dims, Ints(a.shape().size(), 1), ops::mode_promise_in_bounds);
}

}  // namespace cotan::expansions
