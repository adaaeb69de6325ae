// What elementwise primitives share: operands of one dtype, of one shape or 0-d.
#pragma once
#include "core/backend.hpp"
#include "core/typed.hpp"
#include "ops/ops.hpp"

namespace cotan::ops {

/// Which dtypes an operation takes.
enum class Accepts { any, numeric, floating, integer, bits, boolean };
void check_dtype(const Primitive& self, DType dtype, Accepts accepts);

/// The common shape of elementwise operands; raises where they differ.
Shape elementwise_shape(const Primitive& self, std::span<const AbstractValue> operands);
/// All operands of one dtype, the result of that dtype too.
template <Accepts accepts>
Types elementwise_type(const Primitive& self, std::span<const AbstractValue> x, const Params&) {
  const Shape shape = elementwise_shape(self, x);
  bool weak = true;
  for (const auto& operand : x) {
    if (operand.dtype != x[0].dtype)
      raise<TypeError>("[{}] operands are {} and {}; give them one dtype with astype.", self.name, x[0], operand);
    weak &= operand.weak_type;
  }
  check_dtype(self, x[0].dtype, accepts);
  return {{x[0].dtype, shape, weak}};
}

BatchResult elementwise_batch(const Primitive& self, std::span<const Array> args, std::span<const int> dims,
                              std::int64_t size, const Params& params);

/// For operations that give their operand where both are the same.
inline std::optional<std::size_t> same_as_equal(const OperandFacts& x) {
  return x.first[1] == 0 ? std::optional<std::size_t>(0) : std::nullopt;
}

/// Step between elements: 0 for a 0-d operand among larger ones.
inline std::int64_t step(const Array& a, std::int64_t size) { return a.size() == 1 && size != 1 ? 0 : 1; }

inline std::pair<Array, BufferPtr> allocate_like(std::span<const Array> args, const AbstractValue& aval) {
  return allocate(args.empty() ? default_backend() : concrete(args[0])->buffer->backend(), aval);
}

/// The type of the first result on these operands.
inline AbstractValue result_type(const Primitive& self, std::span<const Array> args, const Params& params) {
  Types types;
  for (const Array& a : args) types.push_back(a.aval());
  return self.type(self, types, params)[0];
}

/// y[i] = f(x[i]) where f gets and gives the compute type.
template <auto f, class T>
void map1(const Array& x, BufferPtr& out, std::int64_t n) {
  const T* in = data<T>(x);
  T* y = reinterpret_cast<T*>(out->data());
  for (std::int64_t i = 0; i < n; ++i) y[i] = static_cast<T>(f(static_cast<Compute<T>>(in[i])));
}
template <auto f, class T, class R = T>
void map2(const Array& a, const Array& b, BufferPtr& out, std::int64_t n) {
  const T *x = data<T>(a), *y = data<T>(b);
  const std::int64_t dx = step(a, n), dy = step(b, n);
  R* z = reinterpret_cast<R*>(out->data());
  for (std::int64_t i = 0; i < n; ++i)
    z[i] = static_cast<R>(f(static_cast<Compute<T>>(x[i * dx]), static_cast<Compute<T>>(y[i * dy])));
}

template <auto f, Accepts accepts>
Arrays eval_unary(const Primitive& self, std::span<const Array> x, const Params&) {
  auto [out, buffer] = allocate_like(x, x[0].aval());
  const std::int64_t n = out.size();
  const auto run = [&, &b = buffer]<class T>() { map1<f, T>(x[0], b, n); };
  if constexpr (accepts == Accepts::floating)
    dispatch_floating(x[0].dtype(), self.name, run);
  else
    dispatch(x[0].dtype(), run);
  return {out};
}

template <auto f, Accepts accepts>
Arrays eval_binary(const Primitive& self, std::span<const Array> x, const Params&) {
  // The type rule has run: one dtype, one shape but for 0-d operands.
  const AbstractValue& larger = x[x[0].ndim() == 0 ? 1 : 0].aval();
  auto [out, buffer] = allocate_like(x, {larger.dtype, larger.shape, x[0].weak_type() && x[1].weak_type()});
  const std::int64_t n = out.size();
  const auto run = [&, &b = buffer]<class T>() { map2<f, T>(x[0], x[1], b, n); };
  if constexpr (accepts == Accepts::floating)
    dispatch_floating(x[0].dtype(), self.name, run);
  else
    dispatch(x[0].dtype(), run);
  return {out};
}

/// A unary operation and its derivative (nullptr: none).
template <auto f, Accepts accepts = Accepts::floating>
Primitive unary(std::string_view name, PartialRule derivative) {
  Primitive p{.name = name,
              .op_class = OpClass::elementwise,
              .type = elementwise_type<accepts>,
              .eval = eval_unary<f, accepts>,
              .batch = elementwise_batch};
  if (derivative)
    p.partials = {derivative};
  else
    p.not_differentiable = true;
  return p;
}
template <auto f, Accepts accepts = Accepts::floating>
Primitive binary(std::string_view name, std::vector<PartialRule> derivatives) {
  Primitive p{.name = name,
              .op_class = OpClass::elementwise,
              .type = elementwise_type<accepts>,
              .eval = eval_binary<f, accepts>,
              .batch = elementwise_batch};
  p.not_differentiable = derivatives.empty();
  p.partials = std::move(derivatives);
  return p;
}

}  // namespace cotan::ops
