// torch::nn::functional: pooling.
#pragma once
#include <cotan/torch/nn/functional/options.hpp>
#include <optional>

namespace cotan::torch::nn::functional {

/// Of max_pool.
struct MaxPoolOptions {
  std::optional<PerAxis> stride = {};  ///< by default the window's size
  PerAxis padding = 0;
  PerAxis dilation = 1;
  bool ceil_mode = false;  ///< windows may hang over the end
};
/// Of avg_pool.
struct AvgPoolOptions {
  std::optional<PerAxis> stride = {};  ///< by default the window's size
  PerAxis padding = 0;
  bool ceil_mode = false;                             ///< windows may hang over the end
  bool count_include_pad = true;                      ///< padding counts as zeros
  std::optional<std::int64_t> divisor_override = {};  ///< instead of the number of elements
};
Tensor max_pool1d(const Input& x, const PerAxis& kernel_size, const MaxPoolOptions& options = {});  ///< of [N, C, L]
Tensor max_pool2d(const Input& x, const PerAxis& kernel_size, const MaxPoolOptions& options = {});  ///< of [N, C, H, W]
/// Of [N, C, D, H, W].
Tensor max_pool3d(const Input& x, const PerAxis& kernel_size, const MaxPoolOptions& options = {});
Tensor avg_pool1d(const Input& x, const PerAxis& kernel_size, const AvgPoolOptions& options = {});  ///< of [N, C, L]
Tensor avg_pool2d(const Input& x, const PerAxis& kernel_size, const AvgPoolOptions& options = {});  ///< of [N, C, H, W]
/// Of [N, C, D, H, W].
Tensor avg_pool3d(const Input& x, const PerAxis& kernel_size, const AvgPoolOptions& options = {});
/// Means over as many windows as are asked for, [N, C, L]; -1 keeps a size.
Tensor adaptive_avg_pool1d(const Input& x, const PerAxis& output_size);
Tensor adaptive_avg_pool2d(const Input& x, const PerAxis& output_size);  ///< of [N, C, H, W]

/// Of interpolate.
struct InterpolateOptions {
  std::optional<PerAxis> size = {};                      ///< of the result; or
  std::optional<std::vector<double>> scale_factor = {};  ///< how much larger, for all axes or each
  std::string mode = "nearest";  ///< "nearest", "nearest-exact", "linear", "bilinear", "bicubic", "area"
  bool align_corners = false;    ///< the first and last samples stay where they are
};
/// [N, C, …] with other spatial sizes.
Tensor interpolate(const Input& x, const InterpolateOptions& options);

/// Of pad.
struct PadOptions {
  std::string mode = "constant";  ///< "constant", "reflect", "replicate", "circular"
  double value = 0;
};
/// More elements around the last axes: {left, right} of the last one, then of the one before it; negative ones crop.
Tensor pad(const Input& x, const std::vector<std::int64_t>& pad, const PadOptions& options = {});
Tensor pixel_shuffle(const Input& x, std::int64_t upscale_factor);      ///< [N, C r², H, W] to [N, C, H r, W r]
Tensor pixel_unshuffle(const Input& x, std::int64_t downscale_factor);  ///< back
Tensor channel_shuffle(const Input& x, std::int64_t groups);            ///< channels of the groups, one after the other

}  // namespace cotan::torch::nn::functional
