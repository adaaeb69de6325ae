// Cholesky, triangular solves, LU and QR, column by column: a loop whose state is the matrix. A step gives
// out a column or a row of the result and changes all of the matrix, also what is done with: that is never
// read again, so that no masks are needed. A matrix is a lane. Very small ones are written out without a
// loop, on the whole batch at once, so that they fuse with what is around them.
#include <cotan/lax.hpp>

#include "expansions/reflections.hpp"

namespace cotan::expansions {

namespace {

constexpr std::int64_t written_out = 4;  ///< matrices up to this size have no loops
constexpr std::int64_t large = 96;       ///< larger ones are cut into blocks …
constexpr std::int64_t block = 32;       ///< … of so many columns

/// Elements of small matrices, each an array over the batch.
class Elements {
 public:
  explicit Elements(const Array& a) : shape_(a.shape()) {
    const int at = a.ndim() - 2;
    for (std::int64_t i = 0; i < rows(a); ++i)
      for (std::int64_t j = 0; j < columns(a); ++j) {
        const Array row = ops::slice_axis(a, at, i, i + 1);
        values_.push_back(ops::reshape(ops::slice_axis(row, at + 1, j, j + 1), ops::with_core(shape_, {})));
      }
  }
  Array& operator()(std::int64_t i, std::int64_t j) {
    return values_[static_cast<std::size_t>(i * ops::columns_of(shape_) + j)];
  }
  /// Puts parts into one array, by a select on position: a concatenation of many parts is not free.
  Array assembled() const {
    const int n = static_cast<int>(shape_.size());
    const std::int64_t width = ops::columns_of(shape_);
    const Array position = ops::iota(i32, shape_, n - 2) * static_cast<int>(width) + ops::iota(i32, shape_, n - 1);
    Ints batch;
    for (int i = 0; i < n - 2; ++i) batch.push_back(i);
    Array out;
    for (std::size_t k = 0; k < values_.size(); ++k) {
      const Array value = ops::broadcast_in_dim(values_[k], shape_, batch);
      out = k == 0 ? value : ops::select(position == static_cast<int>(k), value, out);
    }
    return out;
  }

 private:
  Shape shape_;
  std::vector<Array> values_;
};

// Cholesky --------------------------------------------------------------------------------------------

/// Where a pivot is not positive (or no number), the whole lower triangle is not a number.
Array cholesky_written_out(const Array& a) {
  const std::int64_t n = rows(a);
  const Array none = nan_of(a.dtype()), zero = scalar(a.dtype(), 0);
  Elements l(a);
  Array ok;
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t i = j; i < n; ++i)
      for (std::int64_t k = 0; k < j; ++k) l(i, j) = l(i, j) - l(i, k) * l(j, k);
    const Array positive = l(j, j) > zero;
    ok = ok.defined() ? ok & positive : positive;
    l(j, j) = np::sqrt(l(j, j));
    for (std::int64_t i = j + 1; i < n; ++i) l(i, j) = l(i, j) / l(j, j);
  }
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j)
      l(i, j) = j > i ? ops::zeros_like(l(i, j)) : ops::select(ok, l(i, j), ops::full(ok.shape(), none));
  return l.assembled();
}

Array cholesky_of_one(const Array& a) {
  const std::int64_t n = rows(a);
  const Array zero = scalar(a.dtype(), 0);
  const auto step = [&](std::span<const Array> in) {
    const Array &m = in[0], &j = in[1];
    const Array root = np::sqrt(element_at(m, j, j)), column = column_at(m, j) / root;
    return Arrays{m - column * ops::reshape(column, {1, n}), ops::reshape(column, {n}), root};
  };
  const Arrays out = loop(n, {a}, {numbers(n)}, step);
  const Array l = ops::matrix_transpose(out[1]), ok = all_of(out[2] > zero);
  const Grid at(a);
  const Array factor = np::where(at.row == at.column, ops::as_column(out[2]), l);
  return np::where(at.row >= at.column, np::where(ok, factor, nan_of(a.dtype())), zero);
}

