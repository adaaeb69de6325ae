// Index expressions: what a(1, all, idx) means for a given shape, before anything is read or written.
#pragma once
#include <cotan/flat.hpp>
#include <string_view>

#include "core/params.hpp"

namespace cotan::indexing {

/// One part of an index expression, after ellipses are spelled out. In order, the items that are not new axes
/// cover the axes of the array.
struct Item {
  enum class Kind { range, integer, newaxis, array, mask } kind;
  int axis = 0;             ///< the (first) axis of the array that it covers
  std::int64_t start = 0;   ///< range: the smallest index; integer: the index
  std::int64_t count = 0;   ///< range: how many
  std::int64_t stride = 1;  ///< range: distance of neighbours, positive …
  bool reversed = false;    ///< … and whether they run downwards
  Array array = {};         ///< array: integer indices; mask: bool
  bool after_ellipsis =
      false;  ///< comes right after an ellipsis, which separates index arrays even if it covers no axis
  bool keeps_axis() const { return kind == Kind::range || kind == Kind::newaxis; }
};

/// Raises IndexError or TypeError naming `op` where the expression does not fit `a`.
std::vector<Item> parse(const Array& a, const std::vector<Index>& indices, std::string_view op);
/// Turns masks into integer arrays, which takes their values.
std::vector<Item> without_masks(const Array& a, const std::vector<Item>& items, std::string_view op);

/// Where the axes of the indexed result come from.
struct Layout {
  Shape index_shape;     ///< all integer arrays broadcast together
  std::size_t position;  ///< how many kept items come before the axes of the integer arrays
  bool has_arrays;
  Shape result;
};
Layout layout(const std::vector<Item>& items, std::string_view op);

/// Integer indices into an axis of size `size` as i32 or i64, negative ones counted from the end.
Array wrap_negative(const Array& indices, std::int64_t size, DType dtype);
/// i32 where it holds every index and every axis that the arrays go into, else i64.
DType index_dtype(std::span<const Array> indices, const Shape& shape);
/// Index vectors along a new last axis: columns[k] of shape `shape` becomes component k.
Array index_vectors(const Arrays& columns, const Shape& shape);

/// Whether the elements of `a` can be looked at now.
bool has_value(const Array& a);
/// A tracer's description, or the type of anything else: for messages.
std::string describe_value(const Array& a);
/// Positions of the elements that are not zero, one array per axis; raises naming `op` under tracing.
Arrays nonzero_positions(const Array& a, std::string_view op);

}  // namespace cotan::indexing
