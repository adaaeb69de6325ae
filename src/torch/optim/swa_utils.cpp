#include <fmt/format.h>

#include <cotan/optax/transformation.hpp>
#include <cotan/torch/autograd.hpp>
#include <cotan/torch/optim/swa_utils.hpp>

#include "torch/optim/lists.hpp"

namespace cotan::torch::optim::swa_utils {

using namespace torch::detail;

AveragedModel::AveragedModel(const std::vector<Tensor>& parameters, const AveragedModelOptions& options,
                             std::source_location where)
    : options_(options) {
  const At at(where);
  for (const Tensor& p : parameters) means_.push_back(from(p.array()));
}

void AveragedModel::update_parameters(const std::vector<Tensor>& parameters, std::source_location where) {
  static const auto op =
      define("average", {.differentiable = false}, [](const Arrays& news, const Arrays& means, Number share) {
        return optax::detail::incremental_update(news, means, optax::Hyperparameter(share.array));
      });
  const At at(where);
  if (parameters.size() != means_.size())
    throw_with_line<ValueError>(
        fmt::format("[update_parameters] got {} parameters for an average of {}.", parameters.size(), means_.size()));
  const no_grad off;
  const auto count = static_cast<double>(count_);
  Value result = op.value(parameters, means_,
                          count_ == 0          ? 1.0
                          : options_.ema_decay ? 1 - *options_.ema_decay
                                               : 1 / (count + 1));
  write_all(means_, result, "update_parameters");
  ++count_;
}

}  // namespace cotan::torch::optim::swa_utils
