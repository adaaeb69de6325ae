// Statistics of samples: the most frequent element, ranks, the standard error.
#include "core/error.hpp"
#include "scipy/stats/derived.hpp"

namespace cotan::scipy::stats {

namespace {

/// The lines along an axis, or all elements, as the last axis.
Array lines_of(const Array& a, std::optional<int> axis) { return axis ? np::moveaxis(a, *axis, -1) : np::ravel(a); }

/// Runs of equal elements in sorted lines: where they begin, and the first and the last place of the run of each.
struct Runs {
  Array begins, first, last;
  explicit Runs(const Array& sorted) {
    const std::int64_t n = sorted.shape().back();
    const Array before = np::roll(sorted, 1, -1), at = lax::iota(i32, sorted.shape(), sorted.ndim() - 1);
    const bool floats = is_floating(sorted.dtype());
    const Array differs =
        floats ? Array((sorted != before) & ~(np::isnan(sorted) & np::isnan(before))) : sorted != before;
    begins = (at == 0) | differs;
    first = lax::cummax(np::where(begins, at, 0), -1);
    const Array ends = np::roll(begins, -1, -1) | (at == n - 1);
    last = lax::cummin(np::where(ends, at, n - 1), -1, true);
  }
};

}  // namespace

ModeResult mode(const ArrayLike& a, std::optional<int> axis, bool keepdims) {
  const Array x = np::atleast_1d(a);
  const int at = axis ? numpy::resolve_axis(*axis, x.ndim(), "mode") : 0;
  Array lines = lines_of(x, axis ? std::optional(at) : axis);
  ModeResult out;
  if (lines.shape().back() == 0) {
    const Shape rest(lines.shape().begin(), lines.shape().end() - 1);
    out = {np::full(rest, np::nan, f32), np::zeros(rest, i32)};
  } else {
    lines = np::sort(lines, -1);
    const Runs runs(lines);
    const Array lengths = runs.last - runs.first + 1;
    const Array place = np::argmax(lengths, -1, true);
    out = {np::squeeze(np::take_along_axis(lines, place, -1), -1), np::max(lengths, -1)};
  }
  if (!keepdims) return out;
  Shape shape = x.shape();
  for (int i = 0; i < x.ndim(); ++i)
    if (!axis || i == at) shape[static_cast<std::size_t>(i)] = 1;
  return {np::reshape(out.mode, shape), np::reshape(out.count, shape)};
}

Array rankdata(const ArrayLike& a, std::string_view method, std::optional<int> axis) {
  const Array x = lines_of(a, axis);
  const DType dtype = itemsize(a->dtype()) == 8 ? f64 : f32;
  constexpr std::string_view methods[] = {"average", "min", "max", "dense", "ordinal"};
  if (std::find(std::begin(methods), std::end(methods), method) == std::end(methods))
    raise<ValueError>("[rankdata] there is no method '{}'; use average, min, max, dense or ordinal.", method);
  Array ranks = np::zeros(x.shape(), dtype);
  if (x.size() > 0) {
    const Array order = np::argsort(x, -1), sorted = np::take_along_axis(x, order, -1);
    const Runs runs(sorted);
    const Array place = lax::iota(i32, x.shape(), x.ndim() - 1), first = runs.first.astype(dtype),
                last = runs.last.astype(dtype);
    const Array of_sorted = method == "ordinal" ? place.astype(dtype) + 1.0
                            : method == "dense" ? lax::cumsum(runs.begins.astype(i32), -1).astype(dtype)
                            : method == "min"   ? first + 1.0
                            : method == "max"   ? last + 1.0
                                                : 0.5 * (first + last) + 1.0;
    ranks = np::take_along_axis(of_sorted, np::argsort(order, -1), -1);
  }
  if (is_floating(x.dtype())) ranks = np::where(np::any(np::isnan(x), -1, true), np::nan, ranks);
  return axis ? np::moveaxis(ranks, -1, *axis) : ranks;
}

Array sem(const ArrayLike& a, std::optional<int> axis, int ddof, std::string_view nan_policy, bool keepdims) {
  const auto [x] = promoted(a);
  const Axes axes = axis ? Axes(*axis) : Axes();
  if (nan_policy == "propagate") {
    const std::int64_t n = axis ? x.shape(*axis) : x.size();
    return np::std(x, axes, keepdims, ddof) / std::sqrt(static_cast<double>(n));
  }
  if (nan_policy != "omit") raise<ValueError>("[sem] there is no nan_policy '{}'; use propagate or omit.", nan_policy);
  const Array missing = np::isnan(x), count = np::sum(np::where(missing, np::zeros_like(x), 1.0), axes, true);
  const Array mean = np::nansum(x, axes, true) / count, away = np::where(missing, 0.0, x - mean);
  const Array left = count - static_cast<double>(ddof);
  const Array variance = np::sum(away * away, axes, true) / np::where(left > 0.0, left, np::nan);
  const Array out = np::sqrt(variance) / np::sqrt(count);
  return keepdims ? out : axis ? np::squeeze(out, axes) : np::reshape(out, Shape{});
}

}  // namespace cotan::scipy::stats
