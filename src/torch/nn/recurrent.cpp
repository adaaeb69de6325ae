// Recurrent networks: an operation per layer and direction, whose rule is a scan over time. What depends on inputs
// alone is one product before the loop.
#include <cmath>
#include <cotan/control_flow.hpp>
#include <cotan/torch/creation.hpp>
#include <cotan/torch/joining.hpp>
#include <cotan/torch/nn/functional.hpp>
#include <cotan/torch/nn/init.hpp>
#include <cotan/torch/nn/recurrent.hpp>
#include <cotan/torch/views.hpp>

#include "torch/nn/layers.hpp"
#include "torch/nn/rules.hpp"

namespace cotan::torch::nn {

namespace {

using namespace functional;  // what rules need
using torch::detail::At;

/// x[…, in] times a weight[out, in].
Array times(const Array& x, const Array& weight) { return lax::dot_general(x, weight, {{x.ndim() - 1}, {1}, {}, {}}); }
Array plus(const Array& x, const std::optional<Array>& bias) { return bias ? x + *bias : x; }
Array gate(const Array& gates, int i, std::int64_t size) {
  return lax::slice_in_dim(gates, i * size, (i + 1) * size, 1, -1);
}

struct Weights {
  Array ih, hh;
  std::optional<Array> bias_ih, bias_hh;
};

std::tuple<Array, Array, Array> lstm(const Array& x, const Array& h0, const Array& c0, const Weights& w, bool reverse) {
  const Array from_inputs = plus(plus(times(x, w.ih), w.bias_ih), w.bias_hh);
  const std::int64_t size = h0.shape(-1);
  const auto step = [&](const std::pair<Array, Array>& state, const Array& now) {
    const auto& [h, c] = state;
    const Array gates = now + times(h, w.hh);
    const Array i = rules::sigmoid(gate(gates, 0, size)), f = rules::sigmoid(gate(gates, 1, size)),
                g = np::tanh(gate(gates, 2, size)), o = rules::sigmoid(gate(gates, 3, size));
    const Array next_c = f * c + i * g, next_h = o * np::tanh(next_c);
    return std::pair{std::pair{next_h, next_c}, next_h};
  };
  const auto [last, outputs] = lax::scan(step, std::pair{h0, c0}, from_inputs, {.reverse = reverse});
  return {outputs, last.first, last.second};
}
std::tuple<Array, Array> gru(const Array& x, const Array& h0, const Weights& w, bool reverse) {
  const Array from_inputs = plus(times(x, w.ih), w.bias_ih);
  const std::int64_t size = h0.shape(-1);
  const auto step = [&](const Array& h, const Array& now) {
    const Array from_state = plus(times(h, w.hh), w.bias_hh);
    const auto both = [&](int i) { return gate(now, i, size) + gate(from_state, i, size); };
    const Array r = rules::sigmoid(both(0)), z = rules::sigmoid(both(1));
    const Array n = np::tanh(gate(now, 2, size) + r * gate(from_state, 2, size));
    const Array next = (h - n) * z + n;
    return std::pair{next, next};
  };
  const auto [last, outputs] = lax::scan(step, h0, from_inputs, {.reverse = reverse});
  return {outputs, last};
}
std::tuple<Array, Array> rnn(const Array& x, const Array& h0, const Weights& w, bool reverse, bool relu) {
  const Array from_inputs = plus(plus(times(x, w.ih), w.bias_ih), w.bias_hh);
  const auto step = [&](const Array& h, const Array& now) {
    const Array sum = now + times(h, w.hh), next = relu ? rules::relu(sum) : np::tanh(sum);
    return std::pair{next, next};
  };
  const auto [last, outputs] = lax::scan(step, h0, from_inputs, {.reverse = reverse});
  return {outputs, last};
}

constexpr Traits traits{.saves = Saves::operands, .cast = Cast::lower};

}  // namespace

namespace detail {

Recurrent::Recurrent(Cell cell, std::int64_t inputs, std::int64_t hidden, RecurrentOptions given,
                     const std::source_location& where)
    : options(std::move(given)), input_size(inputs), hidden_size(hidden), cell_(cell) {
  const At at(where);
  if (hidden < 1 || inputs < 1 || options.num_layers < 1)
    throw_with_line<ValueError>(fmt::format("[{}] {} inputs, {} hidden, {} layers; they must be positive.", name(),
                                            inputs, hidden, options.num_layers));
  const std::int64_t gates = cell == Cell::lstm ? 4 : cell == Cell::gru ? 3 : 1;
  const double bound = 1 / std::sqrt(static_cast<double>(hidden));
  for (std::int64_t layer = 0; layer < options.num_layers; ++layer)
    for (int d = 0; d < directions(); ++d) {
      const auto make = [&](const char* kind, const Shape& size) {
        parameters_.emplace_back(fmt::format("{}_l{}{}", kind, layer, d ? "_reverse" : ""),
                                 uniform_parameter(size, bound, options.dtype, options.device));
      };
      make("weight_ih", {gates * hidden, layer == 0 ? inputs : hidden * directions()});
      make("weight_hh", {gates * hidden, hidden});
      if (!options.bias) continue;
      make("bias_ih", {gates * hidden});
      make("bias_hh", {gates * hidden});
    }
}

std::string_view Recurrent::name() const { return cell_ == Cell::lstm ? "LSTM" : cell_ == Cell::gru ? "GRU" : "RNN"; }
void Recurrent::list_module(Listing& to) const {
  to.module(*this, [&] {
    for (const auto& [name, parameter] : parameters_) to.inside(name, [&, &p = parameter] { list(p, to); });
    to.add(training);
  });
}
const Parameter& Recurrent::parameter(std::string_view wanted) const {
  for (const auto& [name, parameter] : parameters_)
    if (name == wanted) return parameter;
  throw_with_line<ValueError>(
      fmt::format("[{}] there is no parameter \"{}\"; the first is \"weight_ih_l0\".", name(), wanted));
}

std::pair<Tensor, std::vector<Tensor>> Recurrent::run(const Tensor& x, const std::vector<Tensor>& states) const {
  static const auto lstm_op = define("lstm", traits,
                                     [](const Array& a, const Array& h, const Array& c, const Array& ih,
                                        const Array& hh, const std::optional<Array>& bi, const std::optional<Array>& bh,
                                        bool reverse) { return lstm(a, h, c, {ih, hh, bi, bh}, reverse); });
  static const auto gru_op =
      define("gru", traits,
             [](const Array& a, const Array& h, const Array& ih, const Array& hh, const std::optional<Array>& bi,
                const std::optional<Array>& bh, bool reverse) { return gru(a, h, {ih, hh, bi, bh}, reverse); });
  static const auto rnn_op = define("rnn", traits,
                                    [](const Array& a, const Array& h, const Array& ih, const Array& hh,
                                       const std::optional<Array>& bi, const std::optional<Array>& bh, bool reverse,
                                       bool relu) { return rnn(a, h, {ih, hh, bi, bh}, reverse, relu); });
  if ((x.dim() != 2 && x.dim() != 3) || x.size(-1) != input_size)
    throw_with_line<ShapeError>(fmt::format("[{}] the input has shape {}; it must be [{}, {}], or without N.", name(),
                                            describe(x.sizes()), options.batch_first ? "N, L" : "L, N", input_size));
  const bool batched = x.dim() == 3;
  Tensor sequence = !batched ? unsqueeze(x, 1) : options.batch_first ? transpose(x, 0, 1) : x;
  const Shape state_size{options.num_layers * directions(), sequence.size(1), hidden_size};
  std::vector<Tensor> first = states;
  for (Tensor& s : first) {
    if (!s.defined()) s = zeros(state_size, {.dtype = x.dtype(), .device = x.device()}, torch::detail::line());
    if (!batched && s.dim() == 2) s = unsqueeze(s, 1);
    if (s.sizes() != state_size)
      throw_with_line<ShapeError>(fmt::format("[{}] an initial state has shape {}; it must be {}.", name(),
                                              describe(s.sizes()), describe(state_size)));
  }
  std::vector<std::vector<Tensor>> last(first.size());
  auto next = parameters_.begin();
  const auto take = [&] { return (next++)->second; };
  for (int layer = 0, k = 0; layer < options.num_layers; ++layer) {
    if (layer > 0) sequence = functional::dropout(sequence, options.dropout, training);
    std::vector<Tensor> outputs;
    for (int d = 0; d < directions(); ++d, ++k) {
      const Parameter ih = take(), hh = take(), bi = options.bias ? take() : Parameter(),
                      bh = options.bias ? take() : Parameter();
      const Tensor h = select(first[0], 0, k);
      Tensor y, h_last;
      if (cell_ == Cell::lstm) {
        const auto [out, next_h, next_c] = lstm_op(sequence, h, select(first[1], 0, k), ih, hh, bi, bh, d == 1);
        std::tie(y, h_last) = std::tie(out, next_h);
        last[1].push_back(next_c);
      } else if (cell_ == Cell::gru) {
        std::tie(y, h_last) = gru_op(sequence, h, ih, hh, bi, bh, d == 1);
      } else {
        std::tie(y, h_last) = rnn_op(sequence, h, ih, hh, bi, bh, d == 1, cell_ == Cell::relu);
      }
      outputs.push_back(y);
      last[0].push_back(h_last);
    }
    sequence = outputs.size() == 1 ? outputs[0] : cat(outputs, -1);
  }
  std::vector<Tensor> final_states;
  for (const auto& of_layers : last)
    final_states.push_back(batched ? stack(of_layers) : squeeze(stack(of_layers), {1}));
  return {!batched ? squeeze(sequence, {1}) : options.batch_first ? transpose(sequence, 0, 1) : sequence, final_states};
}

}  // namespace detail

RNN::RNN(std::int64_t inputs, std::int64_t hidden, const RecurrentOptions& options, std::source_location where)
    : Recurrent(options.nonlinearity == "relu" ? Cell::relu : Cell::tanh, inputs, hidden, options, where) {
  const At at(where);
  if (options.nonlinearity != "relu" && options.nonlinearity != "tanh")
    throw_with_line<ValueError>(
        fmt::format("[RNN] the nonlinearity \"{}\"; it must be \"tanh\" or \"relu\".", options.nonlinearity));
}
GRU::GRU(std::int64_t inputs, std::int64_t hidden, const RecurrentOptions& options, std::source_location where)
    : Recurrent(Cell::gru, inputs, hidden, options, where) {}
LSTM::LSTM(std::int64_t inputs, std::int64_t hidden, const RecurrentOptions& options, std::source_location where)
    : Recurrent(Cell::lstm, inputs, hidden, options, where) {}

std::pair<Tensor, Tensor> RNN::operator()(const Input& x, const Tensor& h0) const {
  auto [y, states] = run(*x, {h0});
  return {y, states[0]};
}
std::pair<Tensor, Tensor> GRU::operator()(const Input& x, const Tensor& h0) const {
  auto [y, states] = run(*x, {h0});
  return {y, states[0]};
}
std::pair<Tensor, std::pair<Tensor, Tensor>> LSTM::operator()(const Input& x,
                                                              const std::pair<Tensor, Tensor>& state) const {
  auto [y, states] = run(*x, {state.first, state.second});
  return {y, {states[0], states[1]}};
}

}  // namespace cotan::torch::nn
