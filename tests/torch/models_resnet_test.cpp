// A narrow ResNet-18 trained as in PyTorch: batch norm with running statistics, momentum, a schedule.
#include "torch/models.hpp"

namespace torch_models {

namespace {

// [resnet]
struct BasicBlock {
  std::int64_t channels, out, stride;
  nn::Conv2d conv1{channels, out, 3, {.stride = stride, .padding = 1, .bias = false}};
  nn::BatchNorm2d bn1{out};
  nn::Conv2d conv2{out, out, 3, {.padding = 1, .bias = false}};
  nn::BatchNorm2d bn2{out};
  nn::Sequential shortcut =
      stride != 1 || channels != out
          ? nn::Sequential(nn::Conv2d(channels, out, 1, {.stride = stride, .bias = false}), nn::BatchNorm2d(out))
          : nn::Sequential();

  Tensor operator()(const Tensor& x) const {
    const Tensor y = F::relu(bn1(conv1(x)));
    return F::relu(bn2(conv2(y)) + shortcut(x));
  }
};

struct ResNet18 {
  std::vector<std::int64_t> channels = {4, 6, 8, 12};
  std::int64_t classes = 5;
  nn::Conv2d conv1{3, channels[0], 3, {.padding = 1, .bias = false}};
  nn::BatchNorm2d bn1{channels[0]};
  nn::ModuleList<nn::Sequential> stages = make_stages(channels);
  nn::Linear fc{channels.back(), classes};

  static nn::ModuleList<nn::Sequential> make_stages(const std::vector<std::int64_t>& channels) {
    nn::ModuleList<nn::Sequential> stages;
    std::int64_t before = channels[0];
    for (const std::int64_t out : channels) {
      stages.emplace_back(BasicBlock{before, out, stages.empty() ? 1 : 2}, BasicBlock{out, out, 1});
      before = out;
    }
    return stages;
  }
  Tensor operator()(const Tensor& images) const {
    Tensor x = F::relu(bn1(conv1(images)));
    for (const nn::Sequential& stage : stages) x = stage(x);
    return fc(F::adaptive_avg_pool2d(x, 1).flatten(1));
  }
};
// [/resnet]

TEST(TorchModels, ResNet18) {
  const Golden golden("resnet");
  const auto load = [&](auto& net) { golden.load(net); };
  const std::vector<Tensor> all_images = golden.data(0), all_labels = golden.data(1);
  std::vector<double> losses;
  // [resnet_loop]
  ResNet18 net;
  load(net);
  torch::optim::SGD optimizer(nn::parameters(net), {.lr = 0.02, .momentum = 0.9, .weight_decay = 5e-4});
  torch::optim::lr_scheduler::CosineAnnealingLR scheduler(optimizer, 30);
  nn::train(net);
  for (std::size_t i = 0; i < all_images.size(); ++i) {
    const Tensor images = all_images[i], labels = all_labels[i];
    optimizer.zero_grad();
    const Tensor loss = F::cross_entropy(net(images), labels, {.label_smoothing = 0.1});
    loss.backward();
    optimizer.step();
    scheduler.step();
    losses.push_back(loss.item());
  }
  // [/resnet_loop]
  golden.compare(net, losses);
}

}  // namespace

}  // namespace torch_models
