// Learning rates that change with the steps: torch.optim.lr_scheduler. Rates are arguments of programs, so that another
// one compiles nothing.
#pragma once
#include <cotan/torch/optim/optimizer.hpp>

/// `torch.optim.lr_scheduler`.
namespace cotan::torch::optim::lr_scheduler {

/// The base of schedulers: a rate by the initial one and the number of steps, which count from 0. Set at once, and by
/// each step().
class LRScheduler {
 public:
  /// A rate of the initial one at a step.
  using Rate = std::function<double(double initial, std::int64_t step)>;
  /// Any function.
  LRScheduler(Optimizer& optimizer, Rate rate);
  virtual ~LRScheduler() = default;
  LRScheduler(const LRScheduler&) = default;
  /// Sets the rates of the next step; to be called after that of the optimizer.
  void step();
  std::vector<double> get_last_lr() const;                                               ///< of each group, now
  std::int64_t last_epoch() const { return last_epoch_; }                                ///< how many steps there were
  std::int64_t state_dict() const { return last_epoch_; }                                ///< for files
  void load_state_dict(std::int64_t steps) { go_to(steps); }                             ///< goes on from there
  double rate(double initial, std::int64_t step) const { return rate_(initial, step); }  ///< the function
  Optimizer& optimizer() const { return *optimizer_; }                                   ///< whose rates these are

 protected:
  /// Called with every number of steps.
  virtual void set(std::int64_t step);
  /// Sets what belongs to that number of steps.
  void go_to(std::int64_t step);

 private:
  Optimizer* optimizer_;
  Rate rate_;
  std::int64_t last_epoch_ = 0;
};

/// Times gamma every step_size steps.
class StepLR : public LRScheduler {
 public:
  StepLR(Optimizer& optimizer, std::int64_t step_size, double gamma = 0.1);  ///< step_size is positive
};
/// Times gamma at each milestone; twice where it is there twice.
class MultiStepLR : public LRScheduler {
 public:
  MultiStepLR(Optimizer& optimizer, std::vector<std::int64_t> milestones, double gamma = 0.1);  ///< in any order
};
/// Times gamma each step.
class ExponentialLR : public LRScheduler {
 public:
  ExponentialLR(Optimizer& optimizer, double gamma);  ///< mostly below 1
};
/// Down along half a cosine in T_max steps, and up again.
class CosineAnnealingLR : public LRScheduler {
 public:
  CosineAnnealingLR(Optimizer& optimizer, std::int64_t T_max, double eta_min = 0);  ///< T_max is positive
};
/// Down along half a cosine, again and again; each time T_mult times as long.
class CosineAnnealingWarmRestarts : public LRScheduler {
 public:
  CosineAnnealingWarmRestarts(Optimizer& optimizer, std::int64_t T_0, std::int64_t T_mult = 1,
                              double eta_min = 0);  ///< T_0 is positive
};
/// From start_factor to end_factor of the rate on a straight line.
class LinearLR : public LRScheduler {
 public:
  LinearLR(Optimizer& optimizer, double start_factor = 1.0 / 3, double end_factor = 1,
           std::int64_t total_iters = 5);  ///< factors of the initial rate
};
/// A factor of the rate for some steps.
class ConstantLR : public LRScheduler {
 public:
  ConstantLR(Optimizer& optimizer, double factor = 1.0 / 3, std::int64_t total_iters = 5);  ///< and then all of it
};
/// Down to 0 as a power of the steps that are left.
class PolynomialLR : public LRScheduler {
 public:
  PolynomialLR(Optimizer& optimizer, std::int64_t total_iters = 5, double power = 1);  ///< 0 from then on
};
/// The initial rate times a function of the step.
class LambdaLR : public LRScheduler {
 public:
  LambdaLR(Optimizer& optimizer, std::function<double(std::int64_t)> lr_lambda);  ///< the factor
};
/// One scheduler up to each milestone; each counts its steps from 0.
class SequentialLR : public LRScheduler {
 public:
  SequentialLR(Optimizer& optimizer, const std::vector<LRScheduler>& schedulers,
               const std::vector<std::int64_t>& milestones);  ///< one milestone less than schedulers
};

/// Of OneCycleLR.
struct OneCycleOptions {
  double max_lr;
  std::int64_t total_steps;
  double pct_start = 0.3;               ///< the share of steps on the way up
  std::string anneal_strategy = "cos";  ///< or "linear"
  bool cycle_momentum = true;           ///< momentum, or beta1, the other way round
  double base_momentum = 0.85, max_momentum = 0.95;
  double div_factor = 25, final_div_factor = 1e4;
  bool three_phase = false;  ///< down to the first rate as long as up, and then to the last
};
/// Up to max_lr and down again, further than it began.
class OneCycleLR : public LRScheduler {
 public:
  OneCycleLR(Optimizer& optimizer, const OneCycleOptions& options);  ///< all groups alike

 protected:
  void set(std::int64_t step) override;

 private:
  std::function<double(std::int64_t)> momentum_;
};

/// Of ReduceLROnPlateau.
struct ReduceLROnPlateauOptions {
  std::string mode = "min";  ///< or "max"
  double factor = 0.1;
  std::int64_t patience = 10;
  double threshold = 1e-4;
  std::string threshold_mode = "rel";  ///< or "abs"
  std::int64_t cooldown = 0;
  double min_lr = 0, eps = 1e-8;
};
/// Smaller rates once a measure no longer gets better.
class ReduceLROnPlateau {
 public:
  explicit ReduceLROnPlateau(Optimizer& optimizer, const ReduceLROnPlateauOptions& options = {});  ///< see there
  /// The measure after an epoch.
  void step(double metrics);
  void step(const Tensor& metrics) { step(metrics.item()); }        ///< the same; reads it
  std::vector<double> get_last_lr() const;                          ///< of each group, now
  std::map<std::string, double> state_dict() const;                 ///< for files
  void load_state_dict(const std::map<std::string, double>& dict);  ///< goes on from there

 private:
  bool is_better(double value) const;
  Optimizer* optimizer_;
  ReduceLROnPlateauOptions options_;
  double best_;
  std::int64_t cooldown_left_ = 0, bad_epochs_ = 0;
};

}  // namespace cotan::torch::optim::lr_scheduler
