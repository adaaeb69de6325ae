// Conformance cases: carries that stay, move, count, grow a derivative or a batch only after some rounds.
#include "control/support.hpp"

namespace control {

namespace {

using Two = std::pair<Array, Array>;
struct State {
  Array position, velocity, time;
};

}  // namespace

std::vector<Case> carry_cases() {
  using Options = lax::ScanOptions;
  return {
      {"carry_unchanged",
       {{2}, {}, {4, 2}},
       [](const Arrays& in, const Options&) {
         const auto [last, ys] = lax::scan(
             [](std::tuple<Array, Array, Array> carry, Array x) {
               const auto& [c, k, m] = carry;
               return std::pair{std::tuple{np::sin(c) * k + x * m, k, m}, Two{c, k * x}};
             },
             std::tuple{in[0], in[1], in[1] * 2}, in[2]);
         const auto& [c, k, m] = last;
         return Arrays{c, k, m, ys.first, ys.second};
       }},
      {"carry_swapped",
       {{2}, {2}, {4, 2}},
       [](const Arrays& in, const Options&) {
         const auto [c, ys] =
             lax::scan([](Two c, Array x) { return std::pair{Two{c.second, c.first * x}, c.first + c.second}; },
                       Two{in[0], in[1]}, in[2]);
         return Arrays{c.first, c.second, ys};
       }},
      {"carry_counter",
       {{}, {4}},
       [](const Arrays& in, const Options&) {
         const auto [last, ys] = lax::scan(
             [](Two carry, Array x) {
               const auto& [c, i] = carry;
               return std::pair{Two{c * 0.5 + x * i, i + 1}, Two{c * i, i}};
             },
             Two{in[0], 0}, in[1]);
         return Arrays{last.first, last.second, ys.first, ys.second};
       }},
      {"carry_flag",
       {{4, 2}},
       [](const Arrays& in, const Options&) {
         const auto [last, ys] = lax::scan(
             [](Two carry, Array x) {
               const auto& [c, flag] = carry;
               return std::pair{Two{np::where(flag, c + x, c * x), ~flag}, flag};
             },
             Two{np::ones({2}, in[0].dtype()), true}, in[0]);
         return Arrays{last.first, last.second, ys};
       }},
      {"carry_set_to_constant",
       {{2}, {4, 2}},
       [](const Arrays& in, const Options&) {
         const auto [c, ys] = lax::scan(
             [](Two c, Array x) { return std::pair{Two{np::ones({2}, x.dtype()), c.first * x}, c.first + c.second}; },
             Two{in[0], in[0]}, in[1]);
         return Arrays{c.first, c.second, ys};
       }},
      {"carry_shift_register",
       {{2}, {2}, {4, 2}},
       [](const Arrays& in, const Options&) {
         const auto [c, ys] =
             lax::scan([](Two c, Array x) { return std::pair{Two{x, c.first}, x * c.first * c.second}; },
                       Two{in[0], in[1]}, in[2]);
         return Arrays{c.first, c.second, ys};
       }},
      {"carry_window",
       {{3}, {5}},
       [](const Arrays& in, const Options&) {
         const auto [c, ys] = lax::scan(
             [&](Array window, Array x) {
               const Array moved = np::concatenate({window[ct::range(1, ct::none)], x.reshape({1})});
               return std::pair{moved, np::dot(moved, in[0])};
             },
             np::zeros({3}, in[0].dtype()), in[1]);
         return Arrays{c, ys};
       }},
      {"carry_filled_by_index",
       {{5}, {}},
       [](const Arrays& in, const Options&) {
         const auto [c, ys] = lax::scan(
             [&](Two carry, Array x) {
               const auto& [filled, i] = carry;
               return std::pair{Two{filled.at(i).set(np::sin(x) * in[1] + filled[i - 1]), i + 1}, ct::none};
             },
             Two{np::zeros({5}, in[0].dtype()), 0}, in[0]);
         return Arrays{c.first, c.second};
       }},
      {"carry_read_by_dynamic_slice",
       {{6}, {3}},
       [](const Arrays& in, const Options&) {
         const auto [c, ys] = lax::scan(
             [&](Two carry, Array x) {
               const auto& [s, i] = carry;
               const Array part = lax::dynamic_slice(in[0], {i}, {3});
               return std::pair{Two{s + np::sum(part * part) * x, i + 1}, part};
             },
             Two{0.0, 0}, in[1]);
         return Arrays{c.first, c.second, ys};
       }},
      {"carry_written_by_dynamic_update",
       {{2}, {4, 2}},
       [](const Arrays& in, const Options&) {
         const auto [c, ys] = lax::scan(
             [&](Two carry, Array x) {
               const auto& [grid, i] = carry;
               const Array row = (x * in[0]).reshape({1, 2});
               return std::pair{Two{lax::dynamic_update_slice(grid, row, {i, 0}), i + 1}, np::sum(grid)};
             },
             Two{np::zeros({4, 2}, in[0].dtype()), 0}, in[1]);
         return Arrays{c.first, ys};
       }},
      {"carry_weak_scalar",
       {{4}},
       [](const Arrays& in, const Options&) {
         const auto [c, ys] = lax::scan(
             [](Two c, Array x) { return std::pair{Two{c.first + x, c.second * (2 * np::ones_like(x))}, c.first * x}; },
             std::pair{0, 1.0}, in[0]);
         return Arrays{c.first, c.second, ys};
       }},
      {"carry_vector",
       {{2}, {4, 2}},
       [](const Arrays& in, const Options&) {
         auto [cs, ys] =
             lax::scan([](const Arrays& c, Array x) { return std::pair{Arrays{c[1] * x, c[2], np::sin(c[0])}, c[2]}; },
                       Arrays{in[0], in[0] * 2, in[0] * 3}, in[1]);
         cs.push_back(ys);
         return cs;
       }},
      {"carry_struct",
       {{2}, {4, 2}},
       [](const Arrays& in, const Options&) {
         const auto [s, ys] = lax::scan(
             [](const State& s, Array x) {
               const Array v = s.velocity - 0.1 * np::sin(s.position) + x;
               return std::pair{State{s.position + 0.1 * v, v, s.time + 1}, s.position * v};
             },
             State{in[0], in[0] * 0.5, 0}, in[1]);
         return Arrays{s.position, s.velocity, s.time, ys};
       }},
      {"carry_fibonacci",
       {{2}, {4, 2}},
       [](const Arrays& in, const Options&) {
         const auto [c, ys] = lax::scan([](Two c) { return std::pair{Two{c.second, c.first + c.second}, c.first}; },
                                        std::pair{0, 1}, lax::length(10));
         return Arrays{c.first, c.second, ys, in[0] * c.first};
       }},

      // Fixpoints: from input 0 the derivative, or the batch, reaches the last carry after 1, 2, 3 rounds.
      {"carry_chain_of_two",
       {{}, {4}},
       [](const Arrays& in, const Options&) {
         const Array one = np::ones({}, in[0].dtype());
         const auto [c, ys] = lax::scan(
             [&](Two c, Array x) {
               return std::pair{Two{c.first * x + in[0], np::sin(c.first) + c.second * 0.5}, c.second};
             },
             Two{one, one}, in[1]);
         return Arrays{c.first, c.second, ys};
       }},
      {"carry_chain_of_three",
       {{}, {5}},
       [](const Arrays& in, const Options&) {
         const Array one = np::ones({}, in[0].dtype());
         auto [c, ys] = lax::scan(
             [&](const Arrays& c, Array x) {
               return std::pair{Arrays{c[0] * in[0], c[1] + np::sin(c[0]), c[2] * x + c[1]}, c[2]};
             },
             Arrays{one, one, one}, in[1]);
         c.push_back(ys);
         return c;
       }},
      {"carry_chain_of_four",
       {{}, {5}},
       [](const Arrays& in, const Options&) {
         const Array one = np::ones({2}, in[0].dtype());
         auto [c, ys] = lax::scan(
             [&](const Arrays& c, Array x) {
               return std::pair{Arrays{c[0] * 0.5 + c[1], c[1] * x + c[2] * c[2], np::cos(c[2]) * c[3], c[3] * in[0]},
                                Two{c[0], x}};
             },
             Arrays{one, one, one, one}, in[1]);
         c.push_back(ys.first);
         c.push_back(ys.second);
         return c;
       }},
      {"carry_stopped_gradient",
       {{2}, {4, 2}},
       [](const Arrays& in, const Options&) {
         const auto [c, ys] = lax::scan(
             [](Array c, Array x) {
               const Array n = np::sin(c) * x + lax::stop_gradient(c * c);
               return std::pair{n, lax::stop_gradient(n)};
             },
             in[0], in[1]);
         return Arrays{c, ys};
       }},
  };
}

}  // namespace control
