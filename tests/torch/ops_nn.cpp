// Functional forms of torch::nn in tests/torch/cases.
#include <cotan/torch/nn.hpp>

#include "torch/ops.hpp"

namespace torch_ops {

namespace {

namespace nn = torch::nn;
namespace F = torch::nn::functional;
using torch::Input;

Function one(Tensor (*f)(const Input&)) {
  return [f](Tensors x, const Params&) { return f(x[0]); };
}
Tensor at(Tensors x, std::size_t i) { return i < x.size() ? x[i] : Tensor(); }
nn::PerAxis per_axis(const Params& p, const char* key, std::int64_t otherwise) {
  return p.has(key) ? nn::PerAxis(p.list(key)) : nn::PerAxis(otherwise);
}
std::optional<nn::PerAxis> maybe_per_axis(const Params& p, const char* key) {
  return p.has(key) ? std::optional(nn::PerAxis(p.list(key))) : std::nullopt;
}
std::optional<torch::DType> maybe_dtype(const Params& p) {
  return p.has("dtype") ? std::optional(p.dtype()) : std::nullopt;
}

const AddOps activations{
    {"F.relu6", one(F::relu6)},
    {"F.hardswish", one(F::hardswish)},
    {"F.hardsigmoid", one(F::hardsigmoid)},
    {"F.silu", one(F::silu)},
    {"F.mish", one(F::mish)},
    {"F.selu", one(F::selu)},
    {"F.tanhshrink", one(F::tanhshrink)},
    {"F.softsign", one(F::softsign)},
    {"F.logsigmoid", one(F::logsigmoid)},
    {"F.hardtanh",
     [](Tensors x, const Params& p) { return F::hardtanh(x[0], p.real("min_val", -1), p.real("max_val", 1)); }},
    {"F.gelu", [](Tensors x, const Params& p) { return F::gelu(x[0], p.text("approximate", "none")); }},
    {"F.elu", [](Tensors x, const Params& p) { return F::elu(x[0], p.real("alpha", 1)); }},
    {"F.celu", [](Tensors x, const Params& p) { return F::celu(x[0], p.real("alpha", 1)); }},
    {"F.leaky_relu", [](Tensors x, const Params& p) { return F::leaky_relu(x[0], p.real("negative_slope", 0.01)); }},
    {"F.hardshrink", [](Tensors x, const Params& p) { return F::hardshrink(x[0], p.real("lambd", 0.5)); }},
    {"F.softshrink", [](Tensors x, const Params& p) { return F::softshrink(x[0], p.real("lambd", 0.5)); }},
    {"F.threshold",
     [](Tensors x, const Params& p) { return F::threshold(x[0], p.real("threshold"), p.real("value")); }},
    {"F.softplus",
     [](Tensors x, const Params& p) { return F::softplus(x[0], p.real("beta", 1), p.real("threshold", 20)); }},
    {"F.prelu", [](Tensors x, const Params&) { return F::prelu(x[0], x[1]); }},
    {"F.glu", [](Tensors x, const Params& p) { return F::glu(x[0], p.axis("dim", -1)); }},
    {"F.softmax", [](Tensors x, const Params& p) { return F::softmax(x[0], p.axis("dim"), maybe_dtype(p)); }},
    {"F.log_softmax", [](Tensors x, const Params& p) { return F::log_softmax(x[0], p.axis("dim"), maybe_dtype(p)); }},
    {"F.softmin", [](Tensors x, const Params& p) { return F::softmin(x[0], p.axis("dim"), maybe_dtype(p)); }},
};

Function conv(Tensor (*f)(const Input&, const Tensor&, const Tensor&, const F::ConvOptions&)) {
  return [f](Tensors x, const Params& p) {
    const bool named = p.has("padding") && p["padding"].is_string();
    const nn::Padding padding = named ? nn::Padding(p.text("padding")) : nn::Padding(per_axis(p, "padding", 0));
    return f(x[0], x[1], at(x, 2),
             {per_axis(p, "stride", 1), padding, per_axis(p, "dilation", 1), p.integer("groups", 1)});
  };
}
Function conv_transpose(Tensor (*f)(const Input&, const Tensor&, const Tensor&, const F::ConvTransposeOptions&)) {
  return [f](Tensors x, const Params& p) {
    return f(x[0], x[1], at(x, 2),
             {per_axis(p, "stride", 1), per_axis(p, "padding", 0), per_axis(p, "output_padding", 0),
              p.integer("groups", 1), per_axis(p, "dilation", 1)});
  };
}
F::UnfoldOptions unfolding(const Params& p) {
  return {per_axis(p, "dilation", 1), per_axis(p, "padding", 0), per_axis(p, "stride", 1)};
}
Function max_pool(Tensor (*f)(const Input&, const nn::PerAxis&, const F::MaxPoolOptions&)) {
  return [f](Tensors x, const Params& p) {
    return f(x[0], per_axis(p, "kernel_size", 1),
             {maybe_per_axis(p, "stride"), per_axis(p, "padding", 0), per_axis(p, "dilation", 1), p.flag("ceil_mode")});
  };
}
Function avg_pool(Tensor (*f)(const Input&, const nn::PerAxis&, const F::AvgPoolOptions&)) {
  return [f](Tensors x, const Params& p) {
    F::AvgPoolOptions o{maybe_per_axis(p, "stride"), per_axis(p, "padding", 0), p.flag("ceil_mode"),
                        p.flag("count_include_pad", true)};
    if (p.has("divisor_override")) o.divisor_override = p.integer("divisor_override");
    return f(x[0], per_axis(p, "kernel_size", 1), o);
  };
}
Function adaptive(Tensor (*f)(const Input&, const nn::PerAxis&)) {
  return [f](Tensors x, const Params& p) {
    std::vector<std::int64_t> size;
    if (p["output_size"].is_array())
      for (const auto& n : p["output_size"]) size.push_back(n.is_null() ? -1 : n.get<std::int64_t>());
    else
      size.push_back(p.integer("output_size"));
    return f(x[0], size);
  };
}
std::vector<double> numbers(const cases::Json& j) {
  return j.is_array() ? j.get<std::vector<double>>() : std::vector<double>{j.get<double>()};
}

const AddOps layers{
    {"F.linear", [](Tensors x, const Params&) { return F::linear(x[0], x[1], at(x, 2)); }},
    {"F.bilinear", [](Tensors x, const Params&) { return F::bilinear(x[0], x[1], x[2], at(x, 3)); }},
    {"F.conv1d", conv(F::conv1d)},
    {"F.conv2d", conv(F::conv2d)},
    {"F.conv3d", conv(F::conv3d)},
    {"F.conv_transpose1d", conv_transpose(F::conv_transpose1d)},
    {"F.conv_transpose2d", conv_transpose(F::conv_transpose2d)},
    {"F.conv_transpose3d", conv_transpose(F::conv_transpose3d)},
    {"F.unfold",
     [](Tensors x, const Params& p) { return F::unfold(x[0], per_axis(p, "kernel_size", 1), unfolding(p)); }},
    {"F.fold",
     [](Tensors x, const Params& p) {
       return F::fold(x[0], per_axis(p, "output_size", 1), per_axis(p, "kernel_size", 1), unfolding(p));
     }},
    {"F.max_pool1d", max_pool(F::max_pool1d)},
    {"F.max_pool2d", max_pool(F::max_pool2d)},
    {"F.max_pool3d", max_pool(F::max_pool3d)},
    {"F.avg_pool1d", avg_pool(F::avg_pool1d)},
    {"F.avg_pool2d", avg_pool(F::avg_pool2d)},
    {"F.avg_pool3d", avg_pool(F::avg_pool3d)},
    {"F.adaptive_avg_pool1d", adaptive(F::adaptive_avg_pool1d)},
    {"F.adaptive_avg_pool2d", adaptive(F::adaptive_avg_pool2d)},
    {"F.interpolate",
     [](Tensors x, const Params& p) {
       F::InterpolateOptions o{.mode = p.text("mode", "nearest"), .align_corners = p.flag("align_corners")};
       if (p.has("size")) o.size = p.list("size");
       if (p.has("scale_factor")) o.scale_factor = numbers(p["scale_factor"]);
       return F::interpolate(x[0], o);
     }},
    {"F.pad",
     [](Tensors x, const Params& p) {
       return F::pad(x[0], p.list("pad"), {.mode = p.text("mode", "constant"), .value = p.real("value", 0)});
     }},
    {"F.pixel_shuffle", [](Tensors x, const Params& p) { return F::pixel_shuffle(x[0], p.integer("upscale_factor")); }},
    {"F.pixel_unshuffle",
     [](Tensors x, const Params& p) { return F::pixel_unshuffle(x[0], p.integer("downscale_factor")); }},
    {"F.channel_shuffle", [](Tensors x, const Params& p) { return F::channel_shuffle(x[0], p.integer("groups")); }},
    {"F.embedding",
     [](Tensors x, const Params& p) {
       F::EmbeddingOptions o;
       if (p.has("padding_idx")) o.padding_idx = p.integer("padding_idx");
       return F::embedding(x[0], x[1], o);
     }},
    {"F.one_hot", [](Tensors x, const Params& p) { return F::one_hot(x[0], p.integer("num_classes", -1)); }},
};

/// The result of a norm, and the running statistics after it.
template <class F>
Results with_statistics(Tensors x, const F& f) {
  const Tensor mean = torch::from(x[1].array()), variance = torch::from(x[2].array());
  const Tensor y = f(mean, variance);
  return std::tuple{y, mean, variance};
}

const AddOps norms{
    {"layer_norm",
     [](Tensors x, const Params& p) {
       return F::layer_norm(x[0], p.shape("normalized_shape"), at(x, 1), at(x, 2), p.real("eps", 1e-5));
     }},
    {"rms_norm",
     [](Tensors x, const Params& p) {
       return F::rms_norm(x[0], p.shape("normalized_shape"), at(x, 1),
                          p.has("eps") ? std::optional(p.real("eps")) : std::nullopt);
     }},
    {"group_norm",
     [](Tensors x, const Params& p) {
       return F::group_norm(x[0], p.integer("num_groups"), at(x, 1), at(x, 2), p.real("eps", 1e-5));
     }},
    {"batch_norm",
     [](Tensors x, const Params& p) {
       return with_statistics(x, [&](const Tensor& mean, const Tensor& variance) {
         return F::batch_norm(x[0], mean, variance, x[3], x[4],
                              {p.flag("training"), p.real("momentum", 0.1), p.real("eps", 1e-5)});
       });
     }},
    {"instance_norm",
     [](Tensors x, const Params& p) {
       return with_statistics(x, [&](const Tensor& mean, const Tensor& variance) {
         return F::instance_norm(x[0], mean, variance, x[3], x[4],
                                 {p.flag("use_input_stats", true), p.real("momentum", 0.1), p.real("eps", 1e-5)});
       });
     }},
    {"F.instance_norm", [](Tensors x, const Params&) { return F::instance_norm(x[0]); }},
    {"F.normalize",
     [](Tensors x, const Params& p) { return F::normalize(x[0], {.p = p.real("p", 2), .dim = p.axis("dim", 1)}); }},
    {"F.scaled_dot_product_attention",
     [](Tensors x, const Params& p) {
       F::AttentionOptions o{
           .attn_mask = at(x, 3), .is_causal = p.flag("is_causal"), .enable_gqa = p.flag("enable_gqa")};
       if (p.has("scale")) o.scale = p.real("scale");
       return F::scaled_dot_product_attention(x[0], x[1], x[2], o);
     }},
};

}  // namespace

}  // namespace torch_ops
