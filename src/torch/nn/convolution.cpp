// Products with matrices and kernels.
#include <cotan/torch/nn/functional/convolution.hpp>
#include <cotan/torch/views.hpp>

#include "torch/nn/rules.hpp"

namespace cotan::torch::nn::functional {

namespace {

using Pairs = lax::ConvPadding::Pairs;

/// A bias[channels] beside x[N, channels, …].
Array along_channels(const Array& bias, const Array& x) {
  Shape shape(static_cast<std::size_t>(x.ndim()), 1);
  shape[1] = -1;
  return bias.reshape(shape);
}
Array with_bias(const Array& x, const std::optional<Array>& bias) { return bias ? x + along_channels(*bias, x) : x; }

Array convolve(const Array& x, const Array& weight, const std::optional<Array>& bias, const Ints& stride,
               const Pairs& padding, const Ints& dilation, std::int64_t groups) {
  const Batched images(x, weight.ndim() - 2);
  const Array y = lax::conv_general_dilated(
      images.array, weight,
      {.window_strides = stride, .padding = padding, .rhs_dilation = dilation, .feature_group_count = groups});
  return images.restored(with_bias(y, bias));
}

Array transposed(const Array& x, const Array& weight, const std::optional<Array>& bias, const Ints& stride,
                 const Pairs& padding, const Ints& dilation, std::int64_t groups) {
  const int axes = weight.ndim() - 2;
  const Batched images(x, axes);
  // [in, out / groups, …] turned round, as the kernel [out, in / groups, …].
  std::vector<int> spatial;
  for (int i = 2; i < weight.ndim(); ++i) spatial.push_back(i);
  Array kernel = np::flip(weight, Axes(spatial));
  const std::int64_t in = weight.shape(0) / groups, out = weight.shape(1);
  Shape split{groups, in, out}, joined{groups * out, in};
  split.insert(split.end(), weight.shape().begin() + 2, weight.shape().end());
  joined.insert(joined.end(), weight.shape().begin() + 2, weight.shape().end());
  kernel = np::swapaxes(kernel.reshape(split), 1, 2).reshape(joined);
  const Array y = lax::conv_general_dilated(images.array, kernel,
                                            {.window_strides = Ints(stride.size(), 1),
                                             .padding = padding,
                                             .lhs_dilation = stride,
                                             .rhs_dilation = dilation,
                                             .feature_group_count = groups});
  return images.restored(with_bias(y, bias));
}

void check_weights(const Tensor& x, const Tensor& weight, std::int64_t channels, std::int64_t groups, int axes,
                   std::string_view op) {
  check_image(x, axes, op);
  if (weight.dim() != axes + 2)
    throw_with_line<ShapeError>(
        fmt::format("[{}] the weight has shape {}; it needs {} dimensions.", op, describe(weight.sizes()), axes + 2));
  if (x.size(-axes - 1) != channels || groups < 1 || weight.size(0) % groups)
    throw_with_line<ShapeError>(fmt::format(
        "[{}] the input has shape {} and the weight {}, with {} groups; the input needs {} channels, in its dimension "
        "{}, and groups must divide the weight's first dimension.",
        op, describe(x.sizes()), describe(weight.sizes()), groups, channels, x.dim() - axes - 1));
}

Pairs padding_of(const Padding& padding, const Tensor& weight, const Ints& stride, const Ints& dilation, int axes,
                 std::string_view op) {
  Pairs out(static_cast<std::size_t>(axes));
  if (padding.name() == "valid") return out;
  if (!padding.name().empty() && padding.name() != "same")
    throw_with_line<ValueError>(
        fmt::format("[{}] the padding \"{}\"; it must be \"same\", \"valid\" or numbers.", op, padding.name()));
  const Ints numbers = padding.numbers().of(axes, op, "padding");
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = {numbers[i], numbers[i]};
    if (padding.name().empty()) continue;
    if (stride[i] != 1) throw_with_line<ValueError>(fmt::format("[{}] the padding \"same\" needs stride 1.", op));
    const std::int64_t all = dilation[i] * (weight.size(static_cast<int>(i) + 2) - 1);
    out[i] = {all / 2, all - all / 2};
  }
  return out;
}

Tensor conv(const Tensor& x, const Tensor& weight, const Tensor& bias, const ConvOptions& o, int axes,
            std::string_view name) {
  static const auto op = define(
      "conv", {.saves = Saves::factors, .cast = Cast::lower},
      [](const Array& a, const Array& w, const std::optional<Array>& b, const Ints& stride, const Pairs& padding,
         const Ints& dilation, std::int64_t groups) { return convolve(a, w, b, stride, padding, dilation, groups); });
  check_weights(x, weight, weight.size(1) * o.groups, o.groups, axes, name);
  const Ints stride = o.stride.of(axes, name, "stride"), dilation = o.dilation.of(axes, name, "dilation");
  return op(x, weight, bias, stride, padding_of(o.padding, weight, stride, dilation, axes, name), dilation, o.groups);
}

Tensor conv_transpose(const Tensor& x, const Tensor& weight, const Tensor& bias, const ConvTransposeOptions& o,
                      int axes, std::string_view name) {
  static const auto op = define(
      "conv_transpose", {.saves = Saves::factors, .cast = Cast::lower},
      [](const Array& a, const Array& w, const std::optional<Array>& b, const Ints& stride, const Pairs& padding,
         const Ints& dilation, std::int64_t groups) { return transposed(a, w, b, stride, padding, dilation, groups); });
  check_weights(x, weight, weight.size(0), o.groups, axes, name);
  const Ints stride = o.stride.of(axes, name, "stride"), dilation = o.dilation.of(axes, name, "dilation"),
             padding = o.padding.of(axes, name, "padding"), more = o.output_padding.of(axes, name, "output_padding");
  Pairs pairs(static_cast<std::size_t>(axes));
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    if (more[i] >= std::max(stride[i], dilation[i]))
      throw_with_line<ValueError>(fmt::format("[{}] output_padding {} must be less than stride or dilation, {} and {}.",
                                              name, more[i], stride[i], dilation[i]));
    const std::int64_t all = dilation[i] * (weight.size(static_cast<int>(i) + 2) - 1) - padding[i];
    pairs[i] = {all, all + more[i]};
  }
  return op(x, weight, bias, stride, pairs, dilation, o.groups);
}