/// A large matrix by blocks of columns: most of the work is matrix products, and there are few steps.
Array cholesky_in_blocks(const Array& a) {
  const std::int64_t n = rows(a), blocks = (n + block - 1) / block, size = blocks * block;
  const DType dtype = a.dtype();
  const Array zero = scalar(dtype, 0), one = scalar(dtype, 1);
  const Array whole = padded(a, size, size);
  const Grid all(whole);
  const Array start = np::where((all.row == all.column) & (all.row >= scalar(i32, n)), one, whole);
  const auto step = [&](std::span<const Array> in) {
    const Array &m = in[0], first = in[1] * scalar(i32, block);
    const auto columns_from = [&](const Array& row, std::int64_t count) {
      return bind1(ops::dynamic_slice_p, {m, row, first}, {{"slice_sizes", Ints{count, block}}});
    };
    const Array corner = bind1(ops::cholesky_p, {columns_from(first, block)});
    const Array columns = ops::triangular_solve(corner, columns_from(scalar(i32, 0), size),
                                                {.left_side = false, .lower = true, .transpose_a = true});
    return Arrays{m - ops::dot_general(columns, columns, {1}, {1}, {}, {}), columns};
  };
  const Array columns = loop(blocks, {start}, {numbers(blocks)}, step)[1];
  const Array l = ops::slice(ops::reshape(ops::move_axis(columns, 0, 1), {size, size}), {0, 0}, {n, n});
  const Array ok = all_of(ops::diagonal_of(l) > zero);
  const Grid at(l);
  return np::where(at.row >= at.column, np::where(ok, l, nan_of(dtype)), zero);
}

// Triangular solves -----------------------------------------------------------------------------------

struct Triangle {
  bool lower, unit;
};

/// a x = b.
Array solve_written_out(const Array& a, const Array& b, Triangle t) {
  const std::int64_t n = rows(a);
  Elements m(a);
  Shape row_shape = b.shape();
  row_shape[row_shape.size() - 2] = 1;
  const auto coefficient = [&](std::int64_t i, std::int64_t j) {
    Shape shape = m(i, j).shape();
    shape.insert(shape.end(), {1, 1});
    return ops::broadcast_to(ops::reshape(m(i, j), shape), row_shape);
  };
  Arrays x;
  for (std::int64_t i = 0; i < n; ++i) x.push_back(ops::matrix_rows(b, i, i + 1));
  for (std::int64_t step = 0; step < n; ++step) {
    const std::int64_t i = t.lower ? step : n - 1 - step;
    Array& xi = x[static_cast<std::size_t>(i)];
    if (!t.unit) xi = xi / coefficient(i, i);
    for (std::int64_t k = 0; k < n; ++k)
      if (t.lower ? k > i : k < i) {
        Array& xk = x[static_cast<std::size_t>(k)];
        xk = xk - coefficient(k, i) * xi;
      }
  }
  return ops::concatenate(x, b.ndim() - 2);
}

/// One matrix, and right-hand sides as the columns of b.
Array solve_one(const Array& a, const Array& b, Triangle t) {
  const std::int64_t n = rows(a), sides = columns(b);
  const auto step = [&](std::span<const Array> in) {
    const Array &x = in[0], &j = in[1];
    Array row = row_at(x, j);
    if (!t.unit) row = row / element_at(a, j, j);
    return Arrays{x - column_at(a, j) * row, ops::reshape(row, {sides})};
  };
  return loop(n, {b}, {numbers(n)}, step, !t.lower)[1];
}

// LU --------------------------------------------------------------------------------------------------

/// Packed factors, pivots and permutation of one matrix. Its rows are not moved: the permutation says which row is
/// next, and rows that are done are set to 0.
Arrays lu_of_one(const Array& a) {
  const std::int64_t m = rows(a), n = columns(a), k = std::min(m, n);
  const DType dtype = a.dtype();
  const Array zero = scalar(dtype, 0), one = scalar(dtype, 1);
  const auto step = [&](std::span<const Array> in) {
    const Array &x = in[0], &permutation = in[1], &j = in[2], seat = numbers(m);
    const Array column = ops::reshape(column_at(x, j), {m});
    const Array sizes = np::where(seat >= j, np::abs(take(column, permutation, 0)), scalar(dtype, -1));
    const Array pivot = lax::argmax(sizes, 0);
    const Array chosen = element_at(permutation, pivot);
    const Array swapped =
        np::where(seat == j, chosen, np::where(seat == pivot, element_at(permutation, j), permutation));
    const Array row = row_at(x, chosen), divisor = element_at(x, chosen, j);
    // A column of zeros stays as it is.
    const Array factors = column / ops::select(divisor == zero, one, divisor);
    const Array next = np::where(Grid(x).row == chosen, zero, x - ops::as_column(factors) * row);
    return Arrays{next, swapped, factors, ops::reshape(row, {n}), pivot};
  };
  const Arrays out = loop(k, {a, numbers(m)}, {numbers(k)}, step);
  const Array &permutation = out[1], &factors = out[2], &u = out[3], &pivots = out[4];
  const Array l = take(ops::matrix_transpose(factors), permutation, 0);
  const Grid at(a);
  const Array packed = np::where(at.row > at.column, padded(l, m, n), padded(u, m, n));
  const Array ok = all_of(a == a);
  return {np::where(ok, packed, nan_of(dtype)), np::where(ok, pivots, numbers(k)),
          np::where(ok, permutation, numbers(m))};
}

