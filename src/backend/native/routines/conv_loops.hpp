// A convolution as nested loops, which is all that its evaluation needs to know: layouts, dilations and
// groups are gone, and loops that are one in memory have been joined.
#pragma once
#include <algorithm>

#include "backend/native/routines/conv.hpp"

namespace cotan::native {

/// `size` steps, each of which moves on by this many elements in the operands.
struct ConvLoop {
  std::int64_t size = 1, lhs = 0, rhs = 0, out = 0;
  int axis = -1;          ///< the axis of lhs that it may leave; -1: it cannot
  std::int64_t step = 0;  ///< by how much it moves on along the axis that it slides along
  int slides = -1;        ///< the spatial axis that it moves along; -1: none, or several that were joined
};

struct ConvLoops {
  ConvLoop groups, features;
  std::vector<ConvLoop> positions;         ///< images and places: what the results of one feature are. Outermost first
  std::vector<ConvLoop> reduction;         ///< input features and taps: what a result is the sum of
  std::int64_t lhs = 0, rhs = 0, out = 0;  ///< where the loops begin, in elements
  std::vector<std::int64_t> origin, extent;  ///< the same along each axis of lhs, and that axis's size
};

/// The loops of a convolution. With lhs dilation there is one set for each phase: places whose windows have
/// the same taps on elements of lhs, and the others on the zeros in between. The phases are independent and
/// cover `out`.
std::vector<ConvLoops> loops_of(const Convolution& problem);

struct ConvRange {
  std::int64_t begin, end;
  std::int64_t size() const { return end - begin; }
};

/// How many steps the loops have together.
std::int64_t steps(const std::vector<ConvLoop>& loops);
/// The offset of step `index` in one operand, chosen by a pointer to member like &ConvLoop::out.
std::int64_t offset_at(const std::vector<ConvLoop>& loops, std::int64_t index, std::int64_t ConvLoop::* operand);
/// For how many steps that offset grows evenly, from the start and after every multiple of that many.
std::int64_t even_steps(const std::vector<ConvLoop>& loops, std::int64_t ConvLoop::* operand);

/// Adds the coordinates of step `index` along the axes of lhs to `at`.
void add_coordinates(const std::vector<ConvLoop>& loops, std::int64_t index, std::int64_t* at);
/// The axes of lhs that the loops may leave, but for that of the innermost loop, whose steps are clipped
/// instead.
std::vector<std::size_t> axes_to_check(const ConvLoops& loops, const ConvLoop& innermost);
/// Which of `count` steps of a loop are inside of lhs, if the first is at coordinate `x` of `extent`.
inline ConvRange steps_inside(const ConvLoop& loop, std::int64_t x, std::int64_t extent, std::int64_t count) {
  if (extent <= x) return {0, 0};
  const std::int64_t begin = x < 0 ? std::min((-x + loop.step - 1) / loop.step, count) : 0;
  return {begin, std::clamp((extent - x + loop.step - 1) / loop.step, begin, count)};
}

}  // namespace cotan::native
