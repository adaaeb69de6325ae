// RegularGridInterpolator: the cell of each point is searched along every axis.
#include <cotan/numpy.hpp>
#include <cotan/scipy/interpolate.hpp>

#include "ops/promote.hpp"

namespace cotan::scipy::interpolate {

namespace {

namespace np = numpy;

void check_method(std::string_view method) {
  if (method != "linear" && method != "nearest")
    raise<ValueError>("[RegularGridInterpolator] there is no method '{}'; use linear or nearest.", method);
}

/// Along one axis: the lower end of the cells, where in them the points are, from 0 to 1, and whether they are outside.
struct Cells {
  Array lower, share, outside;
};
Cells cells_of(const Array& x, const Array& grid) {
  const std::int64_t n = grid.size();
  const Array lower = np::clip(np::searchsorted(grid, x) - 1, 0, n - 2);
  const Array from = grid(lower), to = grid(lower + 1);
  return {lower, (x - from) / (to - from), (x < grid(0)) | (x > grid(-1))};
}

Array interpolated(const Array& values, const std::vector<Cells>& cells, bool nearest) {
  const int more = values.ndim() - static_cast<int>(cells.size());
  const auto read = [&](const std::vector<Index>& indices) { return cotan::detail::get_index(values, indices); };
  if (nearest) {
    std::vector<Index> indices;
    for (const Cells& c : cells) indices.emplace_back(np::where(c.share <= 0.5, c.lower, c.lower + 1));
    return read(indices);
  }
  Array sum;
  for (std::size_t corner = 0; corner < std::size_t{1} << cells.size(); ++corner) {
    std::vector<Index> indices;
    Array weight;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const bool upper = (corner >> i & 1) != 0;
      indices.emplace_back(upper ? cells[i].lower + 1 : cells[i].lower);
      const Array share = upper ? cells[i].share : 1.0 - cells[i].share;
      weight = weight.defined() ? weight * share : share;
    }
    Shape shape = weight.shape();
    shape.insert(shape.end(), static_cast<std::size_t>(more), 1);
    const Array value = read(indices) * np::reshape(weight, shape);
    sum = sum.defined() ? sum + value : value;
  }
  return sum;
}

}  // namespace

RegularGridInterpolator::RegularGridInterpolator(const ArrayList& points, const ArrayLike& given,
                                                 const GridOptions& options)
    : grid(points.list()), values(np::to_inexact(given)), fill_value(options.fill_value), method(options.method) {
  check_method(method);
  if (options.bounds_error)
    raise<ValueError>(
        "[RegularGridInterpolator] a program cannot stop where a point is outside; leave bounds_error "
        "false, and look for the fill_value.");
  if (grid.empty() || static_cast<int>(grid.size()) > values.ndim())
    raise<ShapeError>(
        "[RegularGridInterpolator] {} vectors of points for values {}; give at least one, and at most "
        "one per axis.",
        grid.size(), values.aval());
  for (std::size_t i = 0; i < grid.size(); ++i) {
    np::check_real("RegularGridInterpolator", grid[i]);
    grid[i] = np::to_inexact(grid[i]);
    if (grid[i].ndim() != 1 || grid[i].size() < 2 || grid[i].size() != values.shape()[i])
      raise<ShapeError>(
          "[RegularGridInterpolator] the points along axis {} are {} for values {}; give a vector of as "
          "many as the axis has, at least two.",
          i, grid[i].aval(), values.aval());
  }
  if (fill_value && is_complex(fill_value->dtype()) && !is_complex(values.dtype()))
    raise<TypeError>("[RegularGridInterpolator] the fill_value is {} for values {}; give a real one.",
                     fill_value->aval(), values.aval());
}

Array RegularGridInterpolator::operator()(const ArrayLike& given, const std::optional<std::string>& other) const {
  const std::string& way = other ? *other : method;
  check_method(way);
  const auto axes = static_cast<std::int64_t>(grid.size());
  Array xi = np::to_inexact(given);
  if (xi.ndim() == 1 && xi.size() % axes == 0) xi = np::reshape(xi, {-1, axes});
  if (xi.ndim() == 0 || xi.shape().back() != axes)
    raise<ShapeError>("[RegularGridInterpolator] the points are {} for a grid of {} axes; give an array [..., {}].",
                      given->aval(), axes, axes);
  std::vector<Array> parts;
  for (std::int64_t i = 0; i < axes; ++i) parts.push_back(xi(ellipsis, i));
  return (*this)(parts, way, {});
}

Array RegularGridInterpolator::operator()(const std::vector<Array>& xi, const std::optional<std::string>& other,
                                          const std::source_location& where) const {
  const cotan::detail::CallSite site(where);
  const std::string& way = other ? *other : method;
  check_method(way);
  if (xi.size() != grid.size())
    raise<ShapeError>("[RegularGridInterpolator] {} coordinates for a grid of {} axes; give one array for each.",
                      xi.size(), grid.size());
  const std::vector<Array> at = np::broadcast_arrays(xi);
  std::vector<Cells> cells;
  Array outside;
  for (std::size_t i = 0; i < at.size(); ++i) {
    np::check_real("RegularGridInterpolator", at[i]);
    cells.push_back(cells_of(np::to_inexact(at[i]), grid[i]));
    outside = outside.defined() ? outside | cells[i].outside : cells[i].outside;
  }
  Array out = interpolated(values, cells, way == "nearest");
  if (fill_value) {
    Shape shape = outside.shape();
    shape.insert(shape.end(), static_cast<std::size_t>(out.ndim() - outside.ndim()), 1);
    out = np::where(np::reshape(outside, shape), *fill_value, out);
  }
  return out;
}

}  // namespace cotan::scipy::interpolate
