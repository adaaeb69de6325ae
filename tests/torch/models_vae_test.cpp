// A variational autoencoder trained as in PyTorch, with noise that is given.
#include "torch/models.hpp"

namespace torch_models {

namespace {

// [vae]
struct Vae {
  std::int64_t pixels = 64, hidden = 32, latent = 4;
  nn::Sequential encoder{nn::Linear(pixels, hidden), nn::Tanh()};
  nn::Linear mean{hidden, latent}, log_variance{hidden, latent};
  nn::Sequential decoder{nn::Linear(latent, hidden), nn::ReLU(), nn::Linear(hidden, pixels)};

  std::tuple<Tensor, Tensor, Tensor> operator()(const Tensor& x, const Tensor& noise) const {
    const Tensor h = encoder(x);
    const Tensor m = mean(h), v = log_variance(h);
    const Tensor z = m + noise * torch::exp(0.5 * v);
    return {decoder(z), m, v};
  }
};
// [/vae]

TEST(TorchModels, Vae) {
  const Golden golden("vae");
  const auto load = [&](auto& net) { golden.load(net); };
  const std::vector<Tensor> all_x = golden.data(0), all_noise = golden.data(1);
  std::vector<double> losses;
  // [vae_loop]
  Vae net;
  load(net);
  torch::optim::Adam optimizer(nn::parameters(net), {.lr = 1e-2});
  for (std::size_t i = 0; i < all_x.size(); ++i) {
    const Tensor x = all_x[i], noise = all_noise[i];
    optimizer.zero_grad();
    const auto [logits, mean, log_variance] = net(x, noise);
    const Tensor reconstruction = F::binary_cross_entropy_with_logits(logits, x, {.reduction = "sum"});
    const Tensor divergence = -0.5 * torch::sum(1 + log_variance - mean * mean - torch::exp(log_variance));
    const Tensor loss = (reconstruction + divergence) / x.size(0);
    loss.backward();
    optimizer.step();
    losses.push_back(loss.item());
  }
  // [/vae_loop]
  golden.compare(net, losses);
}

}  // namespace

}  // namespace torch_models
