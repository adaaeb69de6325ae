// Conformance cases: routines in the bodies of scans (decompositions, sorts, gathers, scatters, random
// numbers), mixed with elementwise operations.
#include "control/support.hpp"

namespace control {

namespace {

using Two = std::pair<Array, Array>;
using Options = lax::ScanOptions;

template <class F>
Case scan_of(std::string name, Shape carry, Shape xs, F step, double slack = 10, Options options = {}) {
  return {std::move(name),
          {std::move(carry), std::move(xs)},
          [step, options](const Arrays& in, const Options&) {
            const auto [c, ys] = lax::scan(step, in[0], in[1], options);
            return Arrays{c, ys};
          },
          all_modes,
          one_variant,
          slack};
}
Array eye(const Array& like, std::int64_t n, std::int64_t m) { return np::eye(n, m, 0, like.dtype()); }
Array rows_near(const Array& x) { return np::clip(np::floor(x * 1.9 + 2.5).astype(ct::i32), 0, 4); }

}  // namespace

std::vector<Case> routine_cases() {
  return {
      scan_of("routine_cholesky", {3}, {3, 3, 3},
              [](Array c, Array x) {
                const Array l = linalg::cholesky(positive(x) + np::diag(c * c));
                return Two{np::sin(np::matmul(l, c)), l};
              }),
      scan_of("routine_cholesky_reverse", {3}, {3, 3, 3},
              [](Array c, Array x) {
                const Array l = linalg::cholesky(positive(x));
                return Two{np::tanh(np::matmul(l, c)) + 0.1, np::sum(np::log(np::diag(l)))};
              },
              10, {.reverse = true}),
      {"routine_triangular_solve",
       {{3}, {3, 3}, {4, 3}},
       [](const Arrays& in, const Options&) {
         const Array low = np::tril(in[1]) + 2 * eye(in[1], 3, 3);
         const auto column = [](const Array& v) { return v.reshape({3, 1}); };
         const auto [c, ys] = lax::scan(
             [&](Array c, Array x) {
               const Array y = linalg::triangular_solve(low, column(np::sin(c) + x), {.lower = true});
               const Array z = linalg::triangular_solve(low, y, {.lower = true, .transpose_a = true});
               return Two{z.reshape({3}), y.reshape({3})};
             },
             in[0], in[2]);
         return Arrays{c, ys};
       },
       all_modes,
       one_variant,
       10},
      scan_of("routine_solve", {3}, {3, 3, 3},
              [](Array c, Array x) {
                const Array y = linalg::solve(x + 3 * eye(x, 3, 3), c + 1);
                return Two{np::sin(y), y};
              }),
      scan_of(
          "routine_determinant", {}, {3, 3, 3},
          [](Array c, Array x) {
            const Array a = x + (2 + c) * eye(x, 3, 3);
            return Two{np::sin(c) + 0.1 * linalg::det(a), linalg::slogdet(a).logabsdet};
          },
          50),
      scan_of("routine_inverse", {2, 2}, {3, 2, 2},
              [](Array c, Array x) {
                const Array i = linalg::inv(x + 2.5 * eye(x, 2, 2));
                return Two{np::sin(np::matmul(c, i)), i};
              }),
      scan_of(
          "routine_qr", {3, 2}, {3, 3, 2},
          [](Array c, Array x) {
            const auto [q, r] = linalg::qr(c + x + 2 * eye(x, 3, 2));
            return Two{c * 0.5 + q * q, np::abs(r)};
          },
          50),
      scan_of(
          "routine_eigh", {3}, {3, 3, 3},
          [](Array c, Array x) {
            const Array w = linalg::eigvalsh(x + x.T() + np::diag(np::array({0.0, 2.0, 5.0}, x.dtype())));
            return Two{np::sin(c) + w * 0.3, w};
          },
          50),
      scan_of("routine_sort", {4}, {3, 4},
              [](Array c, Array x) {
                const Array s = np::sort(c + x);
                return Two{s * 0.5 + x, s};
              }),
      scan_of("routine_sort_passed_through", {4}, {3, 4}, [](Array c, Array x) { return Two{c, np::sort(x * c)}; }),
      scan_of("routine_argsort", {4}, {3, 4},
              [](Array c, Array x) {
                const Array i = np::argsort(x);
                return Two{np::sin(c)[i] + x, i};
              }),
      {"routine_top_k",
       {{4}, {3, 4}},
       [](const Arrays& in, const Options&) {
         const auto [c, ys] = lax::scan(
             [](Array c, Array x) {
               const auto [v, i] = lax::top_k(c * x, 2);
               return std::pair{c.at(i).add(v), Two{v, i}};
             },
             in[0], in[1]);
         return Arrays{c, ys.first, ys.second};
       }},
      {"routine_gather",
       {{5, 2}, {4, 3}},
       [](const Arrays& in, const Options&) {
         const auto [c, ys] = lax::scan(
             [&](Array c, Array x) {
               const Array rows = in[0][rows_near(x)];
               return Two{np::sin(c) + np::sum(rows * x(ct::all, ct::newaxis), 0), rows};
             },
             np::zeros({2}, in[0].dtype()), in[1]);
         return Arrays{c, ys};
       }},
      scan_of("routine_scatter_add", {5}, {4, 3},
              [](Array c, Array x) { return Two{(c * 0.5).at(rows_near(x)).add(np::sin(x)), c}; }),
      {"routine_scatter_set",
       {{5, 2}, {4, 2}},
       [](const Arrays& in, const Options&) {
         const auto [c, ys] = lax::scan(
             [](Two s, Array x) {
               const auto& [c, i] = s;
               return std::pair{Two{c.at(i).set(x * c[4 - i]).at(ct::all, 0).multiply(0.5), i + 1}, c[i]};
             },
             Two{in[0], 0}, in[1]);
         return Arrays{c.first, ys};
       }},
      {"routine_random_normal",
       {{2}, {3, 2}},
       [](const Arrays& in, const Options&) {
         const auto [c, ys] = lax::scan(
             [](Two s, Array x) {
               const auto& [c, key] = s;
               const Array keys = ct::random::split(key), sub = keys[1];
               return std::pair{Two{c * 0.5 + x * ct::random::normal(sub, {2}, c.dtype()), keys[0]},
                                ct::random::bits(sub, {2}, ct::u32)};
             },
             Two{in[0], ct::random::key(3)}, in[1]);
         return Arrays{c.first, c.second, ys};
       },
       all_modes,
       one_variant,
       1,
       false},
      {"routine_random_fold_in",
       {{2}, {3, 2}},
       [](const Arrays& in, const Options&) {
         const Array key = ct::random::key(7);
         const auto [c, ys] = lax::scan(
             [&](Two s, Array x) {
               const auto& [c, i] = s;
               const Array u = ct::random::uniform(ct::random::fold_in(key, i), {2}, c.dtype());
               return std::pair{Two{np::sin(c) + u * x, i + 1}, u};
             },
             Two{in[0], 0}, in[1]);
         return Arrays{c.first, ys};
       },
       all_modes,
       one_variant,
       1,
       false},
      {"routine_cumulative",
       {{3}, {3, 3}},
       [](const Arrays& in, const Options&) {
         const auto [c, ys] = lax::scan(
             [](Array c, Array x) {
               const Array p = np::cumprod(x * 0.5 + 1);
               return std::pair{np::cumsum(np::sin(c) * p), Two{p, lax::cummax(c)}};
             },
             in[0], in[1]);
         return Arrays{c, ys.first, ys.second};
       }},
      scan_of("routine_einsum", {2, 3}, {3, 3, 2},
              [](Array c, Array x) {
                return Two{np::tanh(np::einsum("ij,jk,kl->il", {c, x, c})), np::einsum("ij,ji->", {c, x})};
              }),
      scan_of("routine_convolution", {6}, {3, 3},
              [](Array c, Array x) {
                const Array n = np::convolve(c, x, "same");
                return Two{np::tanh(n), n};
              }),
      {"routine_mixed_with_kernels",
       {{3}, {3, 3, 3}},
       [](const Arrays& in, const Options&) {
         const auto [c, ys] = lax::scan(
             [](Array c, Array x) {
               const Array a = positive(x * 0.5) * np::exp(0.1 * np::sum(c)), l = linalg::cholesky(a);
               const Array y = linalg::triangular_solve(l, (c + 1).reshape({3, 1}), {.lower = true}).reshape({3});
               const Array s = np::sort(y * y);
               return std::pair{np::sin(s) + c * 0.1,
                                Two{np::sum(np::log(np::diag(l))), s[ct::range(ct::none, ct::none, -1)]}};
             },
             in[0], in[1]);
         return Arrays{c, ys.first, ys.second};
       },
       all_modes,
       one_variant,
       10},
      scan_of("routine_batched_cholesky", {2, 3}, {2, 2, 3, 3},
              [](Array c, Array x) {
                const Array l = linalg::cholesky(positive(x));
                return Two{np::einsum("bij,bj->bi", {l, np::sin(c)}), l(ct::all, 2)};
              }),
  };
}

}  // namespace control
