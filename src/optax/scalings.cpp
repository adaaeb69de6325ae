// Scalings by sizes: of gradients so far, of parameters, of the loss.
#include "optax/core.hpp"

namespace cotan::optax {

namespace {

Array inverse_root(const Array& t, const Hyperparameter& eps) {
  return np::where(t > 0, lax::rsqrt(t + eps), np::zeros_like(t));
}
GradientTransformation by_rms(const std::string& name, const ScaleByRmsOptions& o, bool centered) {
  return with_fields(
      name,
      [o, centered](const Arrays& p) {
        Fields s{{"nu", tu::full_like(p, o.initial_scale, {})}};
        if (centered) s["mu"] = zeros_like(p);
        if (o.bias_correction) s["count"] = {first_count()};
        return s;
      },
      [o, centered](const Arrays& g, Fields& s, const Given&) {
        Arrays nu = s["nu"] = tu::update_moment(g, s["nu"], o.decay, 2), mu;
        if (centered) mu = s["mu"] = tu::update_moment(g, s["mu"], o.decay, 1);
        if (o.bias_correction) {
          const Array count = s["count"][0] = safe_increment(s["count"][0]);
          nu = tu::bias_correction(nu, o.decay, count);
          if (centered) mu = tu::bias_correction(mu, o.decay, count);
        }
        if (centered) nu = each([](const Array& v, const Array& m) { return v - m * m; }, nu, mu);
        return each(
            [&](const Array& u, const Array& v) {
              return (o.eps_in_sqrt ? lax::rsqrt(v + o.eps) : 1.0 / (np::sqrt(v) + o.eps)) * u;
            },
            g, nu);
      });
}

}  // namespace

GradientTransformation scale_by_rms(const ScaleByRmsOptions& o) { return by_rms("scale_by_rms", o, false); }
GradientTransformation scale_by_stddev(const ScaleByRmsOptions& o) { return by_rms("scale_by_stddev", o, true); }

GradientTransformation scale_by_rss(const Hyperparameter& initial, const Hyperparameter& eps) {
  return with_fields(
      "scale_by_rss", [initial](const Arrays& p) { return Fields{{"sum_of_squares", tu::full_like(p, initial, {})}}; },
      [eps](const Arrays& g, Fields& s, const Given&) {
        Arrays& sums = s["sum_of_squares"];
        sums = each([](const Array& u, const Array& t) { return u * u + t; }, g, sums);
        return each([&](const Array& u, const Array& t) { return inverse_root(t, eps) * u; }, g, sums);
      });
}

GradientTransformation scale_by_adadelta(const Hyperparameter& rho, const Hyperparameter& eps) {
  return with_fields(
      "scale_by_adadelta", [](const Arrays& p) { return Fields{{"e_g", zeros_like(p)}, {"e_x", zeros_like(p)}}; },
      [rho, eps](const Arrays& g, Fields& s, const Given&) {
        s["e_g"] = tu::update_moment(g, s["e_g"], rho, 2);
        const Arrays out = each([&](const Array& u, const Array& now,
                                    const Array& before) { return np::sqrt(before + eps) / np::sqrt(now + eps) * u; },
                                g, s["e_g"], s["e_x"]);
        s["e_x"] = tu::update_moment(out, s["e_x"], rho, 2);
        return out;
      });
}

GradientTransformation scale_by_rprop(const ScaleByRpropOptions& o) {
  return with_fields(
      "scale_by_rprop",
      [o](const Arrays& p) {
        return Fields{{"step_sizes", tu::full_like(p, o.learning_rate, {})}, {"prev_updates", zeros_like(p)}};
      },
      [o](const Arrays& g, Fields& s, const Given&) {
        const Arrays agree = tu::mul(g, s["prev_updates"]), before = s["prev_updates"];
        s["step_sizes"] = each(
            [&](const Array& a, const Array& step) {
              const Array factor = np::where(a > 0, o.eta_plus.like(step), o.eta_minus.like(step));
              return np::where(a == 0, step, min(max(step * factor, o.min_step_size), o.max_step_size));
            },
            agree, s["step_sizes"]);
        s["prev_updates"] =
            each([](const Array& a, const Array& u,
                    const Array& step) { return np::where(a < 0, np::zeros_like(u), step * np::sign(u)); },
                 agree, g, s["step_sizes"]);
        // As in optax, what is given out is the step before.
        return each([](const Array& a, const Array& u) { return np::where(a < 0, np::zeros_like(u), u); }, agree,
                    before);
      });
}

GradientTransformation scale_by_sign() {
  return without_state("scale_by_sign", [](const Arrays& g, const Given&) {
    return each([](const Array& u) { return np::sign(u); }, g);
  });
}

GradientTransformation scale_by_optimistic_gradient(const Hyperparameter& alpha, const Hyperparameter& beta) {
  return with_fields(
      "scale_by_optimistic_gradient",
      [](const Arrays& p) {
        return Fields{{"is_initial_step", {np::ones({}, bool_)}}, {"previous_gradient", zeros_like(p)}};
      },
      [alpha, beta](const Arrays& g, Fields& s, const Given&) {
        const Array first = s["is_initial_step"][0];
        const Arrays out =
            each([&](const Array& u,
                     const Array& before) { return plus(alpha, beta) * u - beta * Array(np::where(first, u, before)); },
                 g, s["previous_gradient"]);
        s["is_initial_step"] = {np::zeros({}, bool_)};
        s["previous_gradient"] = g;
        return out;
      });
}

GradientTransformation scale_by_param_block_norm(const Hyperparameter& min_scale) {
  return without_state("scale_by_param_block_norm", [min_scale](const Arrays& g, const Given& given) {
    return each([&](const Array& u, const Array& p) { return u * safe_norm(p, min_scale); }, g,
                params_of(given, "scale_by_param_block_norm"));
  });
}
GradientTransformation scale_by_param_block_rms(const Hyperparameter& min_scale) {
  return without_state("scale_by_param_block_rms", [min_scale](const Arrays& g, const Given& given) {
    return each([&](const Array& u, const Array& p) { return u * safe_root_mean_squares(p, min_scale); }, g,
                params_of(given, "scale_by_param_block_rms"));
  });
}
GradientTransformation scale_by_trust_ratio(const Hyperparameter& min_norm, const Hyperparameter& trust_coefficient,
                                            const Hyperparameter& eps) {
  return without_state("scale_by_trust_ratio", [=](const Arrays& g, const Given& given) {
    return each(
        [&](const Array& u, const Array& p) {
          const Array of_param = safe_norm(p, min_norm), of_update = safe_norm(u, min_norm);
          const Array ratio = trust_coefficient * of_param / (of_update + eps);
          return u * np::where((of_param == 0.0) | (of_update == 0.0), np::ones_like(ratio), ratio);
        },
        g, params_of(given, "scale_by_trust_ratio"));
  });
}

GradientTransformation scale_by_distance_over_gradients(const Hyperparameter& reps_rel, const Hyperparameter& eps,
                                                        const Hyperparameter& global_scale) {
  const auto length = [](const Array& x) { return np::sqrt(np::sum(x * x)); };
  return with_fields(
      "scale_by_distance_over_gradients",
      [=](const Arrays& p) {
        return Fields{{"max_dist", each([&](const Array& x) { return reps_rel * Array(1.0 + length(x)); }, p)},
                      {"grad_sum_of_squares", each([](const Array& x) { return np::zeros({1}, x.dtype()); }, p)},
                      {"init_params", p}};
      },
      [=](const Arrays& g, Fields& s, const Given& given) {
        s["max_dist"] =
            each([&](const Array& d, const Array& x, const Array& y) { return np::maximum(d, length(x - y)); },
                 s["max_dist"], params_of(given, "scale_by_distance_over_gradients"), s["init_params"]);
        s["grad_sum_of_squares"] =
            each([](const Array& x, const Array& u) { return x + np::sum(u * u); }, s["grad_sum_of_squares"], g);
        return each([&](const Array& u, const Array& d,
                        const Array& sum) { return np::squeeze(global_scale * Array(d / np::sqrt(sum + eps)), 0) * u; },
                    g, s["max_dist"], s["grad_sum_of_squares"]);
      });
}

GradientTransformation scale_by_polyak(const ScaleByPolyakOptions& o) {
  if (o.variant != "sps" && o.variant != "sps+")
    throw_with_line<ValueError>(
        fmt::format("[scale_by_polyak] the variant \"{}\"; it must be \"sps\" or \"sps+\".", o.variant));
  return without_state("scale_by_polyak", [o](const Arrays& g, const Given& given) {
    const Array square = tu::norm(g, 2, true);
    Array gap = (value_of(given, "scale_by_polyak") - o.f_min.array()).astype(square.dtype());
    if (o.variant == "sps+") gap = np::maximum(gap, 0.0);
    // The bound is that of doubles, whatever the dtype, as in optax with 64 bits.
    const Array all = square + o.eps, step = min(gap / all, o.max_learning_rate);
    return tu::scale(Array(np::where(all <= std::numeric_limits<double>::epsilon(), np::zeros_like(step), step)), g);
  });
}

GradientTransformation normalize_by_update_norm(const Hyperparameter& scale_factor, const Hyperparameter& eps) {
  return without_state("normalize_by_update_norm", [=](const Arrays& g, const Given&) {
    const Array norm = (tu::norm(g) + eps) / scale_factor;
    return each([&](const Array& u) { return u / norm.astype(u.dtype()); }, g);
  });
}

}  // namespace cotan::optax
