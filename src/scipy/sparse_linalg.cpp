// Krylov methods, as solvers of custom_linear_solve: loops of products with vectors, on lists of arrays.
#include <algorithm>
#include <cotan/flatten_util.hpp>
#include <cotan/linalg.hpp>
#include <cotan/numpy.hpp>
#include <cotan/scipy/sparse_linalg.hpp>

namespace cotan {

namespace {

namespace np = numpy;

/// A list of arrays as one vector: elementwise operations on all of them.
template <class F>
Arrays each(F f, const Arrays& a, const Arrays& b) {
  Arrays out;
  for (std::size_t i = 0; i < a.size(); ++i) out.push_back(f(a[i], b[i]));
  return out;
}
Arrays minus(const Arrays& a, const Arrays& b) {
  return each([](const Array& x, const Array& y) { return x - y; }, a, b);
}
/// a + t b, in the dtypes of a.
Arrays plus(const Arrays& a, const Array& t, const Arrays& b) {
  return each([&](const Array& x, const Array& y) { return x + t.astype(x.dtype()) * y; }, a, b);
}
Arrays where(const Array& condition, const Arrays& a, const Arrays& b) {
  return each([&](const Array& x, const Array& y) { return np::where(condition, x, y); }, a, b);
}
Array dot(const Arrays& a, const Arrays& b) {
  Array sum = np::vdot(a[0], b[0]);
  for (std::size_t i = 1; i < a.size(); ++i) sum = sum + np::vdot(a[i], b[i]);
  return sum;
}

/// What a method needs of a system.
struct System {
  const FlatFn& operation;
  const Arrays b;
  const flat::KrylovOptions& options;

