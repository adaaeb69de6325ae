// Operations that move elements and compute nothing: all linear, all views to a compiler.
#include <algorithm>
#include <numeric>

#include "expr/lowering.hpp"
#include "ops/strided.hpp"
#include "ops/parts.hpp"

namespace cotan::ops {

Shape erase_axes(const Shape& shape, const Ints& axes) {
  Shape out;
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(shape.size()); ++i)
    if (std::find(axes.begin(), axes.end(), i) == axes.end()) out.push_back(shape[i]);
  return out;
}
std::int64_t product(const Shape& shape) { return element_count(shape); }
Ints strides_of(const Shape& shape) {
  Ints out(shape.size());
  std::int64_t s = 1;
  for (int i = static_cast<int>(shape.size()) - 1; i >= 0; --i) {
    out[i] = s;
    s = static_cast<std::int64_t>(static_cast<std::uint64_t>(s) *
                                  static_cast<std::uint64_t>(shape[i]));  // of no use if it wraps: the array is empty
  }
  return out;
}

namespace {

// In element rules, indices of the result become indices of the operand: views cost arithmetic, no copies.
using expr::Expr;
using expr::integer;
using Operands = expr::Operands;
using Is = std::span<const Expr>;

Array apply_to_tangent(const Primitive& p, const Partial& d) { return bind1(p, {d.t}, d.params); }

Ints inserted_front(Ints list, std::int64_t shift, std::int64_t front) {
  for (auto& i : list) i += shift;
  list.insert(list.begin(), front);
  return list;
}

// reshape ---------------------------------------------------------------------------------------

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

// transpose -------------------------------------------------------------------------------------

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

// broadcast_in_dim ------------------------------------------------------------------------------

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

// slice -----------------------------------------------------------------------------------------

Types slice_type(const Primitive&, std::span<const AbstractValue> x, const Params& params) {
  const Ints &start = params.ints("start_indices"), &limit = params.ints("limit_indices"),
             &strides = params.ints("strides");
  const std::size_t n = x[0].shape.size();
  if (start.size() != n || limit.size() != n || strides.size() != n)
    raise<ShapeError>("[slice] {} has {} axes; give one start, limit and stride per axis.", x[0], n);
  Shape shape;
  for (std::size_t i = 0; i < n; ++i) {
    if (start[i] < 0 || limit[i] > x[0].shape[i] || start[i] > limit[i] || strides[i] < 1)
      raise<IndexError>(
          "[slice] {}:{}:{} does not fit axis {} of {}; bounds run from 0 to {} and strides are positive.", start[i],
          limit[i], strides[i], i, x[0], x[0].shape[i]);
    shape.push_back((limit[i] - start[i] + strides[i] - 1) / strides[i]);
  }
  return {{x[0].dtype, shape, x[0].weak_type}};
}
Arrays slice_eval(const Primitive& self, std::span<const Array> x, const Params& params) {
  const Ints &start = params.ints("start_indices"), &step = params.ints("strides");
  Ints strides = strides_of(x[0].shape());
  std::int64_t offset = 0;
  for (std::size_t i = 0; i < strides.size(); ++i) {
    offset += start[i] * strides[i];
    strides[i] *= step[i];
  }
  return {gather_strided(x[0], result_type(self, x, params).shape, offset, strides)};
}
Arrays slice_transpose(const Primitive&, std::span<const Array> ct, std::span<const LinearInput> in,
                       const Params& params) {
  const Ints &start = params.ints("start_indices"), &strides = params.ints("strides");
  Ints low = start, high, interior;
  for (std::size_t i = 0; i < start.size(); ++i) {
    const std::int64_t n = ct[0].shape()[i];
    const std::int64_t covered = n == 0 ? 0 : (n - 1) * strides[i] + 1;
    high.push_back(in[0].aval.shape[i] - start[i] - covered);
    interior.push_back(strides[i] - 1);
  }
  return {pad(ct[0], scalar(ct[0].dtype(), 0), low, high, interior)};
}
BatchResult slice_batch(const Primitive&, std::span<const Array> x, std::span<const int> dims, std::int64_t size,
                        const Params& params) {
  return {{slice(move_axis(x[0], dims[0], 0), inserted_front(params.ints("start_indices"), 0, 0),
                 inserted_front(params.ints("limit_indices"), 0, size), inserted_front(params.ints("strides"), 0, 1))},
          {0}};
}

Expr slice_element(const Operands& x, Is i, const Params& params) {
  const Ints &start = params.ints("start_indices"), &strides = params.ints("strides");
  std::vector<Expr> at;
  for (std::size_t k = 0; k < i.size(); ++k) at.push_back(i[k] * integer(strides[k]) + integer(start[k]));
  return x.at(0, at);
}

// pad: operands are the array and the 0-d padding value --------------------------------------------

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

// rev -------------------------------------------------------------------------------------------

Types rev_type(const Primitive&, std::span<const AbstractValue> x, const Params& params) {
  for (auto d : params.ints("dimensions"))
    if (d < 0 || d >= x[0].ndim())
      raise<IndexError>("[rev] axis {} is out of range for {}; axes count from 0.", d, x[0]);
  return {x[0]};
}
Arrays rev_eval(const Primitive&, std::span<const Array> x, const Params& params) {
  Ints strides = strides_of(x[0].shape());
  std::int64_t offset = 0;
  for (auto d : params.ints("dimensions")) {
    offset += (x[0].shape()[d] - 1) * strides[d];
    strides[d] = -strides[d];
  }
  return {gather_strided(x[0], x[0].shape(), x[0].size() ? offset : 0, strides)};
}
Arrays rev_transpose(const Primitive&, std::span<const Array> ct, std::span<const LinearInput>, const Params& params) {
  return {rev(ct[0], params.ints("dimensions"))};
}
BatchResult rev_batch(const Primitive&, std::span<const Array> x, std::span<const int> dims, std::int64_t,
                      const Params& params) {
  Ints axes = params.ints("dimensions");
  for (auto& a : axes) ++a;
  return {{rev(move_axis(x[0], dims[0], 0), axes)}, {0}};
}

Expr rev_element(const Operands& x, Is i, const Params& params) {
  std::vector<Expr> at(i.begin(), i.end());
  for (auto d : params.ints("dimensions")) at[d] = integer(x.type(0).shape[d] - 1) - i[d];
  return x.at(0, at);
}

// concatenate -----------------------------------------------------------------------------------

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

// iota ------------------------------------------------------------------------------------------

Types iota_type(const Primitive&, std::span<const AbstractValue>, const Params& params) {
  const Shape& shape = params.ints("shape");
  checked_bytes({params.dtype("dtype"), shape, false}, "iota");
  const std::int64_t axis = params.integer("dimension");
  if (axis < 0 || axis >= static_cast<std::int64_t>(shape.size()))
    raise<IndexError>("[iota] axis {} is out of range for shape {}; axes count from 0.", axis, describe(shape));
  return {{params.dtype("dtype"), shape, false}};
}
Arrays iota_eval(const Primitive&, std::span<const Array>, const Params& params) {
  const Shape& shape = params.ints("shape");
  const std::int64_t axis = params.integer("dimension");
  auto [out, buffer] = allocate(default_backend(), {params.dtype("dtype"), shape, false});
  const std::int64_t stride = strides_of(shape)[axis], extent = shape[axis];
  dispatch(out.dtype(), [&, &b = buffer, n = out.size()]<class T>() {
    T* y = reinterpret_cast<T*>(b->data());
    for (std::int64_t i = 0; i < n; ++i) y[i] = convert<T>(i / stride % extent);
  });
  return {out};
}

Expr iota_element(const Operands&, Is i, const Params& params) {
  return expr::cast(i[static_cast<std::size_t>(params.integer("dimension"))], params.dtype("dtype"));
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
 .on_parts = on_each_part};
const Primitive transpose_p{.name = "transpose",
                            .op_class = OpClass::view,
                            .type = transpose_type,
                            .eval = transpose_eval,
                            .partials = {[](const Partial& d) { return apply_to_tangent(transpose_p, d); }},
                            .transpose = transpose_transpose,
                            .batch = transpose_batch,
                            .element = transpose_element,
 .on_parts = on_each_part};
const Primitive broadcast_in_dim_p{
    .name = "broadcast_in_dim",
    .op_class = OpClass::view,
    .type = broadcast_type,
    .eval = broadcast_eval,
    .partials = {[](const Partial& d) { return apply_to_tangent(broadcast_in_dim_p, d); }},
    .transpose = broadcast_transpose,
    .batch = broadcast_batch,
    .element = broadcast_element,
 .on_parts = on_each_part};
const Primitive slice_p{.name = "slice",
                        .op_class = OpClass::view,
                        .type = slice_type,
                        .eval = slice_eval,
                        .partials = {[](const Partial& d) { return apply_to_tangent(slice_p, d); }},
                        .transpose = slice_transpose,
                        .batch = slice_batch,
                        .element = slice_element,
 .on_parts = on_each_part};
const Primitive pad_p{.name = "pad",
                      .op_class = OpClass::view,
                      .type = pad_type,
                      .eval = pad_eval,
                      .partials = {pad_operand, pad_value},
                      .transpose = pad_transpose,
                      .batch = pad_batch,
                      .element = pad_element,
 .on_parts = on_each_part};
const Primitive rev_p{.name = "rev",
                      .op_class = OpClass::view,
                      .type = rev_type,
                      .eval = rev_eval,
                      .partials = {[](const Partial& d) { return apply_to_tangent(rev_p, d); }},
                      .transpose = rev_transpose,
                      .batch = rev_batch,
                      .element = rev_element,
 .on_parts = on_each_part};
const Primitive concatenate_p{.name = "concatenate",
                              .op_class = OpClass::data,
                              .type = concatenate_type,
                              .eval = concatenate_eval,
                              .jvp = concatenate_jvp,
                              .transpose = concatenate_transpose,
                              .batch = concatenate_batch,
                              .element = concatenate_element,
 .on_parts = on_each_part};
const Primitive iota_p{.name = "iota",
                       .op_class = OpClass::elementwise,
                       .type = iota_type,
                       .eval = iota_eval,
                       .not_differentiable = true,
                       .element = iota_element,
 .on_parts = [](const Primitive& self, PartsOf, const Params& params) {
   const Array re = bind1(self, std::initializer_list<Array>{}, params.with("dtype", real_dtype(params.dtype("dtype"))));
   return PartsList{{re, zeros_like(re)}};
 }};

// The functions ---------------------------------------------------------------------------------

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
Array slice(const Array& a, const Ints& start, const Ints& limit, const Ints& strides) {
  const Ints steps = strides.empty() ? Ints(start.size(), 1) : strides;
  const bool whole = limit == a.shape() && std::all_of(start.begin(), start.end(), [](auto s) { return s == 0; }) &&
                     std::all_of(steps.begin(), steps.end(), [](auto s) { return s == 1; });
  if (whole) return a;
  return bind1(slice_p, {a}, {{"start_indices", start}, {"limit_indices", limit}, {"strides", steps}});
}
Array slice_axis(const Array& a, int axis, std::int64_t start, std::int64_t limit, std::int64_t stride) {
  Ints starts(a.ndim(), 0), limits = a.shape(), strides(a.ndim(), 1);
  starts[axis] = start;
  limits[axis] = limit;
  strides[axis] = stride;
  return slice(a, starts, limits, strides);
}
Array pad(const Array& a, const Array& value, const Ints& low, const Ints& high, const Ints& interior) {
  const auto zero = [](const Ints& v) { return std::all_of(v.begin(), v.end(), [](auto i) { return i == 0; }); };
  if (zero(low) && zero(high) && zero(interior)) return a;
  return bind1(pad_p, {a, value}, {{"low", low}, {"high", high}, {"interior", interior}});
}
Array rev(const Array& a, const Ints& dimensions) {
  return dimensions.empty() ? a : bind1(rev_p, {a}, {{"dimensions", dimensions}});
}
Array concatenate(std::span<const Array> parts, int axis) {
  return parts.size() == 1 ? parts[0] : bind1(concatenate_p, parts, {{"dimension", std::int64_t{axis}}});
}
Array iota(DType dtype, const Shape& shape, int axis) {
  return bind1(iota_p, std::span<const Array>{},
               {{"dtype", dtype}, {"shape", shape}, {"dimension", std::int64_t{axis}}});
}

}  // namespace cotan::ops
