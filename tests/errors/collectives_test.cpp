// Collectives and named axes used wrongly.
#include <gtest/gtest.h>

#include "support/expect_error.hpp"

namespace np = cotan::numpy;
namespace lax = cotan::lax;
using namespace cotan;

namespace {
template <class F>
Array over_i(F f) {
  return vmap(f, {.axis_name = "i"})(np::ones({4, 3}));
}
}  // namespace

TEST(CollectiveErrors, UnboundName) {
  EXPECT_ERROR(
      ValueError, lax::psum(np::ones({2}), "i"),
      "[psum] no mapped axis is named 'i' here; bound: none. Call it inside of vmap(f, {.axis_name = \"i\"}).");
  EXPECT_ERROR(ValueError, over_i([](Array x) { return lax::pmax(x, "j"); }),
               "[pmax] no mapped axis is named 'j' here; bound: 'i' (of size 4).");
  EXPECT_ERROR(ValueError, over_i(jit([](Array x) { return lax::all_gather(x, {"i", "k"}); })),
               "[all_gather] no mapped axis is named 'k' here; bound: 'i' (of size 4).");
  EXPECT_ERROR(ValueError, lax::axis_index("i"), "[axis_index] no mapped axis is named 'i' here; bound: none");
  EXPECT_ERROR(ValueError, lax::axis_size("i"), "[axis_size] no mapped axis is named 'i' here");
  const auto nested =
      vmap([](Array x) { return over_i([&](Array) { return lax::psum(x, "k"); }); }, {.axis_name = "j"});
  EXPECT_ERROR(ValueError, nested(np::ones({2})), "bound: 'i' (of size 4), 'j' (of size 2)");
}
TEST(CollectiveErrors, PullbackAfterwards) {
  std::function<std::tuple<Array>(const Array&)> later;
  vmap(
      [&](Array x) {
        const auto result = vjp([](Array v) { return lax::psum(v, "i"); }, x);
        later = [pull = result.second](const Array& ct) { return pull(ct); };
        return result.first;
      },
      {.axis_name = "i"})(np::ones({4}));
  EXPECT_ERROR(ValueError, later(Array(1.f)),
               "[psum] the mapped axis 'i' has ended; a function that was differentiated inside of vmap is to be used "
               "there.");
}
TEST(CollectiveErrors, Groups) {
  EXPECT_ERROR(ValueError, over_i([](Array x) { return lax::psum(x, "i", {.axis_index_groups = {{0, 1}, {2, 3}}}); }),
               "[psum] axis_index_groups are for devices, and an axis of vmap has none; nest two named axes.");
  EXPECT_ERROR(ValueError, over_i([](Array x) { return lax::all_gather(x, "i", {.axis_index_groups = {{0}}}); }),
               "[all_gather] axis_index_groups are for devices");
}
TEST(CollectiveErrors, Sizes) {
  EXPECT_ERROR(
      ShapeError, over_i([](Array x) { return lax::all_to_all(x, "i", 0, 0); }),
      "[all_to_all] axis 0 of f32[3] has 3 elements, and the mapped axis 'i' has 4; they must be equal, or the "
      "operation tiled");
  EXPECT_ERROR(
      ShapeError, over_i([](Array x) { return lax::psum_scatter(x, "i", {.tiled = true}); }),
      "[psum_scatter] axis 0 of f32[3] has 3 elements, and the mapped axis 'i' has 4; it must have a multiple");
  EXPECT_ERROR(ShapeError, over_i([](Array x) { return lax::all_gather(x, "i", {.axis = 2}); }),
               "[all_gather] axis 2 is out of range for f32[3]; give one from -2 to 1.");
}
TEST(CollectiveErrors, Permutations) {
  EXPECT_ERROR(IndexError, over_i([](Array x) { return lax::ppermute(x, "i", {{0, 4}}); }),
               "[ppermute] index 4 is outside of the mapped axis 'i' of size 4");
  EXPECT_ERROR(ValueError, over_i([](Array x) { return lax::ppermute(x, "i", {{0, 1}, {2, 1}}); }),
               "[ppermute] the pair (2, 1) has a source or a target a second time");
  EXPECT_ERROR(ValueError, over_i([](Array x) { return lax::pshuffle(x, "i", {0, 1, 1, 2}); }),
               "[pshuffle] (0, 1, 1, 2) is no permutation of the mapped axis 'i' of size 4");
  EXPECT_ERROR(IndexError, over_i([](Array x) { return lax::pbroadcast(x, "i", -1); }),
               "[pbroadcast] source -1 is outside of the mapped axis 'i' of size 4");
}
TEST(CollectiveErrors, AxisSize) {
  const auto f = [](Array x) { return x; };
  EXPECT_ERROR(ShapeError, vmap(f, {.axis_size = 3})(np::ones({2})),
               "[vmap] mapped axes have different sizes: 3 for axis_size but 2 for argument 0");
  EXPECT_ERROR(ValueError, vmap(f, {.in_axes = none})(np::ones({2})),
               "[vmap] no argument is mapped; give at least one an axis in in_axes, or give axis_size.");
  EXPECT_ERROR(ValueError, vmap(f, {.axis_size = -1})(np::ones({2})),
               "[vmap] axis_size is -1; it must not be negative.");
}
