// A line search for the strong Wolfe conditions.
#pragma once
#include <cotan/base.hpp>
#include <functional>

namespace cotan::scipy::optimize {

/// The value of a function, and its gradient.
using ValueAndGradient = std::function<std::pair<Array, Array>(const Array& x)>;

/// Where along a direction a search stands: a share of it, the value there, its derivative along it, and the gradient.
struct Trial {
  Array step, value, slope, gradient;
};
struct LineSearchResult {
  Array failed;       ///< the point is no better, or there were too many steps
  Array evaluations;  ///< how many
  Array status;       ///< 0, or 1: an interval became too small, or 3: too many steps
  Trial found;
};
/// From x along a direction. `last_value` is that of the point before x: how far it went down then says where to begin.
LineSearchResult line_search(const ValueAndGradient& f, const Array& x, const Array& direction, const Array& value,
                             const Array& last_value, const Array& gradient, std::int64_t maxiter);

}  // namespace cotan::scipy::optimize
