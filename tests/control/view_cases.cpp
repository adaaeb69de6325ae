// Conformance cases: scans over views (slices, transposes, reshapes, reversals), and views of what scans
// give.
#include "control/support.hpp"

namespace control {

namespace {

using ct::all;
using ct::none;
using ct::range;
using Options = lax::ScanOptions;

std::pair<Array, Array> mix(const Array& c, const Array& x) {
  const Array n = np::sin(c) * x + 0.5 * c;
  return {n, n * x};
}

/// A scan over a view of its second input.
Case over(std::string name, Shape shape, std::function<Array(const Array&)> view) {
  return {std::move(name),
          {{2}, std::move(shape)},
          [view = std::move(view)](const Arrays& in, const Options& o) {
            const auto [c, ys] = lax::scan(mix, in[0], view(in[1]), o);
            return Arrays{c, ys};
          },
          all_modes,
          directions};
}

}  // namespace

std::vector<Case> view_cases() {
  return {
      over("view_sliced", {7, 2}, [](const Array& x) { return x[range(1, 6)]; }),
      over("view_strided", {9, 2}, [](const Array& x) { return x[range(none, none, 2)]; }),
      over("view_reversed", {5, 2}, [](const Array& x) { return x[range(none, none, -1)]; }),
      over("view_sliced_columns", {5, 4}, [](const Array& x) { return x(all, range(1, 3)); }),
      over("view_transposed", {2, 5}, [](const Array& x) { return x.T(); }),
      over("view_reshaped", {10}, [](const Array& x) { return x.reshape({5, 2}); }),
      over("view_broadcast", {2}, [](const Array& x) { return np::broadcast_to(x, {5, 2}); }),
      over("view_axes_moved", {2, 3, 5}, [](const Array& x) { return np::moveaxis(x, 2, 0)(all, all, 0); }),
      over("view_concatenated", {3, 2}, [](const Array& x) { return np::concatenate({x, x[range(2)] * 2}); }),
      over("view_padded", {3, 2}, [](const Array& x) { return np::pad(x, {{1, 1}, {0, 0}}); }),
      over("view_row_repeated", {5, 1}, [](const Array& x) { return np::broadcast_to(x, {5, 2}); }),
      over("view_reversed_transposed_slice", {4, 6},
           [](const Array& x) { return x(range(1, 3), range(5))(all, range(none, none, -1)).T(); }),

      {"view_of_the_carry",
       {{2, 3}, {3, 4, 2}},
       [](const Arrays& in, const Options&) {
         const auto [c, ys] = lax::scan(
             [](Array c, Array x) {
               const Array n = np::sin(c).T().reshape({2, 3}) + x(all, range(1)).reshape({1, 4})(all, range(3));
               return std::pair{n, n(range(none, none, -1), range(1, none))};
             },
             in[0], in[1]);
         return Arrays{c, ys};
       }},
      {"view_of_the_ys",
       {{2}, {4, 2}},
       [](const Arrays& in, const Options&) {
         const auto [c, ys] = lax::scan(mix, in[0], in[1]);
         return Arrays{ys.T()[range(none, none, -1)], ys[range(1, none, 2)].reshape({-1}), c[range(none, none, -1)]};
       }},
      {"view_one_x_twice",
       {{2, 2}, {4, 3, 2}},
       [](const Arrays& in, const Options&) {
         const Array xs = in[1];
         const auto [c, ys] =
             lax::scan([](Array c, const Arrays& x) { return std::pair{c * x[0][range(1, none)] + x[1], x[2] * 2}; },
                       in[0], Arrays{xs, xs(all, range(2)), xs(range(none, none, -1), 0)});
         return Arrays{c, ys};
       }},
  };
}

}  // namespace control