Array columns(const Array& x, const Ints& kernel, const Ints& dilation, const Pairs& padding, const Ints& stride) {
  const Array y = lax::conv_general_dilated_patches(
      x, kernel, {.window_strides = stride, .padding = padding, .rhs_dilation = dilation});
  return y.reshape({y.shape(0), y.shape(1), -1});
}
Pairs both_sides(const Ints& padding) {
  Pairs out;
  for (const std::int64_t p : padding) out.emplace_back(p, p);
  return out;
}

}  // namespace

Tensor linear(const Input& x, const Tensor& weight, const Tensor& bias) {
  static const auto op = define("linear", {.saves = Saves::factors, .cast = Cast::lower},
                                [](const Array& a, const Array& w, const std::optional<Array>& b) {
                                  const Array y = lax::dot_general(a, w, {{a.ndim() - 1}, {w.ndim() - 1}, {}, {}});
                                  return b ? y + *b : y;
                                });
  if (x->dim() < 1 || weight.dim() < 1 || weight.dim() > 2 || x->size(-1) != weight.size(-1))
    throw_with_line<ShapeError>(
        fmt::format("[linear] the input has shape {} and the weight {}; their last dimensions must be equal.",
                    describe(x->sizes()), describe(weight.sizes())));
  if (bias.defined() && bias.sizes() != Shape(weight.sizes().begin(), weight.sizes().end() - 1))
    throw_with_line<ShapeError>(
        fmt::format("[linear] the weight has shape {} and the bias {}; it must have {} numbers.",
                    describe(weight.sizes()), describe(bias.sizes()), weight.size(0)));
  return op(*x, weight, bias);
}

