// Indices of diagonals, triangles and grids, and between those of an array and of its elements in a row.
#include <cotan/numpy.hpp>

#include "core/typed.hpp"
#include "numpy/indexing.hpp"
#include "numpy/promote.hpp"
#include "ops/ops.hpp"

namespace cotan::numpy {

namespace {

void check_count(std::string_view op, std::int64_t n) {
  if (n < 0) raise<ValueError>("[{}] size {} is negative; give 0 or more.", op, n);
}

}  // namespace

std::vector<Array> indices_sparse(const Shape& dimensions, DType dtype, const std::source_location& where) {
  const cotan::detail::CallSite site(where);
  std::vector<Array> out;
  for (std::size_t i = 0; i < dimensions.size(); ++i) {
    check_count("indices", dimensions[i]);
    Shape shape(dimensions.size(), 1);
    shape[i] = dimensions[i];
    out.push_back(ops::iota(dtype, shape, static_cast<int>(i)));
  }
  return out;
}
Array indices(const Shape& dimensions, DType dtype, const std::source_location& where) {
  const cotan::detail::CallSite site(where);
  if (dimensions.empty()) return zeros({0}, dtype);
  Arrays rows = indices_sparse(dimensions, dtype, where);
  for (Array& row : rows) row = ops::broadcast_to(row, dimensions);
  return stack(rows);
}

std::vector<Array> ix_(const ArrayList& list) {
  const std::vector<Array>& arrays = list;
  std::vector<Array> out;
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    if (arrays[i].ndim() != 1)
      raise<ShapeError>("[ix_] {} is not a vector; give one vector of indices per axis.", arrays[i].aval());
    const Array index = arrays[i].dtype() == DType::bool_ ? nonzero(arrays[i])[0] : arrays[i];
    Shape shape(arrays.size(), 1);
    shape[i] = index.size();
    out.push_back(ops::reshape(index, shape));
  }
  return out;
}

std::vector<Array> diag_indices(std::int64_t n, int ndim, const std::source_location& where) {
  const cotan::detail::CallSite site(where);
  check_count("diag_indices", n);
  check_count("diag_indices", ndim);
  return std::vector<Array>(static_cast<std::size_t>(ndim), ops::iota(i32, {n}, 0));
}
std::vector<Array> diag_indices_from(const ArrayLike& a) {
  if (a->ndim() < 2) raise<ShapeError>("[diag_indices_from] {} is not a matrix; it needs at least 2 axes.", a->aval());
  for (auto n : a->shape())
    if (n != a->shape()[0])
      raise<ShapeError>("[diag_indices_from] the axes of {} differ in size; they must be equal.", a->aval());
  return diag_indices(a->shape()[0], a->ndim(), {});
}

namespace {

std::pair<Array, Array> triangle(std::string_view op, std::int64_t n, std::int64_t m, std::int64_t k, bool lower) {
  check_count(op, n);
  check_count(op, m);
  std::vector<std::int32_t> rows, columns;
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t from = lower ? 0 : std::clamp<std::int64_t>(i + k, 0, m);
    const std::int64_t to = lower ? std::clamp<std::int64_t>(i + k + 1, 0, m) : m;
    for (std::int64_t j = from; j < to; ++j) {
      rows.push_back(static_cast<std::int32_t>(i));
      columns.push_back(static_cast<std::int32_t>(j));
    }
  }
  return {Array::from_host(rows), Array::from_host(columns)};
}
std::pair<Array, Array> triangle_from(std::string_view op, const Array& a, int k, bool lower) {
  if (a.ndim() != 2) raise<ShapeError>("[{}] {} is not a matrix; it needs 2 axes.", op, a.aval());
  return triangle(op, a.shape()[0], a.shape()[1], k, lower);
}

}  // namespace

