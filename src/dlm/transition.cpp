#include "dlm/transition.hpp"

#include "dlm/errors.hpp"

namespace cotan::dlm {

namespace np = numpy;

namespace {

// Smaller products, unrolled, are faster than taking them apart.
constexpr std::int64_t smallest_by_bands = 6;

/// Rows moved up or down by one, a row of zeros in the place that is left.
Array moved_up(const Array& X) {
  return np::concatenate({X(range(1, none)), np::zeros({1, X.shape(1)}, X.dtype())}, 0);
}
Array moved_down(const Array& X) {
  return np::concatenate({np::zeros({1, X.shape(1)}, X.dtype()), X(range(0, X.shape(0) - 1))}, 0);
}
Array rows_times(const Array& a, const Array& X) { return np::expand_dims(a, -1) * X; }
/// A row on top of the others, which are X's or zero.
Array with_first_row(const Array& row, const Array& X, std::int64_t rows) {
  if (rows == 1) return X.defined() ? X + row : row;
  if (!X.defined()) return np::concatenate({row, np::zeros({rows - 1, row.shape(1)}, row.dtype())}, 0);
  return np::concatenate({X(range(0, 1)) + row, X(range(1, none))}, 0);
}

}  // namespace

Transition::Transition(const StateSpace& model) {
  const std::int64_t m = model.x0.shape(0);
  if (model.bands.empty() || model.G.ndim() == 3 || m < smallest_by_bands) return;
  std::int64_t first = 0;
  for (std::size_t k = 0; k + 1 < model.bands.size(); k += 2) {
    const std::int64_t size = model.bands[k];
    const int bands = model.bands[k + 1];
    const auto has = [&](Band b) { return (bands & static_cast<int>(b)) != 0; };
    const auto here = range(first, first + size);
    const Array G = model.G(here, here);
    Part part{first, size, bands, {}, {}, {}, {}, {}, {}};
    const Array none_left = np::zeros({1}, G.dtype());
    if (has(Band::any)) part.any = G;
    if (has(Band::diagonal)) part.diagonal = np::diagonal(G);
    if (has(Band::above) && size > 1) part.above = np::concatenate({np::diagonal(G, 1), none_left}, 0);
    if (has(Band::below) && size > 1) part.below = np::concatenate({none_left, np::diagonal(G, -1)}, 0);
    if (has(Band::first_row)) part.row = G(range(0, 1));
    if (has(Band::first_column)) part.column = G(all, range(0, 1));
    parts_.push_back(part);
    first += size;
  }
  if (first != m)
    raise<ShapeError>(
        "[dlm] the bands of G are of {} states, but there are {}; give the size of each part of G, or no bands.", first,
        m);
}

Array Transition::product(const Array& G, const Array& X, bool transposed) const {
  if (parts_.empty()) return np::matmul(transposed ? dlm::transposed(G) : G, X);
  std::vector<Array> out;
  for (const Part& p : parts_) {
    const Array x = parts_.size() == 1 ? X : X(range(p.first, p.first + p.size));
    Array sum;
    const auto add = [&](const Array& term) { sum = sum.defined() ? sum + term : term; };
    if (p.any.defined()) add(np::matmul(transposed ? dlm::transposed(p.any) : p.any, x));
    if (p.diagonal.defined()) add(rows_times(p.diagonal, x));
    if (p.above.defined()) add(transposed ? moved_down(rows_times(p.above, x)) : rows_times(p.above, moved_up(x)));
    if (p.below.defined()) add(transposed ? moved_up(rows_times(p.below, x)) : rows_times(p.below, moved_down(x)));
    const Array &row = p.row, &column = p.column;
    if (const Array& c = transposed ? row : column; c.defined())
      add((transposed ? dlm::transposed(c) : c) * x(range(0, 1)));
    if (const Array& r = transposed ? column : row; r.defined())
      sum = with_first_row(np::matmul(transposed ? dlm::transposed(r) : r, x), sum, p.size);
    out.push_back(sum);
  }
  return out.size() == 1 ? out[0] : np::concatenate(out, 0);
}

}  // namespace cotan::dlm
