#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cotan/torch/optim/lr_scheduler.hpp>
#include <limits>
#include <numbers>

namespace cotan::torch::optim::lr_scheduler {

namespace {

using Step = std::int64_t;

void check(bool good, std::string_view name, std::string_view what) {
  if (!good) throw_with_line<ValueError>(fmt::format("[{}] {}", name, what));
}
double share(Step step, Step of) { return static_cast<double>(step) / static_cast<double>(of); }
double cosine(double from, double to, double way) {
  return to + (from - to) * (1 + std::cos(std::numbers::pi * way)) / 2;
}
double straight(double from, double to, double way) { return from + (to - from) * way; }
std::vector<double> rates(const Optimizer& optimizer) {
  std::vector<double> out;
  for (const ParamGroup& g : optimizer.param_groups()) out.push_back(g["lr"]);
  return out;
}

}  // namespace

LRScheduler::LRScheduler(Optimizer& optimizer, Rate rate) : optimizer_(&optimizer), rate_(std::move(rate)) {
  // As in PyTorch, the first scheduler notes the rates for those that come later.
  for (ParamGroup& g : optimizer_->param_groups()) g.options.try_emplace("initial_lr", g["lr"]);
  LRScheduler::set(0);
}
void LRScheduler::set(Step step) {
  for (ParamGroup& g : optimizer_->param_groups()) {
    g.options.try_emplace("initial_lr", g["lr"]);
    g["lr"] = rate_(g["initial_lr"], step);
  }
}
void LRScheduler::go_to(Step step) {
  last_epoch_ = step;
  set(step);
}
void LRScheduler::step() { go_to(last_epoch_ + 1); }
std::vector<double> LRScheduler::get_last_lr() const { return rates(*optimizer_); }

StepLR::StepLR(Optimizer& optimizer, Step step_size, double gamma)
    : LRScheduler(optimizer, [=](double initial, Step n) {
        check(step_size > 0, "StepLR", "step_size must be positive.");
        return initial * std::pow(gamma, static_cast<double>(n / step_size));
      }) {}

MultiStepLR::MultiStepLR(Optimizer& optimizer, std::vector<Step> milestones, double gamma)
    : LRScheduler(optimizer, [=](double initial, Step n) {
        const auto passed = std::count_if(milestones.begin(), milestones.end(), [&](Step m) { return m <= n; });
        return initial * std::pow(gamma, static_cast<double>(passed));
      }) {}

ExponentialLR::ExponentialLR(Optimizer& optimizer, double gamma)
    : LRScheduler(optimizer,
                  [=](double initial, Step n) { return initial * std::pow(gamma, static_cast<double>(n)); }) {}

CosineAnnealingLR::CosineAnnealingLR(Optimizer& optimizer, Step T_max, double eta_min)
    : LRScheduler(optimizer, [=](double initial, Step n) {
        check(T_max > 0, "CosineAnnealingLR", "T_max must be positive.");
        return cosine(initial, eta_min, share(n, T_max));
      }) {}

CosineAnnealingWarmRestarts::CosineAnnealingWarmRestarts(Optimizer& optimizer, Step T_0, Step T_mult, double eta_min)
    : LRScheduler(optimizer, [=](double initial, Step n) {
        check(T_0 > 0 && T_mult > 0, "CosineAnnealingWarmRestarts", "T_0 and T_mult must be positive.");
        Step length = T_0;
        if (T_mult == 1) n %= T_0;
        while (n >= length) {
          n -= length;
          length *= T_mult;
        }
        return cosine(initial, eta_min, share(n, length));
      }) {}

LinearLR::LinearLR(Optimizer& optimizer, double start_factor, double end_factor, Step total_iters)
    : LRScheduler(optimizer, [=](double initial, Step n) {
        check(total_iters > 0, "LinearLR", "total_iters must be positive.");
        return initial * straight(start_factor, end_factor, share(std::min(n, total_iters), total_iters));
      }) {}

ConstantLR::ConstantLR(Optimizer& optimizer, double factor, Step total_iters)
    : LRScheduler(optimizer, [=](double initial, Step n) { return n < total_iters ? initial * factor : initial; }) {}

PolynomialLR::PolynomialLR(Optimizer& optimizer, Step total_iters, double power)
    : LRScheduler(optimizer, [=](double initial, Step n) {
        check(total_iters > 0, "PolynomialLR", "total_iters must be positive.");
        return initial * std::pow(1 - share(std::min(n, total_iters), total_iters), power);
      }) {}

LambdaLR::LambdaLR(Optimizer& optimizer, std::function<double(Step)> lr_lambda)
    : LRScheduler(optimizer, [f = std::move(lr_lambda)](double initial, Step n) { return initial * f(n); }) {}

SequentialLR::SequentialLR(Optimizer& optimizer, const std::vector<LRScheduler>& schedulers,
                           const std::vector<Step>& milestones)
    : LRScheduler(optimizer, [=](double initial, Step n) {
        check(!schedulers.empty() && milestones.size() + 1 == schedulers.size(), "SequentialLR",
              "there must be one milestone less than schedulers.");
        const auto next = std::upper_bound(milestones.begin(), milestones.end(), n);
        const auto which = static_cast<std::size_t>(next - milestones.begin());
        return schedulers[which].rate(initial, which == 0 ? n : n - milestones[which - 1]);
      }) {
  for (const LRScheduler& s : schedulers)
    check(&s.optimizer() == &optimizer, "SequentialLR", "all schedulers must be of the same optimizer.");
}

namespace {

/// Values from phase to phase; the first and last steps of phases are real numbers, as in PyTorch.
struct Phase {
  double end, from, to, momentum_from, momentum_to;
};
std::vector<Phase> phases(const OneCycleOptions& o) {
  const auto steps = static_cast<double>(o.total_steps);
  const double first = o.max_lr / o.div_factor, last = first / o.final_div_factor;
  const Phase up{o.pct_start * steps - 1, first, o.max_lr, o.max_momentum, o.base_momentum};
  if (!o.three_phase) return {up, {steps - 1, o.max_lr, last, o.base_momentum, o.max_momentum}};
  return {up,
          {2 * o.pct_start * steps - 2, o.max_lr, first, o.base_momentum, o.max_momentum},
          {steps - 1, first, last, o.max_momentum, o.max_momentum}};
}
double one_cycle(const OneCycleOptions& o, Step n, bool momentum) {
  check(o.total_steps > 0, "OneCycleLR", "total_steps must be positive.");
  check(o.anneal_strategy == "cos" || o.anneal_strategy == "linear", "OneCycleLR",
        "anneal_strategy must be \"cos\" or \"linear\".");
  check(n <= o.total_steps, "OneCycleLR", "there were more steps than total_steps.");
  const std::vector<Phase> all = phases(o);
  const auto now = static_cast<double>(n);
  double begin = 0;
  std::size_t i = 0;
  for (; i + 1 < all.size() && now > all[i].end; ++i) begin = all[i].end;
  const double way = (now - begin) / (all[i].end - begin);
  const auto between = o.anneal_strategy == "cos" ? cosine : straight;
  return momentum ? between(all[i].momentum_from, all[i].momentum_to, way) : between(all[i].from, all[i].to, way);
}

}  // namespace

OneCycleLR::OneCycleLR(Optimizer& optimizer, const OneCycleOptions& options)
    : LRScheduler(optimizer, [=](double, Step n) { return one_cycle(options, n, false); }) {
  if (!options.cycle_momentum) return;
  momentum_ = [=](Step n) { return one_cycle(options, n, true); };
  set(0);
}
void OneCycleLR::set(Step step) {
  LRScheduler::set(step);
  if (!momentum_) return;
  for (ParamGroup& g : optimizer().param_groups())
    g[g.options.contains("beta1") ? "beta1" : "momentum"] = momentum_(step);
}

ReduceLROnPlateau::ReduceLROnPlateau(Optimizer& optimizer, const ReduceLROnPlateauOptions& options)
    : optimizer_(&optimizer), options_(options) {
  check(options.factor < 1, "ReduceLROnPlateau", "factor must be less than 1.");
  check(options.mode == "min" || options.mode == "max", "ReduceLROnPlateau", "mode must be \"min\" or \"max\".");
  check(options.threshold_mode == "rel" || options.threshold_mode == "abs", "ReduceLROnPlateau",
        "threshold_mode must be \"rel\" or \"abs\".");
  best_ = (options.mode == "min" ? 1 : -1) * std::numeric_limits<double>::infinity();
}
bool ReduceLROnPlateau::is_better(double value) const {
  const double sign = options_.mode == "min" ? -1 : 1;
  const double bound =
      options_.threshold_mode == "rel" ? best_ * (1 + sign * options_.threshold) : best_ + sign * options_.threshold;
  return sign * value > sign * bound;
}
void ReduceLROnPlateau::step(double metrics) {
  if (is_better(metrics)) {
    best_ = metrics;
    bad_epochs_ = 0;
  } else
    ++bad_epochs_;
  if (cooldown_left_ > 0) {
    --cooldown_left_;
    bad_epochs_ = 0;
  }
  if (bad_epochs_ <= options_.patience) return;
  for (ParamGroup& g : optimizer_->param_groups()) {
    const double next = std::max(g["lr"] * options_.factor, options_.min_lr);
    if (g["lr"] - next > options_.eps) g["lr"] = next;
  }
  cooldown_left_ = options_.cooldown;
  bad_epochs_ = 0;
}
std::vector<double> ReduceLROnPlateau::get_last_lr() const { return rates(*optimizer_); }
std::map<std::string, double> ReduceLROnPlateau::state_dict() const {
  return {{"best", best_},
          {"cooldown_counter", static_cast<double>(cooldown_left_)},
          {"num_bad_epochs", static_cast<double>(bad_epochs_)}};
}
void ReduceLROnPlateau::load_state_dict(const std::map<std::string, double>& dict) {
  best_ = dict.at("best");
  cooldown_left_ = static_cast<Step>(dict.at("cooldown_counter"));
  bad_epochs_ = static_cast<Step>(dict.at("num_bad_epochs"));
}

}  // namespace cotan::torch::optim::lr_scheduler
