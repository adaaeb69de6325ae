// lax: gather, scatter and dynamic slices by name.
#include <cotan/control_flow.hpp>
#include <cotan/lax.hpp>

#include "lax/options.hpp"
#include "lax/scalar_program.hpp"
#include "ops/gather_scatter.hpp"
#include "ops/promote.hpp"

namespace cotan::lax {

const char* mode_name(GatherScatterMode mode) {
  switch (mode) {
    case GatherScatterMode::clip:
      return ops::mode_clip;
    case GatherScatterMode::fill_or_drop:
      return ops::mode_fill_or_drop;
    case GatherScatterMode::promise_in_bounds:
      break;
  }
  return ops::mode_promise_in_bounds;
}

namespace {

Array scatter_with(const Primitive& p, const Array& operand, const Array& indices, const Array& updates,
                   const ScatterDimensionNumbers& d, GatherScatterMode mode) {
  // A C++ scalar takes the other side's dtype; anything else must already fit.
  const Array target = operand.weak_type() ? ops::cast(operand, operand.dtype()) : operand;
  const Array values = updates.weak_type() ? ops::cast(updates, target.dtype()) : updates;
  return ops::scatter(p, target, indices, values,
                      {d.update_window_dims, d.inserted_window_dims, d.scatter_dims_to_operand_dims,
                       d.operand_batching_dims, d.scatter_indices_batching_dims},
                      mode_name(mode));
}

/// Start indices as the primitives take them: of one dtype, negative ones counted from the end.
Arrays normalized_starts(std::string_view op, const Array& a, const std::vector<Array>& starts) {
  if (static_cast<int>(starts.size()) != a.ndim())
    raise<ShapeError>("[{}] {} has {} axes but {} start indices are given; give one per axis.", op, a.aval(), a.ndim(),
                      starts.size());
  bool wide = false;
  for (const Array& s : starts) {
    if (s.ndim() != 0 || !is_integer(s.dtype()))
      raise<TypeError>("[{}] a start index is {}; start indices must be integer scalars.", op, s.aval());
    wide |= itemsize(s.dtype()) == 8 || s.dtype() == u32;
  }
  for (auto d : a.shape()) wide |= d > INT32_MAX;
  const DType dtype = wide ? i64 : i32;
  Arrays out;
  for (std::size_t i = 0; i < starts.size(); ++i) {
    if (concrete(starts[i])) {
      // Known while tracing: stays a plain number in the program.
      const auto value = ops::index_values(starts[i])[0];
      out.push_back(scalar(dtype, value < 0 ? value + a.shape()[i] : value));
      continue;
    }
    const Array start = ops::cast(starts[i], dtype);
    const Array wrapped = bind1(ops::add_p, {start, scalar(dtype, a.shape()[i])});
    out.push_back(is_unsigned_integer(starts[i].dtype())
                      ? start
                      : ops::select(bind1(ops::lt_p, {start, scalar(dtype, 0)}), wrapped, start));
  }
  return out;
}

std::vector<Array> start_along(const Array& a, const Array& start, int axis) {
  std::vector<Array> starts(static_cast<std::size_t>(a.ndim()), scalar(i32, 0));
  starts[static_cast<std::size_t>(axis)] = start;
  return starts;
}

}  // namespace

Array gather(const ArrayLike& operand, const ArrayLike& start_indices, const GatherDimensionNumbers& d,
             const std::vector<std::int64_t>& slice_sizes, GatherScatterMode mode) {
  return ops::gather(operand, start_indices,
                     {d.offset_dims, d.collapsed_slice_dims, d.start_index_map, d.operand_batching_dims,
                      d.start_indices_batching_dims},
                     slice_sizes, mode_name(mode));
}
Array gather(const ArrayLike& operand, const ArrayLike& start_indices, const GatherDimensionNumbers& d,
             const std::vector<std::int64_t>& slice_sizes, GatherScatterMode mode, double fill_value) {
  return ops::gather(operand, start_indices,
                     {d.offset_dims, d.collapsed_slice_dims, d.start_index_map, d.operand_batching_dims,
                      d.start_indices_batching_dims},
                     slice_sizes, mode_name(mode), fill_value);
}

Array scatter(const ArrayLike& operand, const ArrayLike& indices, const ArrayLike& updates,
              const ScatterDimensionNumbers& dimensions, GatherScatterMode mode) {
  return scatter_with(ops::scatter_p, operand, indices, updates, dimensions, mode);
}
Array scatter_add(const ArrayLike& operand, const ArrayLike& indices, const ArrayLike& updates,
                  const ScatterDimensionNumbers& dimensions, GatherScatterMode mode) {
  return scatter_with(ops::scatter_add_p, operand, indices, updates, dimensions, mode);
}
Array scatter_sub(const ArrayLike& operand, const ArrayLike& indices, const ArrayLike& updates,
                  const ScatterDimensionNumbers& dimensions, GatherScatterMode mode) {
  return scatter_with(ops::scatter_add_p, operand, indices, bind1(ops::neg_p, {updates.array()}), dimensions, mode);
}
Array scatter_mul(const ArrayLike& operand, const ArrayLike& indices, const ArrayLike& updates,
                  const ScatterDimensionNumbers& dimensions, GatherScatterMode mode) {
  return scatter_with(ops::scatter_mul_p, operand, indices, updates, dimensions, mode);
}
Array scatter_min(const ArrayLike& operand, const ArrayLike& indices, const ArrayLike& updates,
                  const ScatterDimensionNumbers& dimensions, GatherScatterMode mode) {
  return scatter_with(ops::scatter_min_p, operand, indices, updates, dimensions, mode);
}
Array scatter_max(const ArrayLike& operand, const ArrayLike& indices, const ArrayLike& updates,
                  const ScatterDimensionNumbers& dimensions, GatherScatterMode mode) {
  return scatter_with(ops::scatter_max_p, operand, indices, updates, dimensions, mode);
}

Array scatter_apply(const ArrayLike& operand, const ArrayLike& indices,
                    const std::function<Array(const Array&)>& function, const ScatterDimensionNumbers& dimensions,
                    const Shape& update_shape, GatherScatterMode mode) {
  const Array x = strong(operand);
  const ScalarProgram f("scatter_apply", [&](std::span<const Array> in) { return Arrays{function(in[0])}; },
                        {x.dtype()}, {x.dtype()});
  // How often each element is meant.
  const Array times = scatter_with(ops::scatter_add_p, ops::full(x.shape(), scalar(i32, 0)), indices,
                                   ops::full(update_shape, scalar(i32, 1)), dimensions, mode);
  const auto applied = [&](const Array& y, const Array& step) { return ops::select(times > step, f(Arrays{y})[0], y); };
  std::int64_t most = 1;
  for (int axis = 0; axis + 1 < indices->ndim(); ++axis) most *= indices->shape()[axis];
  if (most <= 1) return applied(x, scalar(i32, 0));
  const Array last = numpy::max(times);
  using State = std::pair<Array, Array>;
  return while_loop([&](const State& s) { return s.second < last; },
                    [&](const State& s) { return State{applied(s.first, s.second), s.second + 1}; },
                    State{x, scalar(i32, 0)})
      .first;
}

Array dynamic_slice(const ArrayLike& a, const std::vector<Array>& start, const std::vector<std::int64_t>& sizes) {
  Arrays operands = normalized_starts("dynamic_slice", a, start);
  operands.insert(operands.begin(), a.array());
  return bind1(ops::dynamic_slice_p, operands, {{"slice_sizes", sizes}});
}
Array dynamic_slice_in_dim(const ArrayLike& a, const ArrayLike& start, std::int64_t size, int axis) {
  const int along = numpy::resolve_axis(axis, a->ndim(), "dynamic_slice_in_dim");
  Shape sizes = a->shape();
  sizes[along] = size;
  return dynamic_slice(a, start_along(a, start, along), sizes);
}
Array dynamic_update_slice(const ArrayLike& a, const ArrayLike& update, const std::vector<Array>& start) {
  const Array target = a->weak_type() ? ops::cast(a, a->dtype()) : a.array();
  Arrays operands = normalized_starts("dynamic_update_slice", target, start);
  operands.insert(operands.begin(), {target, update->weak_type() ? ops::cast(update, target.dtype()) : update.array()});
  return bind1(ops::dynamic_update_slice_p, operands);
}
Array dynamic_update_slice_in_dim(const ArrayLike& a, const ArrayLike& update, const ArrayLike& start, int axis) {
  const int along = numpy::resolve_axis(axis, a->ndim(), "dynamic_update_slice_in_dim");
  return dynamic_update_slice(a, update, start_along(a, start, along));
}

Array dynamic_index_in_dim(const ArrayLike& a, const ArrayLike& index, int axis, bool keepdims) {
  const int along = numpy::resolve_axis(axis, a->ndim(), "dynamic_index_in_dim");
  const Array slice = dynamic_slice_in_dim(a, index, 1, along);
  return keepdims ? slice : ops::reshape(slice, ops::erase_axes(a->shape(), {along}));
}
Array dynamic_update_index_in_dim(const ArrayLike& a, const ArrayLike& update, const ArrayLike& index, int axis) {
  const int along = numpy::resolve_axis(axis, a->ndim(), "dynamic_update_index_in_dim");
  const bool lacks = update->ndim() == a->ndim() - 1;
  if (!lacks) return dynamic_update_slice_in_dim(a, update, index, along);
  Shape shape = update->shape();
  shape.insert(shape.begin() + along, 1);
  return dynamic_update_slice_in_dim(a, ops::reshape(update, shape), index, along);
}

}  // namespace cotan::lax