std::pair<Array, Array> tril_indices(std::int64_t n, int k, std::optional<std::int64_t> m,
                                     const std::source_location& where) {
  const cotan::detail::CallSite site(where);
  return triangle("tril_indices", n, m.value_or(n), k, true);
}
std::pair<Array, Array> triu_indices(std::int64_t n, int k, std::optional<std::int64_t> m,
                                     const std::source_location& where) {
  const cotan::detail::CallSite site(where);
  return triangle("triu_indices", n, m.value_or(n), k, false);
}
std::pair<Array, Array> tril_indices_from(const ArrayLike& a, int k) {
  return triangle_from("tril_indices_from", a, k, true);
}
std::pair<Array, Array> triu_indices_from(const ArrayLike& a, int k) {
  return triangle_from("triu_indices_from", a, k, false);
}
std::pair<Array, Array> mask_indices(std::int64_t n, const std::function<Array(const Array&, int)>& mask, int k,
                                     std::optional<std::int64_t> size, const std::source_location& where) {
  const cotan::detail::CallSite site(where);
  check_count("mask_indices", n);
  const Array picked = mask(ones({n, n}), k);
  if (picked.ndim() != 2)
    raise<ShapeError>("[mask_indices] the function gives {} of an [n, n] matrix; it must give a matrix.",
                      picked.aval());
  const std::vector<Array> found = nonzero(picked, {.size = size});
  return {found[0], found[1]};
}

Array ravel_multi_index(const ArrayList& list, const Shape& dims, std::string_view mode, char order, DType dtype) {
  const std::vector<Array>& index = list;
  if (index.size() != dims.size())
    raise<ShapeError>("[ravel_multi_index] {} indices for an array of shape {}; give one per axis.", index.size(),
                      describe(dims));
  if (order != 'C' && order != 'F') raise<ValueError>("[ravel_multi_index] order '{}' is unknown; use C or F.", order);
  if (!is_integer(dtype)) raise<TypeError>("[ravel_multi_index] positions cannot be {}; give an integer dtype.", dtype);
  if (static_cast<double>(element_count(dims)) - 1 > static_cast<double>(iinfo(dtype, {}).max))
    raise<ValueError>("[ravel_multi_index] {} does not hold positions in shape {}; give a wider dtype.", dtype,
                      describe(dims));
  Ints strides = ops::strides_of(dims);
  if (order == 'F') {
    std::int64_t stride = 1;
    for (std::size_t i = 0; i < dims.size(); stride *= dims[i++]) strides[i] = stride;
  }
  Array out = scalar(dtype, 0);
  for (std::size_t i = 0; i < index.size(); ++i) {
    if (!is_integer(index[i].dtype()))
      raise<TypeError>("[ravel_multi_index] an index is {}; they must be integers, cast with astype(i32).",
                       index[i].aval());
    Array at = index[i];
    if (mode == "raise") {
      if (!indexing::has_value(at))
        raise<ConcretizationError>(
            "[ravel_multi_index] {} has no value while the function is traced, so whether it is inside is not known; "
            "use mode clip, wrap or ignore.",
            indexing::describe_value(at));
      if (any((at < 0) | (at >= dims[i])).item<bool>())
        raise<ValueError>("[ravel_multi_index] an index is outside of axis {} of shape {}; use mode clip or wrap.", i,
                          describe(dims));
    } else if (mode == "clip") {
      at = clip(at, 0, dims[i] - 1);
    } else if (mode == "wrap") {
      at = mod(at, dims[i]);
    } else if (mode != "ignore") {
      raise<ValueError>("[ravel_multi_index] mode '{}' is unknown; use raise, clip, wrap or ignore.", mode);
    }
    out = out + ops::cast(at, dtype) * scalar(dtype, strides[i]);
  }
  return out;
}

std::vector<Array> unravel_index(const ArrayLike& indices, const Shape& shape) {
  if (!is_integer(indices->dtype()))
    raise<TypeError>("[unravel_index] the positions are {}; they must be integers, cast with astype(i32).",
                     indices->aval());
  Array rest = indices;
  std::vector<Array> out(shape.size());
  for (std::size_t i = shape.size(); i-- > 0;) {
    out[i] = mod(rest, shape[i]);
    rest = floor_divide(rest, shape[i]);
  }
  // Beyond the end the last index, before the start the first; -1 is what wraps.
  const Array beyond = rest > 0;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (!is_unsigned_integer(indices->dtype())) out[i] = where(rest < -1, 0, out[i]);
    out[i] = where(beyond, shape[i] - 1, out[i]);
  }
  return out;
}

}  // namespace cotan::numpy
