// Products of vectors, matrices and tensors, and convolutions.
#include <algorithm>
#include <cotan/lax.hpp>
#include <cotan/numpy.hpp>
#include <numeric>

#include "numpy/contract.hpp"
#include "numpy/preferred.hpp"
#include "ops/ops.hpp"
#include "ops/promote.hpp"

namespace cotan::numpy {

namespace {

Labels labels_from(int first, int count) {
  Labels out(count);
  std::iota(out.begin(), out.end(), first);
  return out;
}
void check_inner(std::string_view op, const Array& a, std::int64_t size_a, const Array& b, std::int64_t size_b) {
  if (size_a != size_b)
    raise<ShapeError>(
        "[{}] shapes {} and {} do not fit: the contracted axes have sizes {} and {}; those must be equal.", op,
        describe(a.shape()), describe(b.shape()), size_a, size_b);
}
void check_not_scalar(std::string_view op, const Array& a, const Array& b) {
  if (a.ndim() == 0 || b.ndim() == 0)
    raise<ShapeError>("[{}] operands are {} and {}; 0-d operands have no axis to contract, use multiply.", op, a.aval(),
                      b.aval());
}

}  // namespace

Array matmul(const ArrayLike& a, const ArrayLike& b) {
  check_not_scalar("matmul", a, b);
  const Shape &sa = a->shape(), &sb = b->shape();
  const int na = a->ndim(), nb = b->ndim();
  check_inner("matmul", a, sa.back(), b, nb == 1 ? sb[0] : sb[nb - 2]);
  const Shape batches[] = {Shape(sa.begin(), sa.end() - std::min(na, 2)),
                           Shape(sb.begin(), sb.end() - std::min(nb, 2))};
  const int batch = static_cast<int>(broadcast_shapes("matmul", batches).size());
  // Batch axes are numbered from the end of both; then come rows, the contracted axis and columns.
  const int row = batch, inner = batch + 1, column = batch + 2;
  Labels la = labels_from(batch - std::max(na - 2, 0), std::max(na - 2, 0));
  Labels lb = labels_from(batch - std::max(nb - 2, 0), std::max(nb - 2, 0));
  Labels out = labels_from(0, batch);
  if (na > 1) {
    la.push_back(row);
    out.push_back(row);
  }
  la.push_back(inner);
  lb.push_back(inner);
  if (nb > 1) {
    lb.push_back(column);
    out.push_back(column);
  }
  return contract("matmul", a, la, b, lb, out);
}

Array matmul(const ArrayLike& a, const ArrayLike& b, const ProductOptions& options) {
  return preferred("matmul", a, b, options, [](const Array& x, const Array& y) { return matmul(x, y); });
}
Array matvec(const ArrayLike& a, const ArrayLike& b) {
  check_not_scalar("matvec", a, b);
  return squeeze(matmul(a, expand_dims(b, -1)), -1);
}
Array vecmat(const ArrayLike& a, const ArrayLike& b) {
  check_not_scalar("vecmat", a, b);
  return squeeze(matmul(expand_dims(a, -2), b), -2);
}
Array vecdot(const ArrayLike& a, const ArrayLike& b, int axis, const ProductOptions& options) {
  check_not_scalar("vecdot", a, b);
  const Array x = moveaxis(ops::conj(a), axis, -1), y = moveaxis(b, axis, -1);
  check_inner("vecdot", a, x.shape().back(), b, y.shape().back());
  return squeeze(matmul(expand_dims(x, -2), expand_dims(y, -1), options), {-2, -1});
}

Array tensordot(const ArrayLike& a, const ArrayLike& b, const std::vector<int>& axes_a,
                const std::vector<int>& axes_b) {
  const std::vector<int> over_a = Axes(axes_a).resolve(a->ndim(), "tensordot");
  const std::vector<int> over_b = Axes(axes_b).resolve(b->ndim(), "tensordot");
  if (over_a.size() != over_b.size())
    raise<ValueError>("[tensordot] {} axes of the first operand against {} of the second; contract as many of each.",
                      over_a.size(), over_b.size());
  Labels la = labels_from(0, a->ndim()), lb = labels_from(a->ndim(), b->ndim());
  for (std::size_t i = 0; i < over_a.size(); ++i) {
    check_inner("tensordot", a, a->shape()[over_a[i]], b, b->shape()[over_b[i]]);
    lb[over_b[i]] = la[over_a[i]];
  }
  Labels out;
  for (int i = 0; i < a->ndim(); ++i)
    if (std::find(over_a.begin(), over_a.end(), i) == over_a.end()) out.push_back(la[i]);
  for (int i = 0; i < b->ndim(); ++i)
    if (std::find(over_b.begin(), over_b.end(), i) == over_b.end()) out.push_back(lb[i]);
  return contract("tensordot", a, la, b, lb, out);
}
Array tensordot(const ArrayLike& a, const ArrayLike& b, int axes) {
  if (axes < 0 || axes > std::min(a->ndim(), b->ndim()))
    raise<ValueError>("[tensordot] cannot contract {} axes of {} and {}; give 0 to the smaller number of axes.", axes,
                      a->aval(), b->aval());
  return tensordot(a, b, labels_from(a->ndim() - axes, axes), labels_from(0, axes));
}
Array tensordot(const ArrayLike& a, const ArrayLike& b, int axes, const ProductOptions& options) {
  return preferred("tensordot", a, b, options, [&](const Array& x, const Array& y) { return tensordot(x, y, axes); });
}
Array tensordot(const ArrayLike& a, const ArrayLike& b, const std::vector<int>& axes_a, const std::vector<int>& axes_b,
                const ProductOptions& options) {
  return preferred("tensordot", a, b, options,
                   [&](const Array& x, const Array& y) { return tensordot(x, y, axes_a, axes_b); });
}
Array dot(const ArrayLike& a, const ArrayLike& b) {
  if (a->ndim() == 0 || b->ndim() == 0) return multiply(a, b);
  const int inner = std::max(b->ndim() - 2, 0);
  check_inner("dot", a, a->shape().back(), b, b->shape()[inner]);
  return tensordot(a, b, {a->ndim() - 1}, {inner});
}
Array vdot(const ArrayLike& a, const ArrayLike& b) {
  check_inner("vdot", a, a->size(), b, b->size());
  return dot(ops::conj(ravel(a)), ravel(b));
}
Array inner(const ArrayLike& a, const ArrayLike& b) {
  if (a->ndim() == 0 || b->ndim() == 0) return multiply(a, b);
  check_inner("inner", a, a->shape().back(), b, b->shape().back());
  return tensordot(a, b, {a->ndim() - 1}, {b->ndim() - 1});
}
Array dot(const ArrayLike& a, const ArrayLike& b, const ProductOptions& options) {
  return preferred("dot", a, b, options, [](const Array& x, const Array& y) { return dot(x, y); });
}
Array vdot(const ArrayLike& a, const ArrayLike& b, const ProductOptions& options) {
  return preferred("vdot", a, b, options, [](const Array& x, const Array& y) { return vdot(x, y); });
}
Array inner(const ArrayLike& a, const ArrayLike& b, const ProductOptions& options) {
  return preferred("inner", a, b, options, [](const Array& x, const Array& y) { return inner(x, y); });
}
Array outer(const ArrayLike& a, const ArrayLike& b) {
  return multiply(ops::reshape(a, {a->size(), 1}), ops::reshape(b, {1, b->size()}));
}

Array kron(const ArrayLike& a, const ArrayLike& b) {
  const std::size_t n = std::max(a->shape().size(), b->shape().size());
  Shape sa = a->shape(), sb = b->shape();
  sa.insert(sa.begin(), n - sa.size(), 1);
  sb.insert(sb.begin(), n - sb.size(), 1);
  Shape coarse, fine, merged;
  for (std::size_t i = 0; i < n; ++i) {
    coarse.insert(coarse.end(), {sa[i], 1});
    fine.insert(fine.end(), {1, sb[i]});
    merged.push_back(sa[i] * sb[i]);
  }
  return ops::reshape(multiply(ops::reshape(a, coarse), ops::reshape(b, fine)), merged);
}

Array cross(const ArrayLike& a, const ArrayLike& b) {
  check_not_scalar("cross", a, b);
  const auto fits = [](const Array& x) { return x.shape().back() == 2 || x.shape().back() == 3; };
  if (!fits(a) || !fits(b))
    raise<ShapeError>("[cross] shapes {} and {}; the last axes must have size 2 or 3.", describe(a->shape()),
                      describe(b->shape()));
  const auto component = [](const Array& x, std::int64_t i) {
    Shape shape(x.shape().begin(), x.shape().end() - 1);
    if (i >= x.shape().back()) return zeros(shape, x.dtype());
    return ops::reshape(ops::slice_axis(x, x.ndim() - 1, i, i + 1), shape);
  };
  const auto minor = [&](int i, int j) {
    return component(a, i) * component(b, j) - component(a, j) * component(b, i);
  };
  if (a->shape().back() == 2 && b->shape().back() == 2) return minor(0, 1);
  return stack({minor(1, 2), minor(2, 0), minor(0, 1)}, -1);
}
Array cross(const ArrayLike& a, const ArrayLike& b, const CrossOptions& options) {
  const auto last = [](const Array& x, int axis) { return moveaxis(x, axis, -1); };
  check_not_scalar("cross", a, b);
  const Array out = cross(last(a, options.axis.value_or(options.axisa)), last(b, options.axis.value_or(options.axisb)));
  const bool has_components =
      out.ndim() == std::max(a->ndim(), b->ndim()) &&
      !(a->shape(options.axis.value_or(options.axisa)) == 2 && b->shape(options.axis.value_or(options.axisb)) == 2);
  return has_components ? moveaxis(out, -1, options.axis.value_or(options.axisc)) : out;
}
Array trace(const ArrayLike& a, int offset, int axis1, int axis2, std::optional<DType> dtype) {
  if (a->ndim() < 2) raise<ShapeError>("[trace] {} is not a matrix; it needs at least 2 axes.", a->aval());
  return sum(diagonal(a, offset, axis1, axis2), {.axis = -1, .dtype = dtype});
}

namespace {

/// The windows of `a` with `v`, which is not the longer one.
Array slide(std::string_view op, const Array& a, const Array& v, std::string_view mode) {
  const std::int64_t n = v.size();
  std::pair<std::int64_t, std::int64_t> padding;
  if (mode == "full")
    padding = {n - 1, n - 1};
  else if (mode == "same")
    padding = {n / 2, n - n / 2 - 1};
  else if (mode != "valid")
    raise<ValueError>("[{}] there is no mode '{}'; use full, same or valid.", op, mode);
  const Array y =
      lax::conv_general_dilated(ops::reshape(a, {1, 1, a.size()}), ops::reshape(v, {1, 1, n}), {.padding = {padding}});
  return ops::reshape(y, {y.size()});
}

/// Vectors of one floating dtype.
Arrays vectors(std::string_view op, const Array& a, const Array& v) {
  if (a.ndim() != 1 || v.ndim() != 1)
    raise<ShapeError>("[{}] operands are {} and {}; both must be vectors.", op, a.aval(), v.aval());
  if (a.size() == 0 || v.size() == 0)
    raise<ShapeError>("[{}] operands have shapes {} and {}; neither may be empty.", op, describe(a.shape()),
                      describe(v.shape()));
  const Array operands[] = {a, v};
  return cast_all(operands, inexact_result_type(operands));
}

}  // namespace

Array convolve(const ArrayLike& a, const ArrayLike& v, std::string_view mode, const ProductOptions& options) {
  return preferred("convolve", a, v, options, [mode](const Array& left, const Array& right) {
    Arrays x = vectors("convolve", left, right);
    if (x[0].size() < x[1].size()) std::swap(x[0], x[1]);
    return slide("convolve", x[0], ops::rev(x[1], {0}), mode);
  });
}

Array correlate(const ArrayLike& a, const ArrayLike& v, std::string_view mode, const ProductOptions& options) {
  return preferred("correlate", a, v, options, [mode](const Array& left, const Array& right) {
    const Arrays x = vectors("correlate", left, ops::conj(right));
    if (x[0].size() >= x[1].size()) return slide("correlate", x[0], x[1], mode);
    return ops::rev(slide("correlate", x[1], x[0], mode), {0});
  });
}

}  // namespace cotan::numpy
