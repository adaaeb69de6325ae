// Products of many matrices, and systems of tensors.
#include <cotan/numpy.hpp>
#include <functional>
#include <limits>

#include "linalg/operands.hpp"
#include "ops/ops.hpp"

namespace cotan::linalg {

namespace np = cotan::numpy;

namespace {

/// Where to cut each run of factors, so that the product takes the fewest multiplications. sizes[i] is the number of
/// rows of factor i, the last one that of columns of the last factor.
std::vector<std::vector<std::size_t>> best_cuts(const std::vector<double>& sizes) {
  const std::size_t n = sizes.size() - 1;
  std::vector<std::vector<double>> cost(n, std::vector<double>(n, 0));
  std::vector<std::vector<std::size_t>> cut(n, std::vector<std::size_t>(n, 0));
  for (std::size_t length = 2; length <= n; ++length)
    for (std::size_t i = 0; i + length <= n; ++i) {
      const std::size_t j = i + length - 1;
      cost[i][j] = std::numeric_limits<double>::infinity();
      for (std::size_t k = i; k < j; ++k) {
        const double total = cost[i][k] + cost[k + 1][j] + sizes[i] * sizes[k + 1] * sizes[j + 1];
        if (total < cost[i][j]) cost[i][j] = total, cut[i][j] = k;
      }
    }
  return cut;
}

}  // namespace

Array multi_dot(const ArrayList& arrays) {
  const std::vector<Array>& factors = arrays.list();
  if (factors.size() < 2) raise<ValueError>("[multi_dot] got {} arrays; give at least two.", factors.size());
  const std::size_t last = factors.size() - 1;
  std::vector<double> sizes;
  for (std::size_t i = 0; i <= last; ++i) {
    const Array& a = factors[i];
    const bool end = i == 0 || i == last;
    if (a.ndim() != 2 && !(end && a.ndim() == 1))
      raise<ShapeError>("[multi_dot] array {} is {}; all are matrices, and the first and the last may be vectors.", i,
                        a.aval());
    if (i > 0 && a.shape()[0] != factors[i - 1].shape().back())
      raise<ShapeError>("[multi_dot] arrays {} and {} are {} and {}; the columns of one are the rows of the next.",
                        i - 1, i, factors[i - 1].aval(), a.aval());
    sizes.push_back(i == 0 && a.ndim() == 1 ? 1 : static_cast<double>(a.shape()[0]));
  }
  sizes.push_back(factors[last].ndim() == 1 ? 1 : static_cast<double>(factors[last].shape()[1]));
  const auto cuts = best_cuts(sizes);
  const std::function<Array(std::size_t, std::size_t)> product = [&](std::size_t i, std::size_t j) {
    return i == j ? factors[i] : np::matmul(product(i, cuts[i][j]), product(cuts[i][j] + 1, j));
  };
  return product(0, last);
}

Array tensorinv(const ArrayLike& a, int ind) {
  if (ind <= 0 || ind > a->ndim())
    raise<ValueError>("[tensorinv] ind is {}; it is a number of axes of {}, at least one.", ind, a->aval());
  const Shape& shape = a->shape();
  const Shape first(shape.begin(), shape.begin() + ind), rest(shape.begin() + ind, shape.end());
  const std::int64_t rows = ops::product(first), columns = ops::product(rest);
  if (rows != columns)
    raise<ShapeError>(
        "[tensorinv] {} has {} elements along its first {} axes and {} along the others; they must agree.", a->aval(),
        rows, ind, columns);
  Shape out = rest;
  out.insert(out.end(), first.begin(), first.end());
  return np::reshape(inv(np::reshape(a, {rows, columns})), out);
}

Array tensorsolve(const ArrayLike& a, const ArrayLike& b, const std::vector<int>& axes) {
  std::vector<int> last;
  for (std::size_t i = 0; i < axes.size(); ++i) last.push_back(static_cast<int>(i) - static_cast<int>(axes.size()));
  const Array x = axes.empty() ? a.array() : np::moveaxis(a, axes, last);
  const Shape &shape = x.shape(), &right = b->shape();
  const auto count = static_cast<std::ptrdiff_t>(right.size());
  if (shape.size() < right.size() || Shape(shape.begin(), shape.begin() + count) != right)
    raise<ShapeError>("[tensorsolve] {} does not begin with the axes of {}; move axes with reshape or transpose.",
                      x.aval(), b->aval());
  const Shape out(shape.begin() + count, shape.end());
  if (ops::product(out) != b->size())
    raise<ShapeError>("[tensorsolve] {} has {} unknowns, and {} gives {} equations; they must agree.", x.aval(),
                      ops::product(out), b->aval(), b->size());
  return np::reshape(solve(np::reshape(x, {b->size(), b->size()}), np::ravel(b)), out);
}

}  // namespace cotan::linalg
