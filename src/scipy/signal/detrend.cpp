// Trends of samples along an axis. A line that fits evenly spaced samples best has a closed form.
#include <algorithm>
#include <cotan/numpy.hpp>
#include <cotan/scipy/signal.hpp>

#include "ops/ops.hpp"
#include "ops/promote.hpp"

namespace cotan::scipy::signal {

namespace {

namespace np = numpy;

/// Times around their middle, along the last axis.
Array centered_times(std::int64_t n, DType dtype) {
  return np::arange(n, real_dtype(dtype)) - 0.5 * static_cast<double>(n - 1);
}
Array without_line(const Array& x) {
  const std::int64_t n = x.shape().back();
  const Array rest = x - np::mean(x, -1, true);
  if (n < 2) return rest;
  const double squares = static_cast<double>(n) * (static_cast<double>(n) * static_cast<double>(n) - 1) / 12;
  const Array times = centered_times(n, x.dtype());
  return rest - np::sum(rest * times, -1, true) * (times / squares);
}

}  // namespace

Array detrend(const ArrayLike& data, int axis, std::string_view type, const std::vector<std::int64_t>& bp) {
  if (type != "constant" && type != "linear")
    raise<ValueError>("[detrend] there is no type '{}'; use constant or linear.", type);
  Array x = np::to_inexact(data);
  const int at = np::resolve_axis(axis, x.ndim(), "detrend");
  if (type == "constant") return x - np::mean(x, at, true);
  const std::int64_t n = x.shape(at);
  std::vector<std::int64_t> breaks = bp;
  breaks.insert(breaks.end(), {0, n});
  std::sort(breaks.begin(), breaks.end());
  breaks.erase(std::unique(breaks.begin(), breaks.end()), breaks.end());
  if (breaks.front() < 0 || breaks.back() > n)
    raise<ValueError>("[detrend] the breakpoints {} are not all inside {} samples; give numbers from 0 to {}.",
                      describe(bp), n, n);
  x = np::moveaxis(x, at, -1);
  const int last = x.ndim() - 1;
  Arrays parts;
  for (std::size_t i = 0; i + 1 < breaks.size(); ++i)
    parts.push_back(without_line(ops::slice_axis(x, last, breaks[i], breaks[i + 1])));
  return np::moveaxis(parts.empty() ? x : ops::concatenate(parts, last), -1, at);
}

Array Detrending::apply(const Array& segments) const {
  if (function_) return function_(segments);
  return type_.empty() ? segments : detrend(segments, -1, type_);
}

}  // namespace cotan::scipy::signal