// QR --------------------------------------------------------------------------------------------------

Arrays qr_of_one(const Array& a, bool full) {
  const std::int64_t m = rows(a), n = columns(a), steps = std::min(m, n), k = full ? m : steps;
  const DType dtype = a.dtype();
  const Array zero = scalar(dtype, 0), none = nan_of(dtype);
  const auto forward = [&](std::span<const Array> in) {
    const Reflection h = reflection_of(column_at(in[0], in[1]), in[1]);
    return Arrays{reflected(in[0], h), h.vector, h.factor};
  };
  const Arrays factored = loop(steps, {a}, {numbers(steps)}, forward);
  const auto backward = [&](std::span<const Array> in) { return Arrays{reflected(in[0], {in[1], in[2]})}; };
  const Array q = loop(steps, {ops::identity_matrix(dtype, m, k)}, {factored[1], factored[2]}, backward, true)[0];
  const Array ok = all_of(bind1(ops::is_finite_p, {a}));
  const Array r = ops::matrix_rows(factored[0], 0, k);
  const Grid at(r);
  return {np::where(ok, q, none), np::where(at.row > at.column, zero, np::where(ok, r, none))};
}

Arrays cholesky(const Primitive&, std::span<const Array> x, const Params&) {
  if (x[0].size() == 0) return {x[0]};
  if (rows(x[0]) <= written_out) return {cholesky_written_out(x[0])};
  return for_each_matrix({x[0]}, [](std::span<const Array> a) {
    return Arrays{rows(a[0]) > large ? cholesky_in_blocks(a[0]) : cholesky_of_one(a[0])};
  });
}

Arrays triangular_solve(const Primitive&, std::span<const Array> x, const Params& params) {
  if (x[1].size() == 0) return {x[1]};
  // x op(a) = b is op(a)ᵀ xᵀ = bᵀ, and the transpose of a lower triangle is an upper one.
  const bool left = params.flag("left_side"), transposed = params.flag("transpose_a") == left;
  const Array a = transposed ? ops::matrix_transpose(x[0]) : x[0], b = left ? x[1] : ops::matrix_transpose(x[1]);
  const Triangle t{params.flag("lower") != transposed, params.flag("unit_diagonal")};
  const auto solve = [&]() -> Array {
    if (rows(a) <= written_out) return solve_written_out(a, b, t);
    const Shape batch = ops::with_core(a.shape(), {});
    if (ops::product(batch) == 1 && columns(b) > 1) {
      // One matrix for many right-hand sides, which are independent.
      const std::int64_t n = rows(a), sides = columns(b);
      const Array one = ops::reshape(a, {n, n});
      const Array by_side = ops::reshape(ops::matrix_transpose(ops::reshape(b, {n, sides})), {sides, n, 1});
      const auto side = [&](std::span<const Array> in) { return Arrays{solve_one(in[1], in[0], t)}; };
      const Array solved = for_each_lane({by_side}, {one}, side)[0];
      return ops::reshape(ops::matrix_transpose(ops::reshape(solved, {sides, n})), b.shape());
    }
    return for_each_matrix({a, b}, [&](std::span<const Array> in) { return Arrays{solve_one(in[0], in[1], t)}; })[0];
  };
  return {left ? solve() : ops::matrix_transpose(solve())};
}

Arrays lu(const Primitive& p, std::span<const Array> x, const Params& params) {
  if (x[0].size() == 0) {
    const Types types = p.type(p, std::vector{x[0].aval()}, params);
    return {x[0], ops::zeros_of(types[1]), ops::iota(i32, types[2].shape, types[2].ndim() - 1)};
  }
  return for_each_matrix({x[0]}, [](std::span<const Array> a) { return lu_of_one(a[0]); });
}

Arrays qr(const Primitive& p, std::span<const Array> x, const Params& params) {
  const bool full = params.flag("full_matrices");
  if (x[0].size() == 0) {
    const Types types = p.type(p, std::vector{x[0].aval()}, params);
    const Shape& q = types[0].shape;
    return {ops::broadcast_to(ops::identity_matrix(x[0].dtype(), ops::rows_of(q), ops::columns_of(q)), q),
            ops::zeros_of(types[1])};
  }
  return for_each_matrix({x[0]}, [&](std::span<const Array> a) { return qr_of_one(a[0], full); });
}

}  // namespace

const RuleFor<Expansion> expands_cholesky{{&ops::cholesky_p}, {cholesky}};
const RuleFor<Expansion> expands_triangular_solve{{&ops::triangular_solve_p}, {triangular_solve}};
const RuleFor<Expansion> expands_lu{{&ops::lu_p}, {lu}};
const RuleFor<Expansion> expands_qr{{&ops::qr_p}, {qr}};

}  // namespace cotan::expansions
