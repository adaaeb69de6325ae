// Conformance cases: while_loop, which has forward mode only, and fori_loop.
#include "control/support.hpp"

namespace control {

namespace {

using Two = std::pair<Array, Array>;
using Options = lax::ScanOptions;

}  // namespace

std::vector<Case> while_cases() {
  return {
      {"while_doubles",
       {{}},
       [](const Arrays& in, const Options&) {
         return Arrays{
             lax::while_loop([](Array c) { return c < 10; }, [](Array c) { return c * 2; }, np::abs(in[0]) + 0.1)};
       },
       forward},
      {"while_newton",
       {{}},
       [](const Arrays& in, const Options&) {
         const Array a = in[0] * in[0] + 1;
         return Arrays{lax::while_loop([](Two s) { return s.second > 1e-3; },
                                       [&](Two s) {
                                         const Array n = 0.5 * (s.first + a / s.first);
                                         return Two{n, np::abs(n - s.first)};
                                       },
                                       Two{a, a})
                           .first};
       },
       forward},
      {"while_tree",
       {{2}, {2}},
       [](const Arrays& in, const Options&) {
         return lax::while_loop([](const Arrays& s) { return s[2] < 4; },
                                [](const Arrays& s) { return Arrays{np::sin(s[0]) + s[1], s[1] * 0.9, s[2] + 1}; },
                                Arrays{in[0], in[1], 0});
       },
       forward},
      {"while_captures",
       {{}, {}},
       [](const Arrays& in, const Options&) {
         const Array top = np::abs(in[1]) + 3, step = in[0] * in[0] + 0.5;
         return Arrays{lax::while_loop([&](Array c) { return c < top; }, [&](Array c) { return c + step; }, in[0])};
       },
       forward},
      {"while_never_runs",
       {{}},
       [](const Arrays& in, const Options&) {
         return Arrays{lax::while_loop([](Array c) { return c > 100; }, [](Array c) { return c * 2; }, in[0])};
       },
       forward},
      {"while_collatz",
       {{3}},
       [](const Arrays& in, const Options&) {
         const auto one = [](Array n) {
           return lax::while_loop([](Two s) { return s.first != 1; },
                                  [](Two s) {
                                    const auto& [n, k] = s;
                                    return Two{np::where(n % 2 == 0, np::floor_divide(n, 2), 3 * n + 1), k + 1};
                                  },
                                  Two{n, 0})
               .second;
         };
         return Arrays{ct::vmap(one)(np::abs(np::floor(in[0] * 20)).astype(ct::i32) + 1)};
       },
       forward},
      {"while_lanes_finish_apart",
       {{3}, {3}},
       [](const Arrays& in, const Options&) {
         return ct::vmap([](Array x, Array y) {
           return lax::while_loop(
               [](const Arrays& s) { return s[0] < 5; },
               [&](const Arrays& s) { return Arrays{s[0] + 1 + y * y, s[1] * 0.5 + np::sin(s[0]), s[2] + 1}; },
               Arrays{x, y, 0});
         })(in[0], in[1]);
       },
       forward},
      {"while_lanes_share_the_count",
       {{3}},
       [](const Arrays& in, const Options&) {
         return ct::vmap([](Array x) {
           return lax::while_loop([](const Arrays& s) { return s[1] < 4; },
                                  [](const Arrays& s) { return Arrays{np::sin(s[0]) * 2, s[1] + 1}; }, Arrays{x, 0});
         })(in[0]);
       },
       forward},
      {"while_nested",
       {{}},
       [](const Arrays& in, const Options&) {
         return lax::while_loop(
             [](const Arrays& s) { return s[1] < 4; },
             [&](const Arrays& s) {
               const Array d =
                   lax::while_loop([&](Two t) { return t.second < s[1]; },
                                   [&](Two t) { return Two{np::sin(t.first) + in[0], t.second + 1}; }, Two{s[0], 0})
                       .first;
               return Arrays{d, s[1] + 1};
             },
             Arrays{in[0], 0});
       },
       forward},
      {"while_tangent_after_three_rounds",
       {{}, {2}},
       [](const Arrays& in, const Options&) {
         const Array one = np::ones({2}, in[0].dtype());
         Arrays s = lax::while_loop(
             [](const Arrays& s) { return s[3] < 5; },
             [&](const Arrays& s) { return Arrays{s[0] * in[0], s[1] + np::sin(s[0]), s[2] * in[1] + s[1], s[3] + 1}; },
             Arrays{one, one, one, 0});
         s.pop_back();
         return s;
       },
       forward},
      {"while_predicate_turns_batched",
       {{2}, {2}},
       [](const Arrays& in, const Options&) {
         const ct::DType t = in[0].dtype();
         return lax::while_loop(
             [](const Arrays& s) { return (np::sum(s[0]) < 6) & (s[2] < 9); },
             [&](const Arrays& s) { return Arrays{s[0] + 0.5 * s[1], s[1] * 0.9 + in[0], s[2] + 1}; },
             Arrays{np::zeros({2}, t), np::ones({2}, t), 0});
       },
       forward},
      {"while_with_a_constant_carry",
       {{3}},
       [](const Arrays& in, const Options&) {
         Arrays s = lax::while_loop([](const Arrays& s) { return s[2] < 3; },
                                    [](const Arrays& s) { return Arrays{s[0] * s[1], s[1], s[2] + 1}; },
                                    Arrays{in[0], in[0] + 1, 0});
         s.pop_back();
         return s;
       },
       forward},
      {"while_with_gather_and_cond",
       {{3}, {5}},
       [](const Arrays& in, const Options&) {
         return Arrays{lax::while_loop([](Two s) { return s.second < 5; },
                                       [&](Two s) {
                                         const Array entry = in[1][s.second];
                                         const Array y = lax::cond(
                                             entry > 0, [&](Array x) { return np::sin(x) * entry; },
                                             [&](Array x) { return x - entry; }, s.first);
                                         return Two{y, s.second + 1};
                                       },
                                       Two{in[0], 0})
                           .first};
       },
       forward},

      {"fori_static",
       {{3}},
       [](const Arrays& in, const Options&) {
         return Arrays{lax::fori_loop(0, 4, [](Array i, Array c) { return np::sin(c) * (i + 1); }, in[0])};
       }},
      {"fori_from_negative",
       {{3}},
       [](const Arrays& in, const Options&) {
         return Arrays{lax::fori_loop(-2, 3, [&](Array i, Array c) { return c * 0.5 + i * in[0]; }, in[0])};
       }},
      {"fori_no_steps",
       {{3}},
       [](const Arrays& in, const Options&) {
         return Arrays{lax::fori_loop(3, 1, [](Array, Array c) { return c * 100; }, in[0])};
       }},
      {"fori_tree_and_gather",
       {{3}, {5}},
       [](const Arrays& in, const Options&) {
         const auto [a, b] = lax::fori_loop(
             0, 5,
             [&](Array i, Two c) { return Two{np::sin(c.first) + in[1][i], c.second.at(i).set(np::sum(c.first))}; },
             Two{in[0], np::zeros({5}, in[0].dtype())});
         return Arrays{a, b};
       }},
      {"fori_nested",
       {{2, 3}},
       [](const Arrays& in, const Options&) {
         return Arrays{lax::fori_loop(
             0, 2,
             [](Array i, Array c) {
               return lax::fori_loop(
                   0, 3, [&](Array j, Array d) { return d.at(i, j).multiply((i + j).astype(d.dtype()) + 0.5); }, c);
             },
             in[0])};
       }},
      {"fori_integers",
       {{3}, {3}},
       [](const Arrays& in, const Options&) {
         const Array n = lax::fori_loop(0, 6, [](Array i, Array n) { return n * 3 + i; }, 1);
         return Arrays{n, in[0] * n};
       }},
      {"fori_traced_bounds",
       {{}},
       [](const Arrays& in, const Options&) {
         const Array n = np::floor(np::abs(in[0]) * 5).astype(ct::i32);
         return Arrays{lax::fori_loop(0, n, [](Array i, Array c) { return c * 0.5 + i; }, in[0]), n};
       },
       forward},
  };
}

}  // namespace control
