// Scalings by means of gradients and of their squares: Adam and its kin.
#include "optax/core.hpp"

namespace cotan::optax {

namespace {

Fields two_moments(const Arrays& p, std::optional<DType> mu_dtype, const Hyperparameter& first = 0.0) {
  return {{"count", {first_count()}}, {"mu", tu::full_like(p, first, mu_dtype)}, {"nu", tu::full_like(p, first, {})}};
}
Array next_count(Fields& s) { return s["count"][0] = safe_increment(s["count"][0]); }

/// The mean, corrected; with Nesterov's momentum one step ahead.
Arrays corrected_mean(const Arrays& mu, const Arrays& g, const Hyperparameter& b1, const Array& count, bool nesterov) {
  if (!nesterov) return tu::bias_correction(mu, b1, count);
  return each([&](const Array& m, const Array& u) { return b1 * m + one_minus(b1) * u; },
              tu::bias_correction(mu, b1, safe_increment(count)), tu::bias_correction(g, b1, count));
}

}  // namespace

GradientTransformation scale_by_adam(const ScaleByAdamOptions& o) {
  return with_fields(
      "scale_by_adam", [o](const Arrays& p) { return two_moments(p, o.mu_dtype); },
      [o](const Arrays& g, Fields& s, const Given&) {
        const Arrays mu = tu::update_moment(g, s["mu"], o.b1, 1), nu = tu::update_moment(g, s["nu"], o.b2, 2);
        const Array count = next_count(s);
        s["mu"] = tu::cast(mu, o.mu_dtype);
        s["nu"] = tu::cast_like(nu, s["nu"]);
        return by_root(corrected_mean(mu, g, o.b1, count, o.nesterov), tu::bias_correction(nu, o.b2, count), o.eps,
                       o.eps_root);
      });
}

GradientTransformation scale_by_amsgrad(const ScaleByAmsgradOptions& o) {
  return with_fields(
      "scale_by_amsgrad",
      [o](const Arrays& p) {
        Fields s = two_moments(p, o.mu_dtype);
        s["nu_max"] = zeros_like(p);
        return s;
      },
      [o](const Arrays& g, Fields& s, const Given&) {
        const Arrays mu = tu::update_moment(g, s["mu"], o.b1, 1), nu = tu::update_moment(g, s["nu"], o.b2, 2);
        const Array count = next_count(s);
        const Arrays mean = o.bias_correction_mu ? tu::bias_correction(mu, o.b1, count) : mu;
        const Arrays square = o.bias_correction_nu ? tu::bias_correction(nu, o.b2, count) : nu;
        s["nu_max"] = each([](const Array& a, const Array& b) { return np::maximum(a, b); }, s["nu_max"], square);
        s["mu"] = tu::cast(mu, o.mu_dtype);
        s["nu"] = nu;
        return by_root(mean, s["nu_max"], o.eps, o.eps_root);
      });
}

GradientTransformation scale_by_adamax(const ScaleByAdamaxOptions& o) {
  return with_fields(
      "scale_by_adamax", [](const Arrays& p) { return two_moments(p, {}); },
      [o](const Arrays& g, Fields& s, const Given&) {
        const Array count = next_count(s);
        s["mu"] = tu::update_moment(g, s["mu"], o.b1, 1);
        s["nu"] = tu::update_infinity_moment(g, s["nu"], o.b2, o.eps);
        return tu::div(tu::bias_correction(s["mu"], o.b1, count), s["nu"]);
      });
}

GradientTransformation scale_by_adan(const ScaleByAdanOptions& o) {
  return with_fields(
      "scale_by_adan",
      [](const Arrays& p) {
        return Fields{{"m", zeros_like(p)},
                      {"v", zeros_like(p)},
                      {"n", zeros_like(p)},
                      {"g", zeros_like(p)},
                      {"t", {first_count()}}};
      },
      [o](const Arrays& g, Fields& s, const Given&) {
        const Array first = s["t"][0] == 0;
        const Arrays change =
            each([&](const Array& a, const Array& b) { return np::where(first, np::zeros_like(a), a - b); }, g, s["g"]);
        s["m"] = tu::update_moment(g, s["m"], o.b1, 1);
        s["v"] = tu::update_moment(change, s["v"], o.b2, 1);
        s["n"] = tu::update_moment(tu::add_scale(g, one_minus(o.b2), change), s["n"], o.b3, 2);
        const Array t = s["t"][0] = safe_increment(s["t"][0]);
        s["g"] = g;
        const Arrays step =
            tu::add_scale(tu::bias_correction(s["m"], o.b1, t), one_minus(o.b2), tu::bias_correction(s["v"], o.b2, t));
        return by_root(step, tu::bias_correction(s["n"], o.b3, t), o.eps, o.eps_root);
      });
}

GradientTransformation scale_by_belief(const ScaleByBeliefOptions& o) {
  return with_fields(
      "scale_by_belief", [](const Arrays& p) { return two_moments(p, {}); },
      [o](const Arrays& g, Fields& s, const Given&) {
        s["mu"] = tu::update_moment(g, s["mu"], o.b1, 1);
        s["nu"] = each([&](const Array& v) { return v + o.eps_root; },
                       tu::update_moment(tu::sub(g, s["mu"]), s["nu"], o.b2, 2));
        const Array count = next_count(s);
        return by_root(corrected_mean(s["mu"], g, o.b1, count, o.nesterov), tu::bias_correction(s["nu"], o.b2, count),
                       o.eps, 0.0);
      });
}

GradientTransformation scale_by_yogi(const ScaleByYogiOptions& o) {
  return with_fields(
      "scale_by_yogi", [o](const Arrays& p) { return two_moments(p, {}, o.initial_accumulator_value); },
      [o](const Arrays& g, Fields& s, const Given&) {
        s["mu"] = tu::update_moment(g, s["mu"], o.b1, 1);
        s["nu"] = each(
            [&](const Array& u, const Array& v) { return v - one_minus(o.b2) * Array(np::sign(v - u * u) * (u * u)); },
            g, s["nu"]);
        const Array count = next_count(s);
        return by_root(tu::bias_correction(s["mu"], o.b1, count), tu::bias_correction(s["nu"], o.b2, count), o.eps,
                       o.eps_root);
      });
}

GradientTransformation scale_by_radam(const ScaleByRadamOptions& o) {
  return with_fields(
      "scale_by_radam", [](const Arrays& p) { return two_moments(p, {}); },
      [o](const Arrays& g, Fields& s, const Given&) {
        s["mu"] = tu::update_moment(g, s["mu"], o.b1, 1);
        s["nu"] = tu::update_moment(g, s["nu"], o.b2, 2);
        const Array count = next_count(s);
        const DType dtype = widest(g);
        // How much is in the mean of squares, and how much there will be.
        const Array n = count.astype(dtype), b2 = o.b2.is_number() ? number(o.b2.number(), dtype) : o.b2.like(dtype);
        const Array in_the_end =
            o.b2.is_number() ? number(2.0 / (1.0 - o.b2.number()) - 1.0, dtype) : Array(2.0 / (1.0 - b2) - 1.0);
        const Array left = bias(o.b2, count, dtype), now = in_the_end - 2.0 * n * (1.0 - left) / left;
        const Array ratio =
            np::sqrt((now - 4.0) * (now - 2.0) * in_the_end / ((in_the_end - 4.0) * (in_the_end - 2.0) * now));
        const Array enough = now >= o.threshold.like(dtype);
        const Arrays mean = corrected_mean(s["mu"], g, o.b1, count, o.nesterov);
        const Arrays scaled = by_root(mean, tu::bias_correction(s["nu"], o.b2, count), o.eps, o.eps_root);
        return each([&](const Array& a, const Array& m) { return np::where(enough, ratio.astype(m.dtype()) * a, m); },
                    scaled, mean);
      });
}

GradientTransformation scale_by_lion(const ScaleByLionOptions& o) {
  return with_fields(
      "scale_by_lion",
      [o](const Arrays& p) { return Fields{{"count", {first_count()}}, {"mu", zeros_like(p, o.mu_dtype)}}; },
      [o](const Arrays& g, Fields& s, const Given&) {
        const Arrays out = each(
            [&](const Array& u, const Array& m) {
              const Array x = one_minus(o.b1) * u + o.b1 * m;
              if (o.mode == LionMode::smooth) return np::tanh(o.smooth_beta * x);
              return o.mode == LionMode::hard ? np::sign(x) : np::where(np::abs(x) < 1.0, x, np::sign(x));
            },
            g, s["mu"]);
        s["mu"] = tu::cast(tu::update_moment(g, s["mu"], o.b2, 1), o.mu_dtype);
        next_count(s);
        return out;
      });
}

GradientTransformation scale_by_novograd(const ScaleByNovogradOptions& o) {
  return with_fields(
      "scale_by_novograd",
      [o](const Arrays& p) {
        return Fields{{"count", {first_count()}},
                      {"mu", zeros_like(p, o.mu_dtype)},
                      {"nu", each([](const Array& a) { return np::zeros({}, a.dtype()); }, p)}};
      },
      [o](const Arrays& g, Fields& s, const Given& given) {
        const Array first = next_count(s) == 1;
        const Arrays squares = each([](const Array& u) { return np::sum(u * u); }, g);
        s["nu"] = tu::where(first, squares, tu::update_moment(squares, s["nu"], o.b2, 1));
        const Arrays fresh =
            each([&](const Array& u, const Array& p,
                     const Array& v) { return u / (np::sqrt(v + o.eps_root) + o.eps) + o.weight_decay * p; },
                 g, params_of(given, "scale_by_novograd"), s["nu"]);
        const Arrays mu =
            each([&](const Array& m, const Array& u) { return np::where(first, u, o.b1 * m + u); }, s["mu"], fresh);
        return s["mu"] = tu::cast(mu, o.mu_dtype);
      });
}

}  // namespace cotan::optax
