// pad: elements before, after and between. Operands are the array and the 0-d padding value.
#include <algorithm>
#include <numeric>

#include "ops/parts.hpp"
#include "ops/views.hpp"

namespace cotan::ops {

using expr::Expr;
using expr::integer;
using expr::Operands;

namespace {

Types pad_type(const Primitive&, std::span<const AbstractValue> x, const Params& params) {
  const Ints &low = params.ints("low"), &high = params.ints("high"), &interior = params.ints("interior");
  const std::size_t n = x[0].shape.size();
  if (x[1].ndim() != 0 || x[1].dtype != x[0].dtype)
    raise<TypeError>("[pad] the padding value is {}; it must be a scalar of dtype {}.", x[1], x[0].dtype);
  if (low.size() != n || high.size() != n || interior.size() != n)
    raise<ShapeError>("[pad] {} has {} axes; give one low, high and interior amount per axis.", x[0], n);
  Shape shape;
  for (std::size_t i = 0; i < n; ++i) {
    const std::int64_t d = x[0].shape[i];
    if (interior[i] < 0)
      raise<ValueError>("[pad] interior padding {} is negative; only low and high may be.", interior[i]);
    std::int64_t size = 0;
    if (__builtin_mul_overflow(std::max<std::int64_t>(d - 1, 0), interior[i], &size) ||
        __builtin_add_overflow(size, d, &size) || __builtin_add_overflow(size, low[i], &size) ||
        __builtin_add_overflow(size, high[i], &size))
      raise<OutOfMemoryError>("[pad] padding {}, {} and {} makes axis {} of {} longer than can be addressed; pad less.",
                              low[i], high[i], interior[i], i, x[0]);
    if (size < 0)
      raise<ShapeError>("[pad] padding {} and {} leaves a negative size on axis {} of {}; crop less.", low[i], high[i],
                        i, x[0]);
    shape.push_back(size);
  }
  return {{x[0].dtype, shape, x[0].weak_type && x[1].weak_type}};
}
Arrays pad_eval(const Primitive& self, std::span<const Array> x, const Params& params) {
  auto [out, buffer] = allocate_like(x, result_type(self, x, params));
  const Ints &low = params.ints("low"), &interior = params.ints("interior");
  const Shape &shape = out.shape(), &in_shape = x[0].shape();
  const Ints to = strides_of(shape), from = strides_of(in_shape);
  // The part of the input that lands inside the output, per axis.
  Shape begin, count;
  Ints to_strides;
  std::int64_t to_offset = 0, from_offset = 0;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const std::int64_t every = interior[i] + 1;
    const std::int64_t first = low[i] >= 0 ? 0 : (-low[i] + every - 1) / every;
    const std::int64_t last =
        shape[i] - 1 - low[i] < 0 ? -1 : std::min(in_shape[i] - 1, (shape[i] - 1 - low[i]) / every);
    begin.push_back(first);
    count.push_back(std::max<std::int64_t>(last - first + 1, 0));
    to_strides.push_back(to[i] * every);
    to_offset += (low[i] + first * every) * to[i];
    from_offset += first * from[i];
  }
  dispatch_width(out.dtype(), [&, &b = buffer, n = out.size()]<class T>() {
    T* y = reinterpret_cast<T*>(b->data());
    std::fill(y, y + n, *data<T>(x[1]));
    const T* in = data<T>(x[0]) + from_offset;
    for_each_offset(count, from, to_strides, [&](std::int64_t i, std::int64_t o) { y[to_offset + o] = in[i]; });
  });
  return {out};
}
Array pad_operand(const Partial& p) {
  return pad(p.t, scalar(p.t.dtype(), 0), p.params.ints("low"), p.params.ints("high"), p.params.ints("interior"));
}
Array pad_value(const Partial& p) {
  return pad(zeros_like(p.x[0]), p.t, p.params.ints("low"), p.params.ints("high"), p.params.ints("interior"));
}
Arrays pad_transpose(const Primitive&, std::span<const Array> ct, std::span<const LinearInput> in,
                     const Params& params) {
  const Ints &low = params.ints("low"), &high = params.ints("high"), &interior = params.ints("interior");
  // Crop what was added outside, then take every (interior + 1)-th element.
  Ints minus_low, minus_high, zero(low.size(), 0);
  for (std::size_t i = 0; i < low.size(); ++i) {
    minus_low.push_back(-low[i]);
    minus_high.push_back(-high[i]);
  }
  const Array cropped = pad(ct[0], scalar(ct[0].dtype(), 0), minus_low, minus_high, zero);
  Ints strides;
  for (auto i : interior) strides.push_back(i + 1);
  const Array inner = slice(cropped, zero, cropped.shape(), strides);
  Arrays out(2);
  if (in[0].linear) out[0] = inner;
  if (in[1].linear) {
    Ints all(low.size());
    std::iota(all.begin(), all.end(), 0);
    out[1] = reduce_sum(ct[0], all) - reduce_sum(inner, all);
  }
  return out;
}
BatchResult pad_batch(const Primitive&, std::span<const Array> x, std::span<const int> dims, std::int64_t size,
                      const Params& params) {
  const Ints low = inserted_front(params.ints("low"), 0, 0), high = inserted_front(params.ints("high"), 0, 0),
             interior = inserted_front(params.ints("interior"), 0, 0);
  const Array operand = batch_at_front(x[0], dims[0], size);
  if (dims[1] == not_batched) return {{pad(operand, x[1], low, high, interior)}, {0}};
  // A padding value per lane: pad a mask beside the zero-padded operand, and fill by select.
  const Array zero = scalar(operand.dtype(), 0);
  const Array padded = pad(operand, zero, low, high, interior);
  const Array inside =
      pad(full(operand.shape(), scalar(DType::bool_, 1)), scalar(DType::bool_, 0), low, high, interior);
  return {{select(inside, padded, broadcast_in_dim(x[1], padded.shape(), {0}))}, {0}};
}

Expr pad_element(const Operands& x, Is i, const Params& params) {
  const Ints &low = params.ints("low"), &interior = params.ints("interior");
  std::vector<Expr> at;
  Expr inside = expr::boolean(true);
  for (std::size_t k = 0; k < i.size(); ++k) {
    const std::int64_t every = interior[k] + 1;
    const Expr from_low = i[k] - integer(low[k]), j = expr::floor_div(from_low, every);
    at.push_back(j);
    inside = inside & ge(j, integer(0)) & lt(j, integer(x.type(0).shape[k])) &
             eq(expr::floor_mod(from_low, every), integer(0));
  }
  return expr::select(inside, x.at(0, at, inside), x.at(1, {}));
}

std::optional<std::size_t> pad_same_as(const OperandFacts& x) {
  for (const char* key : {"low", "high", "interior"})
    if (!all_are(x.params.ints(key), 0)) return std::nullopt;
  return 0;
}
rows::Answer pad_on_rows(const rows::Question& q) {
  if (q.axes[0] != rows::whole && q.ints("low")[static_cast<std::size_t>(q.axes[0])] != 0) return {};
  return rows::by_axis(q, {"low", "high", "interior"});
}

}  // namespace

const Primitive pad_p{.name = "pad",
                      .op_class = OpClass::view,
                      .type = pad_type,
                      .eval = pad_eval,
                      .partials = {pad_operand, pad_value},
                      .transpose = pad_transpose,
                      .batch = pad_batch,
                      .element = pad_element,
                      .rewrites = {.same_as = pad_same_as},
                      .on_rows = pad_on_rows,
                      .on_parts = on_each_part};
const Listed pad_listed{&pad_p};

Array pad(const Array& a, const Array& value, const Ints& low, const Ints& high, const Ints& interior) {
  const auto zero = [](const Ints& v) { return std::all_of(v.begin(), v.end(), [](auto i) { return i == 0; }); };
  if (zero(low) && zero(high) && zero(interior)) return a;
  return bind1(pad_p, {a, value}, {{"low", low}, {"high", high}, {"interior", interior}});
}

}  // namespace cotan::ops
