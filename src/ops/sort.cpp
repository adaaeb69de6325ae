// sort: all operands together along one axis, by the first num_keys of them; NaN comes last and ±0 are
// equal. top_k: the largest elements of the last axis and where they are. Both are stable.
#include <algorithm>
#include <cmath>
#include <cotan/lax.hpp>

#include "ops/parts.hpp"
#include "ops/strided.hpp"

namespace cotan::ops {

namespace {

/// An integer that orders as the element does, so that one comparison serves every dtype.
template <class T>
std::uint64_t total_order(T v) {
  if constexpr (is_real<T>) {
    // Sign and magnitude to an unsigned integer: negative numbers count downwards.
    using U = std::conditional_t<sizeof(T) == 2, std::uint16_t,
                                 std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>;
    constexpr U sign = static_cast<U>(U(1) << (8 * sizeof(U) - 1));
    const U bits = std::bit_cast<U>(v);
    return static_cast<U>(bits & sign ? ~bits : bits | sign);
  } else if constexpr (std::is_signed_v<T>) {
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(v)) ^ (std::uint64_t{1} << 63);
  } else {
    return v;
  }
}
/// As total_order, but every NaN is the largest element and -0 is +0.
template <class T>
std::uint64_t numeric_order(T v) {
  if constexpr (is_real<T>) {
    const auto x = static_cast<Compute<T>>(v);
    if (std::isnan(x)) return ~std::uint64_t{0};
    if (x == 0) return total_order(T(0.0f));
  }
  return total_order(v);
}

struct Lines {
  std::int64_t outer = 1, n = 1, inner = 1;
  Lines(const Shape& shape, std::int64_t axis) : n(shape[axis]) {
    for (std::int64_t i = 0; i < static_cast<std::int64_t>(shape.size()); ++i)
      if (i != axis) (i < axis ? outer : inner) *= shape[i];
  }
  /// Calls f(offset of the first element) for every line; elements are `inner` apart.
  template <class F>
  void for_each(F&& f) const {
    for (std::int64_t o = 0; o < outer; ++o)
      for (std::int64_t i = 0; i < inner; ++i) f(o * n * inner + i);
  }
};

// sort ------------------------------------------------------------------------------------------

Types sort_type(const Primitive&, std::span<const AbstractValue> x, const Params& params) {
  const std::int64_t axis = params.integer("dimension"), keys = params.integer("num_keys");
  if (x.empty()) raise<ValueError>("[sort] got no operands; give at least one.");
  if (axis < 0 || axis >= x[0].ndim())
    raise<IndexError>("[sort] axis {} is out of range for {}; axes count from 0.", axis, x[0]);
  for (const auto& operand : x)
    if (operand.shape != x[0].shape)
      raise<ShapeError>("[sort] operands are {} and {}; those sorted together must have one shape.", x[0], operand);
  if (keys < 1 || keys > static_cast<std::int64_t>(x.size()))
    raise<ValueError>("[sort] num_keys is {} with {} operands; it must be from 1 to {}.", keys, x.size(), x.size());
  return Types(x.begin(), x.end());
}

Arrays sort_eval(const Primitive&, std::span<const Array> x, const Params& params) {
  const Lines lines(x[0].shape(), params.integer("dimension"));
  const auto n = static_cast<std::size_t>(lines.n);
  Arrays out;
  std::vector<BufferPtr> buffers;
  for (const Array& operand : x) {
    auto [array, buffer] = allocate_like(x, operand.aval());
    out.push_back(array);
    buffers.push_back(buffer);
  }
  const auto num_keys = static_cast<std::size_t>(params.integer("num_keys"));
  std::vector<std::vector<std::uint64_t>> keys(num_keys, std::vector<std::uint64_t>(n));
  std::vector<std::pair<std::uint64_t, std::int64_t>> order(n);  // first key and position: distinct, hence stable
  lines.for_each([&](std::int64_t first) {
    for (std::size_t k = 0; k < num_keys; ++k)
      dispatch(x[k].dtype(), [&]<class T>() {
        const T* in = data<T>(x[k]) + first;
        for (std::size_t i = 0; i < n; ++i) keys[k][i] = numeric_order(in[static_cast<std::int64_t>(i) * lines.inner]);
      });
    for (std::size_t i = 0; i < n; ++i) order[i] = {keys[0][i], static_cast<std::int64_t>(i)};
    if (num_keys == 1) {
      std::sort(order.begin(), order.end());
    } else {
      std::sort(order.begin(), order.end(), [&](const auto& a, const auto& b) {
        if (a.first != b.first) return a.first < b.first;
        for (std::size_t k = 1; k < num_keys; ++k) {
          const auto ka = keys[k][static_cast<std::size_t>(a.second)], kb = keys[k][static_cast<std::size_t>(b.second)];
          if (ka != kb) return ka < kb;
        }
        return a.second < b.second;
      });
    }
    for (std::size_t k = 0; k < x.size(); ++k)
      dispatch_width(x[k].dtype(), [&]<class T>() {
        const T* in = data<T>(x[k]) + first;
        T* y = reinterpret_cast<T*>(buffers[k]->data()) + first;
        for (std::size_t i = 0; i < n; ++i)
          y[static_cast<std::int64_t>(i) * lines.inner] = in[order[i].second * lines.inner];
      });
  });
  return out;
}

/// t[…, indices, …] along one axis, all other axes matched.
Array pick(const Array& t, const Array& indices, int axis) {
  lax::GatherDimensionNumbers dimensions{.offset_dims = {}, .collapsed_slice_dims = {axis}, .start_index_map = {axis}};
  for (int i = 0; i < t.ndim(); ++i)
    if (i != axis) {
      dimensions.operand_batching_dims.push_back(i);
      dimensions.start_indices_batching_dims.push_back(i);
    }
  Shape with_index = indices.shape();
  with_index.push_back(1);
  return lax::gather(t, reshape(indices, with_index), dimensions, Ints(t.ndim(), 1),
                     lax::GatherScatterMode::promise_in_bounds);
}

/// Tangents move as their elements do: positions are sorted along, and gather by them.
JvpResult sort_jvp(const Primitive& self, std::span<const Array> x, std::span<const Array> t, const Params& params) {
  const auto axis = static_cast<int>(params.integer("dimension"));
  const Shape& shape = x[0].shape();
  Arrays operands(x.begin(), x.end());
  operands.push_back(iota(shape[axis] > INT32_MAX ? DType::i64 : DType::i32, shape, axis));
  Arrays sorted = bind(self, operands, params);
  const Array positions = sorted.back();
  sorted.pop_back();
  Arrays tangents;
  for (const Array& tangent : t) tangents.push_back(tangent.defined() ? pick(tangent, positions, axis) : Array());
  return {std::move(sorted), std::move(tangents)};
}

BatchResult sort_batch(const Primitive& self, std::span<const Array> x, std::span<const int> dims, std::int64_t size,
                       const Params& params) {
  Arrays operands;
  for (std::size_t i = 0; i < x.size(); ++i) operands.push_back(batch_at_front(x[i], dims[i], size));
  return {bind(self, operands, params.with("dimension", params.integer("dimension") + 1)),
          std::vector<int>(x.size(), 0)};
}

/// A complex key is two keys: by real part, then by imaginary part.
PartsList sort_parts(const Primitive& self, PartsOf x, const Params& params) {
  const std::int64_t given = params.integer("num_keys");
  Arrays operands;
  std::int64_t keys = given;
  for (std::size_t i = 0; i < x.size(); ++i) {
    operands.push_back(x[i].re);
    if (x[i].complex()) operands.push_back(x[i].im);
    if (x[i].complex() && static_cast<std::int64_t>(i) < given) ++keys;
  }
  const Arrays sorted = bind(self, operands, params.with("num_keys", keys));
  PartsList out;
  std::size_t at = 0;
  for (const ComplexParts& operand : x) {
    out.push_back({sorted[at], operand.complex() ? sorted[at + 1] : Array()});
    at += operand.complex() ? 2 : 1;
  }
  return out;
}

// top_k -----------------------------------------------------------------------------------------

Types top_k_type(const Primitive&, std::span<const AbstractValue> x, const Params& params) {
  const std::int64_t k = params.integer("k");
  if (x[0].ndim() == 0) raise<ShapeError>("[top_k] {} has no axis to search; it needs at least one.", x[0]);
  if (k < 0 || k > x[0].shape.back())
    raise<ValueError>("[top_k] k is {} but the last axis of {} has {} elements; k must be from 0 to that.", k, x[0],
                      x[0].shape.back());
  AbstractValue values = x[0];
  values.shape.back() = k;
  return {values, {DType::i32, values.shape, false}};
}
/// JAX's order here is the total one: NaN above inf, -NaN below -inf, +0 above -0; the first of equals first.
Arrays top_k_eval(const Primitive& self, std::span<const Array> x, const Params& params) {
  const AbstractValue aval = x[0].aval();
  const Types types = self.type(self, {&aval, 1}, params);
  auto [values, value_buffer] = allocate_like(x, types[0]);
  auto [indices, index_buffer] = allocate_like(x, types[1]);
  const std::int64_t k = params.integer("k"), n = x[0].shape().back(), lines = n == 0 ? 0 : x[0].size() / n;
  dispatch(x[0].dtype(), [&, &vb = value_buffer, &ib = index_buffer]<class T>() {
    T* y = reinterpret_cast<T*>(vb->data());
    auto* at = reinterpret_cast<std::int32_t*>(ib->data());
    std::vector<std::pair<std::uint64_t, std::int64_t>> order(static_cast<std::size_t>(n));
    for (std::int64_t line = 0; line < lines; ++line) {
      const T* in = data<T>(x[0]) + line * n;
      for (std::int64_t i = 0; i < n; ++i) order[static_cast<std::size_t>(i)] = {~total_order(in[i]), i};
      std::partial_sort(order.begin(), order.begin() + k, order.end());
      for (std::int64_t i = 0; i < k; ++i) {
        const std::int64_t from = order[static_cast<std::size_t>(i)].second;
        y[line * k + i] = in[from];
        at[line * k + i] = static_cast<std::int32_t>(from);
      }
    }
  });
  return {values, indices};
}
JvpResult top_k_jvp(const Primitive& self, std::span<const Array> x, std::span<const Array> t, const Params& params) {
  Arrays out = bind(self, x, params);
  Array tangent = pick(t[0], out[1], x[0].ndim() - 1);
  return {std::move(out), {std::move(tangent), Array()}};
}
BatchResult top_k_batch(const Primitive& self, std::span<const Array> x, std::span<const int> dims, std::int64_t,
                        const Params& params) {
  return {bind(self, {move_axis(x[0], dims[0], 0)}, params), {0, 0}};
}

}  // namespace

const Primitive sort_p{.name = "sort",
                       .op_class = OpClass::routine,
                       .type = sort_type,
                       .eval = sort_eval,
                       .jvp = sort_jvp,
                       .batch = sort_batch,
                       .on_parts = sort_parts};
const Primitive top_k_p{.name = "top_k",
                        .op_class = OpClass::routine,
                        .type = top_k_type,
                        .eval = top_k_eval,
                        .jvp = top_k_jvp,
                        .batch = top_k_batch};
const Listed sort_listed{&sort_p, &top_k_p};

}  // namespace cotan::ops
