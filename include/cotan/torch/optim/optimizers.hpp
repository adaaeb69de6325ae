// The optimizers. Options have PyTorch's names and defaults; formulas are PyTorch's where papers leave a choice.
#pragma once
#include <cotan/torch/optim/optimizer.hpp>
#include <utility>

namespace cotan::torch::optim {

using Betas = std::pair<double, double>;  ///< decays of the means of gradients and of their squares

/// Of SGD.
struct SGDOptions {
  double lr = 1e-3, momentum = 0, dampening = 0, weight_decay = 0;
  bool nesterov = false, maximize = false;
  Options values() const;                   ///< for the library
  static const detail::UpdateRule& rule();  ///< for the library
};
/// Of Adam.
struct AdamOptions {
  double lr = 1e-3;
  Betas betas = {0.9, 0.999};
  double eps = 1e-8, weight_decay = 0;
  bool amsgrad = false, maximize = false;
  Options values() const;                   ///< for the library
  static const detail::UpdateRule& rule();  ///< for the library
};
/// Of AdamW.
struct AdamWOptions {
  double lr = 1e-3;
  Betas betas = {0.9, 0.999};
  double eps = 1e-8, weight_decay = 1e-2;
  bool amsgrad = false, maximize = false;
  Options values() const;                   ///< for the library
  static const detail::UpdateRule& rule();  ///< for the library
};
/// Of NAdam.
struct NAdamOptions {
  double lr = 2e-3;
  Betas betas = {0.9, 0.999};
  double eps = 1e-8, weight_decay = 0, momentum_decay = 4e-3;
  bool decoupled_weight_decay = false, maximize = false;
  Options values() const;                   ///< for the library
  static const detail::UpdateRule& rule();  ///< for the library
};
/// Of RAdam.
struct RAdamOptions {
  double lr = 1e-3;
  Betas betas = {0.9, 0.999};
  double eps = 1e-8, weight_decay = 0;
  bool decoupled_weight_decay = false, maximize = false;
  Options values() const;                   ///< for the library
  static const detail::UpdateRule& rule();  ///< for the library
};
/// Of Adamax.
struct AdamaxOptions {
  double lr = 2e-3;
  Betas betas = {0.9, 0.999};
  double eps = 1e-8, weight_decay = 0;
  bool maximize = false;
  Options values() const;                   ///< for the library
  static const detail::UpdateRule& rule();  ///< for the library
};
/// Of Adagrad.
struct AdagradOptions {
  double lr = 1e-2, lr_decay = 0, weight_decay = 0, initial_accumulator_value = 0, eps = 1e-10;
  bool maximize = false;
  Options values() const;                   ///< for the library
  static const detail::UpdateRule& rule();  ///< for the library
};
/// Of RMSprop.
struct RMSpropOptions {
  double lr = 1e-2, alpha = 0.99, eps = 1e-8, weight_decay = 0, momentum = 0;
  bool centered = false, maximize = false;
  Options values() const;                   ///< for the library
  static const detail::UpdateRule& rule();  ///< for the library
};
/// Of Lion.
struct LionOptions {
  double lr = 1e-4;
  Betas betas = {0.9, 0.99};
  double weight_decay = 0;
  bool maximize = false;
  Options values() const;                   ///< for the library
  static const detail::UpdateRule& rule();  ///< for the library
};
/// How Muon's learning rate depends on the sizes of a matrix.
enum class AdjustLr : std::uint8_t { original, match_rms_adamw, spectral_unclamped };
/// Of Muon.
struct MuonOptions {
  double lr = 1e-3, weight_decay = 0.1, momentum = 0.95;
  bool nesterov = true;
  double eps = 1e-7;
  int ns_steps = 5;
  AdjustLr adjust_lr_fn = AdjustLr::original;
  Options values() const;                   ///< for the library
  static const detail::UpdateRule& rule();  ///< for the library
};

using SGD = OptimizerOf<SGDOptions>;          ///< gradient steps, with momentum where it is not 0
using Adam = OptimizerOf<AdamOptions>;        ///< Adam
using AdamW = OptimizerOf<AdamWOptions>;      ///< Adam with weights that decay by themselves
using NAdam = OptimizerOf<NAdamOptions>;      ///< Adam with Nesterov's momentum
using RAdam = OptimizerOf<RAdamOptions>;      ///< rectified Adam
using Adamax = OptimizerOf<AdamaxOptions>;    ///< Adam by the infinity norm
using Adagrad = OptimizerOf<AdagradOptions>;  ///< by the root of the sum of squares
using RMSprop = OptimizerOf<RMSpropOptions>;  ///< by the root of the mean of squares
using Lion = OptimizerOf<LionOptions>;        ///< the sign of a mean; PyTorch has none
/// Momentum made orthogonal; all parameters must be matrices. Iterates in the dtype of the parameters (PyTorch: bf16).
using Muon = OptimizerOf<MuonOptions>;

}  // namespace cotan::torch::optim
