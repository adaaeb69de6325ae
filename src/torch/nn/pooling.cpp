// Pooling: reductions of windows, and means over as many windows as are asked for.
#include <cotan/torch/nn/functional/pooling.hpp>

#include "torch/nn/resampling.hpp"

namespace cotan::torch::nn::functional {

namespace {

/// Windows along the last axes of an array; other axes have windows of 1.
struct Windows {
  Ints kernel, stride, dilation;
  lax::ConvPadding::Pairs padding;
};
Array reduce(const Array& x, double init, const lax::Combine& f, const Windows& w) {
  const std::size_t before = static_cast<std::size_t>(x.ndim()) - w.kernel.size();
  const auto extended = [&](Ints v) {
    v.insert(v.begin(), before, 1);
    return v;
  };
  lax::ConvPadding::Pairs padding = w.padding;
  padding.insert(padding.begin(), before, {0, 0});
  return lax::reduce_window(
      x, np::full({}, init, x.dtype()), f, extended(w.kernel),
      {.window_strides = extended(w.stride), .padding = padding, .window_dilation = extended(w.dilation)});
}
Array add(const Array& a, const Array& b) { return a + b; }

/// Padding of windows; with ceil_mode more at the end, so that a last window that begins inside is there.
lax::ConvPadding::Pairs padding_of(const Tensor& x, const Ints& kernel, const Ints& stride, const Ints& dilation,
                                   const Ints& padding, bool ceil_mode, std::string_view op) {
  lax::ConvPadding::Pairs out;
  const int axes = static_cast<int>(kernel.size());
  for (int i = 0; i < axes; ++i) {
    const auto k = static_cast<std::size_t>(i);
    const std::int64_t size = x.size(i - axes), window = dilation[k] * (kernel[k] - 1) + 1;
    if (padding[k] < 0 || padding[k] > kernel[k] / 2)
      throw_with_line<ValueError>(
          fmt::format("[{}] padding {} must be from 0 to half of the kernel_size, {}.", op, padding[k], kernel[k]));
    const std::int64_t room = size + 2 * padding[k] - window;
    if (room < 0)
      throw_with_line<ShapeError>(fmt::format("[{}] a window of {} is larger than dimension {} of the input {}.", op,
                                              window, x.dim() - axes + i, describe(x.sizes())));
    std::int64_t more = ceil_mode ? (stride[k] - room % stride[k]) % stride[k] : 0;
    if (more > 0 && room + more >= size + padding[k]) more = 0;  // it would see nothing but padding
    out.emplace_back(padding[k], padding[k] + more);
  }
  return out;
}

Tensor max_pool(const Tensor& x, const PerAxis& kernel_size, const MaxPoolOptions& o, int axes, std::string_view name) {
  static const auto op = define("max_pool", {.saves = Saves::first},
                                [](const Array& a, const Ints& kernel, const Ints& stride, const Ints& dilation,
                                   const lax::ConvPadding::Pairs& padding) {
                                  const auto larger = [](const Array& p, const Array& q) { return np::maximum(p, q); };
                                  return reduce(a, -np::inf, larger, {kernel, stride, dilation, padding});
                                });
  check_image(x, axes, name);
  const Ints kernel = kernel_size.of(axes, name, "kernel_size"),
             stride = o.stride.value_or(kernel_size).of(axes, name, "stride"),
             dilation = o.dilation.of(axes, name, "dilation");
  return op(x, kernel, stride, dilation,
            padding_of(x, kernel, stride, dilation, o.padding.of(axes, name, "padding"), o.ceil_mode, name));
}

/// How many elements each window counts. What ceil_mode adds at the end never counts.
Array counts(const Array& x, const Windows& w, const Ints& padding, bool include_pad) {
  const std::size_t before = static_cast<std::size_t>(x.ndim()) - w.kernel.size();
  Shape inside(before, 1);
  Windows around = w;
  for (std::size_t i = 0; i < w.kernel.size(); ++i) {
    const std::int64_t counted = include_pad ? padding[i] : 0;
    inside.push_back(x.shape()[before + i] + 2 * counted);
    around.padding[i].first -= counted;
    around.padding[i].second -= counted;
  }
  return reduce(np::ones(inside, x.dtype()), 0, add, around);
}

Tensor avg_pool(const Tensor& x, const PerAxis& kernel_size, const AvgPoolOptions& o, int axes, std::string_view name) {
  static const auto op =
      define("avg_pool", {},
             [](const Array& a, const Ints& kernel, const Ints& stride, const lax::ConvPadding::Pairs& padding,
                const Ints& given_padding, bool include_pad, std::optional<std::int64_t> divisor) {
               const Array wide = widened(a);
               const Windows w{kernel, stride, Ints(kernel.size(), 1), padding};
               const Array sum = reduce(wide, 0, add, w);
               std::int64_t all = 1;
               bool even = include_pad ||
                           std::all_of(given_padding.begin(), given_padding.end(), [](auto p) { return p == 0; });
               for (std::size_t i = 0; i < kernel.size(); ++i) {
                 all *= kernel[i];
                 even &= padding[i].first == padding[i].second;
               }
               if (divisor || even) return (sum / static_cast<double>(divisor.value_or(all))).astype(a.dtype());
               return (sum / counts(wide, w, given_padding, include_pad)).astype(a.dtype());
             });
  check_image(x, axes, name);
  const Ints kernel = kernel_size.of(axes, name, "kernel_size"),
             stride = o.stride.value_or(kernel_size).of(axes, name, "stride"),
             padding = o.padding.of(axes, name, "padding"), ones(kernel.size(), 1);
  if (o.divisor_override == std::int64_t{0})
    throw_with_line<ValueError>(fmt::format("[{}] divisor_override must not be 0.", name));
  return op(x, kernel, stride, padding_of(x, kernel, stride, ones, padding, o.ceil_mode, name), padding,
            o.count_include_pad, o.divisor_override);
}

}  // namespace

Tensor max_pool1d(const Input& x, const PerAxis& kernel_size, const MaxPoolOptions& options) {
  return max_pool(*x, kernel_size, options, 1, "max_pool1d");
}
Tensor max_pool2d(const Input& x, const PerAxis& kernel_size, const MaxPoolOptions& options) {
  return max_pool(*x, kernel_size, options, 2, "max_pool2d");
}
Tensor max_pool3d(const Input& x, const PerAxis& kernel_size, const MaxPoolOptions& options) {
  return max_pool(*x, kernel_size, options, 3, "max_pool3d");
}
Tensor avg_pool1d(const Input& x, const PerAxis& kernel_size, const AvgPoolOptions& options) {
  return avg_pool(*x, kernel_size, options, 1, "avg_pool1d");
}
Tensor avg_pool2d(const Input& x, const PerAxis& kernel_size, const AvgPoolOptions& options) {
  return avg_pool(*x, kernel_size, options, 2, "avg_pool2d");
}
Tensor avg_pool3d(const Input& x, const PerAxis& kernel_size, const AvgPoolOptions& options) {
  return avg_pool(*x, kernel_size, options, 3, "avg_pool3d");
}

Tensor adaptive_average(const Tensor& x, const Ints& size) {
  static const auto op = define("adaptive_avg_pool", {}, [](const Array& a, const Ints& to) {
    Array y = widened(a);
    for (std::size_t i = 0; i < to.size(); ++i) {
      const int axis = a.ndim() - static_cast<int>(to.size() - i);
      const std::int64_t in = y.shape(axis);
      if (in % to[i] != 0) {
        y = resampled(y, axis, averages(in, to[i], y.dtype()));
        continue;
      }
      Shape windows = y.shape();
      windows[static_cast<std::size_t>(axis)] = to[i];
      windows.insert(windows.begin() + axis + 1, in / to[i]);
      y = np::mean(y.reshape(windows), axis + 1);
    }
    return y.astype(a.dtype());
  });
  return op(x, size);
}
Tensor adaptive_avg_pool1d(const Input& x, const PerAxis& output_size) {
  check_image(*x, 1, "adaptive_avg_pool1d");
  return adaptive_average(*x, kept(*x, output_size.of(1, "adaptive_avg_pool1d", "output_size")));
}
Tensor adaptive_avg_pool2d(const Input& x, const PerAxis& output_size) {
  check_image(*x, 2, "adaptive_avg_pool2d");
  return adaptive_average(*x, kept(*x, output_size.of(2, "adaptive_avg_pool2d", "output_size")));
}

}  // namespace cotan::torch::nn::functional
