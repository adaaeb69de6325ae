// concatenate: arrays one after the other along an axis.
#include <algorithm>

#include "ops/parts.hpp"
#include "ops/views.hpp"

namespace cotan::ops {

using expr::Expr;
using expr::integer;
using expr::Operands;

namespace {

Types concatenate_type(const Primitive&, std::span<const AbstractValue> x, const Params& params) {
  const std::int64_t axis = params.integer("dimension");
  if (x.empty()) raise<ValueError>("[concatenate] got no arrays; give at least one.");
  AbstractValue out = x[0];
  if (axis < 0 || axis >= out.ndim())
    raise<IndexError>("[concatenate] axis {} is out of range for {}; axes count from 0.", axis, x[0]);
  out.shape[axis] = 0;
  for (const auto& operand : x) {
    Shape expected = x[0].shape;
    if (operand.ndim() == x[0].ndim()) expected[axis] = operand.shape[axis];
    if (operand.shape != expected)
      raise<ShapeError>("[concatenate] {} and {} differ in an axis other than {}; all others must be equal.", x[0],
                        operand, axis);
    if (operand.dtype != x[0].dtype)
      raise<TypeError>("[concatenate] operands are {} and {}; give them one dtype.", x[0], operand);
    out.shape[axis] += operand.shape[axis];
    out.weak_type &= operand.weak_type;
  }
  return {out};
}
Arrays concatenate_eval(const Primitive& self, std::span<const Array> x, const Params& params) {
  const std::int64_t axis = params.integer("dimension");
  auto [out, buffer] = allocate_like(x, self.type(self, types_of(x), params)[0]);
  const Ints to = strides_of(out.shape());
  std::int64_t at = 0;
  dispatch_width(out.dtype(), [&, &b = buffer]<class T>() {
    for (const Array& a : x) {
      T* y = reinterpret_cast<T*>(b->data()) + at * to[axis];
      const T* in = data<T>(a);
      for_each_offset(a.shape(), strides_of(a.shape()), to, [&](std::int64_t i, std::int64_t o) { y[o] = in[i]; });
      at += a.shape()[axis];
    }
  });
  return {out};
}
JvpResult concatenate_jvp(const Primitive& self, std::span<const Array> primals, std::span<const Array> tangents,
                          const Params& params) {
  Arrays parts;
  for (std::size_t i = 0; i < primals.size(); ++i)
    parts.push_back(tangents[i].defined() ? tangents[i] : zeros_like(primals[i]));
  return {bind(self, primals, params), bind(self, parts, params)};
}
Arrays concatenate_transpose(const Primitive&, std::span<const Array> ct, std::span<const LinearInput> in,
                             const Params& params) {
  const int axis = static_cast<int>(params.integer("dimension"));
  Arrays out(in.size());
  std::int64_t at = 0;
  for (std::size_t i = 0; i < in.size(); ++i) {
    const std::int64_t next = at + in[i].aval.shape[axis];
    if (in[i].linear) out[i] = slice_axis(ct[0], axis, at, next);
    at = next;
  }
  return out;
}
BatchResult concatenate_batch(const Primitive&, std::span<const Array> x, std::span<const int> dims, std::int64_t size,
                              const Params& params) {
  Arrays parts;
  for (std::size_t i = 0; i < x.size(); ++i) parts.push_back(batch_at_front(x[i], dims[i], size));
  return {{concatenate(parts, static_cast<int>(params.integer("dimension")) + 1)}, {0}};
}

Expr concatenate_element(const Operands& x, Is i, const Params& params) {
  const auto axis = static_cast<std::size_t>(params.integer("dimension"));
  std::int64_t end = 0;
  for (std::size_t k = 0; k < x.size(); ++k) end += x.type(k).shape[axis];
  Expr out;
  for (std::size_t k = x.size(); k-- > 0;) {
    const std::int64_t size = x.type(k).shape[axis], start = end - size;
    if (size > 0) {
      std::vector<Expr> at(i.begin(), i.end());
      at[axis] = i[axis] - integer(start);
      const Expr here = ge(i[axis], integer(start)) & lt(i[axis], integer(end));
      const Expr value = x.at(k, at, here);
      out = out ? expr::select(here, value, out) : value;
    }
    end = start;
  }
  return out;
}

std::optional<std::size_t> concatenate_same_as(const OperandFacts& x) {
  return x.numbers.size() == 1 ? std::optional<std::size_t>(0) : std::nullopt;
}
rows::Answer concatenate_on_rows(const rows::Question& q) {
  const auto all = rows::elementwise(q);
  const std::int64_t dimension = q.e.params.integer("dimension");
  if (!all || dimension == all->out) return {};
  return rows::OnRows{all->in, all->out, q.e.params.with("dimension", dimension - (dimension > all->out))};
}

}  // namespace

const Primitive concatenate_p{.name = "concatenate",
                              .op_class = OpClass::data,
                              .type = concatenate_type,
                              .eval = concatenate_eval,
                              .jvp = concatenate_jvp,
                              .transpose = concatenate_transpose,
                              .batch = concatenate_batch,
                              .element = concatenate_element,
                              .rewrites = {.same_as = concatenate_same_as},
                              .on_rows = concatenate_on_rows,
                              .on_parts = on_each_part};
const Listed concatenate_listed{&concatenate_p};

Array concatenate(std::span<const Array> parts, int axis) {
  return parts.size() == 1 ? parts[0] : bind1(concatenate_p, parts, {{"dimension", std::int64_t{axis}}});
}

}  // namespace cotan::ops
