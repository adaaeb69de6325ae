// reshape and transpose, and the axes moved: views of the same elements.
#include <algorithm>
#include <numeric>

#include "ops/parts.hpp"
#include "ops/views.hpp"

namespace cotan::ops {

using expr::Expr;
using expr::integer;
using expr::Operands;

namespace {

Types reshape_type(const Primitive&, std::span<const AbstractValue> x, const Params& params) {
  const Shape& shape = params.ints("new_sizes");
  if (product(shape) != x[0].size())
    raise<ShapeError>(
        "[reshape] {} has {} elements and cannot take shape {}, which has {}; the sizes must multiply to the "
        "same number.",
        x[0], x[0].size(), describe(shape), product(shape));
  return {{x[0].dtype, shape, x[0].weak_type}};
}
Arrays reshape_eval(const Primitive&, std::span<const Array> x, const Params& params) {
  return {Array(std::make_shared<detail::Concrete>(
      AbstractValue{x[0].dtype(), params.ints("new_sizes"), x[0].weak_type()}, concrete(x[0])->buffer))};
}
Arrays reshape_transpose(const Primitive&, std::span<const Array> ct, std::span<const LinearInput> in, const Params&) {
  return {reshape(ct[0], in[0].aval.shape)};
}
BatchResult reshape_batch(const Primitive&, std::span<const Array> x, std::span<const int> dims, std::int64_t size,
                          const Params& params) {
  Shape shape = params.ints("new_sizes");
  shape.insert(shape.begin(), size);
  return {{reshape(move_axis(x[0], dims[0], 0), shape)}, {0}};
}

Expr reshape_element(const Operands& x, Is i, const Params& params) {
  return x.at(0, expr::index_at(x.type(0).shape, expr::offset_of(params.ints("new_sizes"), i)));
}

rows::Answer reshape_on_rows(const rows::Question& q) {
  if (q.axes[0] == rows::whole) return {};
  const Shape &from = q.in[0].shape, &to = q.out.shape;
  const auto before = [](const Shape& s, int axis) { return product(Shape(s.begin(), s.begin() + axis)); };
  for (int axis = 0; axis < q.out.ndim(); ++axis)
    if (to[static_cast<std::size_t>(axis)] == from[static_cast<std::size_t>(q.axes[0])] &&
        before(to, axis) == before(from, q.axes[0]))
      return rows::OnRows{{q.axes[0]}, axis, q.e.params.with("new_sizes", rows::without(to, axis))};
  return {};
}

Types transpose_type(const Primitive&, std::span<const AbstractValue> x, const Params& params) {
  const Ints& perm = params.ints("permutation");
  Ints sorted = perm;
  std::sort(sorted.begin(), sorted.end());
  Ints expected(x[0].shape.size());
  std::iota(expected.begin(), expected.end(), 0);
  if (sorted != expected)
    raise<ShapeError>("[transpose] {} is not a permutation of the {} axes of {}; name each axis once.", describe(perm),
                      x[0].ndim(), x[0]);
  Shape shape;
  for (auto i : perm) shape.push_back(x[0].shape[i]);
  return {{x[0].dtype, shape, x[0].weak_type}};
}
Arrays transpose_eval(const Primitive& self, std::span<const Array> x, const Params& params) {
  const Ints& perm = params.ints("permutation");
  const Ints from = strides_of(x[0].shape());
  Ints strides;
  for (auto i : perm) strides.push_back(from[i]);
  return {gather_strided(x[0], result_type(self, x, params).shape, 0, strides, x[0].weak_type())};
}
Arrays transpose_transpose(const Primitive&, std::span<const Array> ct, std::span<const LinearInput>,
                           const Params& params) {
  const Ints& perm = params.ints("permutation");
  Ints inverse(perm.size());
  for (std::size_t i = 0; i < perm.size(); ++i) inverse[perm[i]] = static_cast<std::int64_t>(i);
  return {transpose(ct[0], inverse)};
}
BatchResult transpose_batch(const Primitive&, std::span<const Array> x, std::span<const int> dims, std::int64_t,
                            const Params& params) {
  return {{transpose(move_axis(x[0], dims[0], 0), inserted_front(params.ints("permutation"), 1, 0))}, {0}};
}

Expr transpose_element(const Operands& x, Is i, const Params& params) {
  const Ints& perm = params.ints("permutation");
  std::vector<Expr> at(perm.size());
  for (std::size_t k = 0; k < perm.size(); ++k) at[perm[k]] = i[k];
  return x.at(0, at);
}

rows::Answer transpose_on_rows(const rows::Question& q) {
  if (q.axes[0] == rows::whole) return {};
  const Ints& perm = q.ints("permutation");
  const int out = rows::place_in(perm, q.axes[0]);
  return rows::OnRows{
      {q.axes[0]}, out, q.e.params.with("permutation", rows::renumbered(rows::without(perm, out), q.axes[0]))};
}
std::optional<std::size_t> transpose_same_as(const OperandFacts& x) {
  const Ints& perm = x.params.ints("permutation");
  return std::is_sorted(perm.begin(), perm.end()) ? std::optional<std::size_t>(0) : std::nullopt;
}
Params composed_transposes(const Params& first, const Params& second) {
  Ints both;
  for (auto i : second.ints("permutation")) both.push_back(first.ints("permutation")[static_cast<std::size_t>(i)]);
  return second.with("permutation", both);
}

}  // namespace

const Primitive reshape_p{.name = "reshape",
                          .op_class = OpClass::view,
                          .type = reshape_type,
                          .eval = reshape_eval,
                          .partials = {[](const Partial& d) { return apply_to_tangent(reshape_p, d); }},
                          .transpose = reshape_transpose,
                          .batch = reshape_batch,
                          .element = reshape_element,
                          .rewrites = {.same_as = same_as_operand,
                                       .compose = [](const Params&, const Params& second) { return second; },
                                       .shares_memory = true},
                          .on_rows = reshape_on_rows,
                          .on_parts = on_each_part};
const Primitive transpose_p{.name = "transpose",
                            .op_class = OpClass::view,
                            .type = transpose_type,
                            .eval = transpose_eval,
                            .partials = {[](const Partial& d) { return apply_to_tangent(transpose_p, d); }},
                            .transpose = transpose_transpose,
                            .batch = transpose_batch,
                            .element = transpose_element,
                            .rewrites = {.same_as = transpose_same_as, .compose = composed_transposes},
                            .on_rows = transpose_on_rows,
                            .on_parts = on_each_part};
const Listed reshape_listed{&reshape_p, &transpose_p};

Array reshape(const Array& a, const Shape& shape) {
  return a.shape() == shape ? a : bind1(reshape_p, {a}, {{"new_sizes", shape}});
}
Array transpose(const Array& a, const Ints& permutation) {
  return std::is_sorted(permutation.begin(), permutation.end()) && static_cast<int>(permutation.size()) == a.ndim()
             ? a
             : bind1(transpose_p, {a}, {{"permutation", permutation}});
}
Array move_axis(const Array& a, int from, int to) {
  if (from == to) return a;
  Ints perm;
  for (int i = 0; i < a.ndim(); ++i)
    if (i != from) perm.push_back(i);
  perm.insert(perm.begin() + to, from);
  return transpose(a, perm);
}

}  // namespace cotan::ops