  Arrays product(const Arrays& x) const { return operation(x); }
  Arrays preconditioned(const Arrays& x) const { return options.M ? options.M(x) : x; }
  std::int64_t size() const {
    std::int64_t n = 0;
    for (const Array& a : b) n += a.size();
    return n;
  }
  std::int64_t most_steps() const { return options.maxiter ? *options.maxiter : 10 * size(); }
  Arrays start() const {
    if (!options.x0.empty()) return options.x0;
    Arrays out;
    for (const Array& a : b) out.push_back(np::zeros_like(a));
    return out;
  }
  /// The square of the length of the residual that is small enough.
  Array small_enough() const {
    return np::maximum(dot(b, b) * (options.tol * options.tol), options.atol * options.atol);
  }
};

/// A loop whose state is several lists and scalars; f gets and gives them as one list.
Arrays loop(const FlatFn& condition, const FlatFn& body, const Arrays& state) {
  return flat::while_loop(
      condition, body, state, [](std::size_t i) { return "carry " + std::to_string(i); }, "while_loop");
}
Arrays part(std::span<const Array> state, std::size_t k, std::size_t n) {
  const auto lists = state.subspan(k * n, n);
  return {lists.begin(), lists.end()};
}
Arrays joined(std::initializer_list<Arrays> lists, std::initializer_list<Array> scalars) {
  Arrays out;
  for (const Arrays& list : lists) out.insert(out.end(), list.begin(), list.end());
  out.insert(out.end(), scalars.begin(), scalars.end());
  return out;
}

/// Lists: x, r, p. Scalars: gamma = r · M r, the number of the step.
Arrays cg(const System& s) {
  const std::size_t n = s.b.size();
  const Array enough = s.small_enough();
  const Arrays x = s.start(), r = minus(s.b, s.product(x)), p = s.preconditioned(r);
  const auto goes_on = [&](std::span<const Array> in) {
    const Arrays residual = part(in, 1, n);
    const Array length = s.options.M ? dot(residual, residual) : in[3 * n];
    return Arrays{(length > enough) & (in[3 * n + 1] < s.most_steps())};
  };
  const auto step = [&](std::span<const Array> in) {
    const Arrays x = part(in, 0, n), r = part(in, 1, n), p = part(in, 2, n), ap = s.product(p);
    const Array gamma = in[3 * n], alpha = gamma / dot(p, ap);
    const Arrays next = plus(r, -alpha, ap), z = s.preconditioned(next);
    const Array length = dot(next, z);
    return joined({plus(x, alpha, p), next, plus(z, length / gamma, p)}, {length, in[3 * n + 1] + 1});
  };
  return part(loop(goes_on, step, joined({x, r, p}, {dot(r, p), np::array(0)})), 0, n);
}

/// Lists: x, r, p, q. Scalars: alpha, omega, rho, the number of the step, negative where the method broke down.
Arrays bicgstab(const System& s) {
  const std::size_t n = s.b.size();
  const Array enough = s.small_enough();
  const Arrays x = s.start(), shadow = minus(s.b, s.product(x));
  const Array one = np::ones_like(enough);
  const auto goes_on = [&](std::span<const Array> in) {
    const Arrays r = part(in, 1, n);
    const Array number = in[4 * n + 3];
    return Arrays{(dot(r, r) > enough) & (number < s.most_steps()) & (number >= 0)};
  };
  const auto step = [&](std::span<const Array> in) {
    const Arrays x = part(in, 0, n), r = part(in, 1, n), p = part(in, 2, n), q = part(in, 3, n);
    const Array alpha = in[4 * n], omega = in[4 * n + 1], rho = in[4 * n + 2], number = in[4 * n + 3];
    const Array new_rho = dot(shadow, r), beta = new_rho / rho * alpha / omega;
    const Arrays new_p = plus(r, beta, plus(p, -omega, q)), p_hat = s.preconditioned(new_p), new_q = s.product(p_hat);
    const Array new_alpha = new_rho / dot(shadow, new_q);
    const Arrays half = plus(r, -new_alpha, new_q), half_hat = s.preconditioned(half), t = s.product(half_hat);
    const Array done = dot(half, half) < enough, new_omega = dot(t, half) / dot(t, t);
    const Arrays half_x = plus(x, new_alpha, p_hat);
    const Array stuck = np::where((new_omega == 0) | (new_alpha == 0), -11, number + 1);
    return joined({where(done, half_x, plus(half_x, new_omega, half_hat)), where(done, half, plus(half, -new_omega, t)),
                   new_p, new_q},
                  {new_alpha, new_omega, new_rho, np::where(new_rho == 0, -10, stuck)});
  };
  return part(loop(goes_on, step, joined({x, shadow, shadow, shadow}, {one, one, one, np::array(0)})), 0, n);
}

Array ravel(const Arrays& list) { return flatten_util::detail::raveled(list, flatten_util::detail::layout_of(list)); }
Arrays unravel(const Array& vector, const Arrays& like) {
  return flatten_util::detail::unraveled(vector, flatten_util::detail::layout_of(like));
}
Array length_of(const Array& v) { return np::sqrt(np::vdot(v, v)); }

/// One round: the best correction of x in the space of M A applied up to `m` times to the residual. Directions that
/// are nearly dependent on the others are left out.
Array corrected(const System& s, const Array& x, const Array& residual, std::int64_t m) {
  const Array beta = length_of(residual), zero = np::zeros_like(beta);
  const double tiny = beta.dtype() == f64 ? 1e-14 : 1e-6;
  const auto unit = [&](const Array& v, const Array& length, const Array& from) {
    const Array some = length > tiny * from;
    return std::pair{np::where(some, v / np::where(some, length, 1.0), 0.0), np::where(some, length, zero)};
  };
  const Array first = unit(residual, beta, zero).first;
  Array v = np::zeros({m + 1, x.size()}, x.dtype()).at(0).set(first);
  Array h = np::zeros({m + 1, m}, x.dtype());
  const auto arnoldi = [&](std::span<const Array> in) {
    const Array k = in[0], basis = in[1];
    Array w = ravel(s.preconditioned(s.product(unravel(basis(k), s.b))));
    const Array whole = length_of(w);
    Array shares = np::zeros({m + 1}, x.dtype());
    for (int again = 0; again < 2; ++again) {  // once is not enough where much cancels
      const Array share = np::matmul(basis, w);
      w = w - np::matmul(share, basis);
      shares = shares + share;
    }
    const auto [direction, length] = unit(w, length_of(w), whole);
    const Array column = shares.at(k + 1).set(length);
    return Arrays{basis.at(k + 1).set(direction), in[2].at(all, k).set(column)};
  };
  const Arrays out = flat::fori_loop(0, m, arnoldi, Arrays{v, h}, [](std::size_t) { return std::string("carry"); });
  // The smallest |beta e - H y|. Where a column is 0, so is its share.
  const auto [q, r] = cotan::linalg::qr(out[1]);
  const Array pivots = np::diagonal(r), empty = np::abs(pivots) <= tiny * np::max(np::abs(pivots));
  const Array shares =
      cotan::linalg::triangular_solve(r + np::diag(np::where(empty, 1.0 - pivots, 0.0)), q(0) * beta, {.lower = false});
  const Array y = np::where(empty, 0.0, shares);
  return x + np::matmul(y, out[0](range(0, m)));
}

Arrays gmres(const System& s) {
  const std::int64_t m = std::min(s.options.restart, std::max<std::int64_t>(s.size(), 1));
  const Array right = ravel(s.b), length = length_of(right);
  const Array enough = np::maximum(length * s.options.tol, s.options.atol);
  const auto residual_of = [&](const Array& x) { return ravel(minus(s.b, s.product(unravel(x, s.b)))); };
  const Array x = ravel(s.start());
  const auto goes_on = [&](std::span<const Array> in) {
    return Arrays{(length_of(in[1]) > enough) & (in[2] < s.most_steps())};
  };
  const auto step = [&](std::span<const Array> in) {
    const Array residual = ravel(s.preconditioned(unravel(in[1], s.b)));
    const Array next = corrected(s, in[0], residual, m);
    return Arrays{next, residual_of(next), in[2] + 1};
  };
  return unravel(loop(goes_on, step, Arrays{x, residual_of(x), np::array(0)})[0], s.b);
}

}  // namespace

namespace flat {

Arrays krylov_solve(Krylov method, const FlatFn& operation, std::span<const Array> b, const KrylovOptions& options,
                    const Paths& paths) {
  if (!options.x0.empty() && options.x0.size() != b.size())
    throw TreeError("[krylov_solve] x0 and b have different numbers of arrays; give x0 the structure of b.");
  for (std::size_t i = 0; i < options.x0.size(); ++i)
    if (options.x0[i].shape() != b[i].shape())
      throw ShapeError("[krylov_solve] x0 is " + options.x0[i].aval().str() + " but b is " + b[i].aval().str() +
                       "; they must have one shape.");
  if (options.restart < 1) throw ValueError("[gmres] restart must be at least 1.");
  const Solver solve = [method, options](const FlatFn& apply, std::span<const Array> right) {
    const System system{apply, {right.begin(), right.end()}, options};
    if (system.size() == 0) return system.b;
    return method == Krylov::cg ? cg(system) : method == Krylov::bicgstab ? bicgstab(system) : gmres(system);
  };
  return custom_linear_solve(operation, b, {solve, solve, method == Krylov::cg}, paths);
}

}  // namespace flat

Arrays scipy::sparse::linalg::detail::product(const Array& a, std::span<const Array> x) {
  if (a.ndim() != 2 || x.size() != 1)
    throw ShapeError("[krylov_solve] a matrix " + a.aval().str() +
                     " is given for several arrays; give a matrix and a vector, or a function.");
  return {np::matmul(a, x[0])};
}

}  // namespace cotan
