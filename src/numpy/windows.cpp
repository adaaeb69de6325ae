// Window functions.
#include <cotan/numpy.hpp>

#include "core/error.hpp"

namespace cotan::numpy {

namespace {

/// f of the positions 0 … M - 1, computed in f32 at least; ones where there is one position or none.
template <class F>
Array window(std::string_view op, std::int64_t M, DType dtype, F&& f) {
  if (M < 0) raise<ValueError>("[{}] cannot make {} weights; give 0 or more.", op, M);
  if (!is_floating(dtype)) raise<TypeError>("[{}] {} cannot hold weights; give a floating dtype.", op, dtype);
  if (M <= 1) return ones({M}, dtype);
  const DType computed = itemsize(dtype) == 2 ? f32 : dtype;
  return f(arange(M, computed)).astype(dtype);
}
/// a - b cos(2πn / (M - 1)).
Array cosines(const Array& n, std::int64_t M, double a, double b) {
  return a - b * cos(n * (2 * pi / static_cast<double>(M - 1)));
}

}  // namespace

Array bartlett(std::int64_t M, DType dtype, const std::source_location& where) {
  const cotan::detail::CallSite site(where);
  return window("bartlett", M, dtype, [&](const Array& n) { return 1 - abs(2 * n + 1 - M) / (M - 1); });
}
Array blackman(std::int64_t M, DType dtype, const std::source_location& where) {
  const cotan::detail::CallSite site(where);
  return window("blackman", M, dtype, [&](const Array& n) {
    return cosines(n, M, 0.42, 0.5) + 0.08 * cos(n * (4 * pi / static_cast<double>(M - 1)));
  });
}
Array hamming(std::int64_t M, DType dtype, const std::source_location& where) {
  const cotan::detail::CallSite site(where);
  return window("hamming", M, dtype, [&](const Array& n) { return cosines(n, M, 0.54, 0.46); });
}
Array hanning(std::int64_t M, DType dtype, const std::source_location& where) {
  const cotan::detail::CallSite site(where);
  return window("hanning", M, dtype, [&](const Array& n) { return cosines(n, M, 0.5, 0.5); });
}
Array kaiser(std::int64_t M, const ArrayLike& beta, DType dtype) {
  if (beta->ndim() != 0) raise<ShapeError>("[kaiser] beta is {}; it must be a scalar.", beta->aval());
  return window("kaiser", M, dtype, [&](const Array& n) {
    const double half = 0.5 * static_cast<double>(M - 1);
    const Array width = beta->astype(n.dtype()), t = (n - half) / half;
    return i0(width * sqrt(maximum(1 - square(t), 0.0))) / i0(width);
  });
}

}  // namespace cotan::numpy
