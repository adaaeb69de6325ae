#include "ops/elementwise.hpp"

namespace cotan::ops {

void check_dtype(const Primitive& self, DType t, Accepts accepts) {
  if (is_complex(t) && accepts <= Accepts::floating) return;  // where there is a rule, which result_types() asks
  bool ok = true;
  const char* wanted = "";
  switch (accepts) {
    case Accepts::any:
      return;
    case Accepts::numeric:
      ok = t != DType::bool_, wanted = "numeric";
      break;
    case Accepts::floating:
      ok = is_floating(t), wanted = "floating-point";
      break;
    case Accepts::integer:
      ok = is_integer(t), wanted = "integer";
      break;
    case Accepts::bits:
      ok = is_integer(t) || t == DType::bool_, wanted = "integer or bool";
      break;
    case Accepts::boolean:
      ok = t == DType::bool_, wanted = "bool";
      break;
  }
  if (!ok) raise<TypeError>("[{}] needs {} operands, got {}; cast with astype.", self.name, wanted, t);
}

Shape elementwise_shape(const Primitive& self, std::span<const AbstractValue> operands) {
  const Shape* shape = nullptr;
  for (const auto& x : operands) {
    if (x.shape.empty()) continue;
    if (shape && *shape != x.shape)
      raise<ShapeError>("[{}] operands have shapes {} and {}; broadcast them to one shape first.", self.name,
                        describe(*shape), describe(x.shape));
    shape = &x.shape;
  }
  return shape ? *shape : Shape{};
}

BatchResult elementwise_batch(const Primitive& self, std::span<const Array> args, std::span<const int> dims,
                              std::int64_t size, const Params& params) {
  // The unbatched shape, with the batch axis in front; 0-d operands without a batch stay 0-d.
  Shape full;
  for (std::size_t i = 0; i < args.size(); ++i) {
    Shape s = args[i].shape();
    if (dims[i] != not_batched) s.erase(s.begin() + dims[i]);
    if (!s.empty()) full = s;
  }
  full.insert(full.begin(), size);
  Arrays operands;
  for (std::size_t i = 0; i < args.size(); ++i) {
    const Array& a = args[i];
    if (dims[i] == not_batched) {
      operands.push_back(a.ndim() == 0 ? a : broadcast_to(a, full));
    } else if (a.ndim() == 1 && full.size() > 1) {
      operands.push_back(broadcast_in_dim(a, full, {0}));
    } else {
      operands.push_back(move_axis(a, dims[i], 0));
    }
  }
  Arrays out = bind(self, operands, params);
  return {out, std::vector<int>(out.size(), 0)};
}

Array add_cotangents(const Array& a, const Array& b) {
  if (!a.defined()) return b;
  if (!b.defined()) return a;
  return bind1(add_p, {a, b});
}
Array zeros_of(const AbstractValue& aval) { return full(aval.shape, scalar(aval.dtype, 0)); }
Array batch_at_front(const Array& value, int dim, std::int64_t size) {
  if (dim != not_batched) return move_axis(value, dim, 0);
  Shape shape = value.shape();
  shape.insert(shape.begin(), size);
  return broadcast_to(value, shape);
}

Array unbroadcast(const Array& ct, const AbstractValue& aval) {
  if (ct.shape() == aval.shape) return ct;
  internal_check(aval.shape.empty(), "unbroadcast of an operand that is not 0-d");
  Ints axes;
  for (int i = 0; i < ct.ndim(); ++i) axes.push_back(i);
  return reduce_sum(ct, axes);
}

}  // namespace cotan::ops
