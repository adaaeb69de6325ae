// torch::nn: recurrent networks. The loop over time is a scan inside of the compiled program.
#pragma once
#include <cotan/torch/nn/module.hpp>

namespace cotan::torch::nn {

/// Of RNN, LSTM and GRU.
struct RecurrentOptions {
  std::int64_t num_layers = 1;
  bool bias = true;
  bool batch_first = false;  ///< sequences are [N, L, …] instead of [L, N, …]
  double dropout = 0;        ///< between layers, while training
  bool bidirectional = false;
  std::string nonlinearity = "tanh";  ///< of RNN: or "relu"
  std::optional<DType> dtype = {};
  std::string device = "";
};
namespace detail {

/// What they have in common: parameters weight_ih_l0, weight_hh_l0, bias_ih_l0, bias_hh_l0, and so on; those of the
/// other direction end in _reverse.
class Recurrent {
 public:
  void list_module(Listing& to) const;  ///< for the library
  /// The parameter of that name; another raises.
  const Parameter& parameter(std::string_view name) const;
  RecurrentOptions options;
  Training training;
  std::int64_t input_size = 0, hidden_size = 0;

 protected:
  enum class Cell : std::uint8_t { tanh, relu, lstm, gru };
  Recurrent() = default;
  Recurrent(Cell cell, std::int64_t input_size, std::int64_t hidden_size, RecurrentOptions options,
            const std::source_location& where);
  /// The sequence, and final states; `states` are h, or h and c, or none.
  std::pair<Tensor, std::vector<Tensor>> run(const Tensor& x, const std::vector<Tensor>& states) const;

 private:
  std::string_view name() const;
  int directions() const { return options.bidirectional ? 2 : 1; }
  Cell cell_ = Cell::tanh;
  std::vector<std::pair<std::string, Parameter>> parameters_;
};

}  // namespace detail

/// h = tanh(W x + b + U h + c) along a sequence.
class RNN : public detail::Recurrent {
 public:
  RNN() = default;
  RNN(std::int64_t input_size, std::int64_t hidden_size, const RecurrentOptions& options = {},
      std::source_location where = COTAN_HERE);
  /// x[L, N, in] and h[layers · directions, N, hidden] (by default 0): all outputs [L, N, hidden · directions] and the
  /// last h. Without N, too.
  std::pair<Tensor, Tensor> operator()(const Input& x, const Tensor& h0 = {}) const;
};
/// A gated recurrent unit along a sequence.
class GRU : public detail::Recurrent {
 public:
  GRU() = default;
  GRU(std::int64_t input_size, std::int64_t hidden_size, const RecurrentOptions& options = {},
      std::source_location where = COTAN_HERE);
  /// As RNN.
  std::pair<Tensor, Tensor> operator()(const Input& x, const Tensor& h0 = {}) const;
};
/// Long short-term memory along a sequence.
class LSTM : public detail::Recurrent {
 public:
  LSTM() = default;
  LSTM(std::int64_t input_size, std::int64_t hidden_size, const RecurrentOptions& options = {},
       std::source_location where = COTAN_HERE);
  /// As RNN; the state is the pair (h, c).
  std::pair<Tensor, std::pair<Tensor, Tensor>> operator()(const Input& x,
                                                          const std::pair<Tensor, Tensor>& state = {}) const;
};

}  // namespace cotan::torch::nn
