// Conformance cases: custom_root, custom_linear_solve, and the Krylov methods on top of it.
#include "control/support.hpp"

namespace control {

namespace sparse = cotan::scipy::sparse::linalg;

namespace {

using Options = lax::ScanOptions;
using Two = std::pair<Array, Array>;

/// The matrix of a linear function of vectors.
template <class F>
Array matrix_of(const F& f, std::int64_t n, ct::DType dtype) {
  return ct::vmap([&](Array e) { return f(e); }, {.out_axes = 1})(np::eye(n, std::nullopt, 0, dtype));
}
const auto direct = [](const auto& f, Array y) { return linalg::solve(matrix_of(f, y.size(), y.dtype()), y); };
const auto quotient = [](const auto& g, Array y) { return y / g(np::ones_like(y)); };

/// Diagonally dominant, from any square one.
Array dominant(const Array& a) { return 0.3 * a + np::eye(a.shape()[0], std::nullopt, 0, a.dtype()) * 3.0; }

}  // namespace

std::vector<Case> solver_cases() {
  return {
      {"root_of_square",
       {{}},
       [](const Arrays& in, const Options&) {
         const Array c = in[0] * in[0] + 1.0;
         const auto newton = [](const auto& f, Array x0) {
           return lax::fori_loop(0, 12, [&](Array, Array x) { return x - f(x) / (f(x + 1e-4) - f(x)) * 1e-4; }, x0);
         };
         return Arrays{lax::custom_root([&](Array x) { return x * x - c; }, np::full_like(c, 1.5), newton, quotient)};
       },
       all_modes,
       one_variant,
       10},
      {"root_of_system",
       {{3, 3}, {3}},
       [](const Arrays& in, const Options&) {
         const auto f = [&](Array x) { return x - 0.2 * np::tanh(np::matmul(in[0], x)) - in[1]; };
         const auto steps = [](const auto& f, Array x0) {
           return lax::fori_loop(0, 60, [&](Array, Array x) { return x - f(x); }, x0);
         };
         return Arrays{lax::custom_root(f, np::zeros_like(in[1]), steps, direct)};
       },
       all_modes,
       one_variant,
       10},
      {"solve_symmetric",
       {{3, 3}, {3}},
       [](const Arrays& in, const Options&) {
         const Array a = positive(in[0]);
         return Arrays{
             lax::custom_linear_solve([&](Array x) { return np::matmul(a, x); }, in[1], direct, {.symmetric = true})};
       },
       all_modes,
       one_variant,
       10},
      {"solve_transposed",
       {{3, 3}, {3}, {}},
       [](const Arrays& in, const Options&) {
         const Array a = dominant(in[0]);
         const auto apply = [&](Two x) {
           return Two{np::matmul(a, x.first) + x.second * 0.1, x.second * 2.0 + np::sum(x.first) * 0.1};
         };
         // By a fixed number of steps of Jacobi's method; the transposed operation has the same diagonal.
         const Array diagonal = np::diagonal(a);
         const auto jacobi = [&](const auto& f, Two b) {
           return lax::fori_loop(
               0, 60,
               [&](Array, Two x) {
                 const Two y = f(x);
                 return Two{x.first + (b.first - y.first) / diagonal, x.second + (b.second - y.second) / 2.0};
               },
               Two{np::zeros_like(b.first), np::zeros_like(b.second)});
         };
         const Two x = lax::custom_linear_solve(apply, Two{in[1], in[2]}, jacobi, jacobi);
         return Arrays{x.first, x.second};
       },
       all_modes,
       one_variant,
       10},
      {"solve_cg",
       {{3, 3}, {3}},
       [](const Arrays& in, const Options&) { return Arrays{sparse::cg(positive(in[0]), in[1])}; },
       all_modes,
       one_variant,
       10},
      {"solve_cg_preconditioned",
       {{3, 3}, {3}},
       [](const Arrays& in, const Options&) {
         const Array a = positive(in[0]), diagonal = np::diagonal(a);
         return Arrays{sparse::cg([&](Array x) { return np::matmul(a, x); }, in[1],
                                  {.x0 = in[1] * 0.5, .M = [=](const Array& x) { return x / diagonal; }})};
       },
       all_modes,
       one_variant,
       10},
      {"solve_bicgstab",
       {{3, 3}, {3}},
       [](const Arrays& in, const Options&) {
         return Arrays{sparse::bicgstab(dominant(in[0]), in[1], {.tol = 1e-12})};
       },
       all_modes,
       one_variant,
       10,
       false},
      {"solve_gmres",
       {{3, 3}, {3}},
       [](const Arrays& in, const Options&) { return Arrays{sparse::gmres(dominant(in[0]), in[1])}; },
       all_modes,
       one_variant,
       10},
  };
}

}  // namespace control
