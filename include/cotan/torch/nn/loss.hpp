// torch::nn: losses as modules.
#pragma once
#include <cotan/torch/nn/functional.hpp>
#include <cotan/torch/nn/module.hpp>

namespace cotan::torch::nn {

namespace detail {
/// A loss of an input and a target as a module: nn::MSELoss loss{{.reduction = "sum"}}; loss(x, y).
template <class Options, auto function>
struct Loss {
  Options options = {};
  /// functional's, with these options.
  Tensor operator()(const Input& input, const Tensor& target) const { return function(input, target, options); }
  using IsSetting = void;  ///< nothing of it is trained
};
}  // namespace detail

/// @name Losses
/// @{
using CrossEntropyLoss = detail::Loss<functional::CrossEntropyOptions, functional::cross_entropy>;  ///< of logits
using NLLLoss = detail::Loss<functional::NllLossOptions, functional::nll_loss>;  ///< of logarithms of probabilities
using MSELoss = detail::Loss<functional::LossOptions, functional::mse_loss>;     ///< (x - y)²
using L1Loss = detail::Loss<functional::LossOptions, functional::l1_loss>;       ///< |x - y|
using SmoothL1Loss = detail::Loss<functional::SmoothL1LossOptions, functional::smooth_l1_loss>;  ///< 0 less sharp
using HuberLoss = detail::Loss<functional::HuberLossOptions, functional::huber_loss>;            ///< 0 less sharp
using BCELoss = detail::Loss<functional::BinaryCrossEntropyOptions, functional::binary_cross_entropy>;  ///< of 0 to 1
using BCEWithLogitsLoss =
    detail::Loss<functional::BceWithLogitsOptions, functional::binary_cross_entropy_with_logits>;  ///< of logits
using KLDivLoss = detail::Loss<functional::KlDivOptions, functional::kl_div>;  ///< of logarithms of probabilities
using PoissonNLLLoss = detail::Loss<functional::PoissonNllLossOptions, functional::poisson_nll_loss>;  ///< of counts
using SoftMarginLoss = detail::Loss<functional::LossOptions, functional::soft_margin_loss>;            ///< of -1 and 1
/// @}

}  // namespace cotan::torch::nn
