// Convolutions: products with windows, or of Fourier transforms.
#include <algorithm>
#include <cotan/fft.hpp>
#include <cotan/lax.hpp>
#include <cotan/scipy/signal.hpp>

#include "ops/fft.hpp"
#include "ops/ops.hpp"
#include "ops/promote.hpp"

namespace cotan::scipy::signal {

namespace {

namespace np = numpy;

enum class Overlap : std::uint8_t { full, same, valid };
Overlap overlap_of(std::string_view op, std::string_view mode) {
  if (mode == "full") return Overlap::full;
  if (mode == "same") return Overlap::same;
  if (mode == "valid") return Overlap::valid;
  raise<ValueError>("[{}] there is no mode '{}'; use full, same or valid.", op, mode);
}

/// Both in their common inexact dtype.
Arrays signals(std::string_view op, const Array& in1, const Array& in2) {
  if (in1.ndim() != in2.ndim())
    raise<ShapeError>("[{}] the arrays are {} and {}; they must have as many axes.", op, in1.aval(), in2.aval());
  if (in1.size() == 0 || in2.size() == 0)
    raise<ShapeError>("[{}] the arrays are {} and {}; neither may be empty.", op, in1.aval(), in2.aval());
  const Array both[] = {in1, in2};
  return np::cast_all(both, np::inexact_result_type(both));
}

enum class Larger : std::uint8_t { first, second };
/// Which of two has at least the sizes of the other; the second where they are equal.
Larger larger(std::string_view op, const Shape& a, const Shape& b) {
  const auto no_larger = [](const Shape& x, const Shape& y) {
    return std::equal(x.begin(), x.end(), y.begin(), [](auto m, auto n) { return m <= n; });
  };
  if (no_larger(a, b)) return Larger::second;
  if (no_larger(b, a)) return Larger::first;
  raise<ShapeError>("[{}] the shapes are {} and {}; one must be no larger than the other along every axis.", op,
                    describe(a), describe(b));
}

Array windowed(std::string_view op, const Array& in1, const Array& in2, std::string_view mode) {
  const Overlap overlap = overlap_of(op, mode);
  Arrays x = signals(op, in1, in2);
  const Shape other = x[1].shape();
  if (larger(op, x[0].shape(), x[1].shape()) == Larger::second) std::swap(x[0], x[1]);
  lax::ConvPadding::Pairs padding;
  std::vector<std::int64_t> all;
  for (std::size_t i = 0; i < other.size(); ++i) {
    const std::int64_t n = x[1].shape()[i], middle = (other[i] - 1) / 2;
    padding.emplace_back(overlap == Overlap::full   ? std::pair{n - 1, n - 1}
                         : overlap == Overlap::same ? std::pair{n - 1 - middle, n - other[i] + middle}
                                                    : std::pair<std::int64_t, std::int64_t>{0, 0});
    all.push_back(static_cast<std::int64_t>(i));
  }
  if (other.empty()) return x[0] * x[1];
  const auto as_image = [](const Array& a) {
    Shape shape = a.shape();
    shape.insert(shape.begin(), 2, 1);
    return ops::reshape(a, shape);
  };
  const Array y = lax::conv_general_dilated(as_image(x[0]), as_image(ops::rev(x[1], all)), {.padding = padding});
  return ops::reshape(y, Shape(y.shape().begin() + 2, y.shape().end()));
}

Array turned(const Array& a) { return np::flip(a); }
Array turned_conjugate(const Array& a) { return np::flip(is_complex(a.dtype()) ? ops::conj(a) : a); }

void check_matrices(std::string_view op, const Array& in1, const Array& in2, std::string_view boundary,
                    double fillvalue) {
  if (boundary != "fill" || fillvalue != 0)
    raise<ValueError>("[{}] the boundary is '{}' with {}; there is only 'fill' with 0, as in JAX: pad first.", op,
                      boundary, fillvalue);
  if (in1.ndim() != 2 || in2.ndim() != 2)
    raise<ShapeError>("[{}] the arrays are {} and {}; both must be matrices.", op, in1.aval(), in2.aval());
}

/// The least length of at least n with small factors, which is transformed fast.
std::int64_t fast_length(std::int64_t n) {
  while (!ops::has_fft_plan(n)) ++n;
  return n;
}

/// The whole convolution along some axes, by transforms.
Array transformed_product(const Arrays& x, const std::vector<int>& axes, const Shape& full) {
  cotan::fft::AxesOptions options{.axes = axes};
  bool trivial = true;
  for (int axis : axes) {
    options.s.push_back(fast_length(full[static_cast<std::size_t>(axis)]));
    trivial = trivial && std::min(x[0].shape(axis), x[1].shape(axis)) == 1;
  }
  if (trivial) return x[0] * x[1];
  const bool complex = is_complex(x[0].dtype());
  const auto there = complex ? cotan::fft::fftn : cotan::fft::rfftn;
  const auto back = complex ? cotan::fft::ifftn : cotan::fft::irfftn;
  return back(there(x[0], options) * there(x[1], options), options);
}

}  // namespace

Array convolve(const ArrayLike& in1, const ArrayLike& in2, std::string_view mode, std::string_view method,
               lax::Precision) {
  if (method == "fft") return fftconvolve(in1, in2, mode);
  if (method != "auto" && method != "direct")
    raise<ValueError>("[convolve] there is no method '{}'; use auto, direct or fft.", method);
  return windowed("convolve", in1, in2, mode);
}
Array correlate(const ArrayLike& in1, const ArrayLike& in2, std::string_view mode, std::string_view method,
                lax::Precision precision) {
  return convolve(in1, turned_conjugate(in2), mode, method, precision);
}
Array convolve2d(const ArrayLike& in1, const ArrayLike& in2, std::string_view mode, std::string_view boundary,
                 double fillvalue, lax::Precision) {
  check_matrices("convolve2d", in1, in2, boundary, fillvalue);
  return windowed("convolve2d", in1, in2, mode);
}
Array correlate2d(const ArrayLike& in1, const ArrayLike& in2, std::string_view mode, std::string_view boundary,
                  double fillvalue, lax::Precision) {
  check_matrices("correlate2d", in1, in2, boundary, fillvalue);
  if (mode != "same") return windowed("correlate2d", in1, turned_conjugate(in2), mode);
  const Array second = is_complex(in2->dtype()) ? ops::conj(in2) : in2.array();
  return turned(windowed("correlate2d", turned(in1), second, mode));
}

Array fftconvolve(const ArrayLike& in1, const ArrayLike& in2, std::string_view mode, const Axes& chosen) {
  constexpr std::string_view op = "fftconvolve";
  const Overlap overlap = overlap_of(op, mode);
  Arrays x = signals(op, in1, in2);
  const std::vector<int> axes = chosen.resolve(x[0].ndim(), op);
  Shape full = x[0].shape(), first, second;
  for (int i = 0; i < x[0].ndim(); ++i) {
    const bool along = std::find(axes.begin(), axes.end(), i) != axes.end();
    if (!along && x[0].shape(i) != x[1].shape(i))
      raise<ShapeError>("[{}] the arrays are {} and {}; along axes that are not convolved sizes must be equal.", op,
                        x[0].aval(), x[1].aval());
    if (!along) continue;
    full[static_cast<std::size_t>(i)] += x[1].shape(i) - 1;
    first.push_back(x[0].shape(i));
    second.push_back(x[1].shape(i));
  }
  if (overlap == Overlap::valid && larger(op, first, second) == Larger::second) std::swap(x[0], x[1]);
  const Array all = transformed_product(x, axes, full);
  Ints from(full.size(), 0), to = full;
  for (int axis : axes) {
    const auto i = static_cast<std::size_t>(axis);
    const std::int64_t size = overlap == Overlap::full   ? full[i]
                              : overlap == Overlap::same ? x[0].shape(axis)
                                                         : x[0].shape(axis) - x[1].shape(axis) + 1;
    from[i] = (full[i] - size) / 2;
    to[i] = from[i] + size;
  }
  return ops::slice(all, from, to);
}

}  // namespace cotan::scipy::signal
