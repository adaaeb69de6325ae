// scatter and its kin: write windows of updates into an operand at dynamic positions. Params: those of JAX's
// ScatterDimensionNumbers, mode and unique_indices. Windows are applied one after another in row-major order
// of the indices: where they overlap, the last one wins (set) and sums are formed in that order, on every
// device.
#include <cmath>
#include <cotan/numpy.hpp>

#include "ops/gather_scatter.hpp"
#include "ops/parts.hpp"
#include "ops/scalar_ops.hpp"

namespace cotan::ops {

namespace {

WindowDims dims_of(const Params& params) {
  return {params.ints("update_window_dims"), params.ints("inserted_window_dims"),
          params.ints("scatter_dims_to_operand_dims"), params.ints("operand_batching_dims"),
          params.ints("scatter_indices_batching_dims")};
}

/// Slice sizes of the gather that reads exactly what a scatter of these updates writes.
Ints window_sizes(const Shape& operand, const Shape& updates, const WindowDims& dims) {
  Ints out;
  std::size_t k = 0;
  for (std::size_t i = 0; i < operand.size(); ++i) {
    const auto axis = static_cast<std::int64_t>(i);
    if (contains(dims.collapsed_slice_dims, axis))
      out.push_back(1);
    else if (contains(dims.operand_batching_dims, axis))
      out.push_back(std::min<std::int64_t>(operand[i], 1));
    else
      out.push_back(updates[dims.offset_dims[k++]]);
  }
  return out;
}

Types scatter_type(const Primitive& self, std::span<const AbstractValue> x, const Params& params) {
  const WindowDims dims = dims_of(params);
  const AbstractValue &operand = x[0], &indices = x[1], &updates = x[2];
  check_mode(self, params);
  check_windows(self, operand, indices, dims,
                {"update_window_dims", "inserted_window_dims", "scatter_dims_to_operand_dims", "operand_batching_dims",
                 "scatter_indices_batching_dims"});
  if (operand.dtype != updates.dtype)
    raise<TypeError>("[{}] the operand is {} and the updates are {}; give them one dtype with astype.", self.name,
                     operand, updates);
  const std::size_t rank = dims.offset_dims.size() + indices.shape.size() - 1;
  if (updates.shape.size() != rank)
    raise<ShapeError>("[{}] the updates are {}; for indices {} and {} window axes they need {} axes.", self.name,
                      updates, indices, dims.offset_dims.size(), rank);
  std::size_t batch = 0;
  for (auto axis : batch_axes(static_cast<std::int64_t>(rank), dims.offset_dims))
    if (updates.shape[axis] != indices.shape[batch++])
      raise<ShapeError>(
          "[{}] axis {} of the updates {} and axis {} of the indices {} differ in size; those must be equal.",
          self.name, axis, updates, batch - 1, indices);
  const Ints sizes = window_sizes(operand.shape, updates.shape, dims);
  for (std::size_t i = 0; i < sizes.size(); ++i)
    if (sizes[i] > operand.shape[i] && updates.size() != 0)
      raise<ShapeError>(
          "[{}] windows of size {} in the updates {} do not fit axis {} of the operand {}; give windows no "
          "larger than it.",
          self.name, sizes[i], updates, i, operand);
  return {{operand.dtype, operand.shape, operand.weak_type && updates.weak_type}};
}

constexpr auto replace = [](auto, auto b) { return b; };
template <auto combine>
Arrays scatter_eval(const Primitive& self, std::span<const Array> x, const Params& params) {
  const Types avals{x[0].aval(), x[1].aval(), x[2].aval()};
  auto [out, buffer] = allocate_like(x, self.type(self, avals, params)[0]);
  const WindowDims dims = dims_of(params);
  const Shape &operand = x[0].shape(), &updates = x[2].shape();
  const Ints sizes = window_sizes(operand, updates, dims);
  const auto window = window_layout(operand, updates, dims, sizes);
  const bool clip = params.text("mode") == mode_clip;
  dispatch(out.dtype(), [&, &b = buffer]<class T>() {
    using C = Compute<T>;
    T* y = reinterpret_cast<T*>(b->data());
    std::copy_n(data<T>(x[0]), x[0].size(), y);
    const T* in = data<T>(x[2]);
    for_each_window(operand, updates, x[1], dims, sizes, clip, [&](std::int64_t u, std::int64_t o, bool inside) {
      if (!inside) return;
      for_each_offset(window.shape, window.result_strides, window.operand_strides, [&](std::int64_t i, std::int64_t j) {
        y[o + j] = static_cast<T>(combine(static_cast<C>(y[o + j]), static_cast<C>(in[u + i])));
      });
    });
  });
  return {out};
}

/// What the windows hold now, in the shape of the updates; zero for windows that are outside.
Array read_back(const Array& operand, const Array& indices, const Shape& updates, const Params& params) {
  const WindowDims dims = dims_of(params);
  return gather(operand, indices, dims, window_sizes(operand.shape(), updates, dims), params.text("mode"), 0.0);
}

Array zeros_of_type(const Shape& shape, DType dtype) { return full(shape, scalar(dtype, 0)); }

// Derivatives of set ------------------------------------------------------------------------------

/// scatter is linear in operand and updates together.
JvpResult scatter_jvp(const Primitive& self, std::span<const Array> x, std::span<const Array> t, const Params& params) {
  const Array operand = t[0].defined() ? t[0] : zeros_like(x[0]);
  const Array updates = t[2].defined() ? t[2] : zeros_like(x[2]);
  return {bind(self, x, params), bind(self, {operand, x[1], updates}, params)};
}

/// Which elements of the updates remain after all windows have been written: each window writes its number.
Array survivors(const AbstractValue& operand, const Array& indices, const AbstractValue& updates,
                const Params& params) {
  const WindowDims dims = dims_of(params);
  const Ints axes = batch_axes(updates.ndim(), dims.offset_dims);
  Shape batch;
  for (auto axis : axes) batch.push_back(updates.shape[axis]);
  const std::int64_t windows = product(batch);
  const DType dtype = windows > INT32_MAX ? i64 : i32;
  const Array numbers = broadcast_in_dim(reshape(iota(dtype, {windows}, 0), batch), updates.shape, axes);
  const Array written = bind1(scatter_p, {zeros_of_type(operand.shape, dtype), indices, numbers}, params);
  return bind1(eq_p, {read_back(written, indices, updates.shape, params), numbers});
}

Arrays scatter_transpose(const Primitive& self, std::span<const Array> ct, std::span<const LinearInput> in,
                         const Params& params) {
  const Array& indices = in[1].value;
  Arrays out(3);
  if (in[0].linear) out[0] = bind1(self, {ct[0], indices, zeros_of_type(in[2].aval.shape, ct[0].dtype())}, params);
  if (in[2].linear) {
    out[2] = read_back(ct[0], indices, in[2].aval.shape, params);
    if (!params.flag("unique_indices"))
      out[2] = select(survivors(in[0].aval, indices, in[2].aval, params), out[2], scalar(ct[0].dtype(), 0));
  }
  return out;
}

// Derivatives of add ------------------------------------------------------------------------------

JvpResult scatter_add_jvp(const Primitive& self, std::span<const Array> x, std::span<const Array> t,
                          const Params& params) {
  Array tangent = t[0];
  if (t[2].defined()) tangent = bind1(self, {t[0].defined() ? t[0] : zeros_like(x[0]), x[1], t[2]}, params);
  return {bind(self, x, params), {tangent}};
}
Arrays scatter_add_transpose(const Primitive&, std::span<const Array> ct, std::span<const LinearInput> in,
                             const Params& params) {
  Arrays out(3);
  if (in[0].linear) out[0] = ct[0];
  if (in[2].linear) out[2] = read_back(ct[0], in[1].value, in[2].aval.shape, params);
  return out;
}

Array scattered_sum(const Array& operand, const Array& indices, const Array& updates, const Params& params) {
  return bind1(scatter_add_p, {operand, indices, updates}, params);
}

// Derivatives of multiply -------------------------------------------------------------------------

/// d result / d update: the product of the operand and all other updates of the same element. It is the
/// result divided by the update, except where the update is zero: there the zeros are kept out of the
/// product, and a second zero (the sum of all zeros of the element, less this one) stays a factor so that
/// derivatives of this rule are right too. Three zeros on one element matter to third derivatives only, and
/// are taken as zero.
Array other_factors(std::span<const Array> x, const Array& result, const Params& params) {
  const Array &operand = x[0], &indices = x[1], &updates = x[2];
  const auto at_updates = [&](const Array& a) { return read_back(a, indices, updates.shape(), params); };
  if (params.flag("unique_indices")) return at_updates(operand);
  const Array zero = scalar(updates.dtype(), 0), one = scalar(updates.dtype(), 1);
  const Array is_zero = bind1(eq_p, {updates, zero});
  const Array nonzero = select(is_zero, one, updates), zeros = select(is_zero, updates, zero);
  const Array none = zeros_like(operand);
  const Array count = at_updates(scattered_sum(none, indices, cast(is_zero, updates.dtype()), params));
  const Array other_zero = at_updates(scattered_sum(none, indices, zeros, params)) - updates;
  const Array product_of_others = at_updates(bind1(scatter_mul_p, {operand, indices, nonzero}, params));
  const Array at_zero = product_of_others * numpy::where(count == 1, one, numpy::where(count == 2, other_zero, zero));
  return select(is_zero, at_zero, bind1(div_p, {at_updates(result), nonzero}));
}

JvpResult scatter_mul_jvp(const Primitive& self, std::span<const Array> x, std::span<const Array> t,
                          const Params& params) {
  const Array result = bind1(self, x, params);
  Array tangent;
  if (t[0].defined()) tangent = bind1(self, {t[0], x[1], x[2]}, params);
  if (t[2].defined()) {
    const Array weighted = bind1(mul_p, {t[2], other_factors(x, result, params)});
    tangent = scattered_sum(tangent.defined() ? tangent : zeros_like(x[0]), x[1], weighted, params);
  }
  return {{result}, {tangent}};
}
Arrays scatter_mul_transpose(const Primitive& self, std::span<const Array> ct, std::span<const LinearInput> in,
                             const Params& params) {
  if (in[2].linear)
    raise<TransformError>(
        "[transpose] scatter_mul is not linear in its updates; use vjp or grad in place of "
        "linear_transpose.");
  return {bind1(self, {ct[0], in[1].value, in[2].value}, params), Array(), Array()};
}

// Derivatives of min and max ----------------------------------------------------------------------

/// The mean of the tangents of all candidates, the operand among them, that attain the extremum.
JvpResult extremum_jvp(const Primitive& self, std::span<const Array> x, std::span<const Array> t,
                       const Params& params) {
  const Array result = bind1(self, x, params);
  const DType dtype = result.dtype();
  // A NaN is an extremum as well.
  const auto attains = [&](const Array& a, const Array& extreme) {
    return cast(bind1(or_p, {bind1(eq_p, {a, extreme}), bind1(ne_p, {a, a})}), dtype);
  };
  const Array operand_wins = attains(x[0], result);
  const Array update_wins = attains(x[2], read_back(result, x[1], x[2].shape(), params));
  const Array winners = scattered_sum(operand_wins, x[1], update_wins, params);
  Array sum = t[0].defined() ? bind1(mul_p, {t[0], operand_wins}) : zeros_like(x[0]);
  if (t[2].defined()) sum = scattered_sum(sum, x[1], bind1(mul_p, {t[2], update_wins}), params);
  return {{result}, {bind1(div_p, {sum, winners})}};
}

// Batching ----------------------------------------------------------------------------------------

BatchResult scatter_batch(const Primitive& self, std::span<const Array> x, std::span<const int> dims, std::int64_t size,
                          const Params& params) {
  const Array operand = batch_at_front(x[0], dims[0], size), updates = batch_at_front(x[2], dims[2], size);
  WindowDims d = dims_of(params);
  d.offset_dims = shifted(d.offset_dims);
  d.collapsed_slice_dims = shifted(d.collapsed_slice_dims);
  d.start_index_map = shifted(d.start_index_map);
  d.operand_batching_dims = shifted(d.operand_batching_dims);
  Array indices = x[1];
  if (dims[1] == not_batched) {
    // The same positions in every lane: the lanes are part of the window.
    d.offset_dims = behind(0, d.offset_dims);
  } else {
    indices = move_axis(indices, dims[1], 0);
    d.operand_batching_dims = behind(0, d.operand_batching_dims);
    d.start_indices_batching_dims = behind(0, shifted(d.start_indices_batching_dims));
  }
  return {{scatter(self, operand, indices, updates, d, params.text("mode"), params.flag("unique_indices"))}, {0}};
}

std::string scatter_out_of_bounds(std::span<const Array> x, const Params& params) {
  if (params.text("mode") == mode_clip) return {};
  const WindowDims dims = dims_of(params);
  return outside_window(x[0].aval(), x[1], dims, window_sizes(x[0].shape(), x[2].shape(), dims));
}

std::optional<IndexedWindows> windows_by_scatter(std::span<const Array> x, const Params& params) {
  return windows_by_index(x[0].shape(), x[1], windows_of_scatter(x[0].shape(), x[2].shape(), params), params);
}

/// Of a scatter of one window.
std::optional<expr::WindowElement> scatter_window(const Primitive& self, const expr::Operands& x,
                                                  std::span<const expr::Expr> at, const Params& params) {
  using expr::Expr;
  const Shape &shape = x.type(0).shape, &indices = x.type(1).shape;
  const WindowDims dims = dims_of(params);
  const Ints& axes = dims.start_index_map;
  if (product(indices) != static_cast<std::int64_t>(axes.size()) || !dims.operand_batching_dims.empty())
    return std::nullopt;
  const Ints sizes = window_sizes(shape, x.type(2).shape, dims);
  std::vector<Expr> to;
  for (std::size_t k = 0, w = 0; k < shape.size(); ++k)
    to.push_back(contains(dims.collapsed_slice_dims, static_cast<std::int64_t>(k))
                     ? expr::integer(0)
                     : at[static_cast<std::size_t>(dims.offset_dims[w++])]);
  Expr inside = expr::boolean(true);
  for (std::size_t j = 0; j < axes.size(); ++j) {
    const auto k = static_cast<std::size_t>(axes[j]);
    std::vector<Expr> component(indices.size(), expr::integer(0));
    component.back() = expr::integer(static_cast<std::int64_t>(j));
    const Expr start = start_index(x.at(1, component)), clamped = clamped_start(start, shape[k], sizes[k]);
    inside = inside & eq(start, clamped);
    to[k] = to[k] + clamped;
  }
  const Expr old = x.at(0, to);
  Expr value = x.at(2, at);
  if (self.combine) {
    const DType dtype = value->dtype, wide = dtype == DType::f16 || dtype == DType::bf16 ? DType::f32 : dtype;
    value = expr::cast(self.combine->scalar(std::vector{expr::cast(old, wide), expr::cast(value, wide)}, {}), dtype);
  }
  if (params.text("mode") != mode_clip) value = expr::select(inside, value, old);
  return expr::WindowElement{to, value};
}

template <auto combine>
Primitive scatter_primitive(std::string_view name, decltype(Primitive::jvp) jvp,
                            decltype(Primitive::transpose) transpose, const Primitive* by = nullptr) {
  return {.name = name,
          .op_class = OpClass::data,
          .type = scatter_type,
          .eval = scatter_eval<combine>,
          .jvp = jvp,
          .transpose = transpose,
          .batch = scatter_batch,
          .out_of_bounds = scatter_out_of_bounds,
          .windows_by_index = windows_by_scatter,
          .window = scatter_window,
          .window_operand = 2,
          .combine = by};
}

}  // namespace

WindowsRead windows_of_scatter(const Shape& operand, const Shape& updates, const Params& params) {
  const WindowDims dims = dims_of(params);
  return {dims, window_sizes(operand, updates, dims)};
}
std::optional<IndexedWindows> windows_by_index(const Shape& shape, const Array& starts, const WindowsRead& windows,
                                               const Params& params) {
  if (params.text("mode") == mode_clip || params.has("fill_value")) return std::nullopt;
  IndexedWindows out;
  out.axes = windows.dims.start_index_map;
  for (const auto axis : out.axes)
    out.last.push_back(shape[static_cast<std::size_t>(axis)] - windows.sizes[static_cast<std::size_t>(axis)]);
  const auto components = static_cast<std::int64_t>(out.axes.size());
  if (components == 0 || starts.size() == 0) return std::nullopt;
  out.starts = reshape(starts, {starts.size() / components, components});
  return out;
}

const Primitive scatter_p =
    complex_by(scatter_primitive<replace>("scatter", scatter_jvp, scatter_transpose), on_each_part);
const Primitive scatter_add_p = complex_by(
    scatter_primitive<scalar_ops::add>("scatter_add", scatter_add_jvp, scatter_add_transpose, &add_p), on_each_part);
const Primitive scatter_mul_p =
    scatter_primitive<scalar_ops::mul>("scatter_mul", scatter_mul_jvp, scatter_mul_transpose, &mul_p);
const Primitive scatter_min_p = scatter_primitive<scalar_ops::minimum>("scatter_min", extremum_jvp, nullptr, &min_p);
const Primitive scatter_max_p = scatter_primitive<scalar_ops::maximum>("scatter_max", extremum_jvp, nullptr, &max_p);
const Listed scatter_listed{&scatter_p, &scatter_add_p, &scatter_mul_p, &scatter_min_p, &scatter_max_p};

Array scatter(const Primitive& p, const Array& operand, const Array& indices, const Array& updates,
              const WindowDims& dims, const std::string& mode, bool unique_indices) {
  return bind1(p, {operand, indices, updates},
               {{"update_window_dims", dims.offset_dims},
                {"inserted_window_dims", dims.collapsed_slice_dims},
                {"scatter_dims_to_operand_dims", dims.start_index_map},
                {"operand_batching_dims", dims.operand_batching_dims},
                {"scatter_indices_batching_dims", dims.start_indices_batching_dims},
                {"mode", mode},
                {"unique_indices", unique_indices}});
}

}  // namespace cotan::ops
