// dynamic_slice and dynamic_update_slice: one window of a static size at a dynamic start. Operands: the array
// (and the update), then one 0-d start per axis. Starts are clamped so that the window lies inside.
#include <numeric>

#include "ops/gather_scatter.hpp"
#include "ops/parts.hpp"

namespace cotan::ops {

namespace {

void check_starts(const Primitive& self, const AbstractValue& operand, std::span<const AbstractValue> starts) {
  if (static_cast<int>(starts.size()) != operand.ndim())
    raise<ShapeError>("[{}] {} has {} axes but {} start indices are given; give one per axis.", self.name, operand,
                      operand.ndim(), starts.size());
  for (const auto& s : starts)
    if (s.ndim() != 0 || !is_integer(s.dtype) || s.dtype != starts[0].dtype)
      raise<TypeError>("[{}] a start index is {}; they must be integer scalars of one dtype.", self.name, s);
}

/// The offset of the window's first element after clamping.
std::int64_t window_offset(const Shape& operand, const Shape& window, std::span<const Array> starts) {
  const Ints strides = strides_of(operand);
  std::int64_t offset = 0;
  for (std::size_t i = 0; i < operand.size(); ++i)
    offset += std::clamp<std::int64_t>(index_values(starts[i])[0], 0, operand[i] - window[i]) * strides[i];
  return offset;
}

std::string outside(const AbstractValue& operand, const Shape& window, std::span<const Array> starts) {
  for (std::size_t i = 0; i < starts.size(); ++i)
    if (const std::int64_t start = index_values(starts[i])[0]; start < 0 || start > operand.shape[i] - window[i])
      return fmt::format("a window of {} at {} is outside axis {} of {}", window[i], start, i, operand);
  return {};
}
std::string slice_out_of_bounds(std::span<const Array> x, const Params& params) {
  return outside(x[0].aval(), params.ints("slice_sizes"), x.subspan(1));
}
std::string update_out_of_bounds(std::span<const Array> x, const Params&) {
  return outside(x[0].aval(), x[1].shape(), x.subspan(2));
}
std::optional<IndexedWindows> one_window(const Shape& shape, const Ints& sizes, std::span<const Array> starts) {
  if (shape.empty()) return std::nullopt;
  IndexedWindows out;
  Arrays columns;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    columns.push_back(reshape(starts[i], {1}));
    out.axes.push_back(static_cast<std::int64_t>(i));
    out.last.push_back(shape[i] - sizes[i]);
  }
  out.starts = reshape(concatenate(columns, 0), {1, static_cast<std::int64_t>(shape.size())});
  return out;
}
std::optional<IndexedWindows> window_of_slice(std::span<const Array> x, const Params& params) {
  return one_window(x[0].shape(), params.ints("slice_sizes"), x.subspan(1));
}
std::optional<IndexedWindows> window_of_update(std::span<const Array> x, const Params&) {
  return one_window(x[0].shape(), x[1].shape(), x.subspan(2));
}

Arrays with_starts(std::initializer_list<Array> first, std::span<const Array> starts) {
  Arrays out(first);
  out.insert(out.end(), starts.begin(), starts.end());
  return out;
}
Arrays values_of(std::span<const LinearInput> inputs) {
  Arrays out;
  for (const LinearInput& in : inputs) out.push_back(in.value);
  return out;
}

bool any_batched(std::span<const int> dims) {
  return std::any_of(dims.begin(), dims.end(), [](int d) { return d != not_batched; });
}
Array zero_start(std::span<const Array> starts) { return scalar(starts.empty() ? i32 : starts[0].dtype(), 0); }

/// Starts of every lane as index vectors, [size, starts].
Array index_vectors(std::span<const Array> starts, std::span<const int> dims, std::int64_t size) {
  Arrays columns;
  for (std::size_t i = 0; i < starts.size(); ++i)
    columns.push_back(reshape(batch_at_front(starts[i], dims[i], size), {size, 1}));
  return concatenate(columns, 1);
}
Ints consecutive(std::int64_t first, std::size_t count) {
  Ints out(count);
  std::iota(out.begin(), out.end(), first);
  return out;
}

// dynamic_slice -----------------------------------------------------------------------------------

Types slice_type(const Primitive& self, std::span<const AbstractValue> x, const Params& params) {
  const Ints& sizes = params.ints("slice_sizes");
  check_starts(self, x[0], x.subspan(1));
  if (sizes.size() != x[0].shape.size())
    raise<ShapeError>("[dynamic_slice] {} has {} axes but the slice sizes are {}; give one per axis.", x[0],
                      x[0].ndim(), describe(sizes));
  for (std::size_t i = 0; i < sizes.size(); ++i)
    if (sizes[i] < 0 || sizes[i] > x[0].shape[i])
      raise<ShapeError>("[dynamic_slice] slice size {} does not fit axis {} of {}; it may be 0 to {}.", sizes[i], i,
                        x[0], x[0].shape[i]);
  return {{x[0].dtype, sizes, x[0].weak_type}};
}
Arrays slice_eval(const Primitive& self, std::span<const Array> x, const Params& params) {
  const Shape sizes = self.type(self, types_of(x), params)[0].shape;
  return {gather_strided(x[0], sizes, window_offset(x[0].shape(), sizes, x.subspan(1)), strides_of(x[0].shape()),
                         x[0].weak_type())};
}
Array slice_operand(const Partial& p) { return bind1(dynamic_slice_p, with_starts({p.t}, p.x.subspan(1)), p.params); }
Arrays slice_transpose(const Primitive&, std::span<const Array> ct, std::span<const LinearInput> in, const Params&) {
  const Array zeros = full(in[0].aval.shape, scalar(ct[0].dtype(), 0));
  Arrays out(in.size());
  out[0] = bind1(dynamic_update_slice_p, with_starts({zeros, ct[0]}, values_of(in.subspan(1))));
  return out;
}
BatchResult slice_batch(const Primitive& self, std::span<const Array> x, std::span<const int> dims, std::int64_t size,
                        const Params& params) {
  const auto starts = x.subspan(1);
  const Ints& sizes = params.ints("slice_sizes");
  const bool operand_batched = dims[0] != not_batched;
  const Array operand = operand_batched ? move_axis(x[0], dims[0], 0) : x[0];
  if (!any_batched(dims.subspan(1)))
    return {bind(self, with_starts({operand, zero_start(starts)}, starts), {{"slice_sizes", behind(size, sizes)}}),
            {0}};
  WindowDims d{.offset_dims = consecutive(1, sizes.size()), .collapsed_slice_dims = {}, .start_index_map = {}};
  if (operand_batched) d.operand_batching_dims = d.start_indices_batching_dims = {0};
  d.start_index_map = consecutive(operand_batched, sizes.size());
  const Ints window = operand_batched ? behind(std::min<std::int64_t>(size, 1), sizes) : sizes;
  return {{gather(operand, index_vectors(starts, dims.subspan(1), size), d, window, mode_clip)}, {0}};
}

expr::Expr slice_element(const expr::Operands& x, std::span<const expr::Expr> i, const Params& params) {
  const Ints& sizes = params.ints("slice_sizes");
  std::vector<expr::Expr> at;
  for (std::size_t k = 0; k < i.size(); ++k)
    at.push_back(i[k] + clamped_start(start_index(x.at(k + 1, {})), x.type(0).shape[k], sizes[k]));
  return x.at(0, at);
}

// dynamic_update_slice ----------------------------------------------------------------------------

Types update_type(const Primitive& self, std::span<const AbstractValue> x, const Params&) {
  check_starts(self, x[0], x.subspan(2));
  if (x[1].dtype != x[0].dtype)
    raise<TypeError>("[dynamic_update_slice] the operand is {} and the update is {}; give them one dtype with astype.",
                     x[0], x[1]);
  bool fits = x[0].ndim() == x[1].ndim();
  for (int i = 0; fits && i < x[0].ndim(); ++i) fits = x[1].shape[i] <= x[0].shape[i];
  if (!fits)
    raise<ShapeError>(
        "[dynamic_update_slice] the update {} does not fit into {}; it needs as many axes, none of them "
        "longer.",
        x[1], x[0]);
  return {{x[0].dtype, x[0].shape, x[0].weak_type && x[1].weak_type}};
}
Arrays update_eval(const Primitive& self, std::span<const Array> x, const Params& params) {
  auto [out, buffer] = allocate_like(x, self.type(self, types_of(x), params)[0]);
  const std::int64_t offset = window_offset(x[0].shape(), x[1].shape(), x.subspan(2));
  dispatch_width(out.dtype(), [&, &b = buffer]<class T>() {
    T* y = reinterpret_cast<T*>(b->data());
    std::copy_n(data<T>(x[0]), x[0].size(), y);
    const T* in = data<T>(x[1]);
    for_each_offset(x[1].shape(), strides_of(x[1].shape()), strides_of(x[0].shape()),
                    [&](std::int64_t i, std::int64_t o) { y[offset + o] = in[i]; });
  });
  return {out};
}
/// Linear in operand and update together.
JvpResult update_jvp(const Primitive& self, std::span<const Array> x, std::span<const Array> t, const Params& params) {
  const Array operand = t[0].defined() ? t[0] : zeros_like(x[0]), update = t[1].defined() ? t[1] : zeros_like(x[1]);
  return {bind(self, x, params), bind(self, with_starts({operand, update}, x.subspan(2)), params)};
}
Arrays update_transpose(const Primitive& self, std::span<const Array> ct, std::span<const LinearInput> in,
                        const Params& params) {
  const Arrays starts = values_of(in.subspan(2));
  Arrays out(in.size());
  if (in[0].linear)
    out[0] = bind1(self, with_starts({ct[0], full(in[1].aval.shape, scalar(ct[0].dtype(), 0))}, starts), params);
  if (in[1].linear) out[1] = bind1(dynamic_slice_p, with_starts({ct[0]}, starts), {{"slice_sizes", in[1].aval.shape}});
  return out;
}
BatchResult update_batch(const Primitive& self, std::span<const Array> x, std::span<const int> dims, std::int64_t size,
                         const Params& params) {
  const auto starts = x.subspan(2);
  const Array operand = batch_at_front(x[0], dims[0], size), update = batch_at_front(x[1], dims[1], size);
  if (!any_batched(dims.subspan(2)))
    return {bind(self, with_starts({operand, update, zero_start(starts)}, starts), params), {0}};
  const Ints axes = consecutive(1, starts.size());
  const WindowDims d{.offset_dims = axes,
                     .collapsed_slice_dims = {},
                     .start_index_map = axes,
                     .operand_batching_dims = {0},
                     .start_indices_batching_dims = {0}};
  return {{scatter(scatter_p, operand, index_vectors(starts, dims.subspan(2), size), update, d, mode_clip, true)}, {0}};
}

expr::Expr update_element(const expr::Operands& x, std::span<const expr::Expr> i, const Params&) {
  std::vector<expr::Expr> at;
  expr::Expr inside = expr::boolean(true);
  for (std::size_t k = 0; k < i.size(); ++k) {
    const std::int64_t size = x.type(1).shape[k];
    at.push_back(i[k] - clamped_start(start_index(x.at(k + 2, {})), x.type(0).shape[k], size));
    inside = inside & ge(at[k], expr::integer(0)) & lt(at[k], expr::integer(size));
  }
  return expr::select(inside, x.at(1, at, inside), x.at(0, i));
}

std::optional<expr::WindowElement> update_window(const Primitive&, const expr::Operands& x,
                                                 std::span<const expr::Expr> at, const Params&) {
  const Shape &shape = x.type(0).shape, &window = x.type(1).shape;
  std::vector<expr::Expr> to;
  for (std::size_t k = 0; k < shape.size(); ++k)
    to.push_back(at[k] + clamped_start(start_index(x.at(k + 2, {})), shape[k], window[k]));
  return expr::WindowElement{std::move(to), x.at(1, at)};
}

}  // namespace

const Primitive dynamic_slice_p{.name = "dynamic_slice",
                                .op_class = OpClass::data,
                                .type = slice_type,
                                .eval = slice_eval,
                                .partials = {slice_operand, nullptr},
                                .transpose = slice_transpose,
                                .batch = slice_batch,
                                .out_of_bounds = slice_out_of_bounds,
                                .windows_by_index = window_of_slice,
                                .element = slice_element,
                                .on_parts = on_each_part};
const Primitive dynamic_update_slice_p{.name = "dynamic_update_slice",
                                       .op_class = OpClass::data,
                                       .type = update_type,
                                       .eval = update_eval,
                                       .jvp = update_jvp,
                                       .transpose = update_transpose,
                                       .batch = update_batch,
                                       .out_of_bounds = update_out_of_bounds,
                                       .windows_by_index = window_of_update,
                                       .element = update_element,
                                       .window = update_window,
                                       .window_operand = 1,
                                       .on_parts = on_each_part};
const Listed dynamic_slice_listed{&dynamic_slice_p, &dynamic_update_slice_p};

}  // namespace cotan::ops
