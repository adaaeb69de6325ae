// Conformance cases: scans with trees of every kind for carries, inputs and outputs.
#include "control/support.hpp"

namespace control {

std::vector<Case> scan_cases() {
  using Options = lax::ScanOptions;
  return {
      {"scan_sum",
       {{}, {5}},
       [](const Arrays& in, const Options& o) {
         const auto [c, ys] = lax::scan([](Array c, Array x) { return std::pair{c + x, c * x}; }, in[0], in[1], o);
         return Arrays{c, ys};
       },
       all_modes,
       variants},
      {"scan_rnn",
       {{3, 3}, {3}, {5, 3}},
       [](const Arrays& in, const Options& o) {
         const auto [c, ys] = lax::scan(
             [&](Array c, Array x) {
               const Array n = np::tanh(np::matmul(in[0], c) + x);
               return std::pair{n, np::sum(n)};
             },
             in[1], in[2], o);
         return Arrays{c, ys};
       },
       all_modes,
       variants},
      {"scan_pytree",
       {{2}, {}, {5, 2}, {5}},
       [](const Arrays& in, const Options& o) {
         using Carry = std::pair<std::tuple<Array, Array>, Array>;
         const auto [carry, ys] = lax::scan(
             [](const Carry& carry, std::tuple<Array, Array> xy) {
               const auto& [x, y] = xy;
               const auto& n = carry.second;
               const Array a = np::sin(std::get<0>(carry.first) * y) + x;
               const Array b = std::get<1>(carry.first) * 0.5 + np::sum(a) * n;
               return std::pair{Carry{{a, b}, n + 1}, std::tuple{a * b, n, std::vector{x + y}}};
             },
             Carry{{in[0], in[1]}, 0}, std::tuple{in[2], in[3]}, o);
         const auto& [p, q, r] = ys;
         return Arrays{std::get<0>(carry.first), std::get<1>(carry.first), carry.second, p, q, r[0]};
       },
       all_modes,
       variants},
      {"scan_captured",
       {{2}, {5, 2}, {3}},
       [](const Arrays& in, const Options& o) {
         const Array d = in[2], scale = np::sum(np::cos(d));
         const auto [c, ys] = lax::scan(
             [&](Array c, Array x) {
               const Array mixed = np::cos(np::sum(np::sin(x)) + np::sum(np::cos(c)) + np::sum(d * d));
               return std::pair{np::sin(c * scale) + mixed, mixed * x};
             },
             in[0], in[1], o);
         return Arrays{c, ys};
       },
       all_modes,
       variants,
       5},
      {"scan_matrices",
       {{2, 2}, {5, 2, 2}},
       [](const Arrays& in, const Options& o) {
         const auto [c, ys] = lax::scan(
             [](Array c, Array x) {
               const Array n = 0.5 * np::matmul(c, x) + np::tanh(c).T();
               return std::pair{n, std::pair{n[0], np::trace(n)}};
             },
             in[0], in[1], o);
         return Arrays{c, ys.first, ys.second};
       },
       all_modes,
       variants},

      {"scan_no_ys",
       {{3}, {4, 3}},
       [](const Arrays& in, const Options&) {
         const auto [c, ys] =
             lax::scan([](Array c, Array x) { return std::pair{np::sin(c) + x, ct::none}; }, in[0], in[1]);
         return Arrays{c};
       }},
      {"scan_no_carry",
       {{4, 3}},
       [](const Arrays& in, const Options&) {
         const auto [c, ys] =
             lax::scan([](std::tuple<>, Array x) { return std::pair{std::tuple<>(), np::sin(x) * np::sum(x)}; },
                       std::tuple<>(), in[0]);
         return Arrays{ys};
       }},
      {"scan_no_xs",
       {{3}},
       [](const Arrays& in, const Options&) {
         const auto [c, ys] =
             lax::scan([](Array c) { return std::pair{np::sin(c) * 1.5, np::sum(c)}; }, in[0], lax::length(4));
         return Arrays{c, ys};
       }},
      {"scan_no_xs_no_ys",
       {{3}},
       [](const Arrays& in, const Options&) {
         const auto [c, ys] =
             lax::scan([](Array c, ct::None) { return std::pair{c * c + 0.5, ct::none}; }, in[0], lax::length(3));
         return Arrays{c};
       }},
      {"scan_length_zero",
       {{2}, {0, 2}},
       [](const Arrays& in, const Options&) {
         const auto [c, ys] = lax::scan(
             [](Array c, Array x) { return std::pair{np::sin(c) + x, std::pair{c * x, np::sum(x)}}; }, in[0], in[1]);
         return Arrays{c, ys.first, ys.second};
       }},
      {"scan_length_one",
       {{2}, {1, 2}},
       [](const Arrays& in, const Options&) {
         const auto [c, ys] =
             lax::scan([](Array c, Array x) { return std::pair{np::sin(c) * x, c * x}; }, in[0], in[1]);
         return Arrays{c, ys};
       }},
      {"scan_x_passed_through",
       {{2}, {4, 2}},
       [](const Arrays& in, const Options&) {
         const auto [c, ys] =
             lax::scan([](Array c, Array x) { return std::pair{c * 0.5 + np::cos(x), std::pair{x, c}}; }, in[0], in[1]);
         return Arrays{c, ys.first, ys.second};
       }},
      {"scan_duplicated_outputs",
       {{2}, {4, 2}},
       [](const Arrays& in, const Options&) {
         const auto [c, ys] = lax::scan(
             [](std::pair<Array, Array> c, Array x) {
               const Array n = np::sin(c.first) * x + c.second;
               return std::pair{std::pair{n, n}, Arrays{n, n, x, x}};
             },
             std::pair{in[0], in[0] * 2}, in[1]);
         return Arrays{c.first, c.second, ys[0], ys[1], ys[2], ys[3]};
       }},
      {"scan_constant_outputs",
       {{2}, {3}},
       [](const Arrays& in, const Options&) {
         const ct::DType t = in[0].dtype();
         const auto [c, ys] = lax::scan(
             [&](Array c, Array x) { return std::pair{c * x, std::pair{np::full({}, 2, t), np::ones({3}, t)}}; }, in[0],
             in[1]);
         return Arrays{c, ys.first, ys.second};
       }},
      {"scan_y_without_carry",
       {{}, {4}},
       [](const Arrays& in, const Options&) {
         const auto [c, ys] = lax::scan([](Array c, Array x) { return std::pair{c, np::exp(x) * 2}; }, in[0], in[1]);
         return Arrays{c, ys};
       }},
      {"scan_unused_inputs",
       {{}, {4}, {4}, {2}},
       [](const Arrays& in, const Options&) {
         const auto [c, ys] =
             lax::scan([](Array c, std::pair<Array, Array> x) { return std::pair{c * 0.5, np::sin(x.first)}; }, in[0],
                       std::pair{in[1], in[2]});
         return Arrays{c, ys};
       }},
      {"scan_integer_ys",
       {{2}, {4, 2}},
       [](const Arrays& in, const Options&) {
         const auto [c, ys] = lax::scan(
             [](Array c, Array x) {
               const Array n = c + x;
               return std::pair{n, std::tuple{np::argmax(n), n > 0, np::floor(4 * n).astype(ct::i32)}};
             },
             in[0], in[1]);
         return Arrays{c, std::get<0>(ys), std::get<1>(ys), std::get<2>(ys)};
       }},
      {"scan_many_outputs",
       {{2}, {4, 2}, {4}, {4, 1}},
       [](const Arrays& in, const Options&) {
         auto [c, ys] = lax::scan(
             [](Array c, std::tuple<Array, Array, Array> x) {
               const auto& [a, b, d] = x;
               const Array n = np::cos(c) * b + a;
               return std::pair{n, Arrays{n, a * b, n * d, np::sum(n), b + d}};
             },
             in[0], std::tuple{in[1], in[2], in[3]});
         ys.insert(ys.begin(), c);
         return ys;
       }},
      {"scan_many_carries",
       {{2}, {}, {2}, {1}, {4, 2}},
       [](const Arrays& in, const Options&) {
         auto [c, ys] = lax::scan(
             [](const Arrays& c, Array x) {
               const Array a = c[0], b = c[1], d = c[2], e = c[3];
               return std::pair{Arrays{np::sin(a) + x * b, b * 0.9 + np::sum(d), a * d, e + b}, a * e};
             },
             Arrays{in[0], in[1], in[2], in[3]}, in[4]);
         c.push_back(ys);
         return c;
       }},
      {"scan_reductions",
       {{3}, {4, 3}},
       [](const Arrays& in, const Options&) {
         auto [c, ys] = lax::scan(
             [](Array c, Array x) {
               const Array m = np::max(c + x);
               return std::pair{np::exp(x - m) * np::mean(c), Arrays{m, np::logsumexp(c * x), np::prod(x)}};
             },
             in[0], in[1]);
         ys.insert(ys.begin(), c);
         return ys;
       }},
      {"scan_slices_of_higher_rank",
       {{2}, {2, 3, 2}},
       [](const Arrays& in, const Options&) {
         const auto [c, ys] =
             lax::scan([](Array c, Array x) { return std::pair{c + np::sum(x, 0), x * c}; }, in[0], in[1]);
         return Arrays{c, ys};
       }},
      {"scan_then_scan",
       {{2}, {4, 2}},
       [](const Arrays& in, const Options&) {
         const auto [c, ys] =
             lax::scan([](Array c, Array x) { return std::pair{np::sin(c + x), c * x}; }, in[0], in[1]);
         const auto [d, zs] =
             lax::scan([](Array d, Array y) { return std::pair{d * y + 1, np::cos(d)}; }, c, ys, {.reverse = true});
         return Arrays{d, zs};
       }},
  };
}

}  // namespace control
