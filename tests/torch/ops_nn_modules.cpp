// Modules of torch::nn in tests/torch/cases, with parameters that are views of an operand.
#include <algorithm>
#include <cotan/cotan.hpp>
#include <cotan/torch/nn.hpp>

#include "torch/ops.hpp"

namespace torch_ops {

namespace {

namespace nn = torch::nn;

/// The module with parameters that are views of one vector, in order of their names.
template <class M>
M filled(M module, const Tensor& numbers) {
  auto entries = nn::detail::listed(module).tensors;
  std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.path < b.path; });
  std::int64_t at = 0;
  for (const auto& e : entries) {
    const torch::Shape size = e.tensor->sizes();
    const std::int64_t count = e.tensor->numel();
    *e.tensor = torch::reshape(torch::narrow(numbers, 0, at, count), size);
    at += count;
  }
  return module;
}
/// True above the diagonal: what hides later keys.
Tensor later(std::int64_t n) { return torch::from(~cotan::numpy::tri(n, n, 0, cotan::DType::bool_)); }

Results attention(Tensors x, const Params& p) {
  const bool batch_first = p.flag("batch_first"), need_weights = p.flag("need_weights");
  nn::MultiheadAttention module(x[0].size(-1), p.integer("heads"), {.batch_first = batch_first, .dtype = x[0].dtype()});
  static_cast<Tensor&>(module.in_proj_weight) = x[1];
  static_cast<Tensor&>(module.in_proj_bias) = x[2];
  static_cast<Tensor&>(module.out_proj.weight) = x[3];
  nn::MultiheadAttentionCall call{.need_weights = need_weights};
  const std::int64_t length = x[0].size(batch_first ? 1 : 0), batch = x[0].size(batch_first ? 0 : 1);
  if (p.flag("causal")) call.attn_mask = later(length);
  if (p.flag("padded")) {
    const auto row = cotan::lax::iota(torch::int64, {batch, length}, 0),
               key = cotan::lax::iota(torch::int64, {batch, length}, 1);
    call.key_padding_mask = torch::from((row == 1) & (key == length - 1));
  }
  const auto [y, weights] = module(x[0], x[0], x[0], call);
  return need_weights ? Results(std::pair{y, weights}) : Results(y);
}

nn::TransformerLayerOptions layer_options(Tensors x, const Params& p) {
  return {.dim_feedforward = 5,
          .dropout = 0,
          .activation = p.text("activation", "relu"),
          .batch_first = p.flag("batch_first"),
          .norm_first = p.flag("norm_first"),
          .dtype = x[0].dtype()};
}
template <class M>
M recurrent_module(Tensors x, const Params& p) {
  return filled(M(x[0].size(-1), 4,
                  {.num_layers = p.integer("num_layers", 1),
                   .bias = p.flag("bias", true),
                   .batch_first = p.flag("batch_first"),
                   .bidirectional = p.flag("bidirectional"),
                   .nonlinearity = p.text("nonlinearity", "tanh"),
                   .dtype = x[0].dtype()}),
                x[1]);
}
template <class M>
Results recurrent(Tensors x, const Params& p) {
  const M module = recurrent_module<M>(x, p);
  return module(x[0], x.size() > 2 ? x[2] : Tensor());
}

const AddOps added{
    {"nn.MultiheadAttention", attention},
    {"nn.TransformerEncoderLayer",
     [](Tensors x, const Params& p) {
       const auto layer = filled(nn::TransformerEncoderLayer(x[0].size(-1), 2, layer_options(x, p)), x[1]);
       return p.flag("causal") ? layer(x[0], {.src_mask = later(x[0].size(1)), .is_causal = true}) : layer(x[0]);
     }},
    {"nn.TransformerDecoderLayer",
     [](Tensors x, const Params& p) {
       const auto layer = filled(nn::TransformerDecoderLayer(x[0].size(-1), 2, layer_options(x, p)), x[1]);
       const Tensor memory = x[0] * 0.5;
       return p.flag("causal") ? layer(x[0], memory, {.tgt_mask = later(x[0].size(1)), .tgt_is_causal = true})
                               : layer(x[0], memory);
     }},
    {"nn.RNN", recurrent<nn::RNN>},
    {"nn.GRU", recurrent<nn::GRU>},
    {"nn.LSTM",
     [](Tensors x, const Params& p) {
       const nn::LSTM module = recurrent_module<nn::LSTM>(x, p);
       const auto [y, state] = x.size() > 2 ? module(x[0], {x[2], x[2] * 0.5}) : module(x[0]);
       return std::tuple{y, state.first, state.second};
     }},
};

}  // namespace

}  // namespace torch_ops
