// jax.nn: activations, softmax and its kin, attention, initializers.
#include <cotan/cotan.hpp>

#include "cases/case_ops.hpp"

namespace cases {

namespace nn = cotan::nn;
namespace initializers = cotan::nn::initializers;
using cotan::ArrayLike;

namespace {

nn::AttentionOptions attention_options(Args x, const Params& p) {
  nn::AttentionOptions options{.is_causal = p.flag("is_causal")};
  std::size_t next = 3;
  if (p.flag("bias")) options.bias = x[next++];
  if (p.flag("mask")) options.mask = x[next++];
  if (p.flag("lengths")) {
    options.query_seq_lengths = x[next++];
    options.key_value_seq_lengths = x[next++];
  }
  if (p.has("local_window_size")) {
    const auto sizes = p.list("local_window_size");
    options.local_window_size = nn::Window(static_cast<int>(sizes.front()), static_cast<int>(sizes.back()));
  }
  options.implementation = p.text("implementation");
  if (p.has("scale")) options.scale = p.real("scale");
  return options;
}
nn::LogSumExpOptions sum_options(Args x, const Params& p) {
  nn::LogSumExpOptions options{.axis = p.axes(), .keepdims = p.flag("keepdims")};
  if (p.flag("b")) options.b = x[1];
  if (p.flag("where")) options.where = x[1];
  return options;
}
cotan::Axes axis_or_last(const Params& p) {
  return p.is_null("axis") ? cotan::Axes() : p.has("axis") ? p.axes() : cotan::Axes(-1);
}
nn::StandardizeOptions standard_options(Args x, const Params& p) {
  nn::StandardizeOptions options{.axis = axis_or_last(p), .epsilon = p.real("epsilon", 1e-5)};
  options.algorithm = p.text("algorithm", "fast");
  if (p.flag("where")) options.where = x[1];
  return options;
}

initializers::FanAxes fan_axes(const Params& p) {
  initializers::FanAxes axes;
  if (p.has("in_axis")) axes.in_axis = p.axes("in_axis");
  if (p.has("out_axis")) axes.out_axis = p.axes("out_axis");
  if (p.has("batch_axis")) axes.batch_axis = p.ints("batch_axis");
  return axes;
}
initializers::Initializer variance_scaling(const Params& p) {
  using namespace initializers;
  const std::map<std::string, Fan> fans{
      {"fan_in", Fan::fan_in}, {"fan_out", Fan::fan_out}, {"fan_avg", Fan::fan_avg}, {"fan_geo_avg", Fan::fan_geo_avg}};
  const std::map<std::string, Distribution> distributions{{"truncated_normal", Distribution::truncated_normal},
                                                          {"normal", Distribution::normal},
                                                          {"uniform", Distribution::uniform}};
  return initializers::variance_scaling(p.real("scale"), fans.at(p.text("mode")),
                                        distributions.at(p.text("distribution")), fan_axes(p));
}
template <class Make>
OpFunction drawn(Make make) {
  return one([make](Args x, const Params& p) { return make(p)(x[0], p.shape(), p.dtype()); });
}

void add_initializers(OpTable& t) {
  using namespace initializers;
  t["initializers.zeros"] = one([](Args x, const Params& p) { return zeros(x[0], p.shape(), p.dtype()); });
  t["initializers.ones"] = one([](Args x, const Params& p) { return ones(x[0], p.shape(), p.dtype()); });
  t["initializers.constant"] = drawn([](const Params& p) { return constant(p.real("value")); });
  t["initializers.uniform"] = drawn([](const Params& p) { return uniform(p.real("scale", 1e-2)); });
  t["initializers.normal"] = drawn([](const Params& p) { return normal(p.real("stddev", 1e-2)); });
  t["initializers.truncated_normal"] = drawn([](const Params& p) {
    return truncated_normal(p.real("stddev", 1e-2), std::nullopt, p.real("lower", -2), p.real("upper", 2));
  });
  t["initializers.variance_scaling"] = drawn(variance_scaling);
  const std::pair<const char*, Initializer (*)(const FanAxes&)> by_fan[] = {
      {"glorot_uniform", glorot_uniform}, {"glorot_normal", glorot_normal}, {"xavier_uniform", xavier_uniform},
      {"xavier_normal", xavier_normal},   {"lecun_uniform", lecun_uniform}, {"lecun_normal", lecun_normal},
      {"he_uniform", he_uniform},         {"he_normal", he_normal},         {"kaiming_uniform", kaiming_uniform},
      {"kaiming_normal", kaiming_normal}};
  for (const auto& [name, make] : by_fan)
    t[std::string("initializers.") + name] = drawn([make = make](const Params& p) { return make(fan_axes(p)); });
  t["initializers.orthogonal"] =
      drawn([](const Params& p) { return orthogonal(p.real("scale", 1), p.axis("column_axis", -1)); });
  t["initializers.delta_orthogonal"] =
      drawn([](const Params& p) { return delta_orthogonal(p.real("scale", 1), p.axis("column_axis", -1)); });
}

}  // namespace

void add_nn_ops(OpTable& t) {
  const std::pair<const char*, Array (*)(const ArrayLike&)> unaries[] = {{"nn.identity", nn::identity},
                                                                         {"nn.relu", nn::relu},
                                                                         {"nn.relu6", nn::relu6},
                                                                         {"nn.sigmoid", nn::sigmoid},
                                                                         {"nn.softplus", nn::softplus},
                                                                         {"nn.silu", nn::silu},
                                                                         {"nn.swish", nn::swish},
                                                                         {"nn.mish", nn::mish},
                                                                         {"nn.log_sigmoid", nn::log_sigmoid},
                                                                         {"nn.soft_sign", nn::soft_sign},
                                                                         {"nn.tanh", nn::tanh},
                                                                         {"nn.hard_tanh", nn::hard_tanh},
                                                                         {"nn.hard_sigmoid", nn::hard_sigmoid},
                                                                         {"nn.hard_silu", nn::hard_silu},
                                                                         {"nn.hard_swish", nn::hard_swish},
                                                                         {"nn.sparse_plus", nn::sparse_plus},
                                                                         {"nn.sparse_sigmoid", nn::sparse_sigmoid},
                                                                         {"nn.selu", nn::selu},
                                                                         {"nn.log1mexp", nn::log1mexp}};
  for (const auto& [name, f] : unaries) t[name] = one([f = f](Args x, const Params&) { return f(x[0]); });
  t["nn.elu"] = one([](Args x, const Params& p) { return nn::elu(x[0], p.real("alpha", 1)); });
  t["nn.celu"] = one([](Args x, const Params& p) { return nn::celu(x[0], p.real("alpha", 1)); });
  t["nn.leaky_relu"] =
      one([](Args x, const Params& p) { return nn::leaky_relu(x[0], p.real("negative_slope", 1e-2)); });
  t["nn.squareplus"] = one([](Args x, const Params& p) { return nn::squareplus(x[0], p.real("b", 4)); });
  t["nn.gelu"] = one([](Args x, const Params& p) { return nn::gelu(x[0], p.flag("approximate", true)); });
  t["nn.glu"] = one([](Args x, const Params& p) { return nn::glu(x[0], p.axis("axis", -1)); });
  t["nn.softmax"] =
      one([](Args x, const Params& p) { return nn::softmax(x[0], axis_or_last(p), x.size() > 1 ? x[1] : Array()); });
  t["nn.log_softmax"] = one(
      [](Args x, const Params& p) { return nn::log_softmax(x[0], axis_or_last(p), x.size() > 1 ? x[1] : Array()); });
  t["nn.logsumexp"] = one([](Args x, const Params& p) { return nn::logsumexp(x[0], sum_options(x, p)); });
  t["nn.logmeanexp"] = one([](Args x, const Params& p) { return nn::logmeanexp(x[0], sum_options(x, p)); });
  t["nn.standardize"] = one([](Args x, const Params& p) { return nn::standardize(x[0], standard_options(x, p)); });
  t["nn.one_hot"] = one([](Args x, const Params& p) {
    return nn::one_hot(x[0], p.integer("num_classes"), p.dtype(), p.axis("axis", -1));
  });
  t["nn.scaled_dot_general"] = one([](Args x, const Params&) {
    return nn::scaled_dot_general(x[0], x[1],
                                  {.contract_lhs = {1}, .contract_rhs = {0}, .batch_lhs = {}, .batch_rhs = {}});
  });
  t["nn.dot_product_attention"] =
      one([](Args x, const Params& p) { return nn::dot_product_attention(x[0], x[1], x[2], attention_options(x, p)); });
  t["nn.dot_product_attention_with_residual"] = [](Args x, const Params& p) {
    const auto [out, residual] = nn::dot_product_attention_with_residual(x[0], x[1], x[2], attention_options(x, p));
    return Arrays{out, residual};
  };
  add_initializers(t);
}

}  // namespace cases
