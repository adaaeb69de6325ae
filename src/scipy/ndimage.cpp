// map_coordinates: every sample is a sum over the corners of the cell that it is in.
#include <array>
#include <cotan/lax.hpp>
#include <cotan/scipy/ndimage.hpp>

#include "ops/promote.hpp"

namespace cotan::scipy::ndimage {

namespace {

namespace np = numpy;

enum class Outside : std::uint8_t { constant, nearest, wrap, mirror, reflect };

Outside outside_of(std::string_view mode) {
  constexpr std::array<std::string_view, 5> names{"constant", "nearest", "wrap", "mirror", "reflect"};
  const auto* at = std::find(names.begin(), names.end(), mode);
  if (at == names.end())
    raise<ValueError>("[map_coordinates] there is no mode '{}'; use constant, nearest, wrap, mirror or reflect.", mode);
  return static_cast<Outside>(at - names.begin());
}

Array mirrored(const Array& index, std::int64_t size) {
  const std::int64_t last = size - 1;
  return last == 0 ? np::zeros_like(index) : np::abs((index + last) % (2 * last) - last);
}
/// An index that is inside.
Array inside(const Array& index, std::int64_t size, Outside mode) {
  if (mode == Outside::wrap) return index % size;
  if (mode == Outside::mirror) return mirrored(index, size);
  if (mode == Outside::reflect) return np::floor_divide(mirrored(2 * index + 1, 2 * size + 1) - 1, 2);
  return np::clip(index, 0, size - 1);
}

/// An end of a cell along one axis: which element it is, whether there is one, and what it counts.
struct Node {
  Array index, weight, valid;
};
std::vector<Node> nodes_of(const Array& coordinate, std::int64_t size, int order, Outside mode) {
  const bool whole = !is_inexact(coordinate.dtype());
  std::vector<Node> out;
  if (whole || order == 0) {
    out.push_back({(whole ? coordinate : lax::round(coordinate)).astype(i32, {}), {}, {}});
  } else {
    const Array lower = np::floor(coordinate), share = coordinate - lower, index = lower.astype(i32, {});
    out = {{index, 1.0 - share, {}}, {index + 1, share, {}}};
  }
  for (Node& node : out) {
    if (mode == Outside::constant) node.valid = (node.index >= 0) & (node.index < size);
    node.index = inside(node.index, size, mode);
  }
  return out;
}

}  // namespace

Array map_coordinates(const ArrayLike& given, const ArrayList& coordinates, int order, std::string_view mode,
                      const ArrayLike& cval) {
  const Array& input = given;
  const std::vector<Array>& at = coordinates.list();
  const Outside outside = outside_of(mode);
  if (order != 0 && order != 1) raise<ValueError>("[map_coordinates] the order is {}; it must be 0 or 1.", order);
  if (static_cast<int>(at.size()) != input.ndim() || at.empty())
    raise<ShapeError>(
        "[map_coordinates] {} coordinates for an input {}; give an array for each of its axes, of which "
        "there is at least one.",
        at.size(), input.aval());
  if (input.size() == 0)
    raise<ShapeError>("[map_coordinates] the input is {}, which has no elements; give at least one.", input.aval());
  const Array otherwise = cval->astype(input.dtype(), {});

  // All corners: a node of each axis.
  std::vector<std::vector<Node>> corners(1);
  for (std::size_t i = 0; i < at.size(); ++i) {
    np::check_real("map_coordinates", at[i]);
    const std::vector<Node> nodes = nodes_of(at[i], input.shape()[i], order, outside);
    std::vector<std::vector<Node>> longer;
    for (const auto& corner : corners)
      for (const Node& node : nodes) {
        longer.push_back(corner);
        longer.back().push_back(node);
      }
    corners = std::move(longer);
  }
  Array sum;
  for (const auto& corner : corners) {
    std::vector<Index> indices;
    Array valid, weight;
    for (const Node& node : corner) {
      indices.emplace_back(node.index);
      if (node.valid.defined()) valid = valid.defined() ? valid & node.valid : node.valid;
      if (node.weight.defined()) weight = weight.defined() ? weight * node.weight : node.weight;
    }
    Array value = cotan::detail::get_index(input, indices);
    if (valid.defined()) value = np::where(valid, value, otherwise);
    if (weight.defined()) value = weight * value;
    sum = sum.defined() ? sum + value : value;
  }
  if (is_integer(input.dtype()) && is_inexact(sum.dtype())) sum = lax::round(sum);
  return sum.astype(input.dtype(), {});
}

}  // namespace cotan::scipy::ndimage
