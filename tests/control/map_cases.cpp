// Conformance cases: map, one slice at a time and in batches.
#include "control/support.hpp"

namespace control {

namespace {

using Options = lax::ScanOptions;

Case in_batches(std::int64_t size, std::int64_t n) {
  return {
      "map_batches_of_" + std::to_string(size), {{n, 2}, {2}}, [size](const Arrays& in, const Options&) {
        return Arrays{lax::map([&](Array x) { return np::sin(x) * in[1] + np::sum(x); }, in[0], {.batch_size = size})};
      }};
}

}  // namespace

std::vector<Case> map_cases() {
  return {
      {"map_plain",
       {{5, 2}, {2}},
       [](const Arrays& in, const Options&) {
         return Arrays{lax::map([&](Array x) { return np::sin(x) * in[1] + np::sum(x); }, in[0])};
       }},
      {"map_trees",
       {{5, 2}, {5}},
       [](const Arrays& in, const Options&) {
         const auto [ab, c] = lax::map(
             [](std::pair<Array, Array> t) {
               return std::pair{std::pair{t.first * t.second, t.second}, np::sum(t.first)};
             },
             std::pair{in[0], in[1]});
         return Arrays{ab.first, ab.second, c};
       }},
      in_batches(1, 3),
      in_batches(2, 6),
      in_batches(3, 7),
      in_batches(8, 5),
      {"map_length_one",
       {{1, 3}},
       [](const Arrays& in, const Options&) { return Arrays{lax::map([](Array x) { return np::sin(x); }, in[0])}; }},
      {"map_length_zero",
       {{0, 3}},
       [](const Arrays& in, const Options&) {
         return Arrays{lax::map([](Array x) { return np::sum(x * x); }, in[0])};
       }},
      {"map_nested",
       {{3, 2, 2}},
       [](const Arrays& in, const Options&) {
         return Arrays{
             lax::map([](Array x) { return lax::map([&](Array y) { return np::sin(y) * np::sum(x); }, x); }, in[0])};
       }},
      {"map_of_grad",
       {{3, 2}, {2}},
       [](const Arrays& in, const Options&) {
         return Arrays{lax::map(ct::grad([&](Array x) { return np::sum(np::sin(x * in[1]) * x); }), in[0])};
       }},
      {"map_of_sort",
       {{4, 3}, {4, 3}},
       [](const Arrays& in, const Options&) {
         return Arrays{
             lax::map([](std::pair<Array, Array> t) { return np::sort(t.first) * t.second; }, std::pair{in[0], in[1]})};
       }},
  };
}

}  // namespace control
