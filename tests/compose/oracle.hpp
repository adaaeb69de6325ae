// What a composed function must compute, from plain evaluations of the base program alone: loops over host
// vectors for vmap, extrapolated central differences for derivatives.
#pragma once
#include <functional>
#include <limits>
#include <vector>

#include "compose/draw.hpp"

namespace compose {

/// A host array, row-major: the oracle shares no slicing or stacking code with the library.
struct Host {
  Shape shape;
  std::vector<double> values;
};
using Hosts = std::vector<Host>;
using HostFunction = std::function<Hosts(const Hosts&)>;

Hosts to_host(const Arrays& arrays);
Arrays to_arrays(const Hosts& hosts);
std::int64_t elements(const Shape& shape);

Host slice_of(const Host& a, int axis, std::int64_t index);
Host stacked(const std::vector<Host>& parts, int axis);

/// How far the oracle itself can be trusted; reset for each program.
struct Trust {
  double gap = std::numeric_limits<double>::infinity();  ///< to the nearest kink of any evaluation
  double error = 0;                                      ///< of the differences, by their own extrapolation
  double largest = 0;                                    ///< magnitude of any base result
};
Trust& trust();

/// The derivative of f at x along t.
Hosts difference(const HostFunction& f, const Hosts& x, const Hosts& t);
/// Derivatives by every element of x: [input leaf][element] -> like f(x).
std::vector<std::vector<Hosts>> differences(const HostFunction& f, const Hosts& x);

}  // namespace compose
