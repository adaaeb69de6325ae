// Conformance cases: loops in loops, and other transforms in the bodies of loops.
#include "control/support.hpp"

namespace control {

namespace {

using Two = std::pair<Array, Array>;
using Unary = std::tuple<Array>;
using Options = lax::ScanOptions;

Two mix(const Array& c, const Array& x) {
  const Array n = np::sin(c) * x + 0.5 * c;
  return {n, n * x};
}
Two sine_product(const Array& c, const Array& x) { return {np::sin(c) * x, np::sum(c)}; }

/// A scan with init in[0] and xs in[1]: the shape of most cases here.
template <class F>
Case scan_of(std::string name, Shape carry, Shape xs, F step, Case::Modes modes = all_modes) {
  return {std::move(name),
          {std::move(carry), std::move(xs)},
          [step](const Arrays& in, const Options&) {
            const auto [c, ys] = lax::scan(step, in[0], in[1]);
            return Arrays{c, ys};
          },
          modes};
}

}  // namespace

std::vector<Case> nested_cases() {
  return {
      {"nested_scan_over_rows",
       {{2}, {3, 4, 2}},
       [](const Arrays& in, const Options&) {
         const auto [c, ys] = lax::scan(
             [](Array c, Array row) {
               const auto [d, ys] = lax::scan([](Array d, Array x) { return Two{np::sin(d) + x, d * x}; }, c, row);
               return std::pair{d * 0.5, Two{ys, np::sum(d)}};
             },
             in[0], in[1]);
         return Arrays{c, ys.first, ys.second};
       }},
      {"nested_scan_captures_the_outer_carry",
       {{2}, {3, 2}, {4}},
       [](const Arrays& in, const Options&) {
         const auto [c, ys] = lax::scan(
             [&](Array c, Array x) {
               const auto [d, zs] =
                   lax::scan([&](Array d, Array y) { return Two{d * y + c, np::sum(d * x)}; }, x, in[2]);
               return Two{np::cos(d), zs};
             },
             in[0], in[1]);
         return Arrays{c, ys};
       }},
      scan_of("nested_three_deep", {2}, {2, 3, 2, 2},
              [](Array c, Array x) {
                const auto inner = [](Array c, Array x) { return Two{np::sin(c) * x + c, np::sum(c * x)}; };
                const auto middle = [&](Array c, Array x) { return lax::scan(inner, c * 0.5, x); };
                return lax::scan(middle, c + 0.1, x, {.reverse = true});
              }),
      {"nested_scan_in_fori",
       {{2}, {3, 2}},
       [](const Arrays& in, const Options&) {
         return Arrays{lax::fori_loop(
             0, 3,
             [&](Array i, Array c) {
               return lax::scan(
                          [&](Array c, Array x) {
                            return std::pair{np::sin(c) * x + i.astype(c.dtype()) * 0.1, ct::none};
                          },
                          c, in[1])
                   .first;
             },
             in[0])};
       }},
      scan_of("nested_fori_in_scan", {2}, {3, 2},
              [](Array c, Array x) {
                return Two{lax::fori_loop(0, 3, [&](Array i, Array d) { return np::sin(d) * x + i; }, c), c * x};
              }),
      {"nested_scan_in_while",
       {{2}, {3, 2}},
       [](const Arrays& in, const Options&) {
         const auto [c, i] =
             lax::while_loop([](Two s) { return s.second < 3; },
                             [&](Two s) {
                               const auto step = [](Array c, Array x) { return std::pair{np::tanh(c) + x, ct::none}; };
                               return Two{lax::scan(step, s.first, in[1]).first, s.second + 1};
                             },
                             Two{in[0], 0});
         return Arrays{c, i};
       },
       forward},
      {"nested_while_in_scan",
       {{2}, {3, 2}},
       [](const Arrays& in, const Options&) {
         const auto [c, ys] = lax::scan(
             [](Array c, Array x) {
               const auto [d, n] =
                   lax::while_loop([](Two s) { return np::sum(s.first * s.first) < 9; },
                                   [&](Two s) { return Two{s.first * 1.5 + x * 0.1, s.second + 1}; }, Two{c, 0});
               return Two{d * 0.25, n};
             },
             in[0] + 2, in[1]);
         return Arrays{c, ys};
       },
       forward},
      scan_of("nested_cond_in_scan", {2}, {4, 2},
              [](Array c, Array x) {
                const Array n = lax::cond(
                    np::sum(x) > 0, [&](Array c) { return np::sin(c) * x; }, [&](Array c) { return c * c + x; }, c);
                return Two{n, c};
              }),
      {"nested_scan_in_cond",
       {{2}, {4, 2}, {}},
       [](const Arrays& in, const Options&) {
         const Array p = in[2];
         const auto [c, ys] = lax::cond(
             p > 0,
             [](Array c, Array xs) {
               return lax::scan([](Array c, Array x) { return Two{np::sin(c) * x, c + x}; }, c, xs);
             },
             [&](Array c, Array xs) {
               return lax::scan([&](Array c, Array x) { return Two{c + x * p, c * x}; }, c, xs, {.reverse = true});
             },
             in[0], in[1]);
         return Arrays{c, ys};
       }},
      {"nested_switch_in_scan",
       {{2}, {6, 2}},
       [](const Arrays& in, const Options&) {
         const auto [c, ys] = lax::scan(
             [](Two s, Array x) {
               const auto& [c, i] = s;
               const Array n = lax::switch_(i % 3,
                                            {[](Array c) { return np::sin(c); }, [&](Array c) { return c * x; },
                                             [&](Array c) { return c * c * 0.5 + x; }},
                                            c);
               return std::pair{Two{n, i + 1}, i};
             },
             Two{in[0], 0}, in[1]);
         return Arrays{c.first, ys};
       }},
      scan_of("nested_map_in_scan", {2}, {3, 4},
              [](Array c, Array x) {
                const Array m = lax::map([&](Array a) { return np::sin(a) * c; }, x);
                return Two{np::sum(m, 0), m};
              }),
      {"nested_scan_in_map",
       {{2}, {3, 4, 2}},
       [](const Arrays& in, const Options&) {
         return Arrays{lax::map([&](Array x) { return lax::scan(mix, in[0], x).second; }, in[1])};
       }},
      scan_of("nested_associative_scan_in_scan", {2}, {3, 4, 2},
              [](Array c, Array x) {
                const Array p = lax::associative_scan([](Array a, Array b) { return a * b; }, x * 0.5 + 1);
                return Two{np::sin(c) + p[-1], p * c};
              }),
      scan_of("nested_jit_in_scan", {2}, {3, 2}, ct::jit(sine_product)),
      scan_of("nested_checkpoint_in_scan", {2}, {3, 2}, ct::checkpoint([](const Array& c, const Array& x) {
                return Two{np::sin(np::sin(c) * x) + c, np::exp(c * x)};
              })),
      scan_of("nested_vmap_in_scan", {3, 2}, {4, 2},
              [](Array c, Array x) {
                return Two{ct::vmap([&](Array a) { return np::sin(a) * x + np::sum(a); })(c), np::sum(c)};
              }),
      scan_of("nested_grad_in_scan", {2}, {3, 2},
              [](Array c, Array x) {
                const Array g = ct::grad([&](Array c) { return np::sum(np::sin(c * x) * c); })(c);
                return Two{c - 0.1 * g, g};
              }),
      scan_of("nested_jvp_in_scan", {2}, {3, 2},
              [](Array c, Array x) {
                const auto [y, t] = ct::jvp([](Array c) { return np::sin(c) * c; }, std::tuple{c}, std::tuple{x});
                return Two{y * 0.5, t};
              }),
      {"nested_grad_of_scan_in_scan",
       {{2}, {3, 2}},
       [](const Arrays& in, const Options&) {
         const auto [c, ys] = lax::scan(
             [&](Array c, Array x) {
               const auto inner = [&](Array d) {
                 const auto [e, ys] = lax::scan([](Array e, Array y) { return Two{np::sin(e * y), e}; }, d, in[1]);
                 return np::sum(e) + np::sum(ys * x);
               };
               return std::pair{c - 0.1 * ct::grad(inner)(c), ct::none};
             },
             in[0], in[1]);
         return Arrays{c};
       }},
      scan_of("nested_custom_jvp_in_scan", {2}, {3, 2},
              [](Array c, Array x) {
                const auto guarded =
                    ct::custom_jvp([](Array x) { return np::sin(x) * x; },
                                   [](Unary x, Unary t) {
                                     const auto& [a] = x;
                                     return std::pair{np::sin(a) * a, (np::sin(a) + a * np::cos(a)) * std::get<0>(t)};
                                   });
                return Two{guarded(c) + x, c};
              }),
      scan_of("nested_cumsum_in_scan", {2}, {4, 3},
              [](Array c, Array x) {
                const Array s = np::cumsum(x * c[0]);
                return Two{np::sin(c) + s[ct::range(1, ct::none)], s};
              }),
      scan_of("nested_scan_of_scanned_ys", {3}, {2, 3},
              [](Array c, Array x) {
                const Array ys = lax::scan([](Array a, Array b) { return Two{a + b, a * b}; }, c[0], x).second;
                return Two{ys + c, ys};
              }),
      scan_of("nested_scan_with_no_carry_reading_outer_carry", {2}, {3, 2},
              [](Array c, Array x) {
                const Array ys =
                    lax::scan([&](std::tuple<>, Array a) { return std::pair{std::tuple<>(), np::sin(a * c)}; },
                              std::tuple<>(), x)
                        .second;
                return Two{np::sum(ys, 0) + 0.1, ys};
              }),
      {"nested_kalman_filter",
       {{2, 2}, {2}, {6, 2}},
       [](const Arrays& in, const Options&) {
         const Array a = in[0], h = np::array({1.0, 0.5}, a.dtype()), eye = np::eye(2, 2, 0, a.dtype());
         const auto [last, ms] = lax::scan(
             [&](std::tuple<Array, Array, Array> carry, Array y) {
               const auto& [m0, p0, loglik] = carry;
               const Array m = np::matmul(a, m0), p = np::matmul(np::matmul(a, p0), a.T()) + 0.3 * eye;
               const Array s = np::dot(np::matmul(h, p), h) + 0.2, gain = np::matmul(p, h) / s;
               const Array v = y[0] - np::dot(h, m);
               return std::pair{
                   std::tuple{m + gain * v, p - np::outer(gain, gain) * s, loglik - 0.5 * (v * v / s + np::log(s))}, m};
             },
             std::tuple{in[1], eye, 0.0}, in[2]);
         const auto& [m, p, loglik] = last;
         return Arrays{m, p, loglik, ms};
       }},
  };
}

}  // namespace control
