// Sizes, strides and offset of a tensor, as PyTorch says them. Elements are not moved by them: views are operations
// (views.cpp); layouts say what is contiguous, which view() is possible, and where elements overlap.
#pragma once
#include <cotan/array.hpp>
#include <optional>

namespace cotan::torch::detail {

struct Layout {
  Shape sizes, strides;
  std::int64_t offset = 0;

  static Layout contiguous(const Shape& sizes);
  std::int64_t numel() const;
  int dim() const { return static_cast<int>(sizes.size()); }
  bool is_contiguous() const;
  /// Whether an element may be reached by two indices, as after expand().
  bool overlaps() const;
  /// The first place that is reached, and the one behind the last.
  std::pair<std::int64_t, std::int64_t> extent() const;
  /// Whether every place in the extent is reached once.
  bool is_dense() const;
  /// Whether some but not all elements of two dense layouts of one storage are the same, or in another order.
  bool partly_covers(const Layout& other) const;
};

/// A dimension that counts from the end where it is negative; IndexError with PyTorch's words where there is none such.
int wrap_dim(int dim, int ndim, std::string_view op);
/// `sizes` with the one -1 filled in; raises where the number of elements differs.
Shape inferred_sizes(const Shape& sizes, std::int64_t numel, std::string_view op);
/// Strides of a reshape that is a view, or nothing where it needs a copy.
std::optional<Shape> view_strides(const Layout& layout, const Shape& sizes);
/// Shapes broadcast together; raises with both where they do not fit.
Shape broadcast_shapes(const Shape& a, const Shape& b, std::string_view op);

}  // namespace cotan::torch::detail
