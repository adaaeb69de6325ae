// Mixed precision: autocast, and losses that are scaled so that small gradients do not vanish.
#pragma once
#include <cotan/torch/optim/optimizer.hpp>

namespace cotan::torch {

/// Of autocast.
struct AutocastOptions {
  DType dtype = bfloat16;  ///< the lower precision: bfloat16 or float16
  bool enabled = true;     ///< otherwise operations inside are what they are without it
};
/// While it lives, operations on this thread compute in the precision that suits them: products and convolutions in the
/// lower one, sums and losses in float32. `torch.autocast`. Parameters stay as they are.
///
///     { torch::autocast guard(torch::bfloat16);
///       loss = loss_of(net(x), y); }
///     loss.backward();
class autocast {
 public:
  explicit autocast(DType dtype = bfloat16, bool enabled = true, std::source_location where = COTAN_HERE);
  explicit autocast(const AutocastOptions& options, std::source_location where = COTAN_HERE)
      : autocast(options.dtype, options.enabled, where) {}
  ~autocast();
  autocast(const autocast&) = delete;

 private:
  std::optional<DType> former_;
};
bool is_autocast_enabled();                 ///< whether one lives on this thread
std::optional<DType> get_autocast_dtype();  ///< its lower precision

/// `torch.amp`.
namespace amp {

/// Of GradScaler.
struct GradScalerOptions {
  double init_scale = 65536, growth_factor = 2, backoff_factor = 0.5;
  std::int64_t growth_interval = 2000;  ///< steps in a row without infinities after which the scale grows
  bool enabled = true;                  ///< otherwise it does nothing but step
};
/// Scales losses, and leaves out steps whose gradients are not finite. Nothing is read back: the program itself decides
/// whether parameters, states and the scale change.
///
///     scaler.scale(loss).backward();
///     scaler.unscale_(opt);                       // only to clip them
///     torch::nn::utils::clip_grad_norm_(params, 1);
///     scaler.step(opt);
///     scaler.update();                            // runs what was recorded
class GradScaler {
 public:
  explicit GradScaler(const GradScalerOptions& options = {});
  /// The loss times the scale.
  Tensor scale(const Tensor& loss, std::source_location where = COTAN_HERE);
  /// Gradients of the optimizer's parameters as they are without the scale.
  void unscale_(optim::Optimizer& optimizer, std::source_location where = COTAN_HERE);
  /// The optimizer's step where all its gradients are finite; records it, and update() runs it.
  void step(optim::Optimizer& optimizer, std::source_location where = COTAN_HERE);
  /// A smaller scale after infinities, a larger one after growth_interval steps without; or the one given. Once per
  /// iteration, after all steps; runs what was recorded.
  void update(std::optional<double> new_scale = {}, std::source_location where = COTAN_HERE);
  double get_scale(std::source_location where = COTAN_HERE) const;  ///< reads it
  bool is_enabled() const { return options_.enabled; }              ///< whether it does anything
  std::map<std::string, double> state_dict() const;                 ///< for files; reads it
  void load_state_dict(const std::map<std::string, double>& dict);  ///< goes on from there
  Tensor found_inf(const optim::Optimizer& optimizer) const;        ///< 0-d bool, once it is unscaled

 private:
  struct Seen {
    const optim::Optimizer* optimizer;
    Tensor found_inf;
    bool stepped = false;
  };
  Seen* seen(const optim::Optimizer& optimizer);
  void place(const Tensor& like);

  GradScalerOptions options_;
  Tensor scale_, growth_tracker_;
  std::vector<Seen> seen_;
};

}  // namespace amp

}  // namespace cotan::torch
