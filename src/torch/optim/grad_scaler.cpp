#include <fmt/format.h>

#include <cotan/device.hpp>
#include <cotan/numpy.hpp>
#include <cotan/torch/amp.hpp>
#include <cotan/torch/autograd.hpp>
#include <cotan/torch/elementwise.hpp>
#include <cotan/torch/run.hpp>

#include "torch/optim/lists.hpp"

namespace cotan::torch::amp {

using namespace torch::detail;
using optim::Optimizer;

namespace {

/// Gradients by the scale, and whether one of them was not finite.
Arrays unscaled(const Arrays& grads, const Array& scale) {
  const Array inverse = 1.0 / scale;
  Arrays out;
  Array bad = numpy::zeros({}, DType::bool_);
  for (const Array& g : grads) {
    bad = bad | numpy::any(~numpy::isfinite(g));
    out.push_back((g.astype(promote_types(g.dtype(), f32)) * inverse).astype(g.dtype()));
  }
  out.push_back(bad);
  return out;
}

/// The next scale, and the next count of steps without infinities.
Arrays next_scale(const Arrays& found, const Array& scale, const Array& good, Number growth, Number backoff,
                  std::int64_t interval) {
  Array bad = found[0];
  for (std::size_t i = 1; i < found.size(); ++i) bad = bad | found[i];
  const Array count = good + 1, full = count >= interval;
  const Array larger = scale * growth.like(scale);
  const Array grown = numpy::where(full & numpy::isfinite(larger), larger, scale);
  return {numpy::where(bad, scale * backoff.like(scale), grown),
          numpy::where(bad | full, numpy::zeros_like(count), count)};
}

}  // namespace

GradScaler::GradScaler(const GradScalerOptions& options) : options_(options) {
  if (options.growth_factor <= 1 || options.backoff_factor >= 1 || !(options.init_scale > 0))
    throw_with_line<ValueError>(
        "[GradScaler] growth_factor must be above 1, backoff_factor below 1 and init_scale positive.");
}

void GradScaler::place(const Tensor& like) {
  if (scale_.defined()) return;
  const std::string device = like.impl().type()->device;
  scale_ = from(device_put(numpy::full({}, options_.init_scale, f32), device));
  growth_tracker_ = from(device_put(numpy::zeros({}, i32), device));
}

GradScaler::Seen* GradScaler::seen(const Optimizer& optimizer) {
  for (Seen& s : seen_)
    if (s.optimizer == &optimizer) return &s;
  return nullptr;
}

Tensor GradScaler::scale(const Tensor& loss, std::source_location where) {
  const At at(where);
  if (!options_.enabled) return loss;
  place(loss);
  return loss * scale_;
}

void GradScaler::unscale_(Optimizer& optimizer, std::source_location where) {
  static const auto op = define("unscale", {.differentiable = false}, unscaled);
  const At at(where);
  if (!options_.enabled) return;
  if (seen(optimizer))
    throw_with_line<ValueError>(
        "[unscale_] the gradients of this optimizer were unscaled since the last update(); do so once an iteration.");
  std::vector<Tensor> grads;
  for (const optim::ParamGroup& g : optimizer.param_groups())
    for (const Tensor& p : g.params)
      if (Tensor grad = p.grad(); grad.defined()) grads.push_back(std::move(grad));
  if (grads.empty())
    throw_with_line<ValueError>("[unscale_] no parameter of the optimizer has a gradient; call backward() first.");
  for (const Tensor& g : grads)
    if (g.dtype() == f16)
      throw_with_line<TypeError>(
          "[unscale_] a gradient is f16, too narrow to be unscaled; keep parameters in float32 and use autocast.");
  place(grads[0]);
  const no_grad off;
  Value result = op.value(grads, scale_);
  write_all(grads, result, "unscale_");
  seen_.push_back({&optimizer, tensor_of(result)});
}

void GradScaler::step(Optimizer& optimizer, std::source_location where) {
  const At at(where);
  if (!options_.enabled) return optimizer.step(where);
  if (!seen(optimizer)) unscale_(optimizer, where);
  Seen& s = *seen(optimizer);
  if (std::exchange(s.stepped, true))
    throw_with_line<ValueError>("[GradScaler] step() was called since the last update(); call it once an iteration.");
  optimizer.record_step(s.found_inf);
}

void GradScaler::update(std::optional<double> new_scale, std::source_location where) {
  static const auto op = define("update_scale", {.differentiable = false}, next_scale);
  const At at(where);
  if (!options_.enabled) return;
  if (new_scale && scale_.defined())
    scale_ = from(device_put(numpy::full({}, *new_scale, f32), scale_.impl().type()->device));
  else if (new_scale)
    options_.init_scale = *new_scale;
  else {
    if (seen_.empty())
      throw_with_line<ValueError>("[update] no optimizer took a step since the last update(); call step() before it.");
    const no_grad off;
    std::vector<Tensor> found;
    for (const Seen& s : seen_) found.push_back(s.found_inf);
    Value result = op.value(found, scale_, growth_tracker_, options_.growth_factor, options_.backoff_factor,
                            options_.growth_interval);
    write_all({scale_, growth_tracker_}, result, "update");
  }
  seen_.clear();
  mark_step();
}

double GradScaler::get_scale(std::source_location where) const {
  if (!options_.enabled) return 1;
  return scale_.defined() ? scale_.item(where) : options_.init_scale;
}
Tensor GradScaler::found_inf(const Optimizer& optimizer) const {
  const Seen* s = const_cast<GradScaler*>(this)->seen(optimizer);
  return s ? s->found_inf : Tensor();
}

std::map<std::string, double> GradScaler::state_dict() const {
  if (!options_.enabled) return {};
  return {{"scale", get_scale()},
          {"growth_factor", options_.growth_factor},
          {"backoff_factor", options_.backoff_factor},
          {"growth_interval", static_cast<double>(options_.growth_interval)},
          {"_growth_tracker", growth_tracker_.defined() ? growth_tracker_.item() : 0}};
}
void GradScaler::load_state_dict(const std::map<std::string, double>& dict) {
  if (!options_.enabled) return;
  const auto at = [&](const std::string& name) {
    const auto it = dict.find(name);
    if (it == dict.end())
      throw_with_line<ValueError>(fmt::format("[load_state_dict] the state of a GradScaler has \"{}\".", name));
    return it->second;
  };
  options_.init_scale = at("scale");
  options_.growth_factor = at("growth_factor");
  options_.backoff_factor = at("backoff_factor");
  options_.growth_interval = static_cast<std::int64_t>(at("growth_interval"));
  scale_ = from(numpy::full({}, options_.init_scale, f32));
  growth_tracker_ = from(numpy::full({}, at("_growth_tracker"), i32));
}

}  // namespace cotan::torch::amp
