#include "scipy/signal/segments.hpp"

#include "ops/ops.hpp"

namespace cotan::scipy::signal {

Array window_of(std::string_view op, const Window& window, std::int64_t n, DType dtype) {
  if (window.weights()) {
    const Array& weights = *window.weights();
    if (weights.ndim() != 1 || weights.size() != n)
      raise<ShapeError>("[{}] the window is {} for segments of {} samples; give a vector of as many weights.", op,
                        weights.aval(), n);
    const Array weight = np::to_inexact(weights);
    return ops::cast(weight, is_complex(weight.dtype()) ? complex_dtype(dtype) : dtype);
  }
  const std::vector<double> values = window.values(n);
  if (real_dtype(dtype) == f64) return ops::cast(Array::from_host(values), dtype);
  return ops::cast(Array::from_host(std::vector<float>(values.begin(), values.end())), dtype);
}

Segmentation segmentation(std::string_view op, const Window& window, std::optional<std::int64_t> nperseg,
                          std::optional<std::int64_t> noverlap, std::optional<std::int64_t> nfft, std::int64_t length,
                          DType dtype) {
  if (nperseg && *nperseg < 1) raise<ValueError>("[{}] nperseg is {}; give at least 1.", op, *nperseg);
  Segmentation out;
  if (window.weights()) {
    out.nperseg = nperseg.value_or(window.weights()->size());
    if (length < out.nperseg)
      raise<ShapeError>("[{}] the window is {}, longer than a signal of {} samples; give a shorter one.", op,
                        window.weights()->aval(), length);
  } else {
    out.nperseg = std::min(nperseg.value_or(length), length);
  }
  out.window = window_of(op, window, out.nperseg, dtype);
  out.noverlap = noverlap.value_or(out.nperseg / 2);
  out.nfft = nfft.value_or(out.nperseg);
  if (out.noverlap < 0 || out.noverlap >= out.nperseg)
    raise<ValueError>("[{}] noverlap is {} for segments of {} samples; it must be from 0 to {}.", op, out.noverlap,
                      out.nperseg, out.nperseg - 1);
  if (out.nfft < out.nperseg)
    raise<ValueError>("[{}] nfft is {} for segments of {} samples; it must be at least as many.", op, out.nfft,
                      out.nperseg);
  return out;
}

Array segments_of(const Array& x, const Segmentation& s) {
  const std::int64_t length = x.shape().back(), number = (length - s.nperseg) / s.step() + 1;
  Shape shape = x.shape();
  if (s.noverlap == 0 && number * s.nperseg == length) {
    shape.back() = number;
    shape.push_back(s.nperseg);
    return ops::reshape(x, shape);
  }
  const std::int64_t last = x.ndim() - 1;
  lax::GatherDimensionNumbers dimensions{{}, {}, {last}};
  for (std::int64_t i = 0; i < last; ++i) dimensions.offset_dims.push_back(i);
  dimensions.offset_dims.push_back(last + 1);
  shape.back() = s.nperseg;
  return lax::gather(x, np::arange(number).reshape({number, 1}, {}) * s.step(), dimensions, shape,
                     lax::GatherScatterMode::promise_in_bounds);
}

Array overlapped_sum(const Array& segments, std::int64_t step) {
  const Shape& given = segments.shape();
  const std::int64_t number = given[given.size() - 2], length = given.back(), pieces = (length + step - 1) / step;
  const Shape outer(given.begin(), given.end() - 2);
  const auto shape = [&](std::initializer_list<std::int64_t> last) {
    Shape out = outer;
    out.insert(out.end(), last);
    return out;
  };
  const auto padded = [](const Array& a, int axis_from_end, std::int64_t more) {
    np::PadWidths widths(static_cast<std::size_t>(a.ndim()), {0, 0});
    widths[widths.size() - static_cast<std::size_t>(axis_from_end)].second = more;
    return np::pad(a, widths);
  };
  // Piece k of segment i belongs to step i + k: rows of pieces are moved on by one each, as rows that are read as if
  // they were one shorter.
  Array x = ops::reshape(padded(segments, 1, pieces * step - length), shape({number, pieces, step}));
  x = np::swapaxes(x, -2, -3);
  x = ops::reshape(padded(x, 2, pieces), shape({pieces * (number + pieces), step}));
  const std::int64_t steps = number + pieces - 1;
  x = ops::slice_axis(x, static_cast<int>(outer.size()), 0, pieces * steps);
  x = np::sum(ops::reshape(x, shape({pieces, steps, step})), -3);
  x = ops::reshape(x, shape({steps * step}));
  return ops::slice_axis(x, x.ndim() - 1, 0, step * (number - 1) + length);
}

Array rate_of(std::string_view op, const Array& fs, DType dtype) {
  if (fs.ndim() != 0 || is_complex(fs.dtype())) raise<ShapeError>("[{}] fs is {}; give a real number.", op, fs.aval());
  return ops::cast(fs, dtype);
}

}  // namespace cotan::scipy::signal
