// Averages of parameters over steps: torch.optim.swa_utils.
#pragma once
#include <cotan/torch/tensor.hpp>
#include <optional>

/// `torch.optim.swa_utils`.
namespace cotan::torch::optim::swa_utils {

/// Of AveragedModel.
struct AveragedModelOptions {
  std::optional<double> ema_decay = {};  ///< a mean that forgets; none: that of all steps
};
/// A mean of parameters, in tensors of its own.
///
///     optim::swa_utils::AveragedModel ema(torch::nn::parameters(net), {.ema_decay = 0.999});
///     …after each step: ema.update_parameters(torch::nn::parameters(net));
class AveragedModel {
 public:
  /// Begins with copies.
  explicit AveragedModel(const std::vector<Tensor>& parameters, const AveragedModelOptions& options = {},
                         std::source_location where = COTAN_HERE);
  /// Takes in the parameters as they are now; the first time they are the mean.
  void update_parameters(const std::vector<Tensor>& parameters, std::source_location where = COTAN_HERE);
  const std::vector<Tensor>& parameters() const { return means_; }  ///< the mean
  std::int64_t n_averaged() const { return count_; }                ///< how often it was updated

 private:
  std::vector<Tensor> means_;
  AveragedModelOptions options_;
  std::int64_t count_ = 0;
};

}  // namespace cotan::torch::optim::swa_utils
