// Optimizers that find their learning rate: by distances, by bets, by the loss.
#include <cmath>
#include <cotan/optax/contrib.hpp>

#include "optax/core.hpp"

namespace cotan::optax::contrib {

namespace {

const double smallest_share = std::numeric_limits<double>::epsilon();

/// sqrt(1 - b2^n) / (1 - b1^n).
Array adam_correction(const std::array<double, 2>& betas, const Array& count, DType dtype) {
  return np::sqrt(bias(betas[1], count, dtype)) / bias(betas[0], count, dtype);
}
Array scalar(const Hyperparameter& h, DType dtype) { return np::asarray(h.like(dtype), dtype); }
GradientTransformation decayed_first(const std::optional<ScalarOrSchedule>& weight_decay, const Mask& mask,
                                     const GradientTransformation& scaled, const ScalarOrSchedule& learning_rate) {
  return chain(weight_decay ? add_decayed_weights(*weight_decay, mask) : identity(), scaled,
               scale_by_learning_rate(learning_rate));
}

}  // namespace

GradientTransformation scale_by_cocob(const Hyperparameter& alpha, const Hyperparameter& eps) {
  return with_fields(
      "scale_by_cocob",
      [=](const Arrays& p) {
        return Fields{{"init_particles", p},
                      {"cumulative_gradients", zeros_like(p)},
                      {"scale", tu::full_like(p, eps, {})},
                      {"subgradients", zeros_like(p)},
                      {"reward", zeros_like(p)}};
      },
      [=](const Arrays& g, Fields& s, const Given& given) {
        const Arrays& params = params_of(given, "scale_by_cocob");
        const Arrays& first = s["init_particles"];
        s["scale"] = each([](const Array& l, const Array& u) { return np::maximum(l, np::abs(u)); }, s["scale"], g);
        s["subgradients"] = each([](const Array& t, const Array& u) { return t + np::abs(u); }, s["subgradients"], g);
        s["reward"] = each([](const Array& r, const Array& u, const Array& p,
                              const Array& p0) { return np::maximum(r - u * (p - p0), 0.0); },
                           s["reward"], g, params, first);
        s["cumulative_gradients"] = tu::sub(s["cumulative_gradients"], g);
        const Arrays bets = each([&](const Array& c, const Array& l, const Array& t,
                                     const Array& r) { return c / (l * np::maximum(t + l, alpha * l)) * (l + r); },
                                 s["cumulative_gradients"], s["scale"], s["subgradients"], s["reward"]);
        return each([](const Array& p, const Array& p0, const Array& bet) { return -p + (p0 + bet); }, params, first,
                    bets);
      });
}
GradientTransformation cocob(const CocobOptions& o) {
  return chain(add_decayed_weights(o.weight_decay, o.mask), scale_by_learning_rate(o.learning_rate, false),
               scale_by_cocob(o.alpha, o.eps));
}

GradientTransformation dadapt_adamw(const DadaptAdamwOptions& o) {
  const std::string name = "dadapt_adamw";
  return with_fields(
      name,
      [o](const Arrays& p) {
        const DType dtype = narrowest(p);
        return Fields{{"exp_avg", zeros_like(p)},
                      {"exp_avg_sq", zeros_like(p)},
                      {"grad_sum", zeros_like(p)},
                      {"estim_lr", {scalar(o.estim_lr0, dtype)}},
                      {"numerator_weighted", {number(0, dtype)}},
                      {"count", {first_count()}}};
      },
      [o, name](const Arrays& g, Fields& s, const Given& given) {
        const Arrays& params = params_of(given, name);
        const Array estimate = s["estim_lr"][0], count = s["count"][0], next = safe_increment(count);
        const DType dtype = estimate.dtype();
        const double root = std::sqrt(o.betas[1]);
        const Array rate =
            estimate * o.learning_rate.at(count, dtype).like(dtype) * adam_correction(o.betas, next, dtype);
        const Arrays weighted = each([&](const Array& t, const Array& v) { return t / (np::sqrt(v) + o.eps); },
                                     s["grad_sum"], s["exp_avg_sq"]);
        const Array numerator = tu::vdot(g, weighted).astype(dtype);
        const auto decayed = [&](const Arrays& x, double decay) {
          return each(
              [&](const Array& t, const Array& u) { return decay * t + (1 - decay) * rate.astype(u.dtype()) * u; }, x,
              g);
        };
        s["exp_avg"] = decayed(s["exp_avg"], o.betas[0]);
        s["exp_avg_sq"] = tu::update_moment(g, s["exp_avg_sq"], o.betas[1], 2);
        s["grad_sum"] = decayed(s["grad_sum"], root);
        const Array sum = tu::norm(s["grad_sum"], 1).astype(dtype);
        const Array total = root * s["numerator_weighted"][0] + (1 - root) * rate * numerator;
        s["numerator_weighted"] = {total};
        s["estim_lr"] = {np::maximum(estimate, total / ((1 - root) * sum))};
        s["count"] = {next};
        return each(
            [&](const Array& m, const Array& v, const Array& p) {
              return -(o.weight_decay * Array(rate.astype(p.dtype()) * p)) - m / (np::sqrt(v) + o.eps);
            },
            s["exp_avg"], s["exp_avg_sq"], params);
      });
}

GradientTransformation prodigy(const ProdigyOptions& o) {
  const std::string name = "prodigy";
  const double beta3 = o.beta3.value_or(std::sqrt(o.betas[1]));
  return with_fields(
      name,
      [o](const Arrays& p) {
        const DType dtype = narrowest(p);
        return Fields{{"exp_avg", zeros_like(p)},
                      {"exp_avg_sq", zeros_like(p)},
                      {"grad_sum", zeros_like(p)},
                      {"params0", p},
                      {"estim_lr", {number(o.estim_lr0, dtype)}},
                      {"numerator_weighted", {number(0, dtype)}},
                      {"count", {first_count()}}};
      },
      [o, name, beta3](const Arrays& g, Fields& s, const Given& given) {
        const Arrays& params = params_of(given, name);
        const Array estimate = s["estim_lr"][0], count = s["count"][0], next = safe_increment(count);
        const DType dtype = estimate.dtype();
        const Array rate =
            estimate * o.learning_rate.at(count, dtype).like(dtype) * adam_correction(o.betas, next, dtype);
        const Arrays scaled = tu::scale(estimate, g);
        const Array numerator = tu::vdot(g, tu::sub(s["params0"], params)).astype(dtype);
        s["exp_avg"] = tu::update_moment(scaled, s["exp_avg"], o.betas[0], 1);
        s["exp_avg_sq"] = tu::update_moment(scaled, s["exp_avg_sq"], o.betas[1], 2);
        const Array weight = o.safeguard_warmup ? estimate : rate;
        s["grad_sum"] =
            each([&](const Array& t, const Array& u) { return beta3 * t + weight.astype(u.dtype()) * u / o.estim_lr0; },
                 s["grad_sum"], scaled);
        const Array total = beta3 * s["numerator_weighted"][0] + estimate / o.estim_lr0 * rate * numerator;
        const Array found = o.estim_lr_coef * total / tu::norm(s["grad_sum"], 1).astype(dtype);
        const Array larger = np::maximum(estimate, found);
        s["numerator_weighted"] = {total};
        s["estim_lr"] = {larger};
        s["count"] = {next};
        return each(
            [&](const Array& m, const Array& v, const Array& p) {
              const Array r = rate.astype(p.dtype());
              return -(o.weight_decay * Array(r * p)) - r * m / (np::sqrt(v) + o.eps * larger.astype(p.dtype()));
            },
            s["exp_avg"], s["exp_avg_sq"], params);
      });
}

GradientTransformation scale_by_dog(const DogOptions& o) {
  return with_fields(
      "scale_by_dog",
      [o](const Arrays& p) {
        const DType dtype = narrowest(p);
        Array first = number(0, dtype);
        if (o.init_step_type == DogStart::distance) first = scalar(o.init_step, dtype);
        if (o.init_step_type == DogStart::heuristic) first = o.init_step * Array(1.0 + tu::norm(p).astype(dtype));
        return Fields{{"is_init_step", {np::ones({}, bool_)}},
                      {"init_params", p},
                      {"max_dist", {first}},
                      {"sum_sq_norm_grads", {number(0, dtype)}}};
      },
      [o](const Arrays& g, Fields& s, const Given& given) {
        const DType dtype = s["max_dist"][0].dtype();
        const Array gone = tu::norm(tu::sub(s["init_params"], params_of(given, "scale_by_dog"))).astype(dtype);
        const Array farthest = np::maximum(s["max_dist"][0], gone);
        const Array sum = s["sum_sq_norm_grads"][0] + tu::norm(g, 2, true).astype(dtype);
        Array rate = farthest / np::sqrt(sum + o.eps);
        if (o.init_step_type == DogStart::learning_rate)
          rate = np::where(s["is_init_step"][0], scalar(o.init_step, dtype), rate);
        s["is_init_step"] = {np::zeros({}, bool_)};
        s["max_dist"] = {farthest};
        s["sum_sq_norm_grads"] = {sum};
        return tu::scale(rate, g);
      });
}
GradientTransformation dog(const DogOptions& o) {
  return decayed_first(o.weight_decay, o.mask, scale_by_dog(o), o.learning_rate);
}

GradientTransformation scale_by_dowg(const DowgOptions& o) {
  return with_fields(
      "scale_by_dowg",
      [o](const Arrays& p) {
        const DType dtype = narrowest(p);
        return Fields{{"init_params", p},
                      {"weighted_sq_norm_grads", {number(0, dtype)}},
                      {"estim_sq_dist", {scalar(o.init_estim_sq_dist.value_or(o.eps), dtype)}}};
      },
      [o](const Arrays& g, Fields& s, const Given& given) {
        const DType dtype = s["estim_sq_dist"][0].dtype();
        const Array gone =
            tu::norm(tu::sub(s["init_params"], params_of(given, "scale_by_dowg")), 2, true).astype(dtype);
        const Array farthest = np::maximum(s["estim_sq_dist"][0], gone);
        const Array sum = farthest * tu::norm(g, 2, true).astype(dtype) + s["weighted_sq_norm_grads"][0];
        s["estim_sq_dist"] = {farthest};
        s["weighted_sq_norm_grads"] = {sum};
        return tu::scale(Array(farthest / (np::sqrt(sum) + o.eps)), g);
      });
}
GradientTransformation dowg(const DowgOptions& o) {
  return decayed_first(o.weight_decay, o.mask, scale_by_dowg(o), o.learning_rate);
}

GradientTransformation momo(const MomoOptions& o) {
  return with_fields(
      "momo",
      [o](const Arrays& p) {
        const DType dtype = narrowest(p);
        return Fields{{"exp_avg", zeros_like(p)},
                      {"barf", {number(0, dtype)}},
                      {"gamma", {number(0, dtype)}},
                      {"lb", {scalar(o.lower_bound, dtype)}},
                      {"count", {first_count()}}};
      },
      [o](const Arrays& g, Fields& s, const Given& given) {
        const Arrays& params = params_of(given, "momo");
        const DType dtype = s["barf"][0].dtype();
        const Array count = s["count"][0], value = value_of(given, "momo").astype(dtype);
        const Array b = np::where(count == 0, number(0, dtype), scalar(o.beta, dtype));
        const Array mean = b * s["barf"][0] + (1.0 - b) * value;
        s["exp_avg"] = tu::update_moment(g, s["exp_avg"], b, 1);
        const Array gamma = b * s["gamma"][0] + (1.0 - b) * tu::vdot(g, params).astype(dtype);
        const Array length = tu::norm(s["exp_avg"], 2, true).astype(dtype);
        const Array along = tu::vdot(s["exp_avg"], params).astype(dtype);
        const Array rate = scalar(o.learning_rate.at(count, dtype), dtype), decay = o.weight_decay * rate;
        const Array factor = 1.0 + decay, least = scalar(o.lower_bound, dtype);
        Array bound = s["lb"][0];
        if (o.adapt_lower_bound) {
          const Array cap = factor * (mean - gamma) + along;
          bound = np::where(cap < factor * bound, np::maximum(cap / (2.0 * factor), least), bound);
        }
        const Array wanted = np::maximum(factor * (mean - bound - gamma) + along, 0.0) / length;
        const Array step = np::minimum(rate, np::where(length <= smallest_share, np::zeros_like(wanted), wanted));
        if (o.adapt_lower_bound) s["lb"] = {np::maximum(mean + along - gamma - 0.5 * step * length, least)};
        s["barf"] = {mean};
        s["gamma"] = {gamma};
        s["count"] = {safe_increment(count)};
        return each(
            [&](const Array& m, const Array& p) {
              return -(decay / factor).astype(p.dtype()) * p - step.astype(p.dtype()) * m;
            },
            s["exp_avg"], params);
      });
}

GradientTransformation momo_adam(const MomoAdamOptions& o) {
  return with_fields(
      "momo_adam",
      [o](const Arrays& p) {
        const DType dtype = narrowest(p);
        return Fields{
            {"exp_avg", zeros_like(p)},    {"exp_avg_sq", zeros_like(p)},          {"barf", {number(0, dtype)}},
            {"gamma", {number(0, dtype)}}, {"lb", {scalar(o.lower_bound, dtype)}}, {"count", {first_count()}}};
      },
      [o](const Arrays& g, Fields& s, const Given& given) {
        const Arrays& params = params_of(given, "momo_adam");
        const DType dtype = s["barf"][0].dtype();
        const Array count = s["count"][0], next = safe_increment(count);
        const Array value = value_of(given, "momo_adam").astype(dtype);
        const Array mean = one_minus(o.b1) * value + o.b1 * s["barf"][0];
        s["exp_avg"] = tu::update_moment(g, s["exp_avg"], o.b1, 1);
        s["exp_avg_sq"] = tu::update_moment(g, s["exp_avg_sq"], o.b2, 2);
        const Arrays scale =
            each([&](const Array& v) { return np::sqrt(v) + o.eps; }, tu::bias_correction(s["exp_avg_sq"], o.b2, next));
        const Array length = tu::vdot(s["exp_avg"], tu::div(s["exp_avg"], scale)).astype(dtype);
        const Array gamma = one_minus(o.b1) * tu::vdot(g, params).astype(dtype) + o.b1 * s["gamma"][0];
        const Array along = tu::vdot(s["exp_avg"], params).astype(dtype);
        const Array rate = scalar(o.learning_rate.at(count, dtype), dtype), decay = o.weight_decay * rate;
        const Array factor = 1.0 + decay, least = scalar(o.lower_bound, dtype), share = bias(o.b1, next, dtype);
        Array bound = s["lb"][0];
        if (o.adapt_lower_bound) {
          const Array cap = factor * (mean - gamma) + along;
          bound = np::where(cap < factor * share * bound, np::maximum(cap / (2.0 * share * factor), least), bound);
        }
        const Array wanted = np::maximum(factor * (mean - share * bound - gamma) + along, 0.0) / length;
        const Array step =
            np::minimum(rate / share, np::where(length <= smallest_share, np::zeros_like(wanted), wanted));
        if (o.adapt_lower_bound) s["lb"] = {np::maximum((mean + along - gamma - 0.5 * step * length) / share, least)};
        s["barf"] = {mean};
        s["gamma"] = {gamma};
        s["count"] = {next};
        return each(
            [&](const Array& m, const Array& v, const Array& p) {
              return -(decay / factor).astype(p.dtype()) * p - step.astype(p.dtype()) * m / v;
            },
            s["exp_avg"], scale, params);
      });
}

}  // namespace cotan::optax::contrib
