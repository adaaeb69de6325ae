// A language model of two LSTM layers trained as in PyTorch, whose state goes on from batch to batch.
#include "torch/models.hpp"

namespace torch_models {

namespace {

// [lstm]
struct LanguageModel {
  std::int64_t vocab = 40, width = 16, hidden = 24;
  nn::Embedding embedding{vocab, width};
  nn::LSTM lstm{width, hidden, {.num_layers = 2, .batch_first = true}};
  nn::Linear head{hidden, vocab};

  using State = std::pair<Tensor, Tensor>;
  std::pair<Tensor, State> operator()(const Tensor& tokens, const State& state = {}) const {
    const auto [y, next] = lstm(embedding(tokens), state);
    return {head(y), next};
  }
};
// [/lstm]

TEST(TorchModels, Lstm) {
  const Golden golden("lstm");
  const auto load = [&](auto& net) { golden.load(net); };
  const std::vector<Tensor> batches = golden.data(0);
  std::vector<double> losses;
  // [lstm_loop]
  LanguageModel net;
  load(net);
  torch::optim::Adam optimizer(nn::parameters(net), {.lr = 1e-2});
  LanguageModel::State state;
  for (const Tensor& tokens : batches) {
    optimizer.zero_grad();
    const auto [logits, next] = net(tokens(Slice(), Slice(0, -1)), state);
    state = {next.first.detach(), next.second.detach()};  // truncated back-propagation through time
    const Tensor loss = F::cross_entropy(logits.flatten(0, 1), tokens(Slice(), Slice(1)).flatten());
    loss.backward();
    nn::utils::clip_grad_norm_(nn::parameters(net), 0.5);
    optimizer.step();
    losses.push_back(loss.item());
  }
  // [/lstm_loop]
  golden.compare(net, losses);
}

}  // namespace

}  // namespace torch_models
