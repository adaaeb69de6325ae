// Padding: constants, what is at the edge, reflections, ramps and statistics.
#include <algorithm>
#include <cotan/numpy.hpp>

#include "ops/ops.hpp"
#include "ops/promote.hpp"

namespace cotan::numpy {

namespace {

/// Which element of an axis of size n stands at position i of the padded axis, counted from its start.
using SourceOf = std::int64_t (*)(std::int64_t i, std::int64_t n);

std::int64_t floor_mod(std::int64_t a, std::int64_t n) { return (a % n + n) % n; }
std::int64_t edge_source(std::int64_t i, std::int64_t n) { return std::clamp<std::int64_t>(i, 0, n - 1); }
std::int64_t wrap_source(std::int64_t i, std::int64_t n) { return floor_mod(i, n); }
std::int64_t reflect_source(std::int64_t i, std::int64_t n) {
  if (n == 1) return 0;
  const std::int64_t at = floor_mod(i, 2 * (n - 1));
  return at < n ? at : 2 * (n - 1) - at;
}
std::int64_t symmetric_source(std::int64_t i, std::int64_t n) {
  const std::int64_t at = floor_mod(i, 2 * n);
  return at < n ? at : 2 * n - 1 - at;
}

/// Cuts the padded axis into runs of sources that step by 1, -1 or 0: slices, reversed slices and repeats.
Array pad_axis(const Array& a, int axis, std::int64_t before, std::int64_t after, SourceOf source) {
  const std::int64_t n = a.shape()[axis], end = n + after;
  Arrays parts;
  for (std::int64_t i = -before; i < end;) {
    const std::int64_t first = source(i, n);
    std::int64_t last = first, step = 2, next = i + 1;
    for (; next < end; ++next) {
      const std::int64_t at = source(next, n), change = at - last;
      if (change > 1 || change < -1 || (step != 2 && change != step)) break;
      step = change;
      last = at;
    }
    const Array run = ops::slice_axis(a, axis, std::min(first, last), std::max(first, last) + 1);
    if (step == -1)
      parts.push_back(ops::rev(run, {axis}));
    else if (step == 0)
      parts.push_back(repeat(run, next - i, axis));
    else
      parts.push_back(run);
    i = next;
  }
  return ops::concatenate(parts, axis);
}

PadWidths widths_of(const Array& a, const PadWidths& width) {
  PadWidths widths = width;
  if (width.size() == 1) widths.assign(a.shape().size(), width[0]);
  if (widths.size() != a.shape().size())
    raise<ShapeError>("[pad] {} widths are given for {}; give one (before, after) pair per axis, or one for all.",
                      width.size(), a.aval());
  for (auto [before, after] : widths)
    if (before < 0 || after < 0)
      raise<ValueError>("[pad] width ({}, {}) is negative; use lax::pad to crop.", before, after);
  return widths;
}

Array constant_pad(const Array& a, const PadWidths& widths, const Array& value) {
  Ints low, high, interior(widths.size(), 0);
  for (auto [before, after] : widths) {
    low.push_back(before);
    high.push_back(after);
  }
  return ops::pad(a, ops::cast(value, a.dtype()), low, high, interior);
}

/// A scalar, or one of two per axis, which [ndim, 2] broadcasts from.
Array value_of(const std::optional<Array>& values, const Array& a, int axis, int side) {
  if (!values) return scalar(a.dtype(), 0);
  if (values->ndim() == 0) return ops::cast(*values, a.dtype());
  const Shape all{a.ndim(), 2}, shapes[] = {values->shape(), all};
  if (values->ndim() > 2 || broadcast_shapes("pad", shapes) != all)
    raise<ShapeError>("[pad] the values are {}; they must be a scalar, or broadcast to {}.", values->aval(),
                      describe(all));
  const Array table = ops::broadcast_to(*values, all);
  return ops::cast(ops::reshape(ops::slice(table, {axis, side}, {axis + 1, side + 1}), {}), a.dtype());
}

/// An axis with something before and behind it.
Array with_sides(const Array& before, const Array& a, const Array& after, int axis) {
  const Array parts[] = {before, a, after};
  return ops::concatenate(parts, axis);
}
Array side_of(const Array& value, const Array& a, int axis, std::int64_t width) {
  Shape shape = a.shape();
  shape[axis] = width;
  return ops::broadcast_to(value, shape);
}

/// From the value at the edge to one given, in even steps.
Array ramp_axis(const Array& a, int axis, std::pair<std::int64_t, std::int64_t> width, const PadOptions& o) {
  const std::int64_t n = a.shape()[axis];
  const auto ramp = [&](std::int64_t at, std::int64_t count, int side) {
    const Array edge = ops::reshape(ops::slice_axis(a, axis, at, at + 1), ops::erase_axes(a.shape(), {axis}));
    return linspace(value_of(o.end_values, a, axis, side), edge, count, false, a.dtype(), axis);
  };
  return with_sides(ramp(0, width.first, 0), a, ops::rev(ramp(n - 1, width.second, 1), {axis}), axis);
}

using Statistic = Array (*)(const ArrayLike& a, const Axes& axis, bool keepdims);
Array statistic_axis(const Array& a, int axis, std::pair<std::int64_t, std::int64_t> width, Statistic f,
                     const PadOptions& o) {
  const std::int64_t n = a.shape()[axis];
  std::pair<std::int64_t, std::int64_t> lengths{o.stat_length.value_or(n), o.stat_length.value_or(n)};
  if (!o.stat_lengths.empty())
    lengths = o.stat_lengths[o.stat_lengths.size() == 1 ? 0 : static_cast<std::size_t>(axis)];
  if (lengths.first < 1 || lengths.second < 1)
    raise<ValueError>("[pad] a statistic of {} elements has no value; give a stat_length of 1 or more.",
                      std::min(lengths.first, lengths.second));
  const auto value = [&](std::int64_t start, std::int64_t stop) {
    const Array of = f(ops::slice_axis(a, axis, start, stop), axis, true);
    return ops::cast(is_inexact(a.dtype()) ? of : round(of), a.dtype());
  };
  return with_sides(side_of(value(0, std::min(lengths.first, n)), a, axis, width.first), a,
                    side_of(value(n - std::min(lengths.second, n), n), a, axis, width.second), axis);
}

/// Reflected through the edge: what is as far below it as its image was above.
Array odd_side(const Array& a, int axis, std::int64_t width, std::int64_t offset, bool before) {
  Array out = a;
  while (width > 0) {
    const std::int64_t n = out.shape()[axis], count = std::min(width, a.shape()[axis] - offset);
    const Array edge = before ? ops::slice_axis(out, axis, 0, 1) : ops::slice_axis(out, axis, n - 1, n);
    const Array image = before ? ops::slice_axis(out, axis, offset, offset + count)
                               : ops::slice_axis(out, axis, n - offset - count, n - offset);
    const Array side = 2 * edge - ops::rev(image, {axis});
    const Array parts[] = {before ? side : out, before ? out : side};
    out = ops::concatenate(parts, axis);
    width -= count;
  }
  return out;
}

Array padded(const Array& a, const PadWidths& width, const PadOptions& o) {
  const PadWidths widths = widths_of(a, width);
  if (o.mode == "empty") return constant_pad(a, widths, scalar(a.dtype(), 0));
  if (o.mode == "constant") {
    if (!o.constant_values || o.constant_values->ndim() == 0)
      return constant_pad(a, widths, value_of(o.constant_values, a, 0, 0));
    Array out = a;
    for (int axis = 0; axis < a.ndim(); ++axis)
      out = with_sides(side_of(value_of(o.constant_values, a, axis, 0), out, axis, widths[axis].first), out,
                       side_of(value_of(o.constant_values, a, axis, 1), out, axis, widths[axis].second), axis);
    return out;
  }
  if (o.reflect_type != "even" && o.reflect_type != "odd")
    raise<ValueError>("[pad] reflect_type '{}' is unknown; use even or odd.", o.reflect_type);
  if (o.stat_lengths.size() > 1 && o.stat_lengths.size() != a.shape().size())
    raise<ShapeError>("[pad] {} stat_lengths are given for {}; give one pair per axis, or one for all.",
                      o.stat_lengths.size(), a.aval());
  SourceOf source = nullptr;
  for (auto [name, f] : {std::pair<std::string_view, SourceOf>{"edge", edge_source},
                         {"reflect", reflect_source},
                         {"symmetric", symmetric_source},
                         {"wrap", wrap_source}})
    if (o.mode == name) source = f;
  Statistic statistic = nullptr;
  for (auto [name, f] :
       {std::pair<std::string_view, Statistic>{"maximum", max}, {"minimum", min}, {"mean", mean}, {"median", median}})
    if (o.mode == name) statistic = f;
  if (!source && !statistic && o.mode != "linear_ramp")
    raise<ValueError>(
        "[pad] there is no mode '{}'; use constant, edge, reflect, symmetric, wrap, linear_ramp, maximum, minimum, "
        "mean, median or empty.",
        o.mode);
  const bool odd = o.reflect_type == "odd" && (o.mode == "reflect" || o.mode == "symmetric");
  Array out = a;
  for (int axis = 0; axis < out.ndim(); ++axis) {
    const auto [before, after] = widths[axis];
    if (before == 0 && after == 0) continue;
    const std::int64_t n = out.shape()[axis];
    if (n == 0)
      raise<ShapeError>("[pad] axis {} of {} is empty and has nothing to fill with; use mode constant.", axis,
                        a.aval());
    const std::int64_t offset = o.mode == "reflect" && n > 1 ? 1 : 0;
    if (odd)
      out = odd_side(odd_side(out, axis, before, offset, true), axis, after, offset, false);
    else if (source)
      out = pad_axis(out, axis, before, after, source);
    else if (statistic)
      out = statistic_axis(out, axis, widths[axis], statistic, o);
    else
      out = ramp_axis(out, axis, widths[axis], o);
  }
  return out;
}

/// One width for all sides.
PadWidths same_widths(const Array& a, std::int64_t width) { return PadWidths(a.shape().size(), {width, width}); }
PadOptions plain(std::string_view mode, const Array& value) {
  if (mode == "constant" && value.ndim() != 0)
    raise<ShapeError>("[pad] the padding value is {}; it must be a scalar.", value.aval());
  return {.mode = mode, .constant_values = value};
}

}  // namespace

Array pad(const ArrayLike& a, const PadWidths& width, std::string_view mode, const ArrayLike& value) {
  return padded(a, width, plain(mode, value));
}
Array pad(const ArrayLike& a, std::int64_t width, std::string_view mode, const ArrayLike& value) {
  return padded(a, same_widths(a, width), plain(mode, value));
}
template <class Options>
Array pad(const ArrayLike& a, const PadWidths& width, const std::type_identity_t<Options>& options) {
  return padded(a, width, options);
}
template <class Options>
Array pad(const ArrayLike& a, std::int64_t width, const std::type_identity_t<Options>& options) {
  return padded(a, same_widths(a, width), options);
}
template Array pad<PadOptions>(const ArrayLike&, const PadWidths&, const PadOptions&);
template Array pad<PadOptions>(const ArrayLike&, std::int64_t, const PadOptions&);

}  // namespace cotan::numpy
