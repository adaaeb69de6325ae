// torch::nn: pooling, and images in another size.
#pragma once
#include <cotan/torch/nn/functional.hpp>

namespace cotan::torch::nn {

/// functional::max_pool1d.
struct MaxPool1d {
  PerAxis kernel_size;
  functional::MaxPoolOptions options = {};
  Tensor operator()(const Input& x) const { return functional::max_pool1d(*x, kernel_size, options); }  ///< x[N, C, L]
};
/// functional::max_pool2d.
struct MaxPool2d {
  PerAxis kernel_size;
  functional::MaxPoolOptions options = {};
  Tensor operator()(const Input& x) const {
    return functional::max_pool2d(*x, kernel_size, options);
  }  ///< x[N, C, H, W]
};
/// functional::avg_pool1d.
struct AvgPool1d {
  PerAxis kernel_size;
  functional::AvgPoolOptions options = {};
  Tensor operator()(const Input& x) const { return functional::avg_pool1d(*x, kernel_size, options); }  ///< x[N, C, L]
};
/// functional::avg_pool2d.
struct AvgPool2d {
  PerAxis kernel_size;
  functional::AvgPoolOptions options = {};
  Tensor operator()(const Input& x) const {
    return functional::avg_pool2d(*x, kernel_size, options);
  }  ///< x[N, C, H, W]
};
/// functional::adaptive_avg_pool1d.
struct AdaptiveAvgPool1d {
  PerAxis output_size;
  Tensor operator()(const Input& x) const { return functional::adaptive_avg_pool1d(*x, output_size); }  ///< x[N, C, L]
};
/// functional::adaptive_avg_pool2d.
struct AdaptiveAvgPool2d {
  PerAxis output_size;
  Tensor operator()(const Input& x) const {
    return functional::adaptive_avg_pool2d(*x, output_size);
  }  ///< x[N, C, H, W]
};
/// functional::interpolate.
struct Upsample {
  functional::InterpolateOptions options;
  Tensor operator()(const Input& x) const { return functional::interpolate(*x, options); }  ///< x[N, C, …]
};
/// functional::pixel_shuffle.
struct PixelShuffle {
  std::int64_t upscale_factor;
  Tensor operator()(const Input& x) const {
    return functional::pixel_shuffle(*x, upscale_factor);
  }  ///< x[N, C r², H, W]
};

}  // namespace cotan::torch::nn
