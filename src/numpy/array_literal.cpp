// np::array and np::block of nested braces: literals become one host array, Arrays among them are stacked or joined
// (and may be traced).
#include <complex>
#include <cotan/numpy.hpp>

#include "core/backend.hpp"
#include "core/typed.hpp"
#include "ops/ops.hpp"
#include "ops/promote.hpp"

namespace cotan::numpy {

Nested::Nested(std::initializer_list<Nested> items) : kind_(Kind::list), items_(items) {}
Nested::Nested(const Array& a) : kind_(Kind::array), array_(a) { a.aval(); }

/// Reads a tree of braces whose leaves are scalars and Arrays.
struct NestedReader {
  using Kind = Nested::Kind;

  static Shape shape(const Nested& node) {
    if (node.kind_ == Kind::array) return node.array_.shape();
    if (node.kind_ != Kind::list) return {};
    const auto n = static_cast<std::int64_t>(node.items_.size());
    if (n == 0) return {0};
    Shape inner = shape(node.items_[0]);
    for (const Nested& item : node.items_)
      if (const Shape other = shape(item); other != inner)
        raise<ShapeError>(
            "[array] ragged nesting: elements of one list have shapes {} and {}; give every row the same "
            "length.",
            describe(inner), describe(other));
    inner.insert(inner.begin(), n);
    return inner;
  }

  template <class F>
  static void for_each_leaf(const Nested& node, F&& f) {
    if (node.kind_ != Kind::list) return f(node);
    for (const Nested& item : node.items_) for_each_leaf(item, f);
  }
  static bool has_arrays(const Nested& node) {
    bool found = false;
    for_each_leaf(node, [&](const Nested& leaf) { found |= leaf.kind_ == Kind::array; });
    return found;
  }

  static DType literal_type(const Nested& node) {
    Kind highest = Kind::boolean;
    bool wide = false;
    bool empty = true;
    for_each_leaf(node, [&](const Nested& leaf) {
      highest = std::max(highest, leaf.kind_);
      wide |= leaf.kind_ == Kind::integer && leaf.integer_ != static_cast<std::int32_t>(leaf.integer_);
      empty = false;
    });
    if (highest == Kind::complex) return DType::c64;
    if (empty || highest == Kind::real) return DType::f32;
    return highest == Kind::boolean ? DType::bool_ : wide ? DType::i64 : DType::i32;
  }
  static Array from_literals(const Nested& node, const Shape& shape, DType dtype) {
    auto [out, buffer] = allocate(default_backend(), {dtype, shape, false});
    dispatch_any(dtype, [&, &b = buffer]<class T>() {
      T* at = reinterpret_cast<T*>(b->data());
      for_each_leaf(node, [&](const Nested& leaf) {
        if (leaf.kind_ == Kind::complex)
          *at++ = convert<T>(std::complex<double>(leaf.real_, leaf.imaginary_));
        else
          *at++ = leaf.kind_ == Kind::real ? convert<T>(leaf.real_) : convert<T>(leaf.integer_);
      });
    });
    return out;
  }

  static Array leaf_array(const Nested& leaf) {
    switch (leaf.kind_) {
      case Kind::array:
        return leaf.array_;
      case Kind::boolean:
        return Array(leaf.integer_ != 0);
      case Kind::integer:
        return Array(leaf.integer_);
      case Kind::complex:
        return Array(std::complex<double>(leaf.real_, leaf.imaginary_));
      default:
        return Array(leaf.real_);
    }
  }
  static Array stacked(const Nested& node, DType dtype) {
    if (node.kind_ != Kind::list) return ops::cast(leaf_array(node), dtype);
    Arrays parts;
    for (const Nested& item : node.items_) parts.push_back(stacked(item, dtype));
    return stack(parts);
  }

  /// Blocks joined, and how deep their lists are.
  static std::pair<Array, int> joined(const Nested& node) {
    if (node.kind_ != Kind::list) return {leaf_array(node), 0};
    if (node.items_.empty()) raise<ValueError>("[block] a list is empty; give it at least one block.");
    Arrays parts;
    int depth = 0;
    for (const Nested& item : node.items_) {
      const auto [part, levels] = joined(item);
      if (!parts.empty() && levels != depth)
        raise<ValueError>("[block] lists are {} and {} levels deep side by side; they must be as deep.", depth, levels);
      depth = levels;
      parts.push_back(part);
    }
    int ndim = depth + 1;
    for (const Array& part : parts) ndim = std::max(ndim, part.ndim());
    for (Array& part : parts) {
      Shape shape = part.shape();
      shape.insert(shape.begin(), static_cast<std::size_t>(ndim) - shape.size(), 1);
      part = ops::reshape(part, shape);
    }
    return {concatenate(parts, -depth - 1), depth + 1};
  }

  static Array read(const Nested& node, std::optional<DType> dtype) {
    const Shape s = shape(node);
    if (!has_arrays(node)) return from_literals(node, s, dtype.value_or(literal_type(node)));
    if (!dtype) {
      Arrays leaves;
      for_each_leaf(node, [&](const Nested& leaf) { leaves.push_back(leaf_array(leaf)); });
      dtype = result_type(leaves).dtype;
    }
    return stacked(node, *dtype);
  }
};

Array array(const Nested& nested, std::optional<DType> dtype, const std::source_location& where) {
  const cotan::detail::CallSite site(where);
  return NestedReader::read(nested, dtype);
}
Array block(const Nested& blocks, const std::source_location& where) {
  const cotan::detail::CallSite site(where);
  return NestedReader::joined(blocks).first;
}
Array block(std::initializer_list<Nested> blocks, const std::source_location& where) {
  return block(Nested(blocks), where);
}
Array array(std::initializer_list<Nested> items, std::optional<DType> dtype, const std::source_location& where) {
  return array(Nested(items), dtype, where);
}

}  // namespace cotan::numpy
