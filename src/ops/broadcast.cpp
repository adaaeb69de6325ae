// broadcast_in_dim, and what is made by it: NumPy's broadcasting, arrays of one value.
#include <algorithm>

#include "ops/parts.hpp"
#include "ops/views.hpp"

namespace cotan::ops {

using expr::Expr;
using expr::integer;
using expr::Operands;

namespace {

Types broadcast_type(const Primitive&, std::span<const AbstractValue> x, const Params& params) {
  const Shape& shape = params.ints("shape");
  const Ints& dims = params.ints("broadcast_dimensions");
  if (dims.size() != x[0].shape.size())
    raise<ShapeError>("[broadcast_in_dim] {} has {} axes but the broadcast dimensions are {}; give one per axis.", x[0],
                      x[0].ndim(), describe(dims));
  for (std::size_t i = 0; i < dims.size(); ++i) {
    const bool fits = dims[i] >= 0 && dims[i] < static_cast<std::int64_t>(shape.size()) &&
                      (i == 0 || dims[i - 1] < dims[i]) && (x[0].shape[i] == 1 || x[0].shape[i] == shape[dims[i]]);
    if (!fits)
      raise<ShapeError>(
          "[broadcast_in_dim] {} does not fit shape {} along dimensions {}; those must ascend, and each axis "
          "be equal or 1.",
          x[0], describe(shape), describe(dims));
  }
  return {{x[0].dtype, shape, x[0].weak_type}};
}
Arrays broadcast_eval(const Primitive&, std::span<const Array> x, const Params& params) {
  const Shape& shape = params.ints("shape");
  const Ints& dims = params.ints("broadcast_dimensions");
  const Ints from = strides_of(x[0].shape());
  Ints strides(shape.size(), 0);
  for (std::size_t i = 0; i < dims.size(); ++i)
    if (x[0].shape()[i] != 1) strides[dims[i]] = from[i];
  return {gather_strided(x[0], shape, 0, strides, x[0].weak_type())};
}
Arrays broadcast_transpose(const Primitive&, std::span<const Array> ct, std::span<const LinearInput> in,
                           const Params& params) {
  const Shape& shape = params.ints("shape");
  const Ints& dims = params.ints("broadcast_dimensions");
  Ints summed;
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(shape.size()); ++i) {
    const auto at = std::find(dims.begin(), dims.end(), i);
    if (at == dims.end() || (in[0].aval.shape[at - dims.begin()] == 1 && shape[i] != 1)) summed.push_back(i);
  }
  return {reshape(reduce_sum(ct[0], summed), in[0].aval.shape)};
}
BatchResult broadcast_batch(const Primitive&, std::span<const Array> x, std::span<const int> dims, std::int64_t size,
                            const Params& params) {
  Shape shape = params.ints("shape");
  shape.insert(shape.begin(), size);
  return {
      {broadcast_in_dim(move_axis(x[0], dims[0], 0), shape, inserted_front(params.ints("broadcast_dimensions"), 1, 0))},
      {0}};
}

Expr broadcast_element(const Operands& x, Is i, const Params& params) {
  const Ints& dims = params.ints("broadcast_dimensions");
  std::vector<Expr> at;
  for (std::size_t k = 0; k < dims.size(); ++k) at.push_back(x.type(0).shape[k] == 1 ? integer(0) : i[dims[k]]);
  return x.at(0, at);
}

rows::Answer broadcast_on_rows(const rows::Question& q) {
  const Ints &dims = q.ints("broadcast_dimensions"), &shape = q.ints("shape");
  rows::OnRows on{{q.axes[0]}, rows::whole, q.e.params};
  Ints from = dims;
  if (q.axes[0] != rows::whole) {
    on.out = static_cast<int>(dims[static_cast<std::size_t>(q.axes[0])]);
    from = rows::without(dims, q.axes[0]);
  }
  for (int axis = 0; axis < q.out.ndim() && on.out == rows::whole; ++axis)
    if (!rows::has(dims, axis) && shape[static_cast<std::size_t>(axis)] >= rows::least_rows) on.out = axis;
  if (on.out == rows::whole) return {};
  on.params = on.params.with("shape", rows::without(shape, on.out))
                  .with("broadcast_dimensions", rows::renumbered(from, on.out));
  return on;
}

}  // namespace

const Primitive broadcast_in_dim_p{
    .name = "broadcast_in_dim",
    .op_class = OpClass::view,
    .type = broadcast_type,
    .eval = broadcast_eval,
    .partials = {[](const Partial& d) { return apply_to_tangent(broadcast_in_dim_p, d); }},
    .transpose = broadcast_transpose,
    .batch = broadcast_batch,
    .element = broadcast_element,
    .rewrites = {.same_as = same_as_operand, .is_trivial = true},
    .on_rows = broadcast_on_rows,
    .on_parts = on_each_part};
const Listed broadcast_listed{&broadcast_in_dim_p};

Array broadcast_in_dim(const Array& a, const Shape& shape, const Ints& dims) {
  return a.shape() == shape ? a : bind1(broadcast_in_dim_p, {a}, {{"shape", shape}, {"broadcast_dimensions", dims}});
}
Array broadcast_to(const Array& a, const Shape& shape) {
  const int offset = static_cast<int>(shape.size()) - a.ndim();
  bool fits = offset >= 0;
  Ints dims;
  for (int i = 0; fits && i < a.ndim(); ++i) {
    fits = a.shape()[i] == 1 || a.shape()[i] == shape[i + offset];
    dims.push_back(i + offset);
  }
  if (!fits)
    raise<ShapeError>(
        "[broadcast_to] {} does not broadcast to shape {}; aligned from the end, each axis must be equal or "
        "1.",
        a.aval(), describe(shape));
  return broadcast_in_dim(a, shape, dims);
}
Array full(const Shape& shape, const Array& value) { return broadcast_in_dim(value, shape, {}); }
Array zeros_like(const Array& a) { return full(a.shape(), scalar(a.dtype(), 0)); }

}  // namespace cotan::ops