Tensor bilinear(const Input& x1, const Tensor& x2, const Tensor& weight, const Tensor& bias) {
  static const auto op = define("bilinear", {.saves = Saves::operands, .cast = Cast::widest},
                                [](const Array& a, const Array& b, const Array& w, const std::optional<Array>& c) {
                                  const Array y = np::einsum("...i,oij,...j->...o", {a, w, b});
                                  return c ? y + *c : y;
                                });
  return op(*x1, x2, weight, bias);
}

Tensor conv1d(const Input& x, const Tensor& weight, const Tensor& bias, const ConvOptions& options) {
  return conv(*x, weight, bias, options, 1, "conv1d");
}
Tensor conv2d(const Input& x, const Tensor& weight, const Tensor& bias, const ConvOptions& options) {
  return conv(*x, weight, bias, options, 2, "conv2d");
}
Tensor conv3d(const Input& x, const Tensor& weight, const Tensor& bias, const ConvOptions& options) {
  return conv(*x, weight, bias, options, 3, "conv3d");
}
Tensor conv_transpose1d(const Input& x, const Tensor& weight, const Tensor& bias, const ConvTransposeOptions& options) {
  return conv_transpose(*x, weight, bias, options, 1, "conv_transpose1d");
}
Tensor conv_transpose2d(const Input& x, const Tensor& weight, const Tensor& bias, const ConvTransposeOptions& options) {
  return conv_transpose(*x, weight, bias, options, 2, "conv_transpose2d");
}
Tensor conv_transpose3d(const Input& x, const Tensor& weight, const Tensor& bias, const ConvTransposeOptions& options) {
  return conv_transpose(*x, weight, bias, options, 3, "conv_transpose3d");
}

Tensor unfold(const Input& x, const PerAxis& kernel_size, const UnfoldOptions& o) {
  static const auto op =
      define("unfold", {},
             [](const Array& a, const Ints& kernel, const Ints& dilation, const Ints& padding, const Ints& stride) {
               const Batched images(a, 2);
               return images.restored(columns(images.array, kernel, dilation, both_sides(padding), stride));
             });
  check_image(*x, 2, "unfold");
  return op(*x, kernel_size.of(2, "unfold", "kernel_size"), o.dilation.of(2, "unfold", "dilation"),
            o.padding.of(2, "unfold", "padding"), o.stride.of(2, "unfold", "stride"));
}
Tensor fold(const Input& x, const PerAxis& output_size, const PerAxis& kernel_size, const UnfoldOptions& o) {
  static const auto op =
      define("fold", {},
             [](const Array& a, const Ints& size, const Ints& kernel, const Ints& dilation, const Ints& padding,
                const Ints& stride) {
               const Batched many(a, 1);
               const std::int64_t channels = many.array.shape(1) / (kernel[0] * kernel[1]);
               const Array like[] = {np::zeros({many.array.shape(0), channels, size[0], size[1]}, a.dtype())};
               const auto f = [&](std::span<const Array> in) {
                 return Arrays{columns(in[0], kernel, dilation, both_sides(padding), stride)};
               };
               const auto path = [](std::size_t) { return std::string("the columns"); };
               return many.restored(flat::linear_transpose(f, like, {&many.array, 1}, path, path)[0]);
             });
  const Ints kernel = kernel_size.of(2, "fold", "kernel_size");
  if ((x->dim() != 2 && x->dim() != 3) || x->size(-2) % (kernel[0] * kernel[1]))
    throw_with_line<ShapeError>(
        fmt::format("[fold] the input has shape {}; it must be [N, C * {}, places], as unfold() gives it.",
                    describe(x->sizes()), kernel[0] * kernel[1]));
  return op(*x, output_size.of(2, "fold", "output_size"), kernel, o.dilation.of(2, "fold", "dilation"),
            o.padding.of(2, "fold", "padding"), o.stride.of(2, "fold", "stride"));
}

}  // namespace cotan::torch::nn::functional
