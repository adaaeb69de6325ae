// Younger kin of Adam.
#include <cmath>
#include <cotan/optax/contrib.hpp>

#include "optax/core.hpp"

namespace cotan::optax::contrib {

namespace {
Array next_count(Fields& s, const char* field = "count") { return s[field][0] = safe_increment(s[field][0]); }
GradientTransformation finished(const GradientTransformation& scaled, const ScalarOrSchedule& weight_decay,
                                const Mask& mask, const ScalarOrSchedule& learning_rate) {
  return chain(scaled, add_decayed_weights(weight_decay, mask), scale_by_learning_rate(learning_rate));
}
}  // namespace

GradientTransformation scale_by_acprop(const ScaleByBeliefOptions& o) {
  return with_fields(
      "scale_by_acprop",
      [](const Arrays& p) { return Fields{{"count", {first_count()}}, {"mu", zeros_like(p)}, {"nu", zeros_like(p)}}; },
      [o](const Arrays& g, Fields& s, const Given&) {
        const Array count = s["count"][0], first = count == 0;
        const Arrays before = tu::bias_correction(s["nu"], o.b2, np::where(first, safe_increment(count), count));
        const Arrays scale = each([&](const Array& v) { return np::where(first, np::ones_like(v), v); }, before);
        s["nu"] = each([&](const Array& v) { return v + o.eps_root; },
                       tu::update_moment(tu::sub(g, s["mu"]), s["nu"], o.b2, 2));
        s["mu"] = tu::update_moment(g, s["mu"], o.b1, 1);
        next_count(s);
        return by_root(g, scale, o.eps, 0.0);
      });
}
GradientTransformation acprop(const AcpropOptions& o) {
  return finished(scale_by_acprop({.b1 = o.b1, .b2 = o.b2, .eps = o.eps, .eps_root = o.eps_root}), o.weight_decay,
                  o.mask, o.learning_rate);
}

GradientTransformation scale_by_ademamix(const ScaleByAdemamixOptions& o) {
  return with_fields(
      "scale_by_ademamix",
      [o](const Arrays& p) {
        return Fields{{"count", {first_count()}},
                      {"count_m2", {first_count()}},
                      {"m1", zeros_like(p, o.mu_dtype)},
                      {"m2", zeros_like(p, o.mu_dtype)},
                      {"nu", zeros_like(p, o.mu_dtype)}};
      },
      [o](const Arrays& g, Fields& s, const Given&) {
        const DType dtype = widest(g);
        const Hyperparameter b3 = o.b3.at(s["count_m2"][0], dtype), alpha = o.alpha.at(s["count_m2"][0], dtype);
        const Arrays m1 = tu::update_moment(g, s["m1"], o.b1, 1), m2 = tu::update_moment(g, s["m2"], b3, 1);
        const Arrays nu = tu::update_moment(g, s["nu"], o.b2, 2);
        s["m1"] = tu::cast_like(m1, s["m1"]);
        s["m2"] = tu::cast_like(m2, s["m2"]);
        s["nu"] = tu::cast_like(nu, s["nu"]);
        const Array count = next_count(s);
        next_count(s, "count_m2");
        return by_root(tu::add_scale(tu::bias_correction(m1, o.b1, count), alpha, m2),
                       tu::bias_correction(nu, o.b2, count), o.eps, o.eps_root);
      });
}
GradientTransformation ademamix(const AdemamixOptions& o) {
  return finished(scale_by_ademamix({o.b1, o.b2, o.b3, o.alpha, o.eps, o.eps_root, o.mu_dtype}), o.weight_decay, o.mask,
                  o.learning_rate);
}

GradientTransformation scale_by_simplified_ademamix(const ScaleBySimplifiedAdemamixOptions& o) {
  return with_fields(
      "scale_by_simplified_ademamix",
      [](const Arrays& p) { return Fields{{"t", {first_count()}}, {"m", zeros_like(p)}, {"n", zeros_like(p)}}; },
      [o](const Arrays& g, Fields& s, const Given&) {
        const Hyperparameter alpha = o.alpha.at(s["t"][0], widest(g));
        s["m"] = tu::add_scale(g, o.b1, s["m"]);
        s["n"] = each([&](const Array& u, const Array& n) { return u * u + o.b2 * Array(n - u * u); }, g, s["n"]);
        const Array t = next_count(s, "t");
        return by_root(tu::add_scale(s["m"], alpha, g), tu::bias_correction(s["n"], o.b2, t), o.eps, o.eps_root);
      });
}
GradientTransformation simplified_ademamix(const SimplifiedAdemamixOptions& o) {
  return finished(scale_by_simplified_ademamix({o.b1, o.b2, o.alpha, o.eps, o.eps_root}), o.weight_decay, o.mask,
                  o.learning_rate);
}

GradientTransformation scale_by_adopt(const AdoptOptions& o) {
  return with_fields(
      "scale_by_adopt",
      [o](const Arrays& p) {
        return Fields{{"count", {first_count()}}, {"mu", zeros_like(p, o.mu_dtype)}, {"nu", zeros_like(p)}};
      },
      [o](const Arrays& g, Fields& s, const Given&) {
        const Array count = s["count"][0], later = count > 0;
        const DType dtype = widest(g);
        const Hyperparameter b1 = Array(np::where(later, np::asarray(o.b1.like(dtype), dtype), number(1, dtype)));
        const Hyperparameter b2 = Array(np::where(later, np::asarray(o.b2.like(dtype), dtype), number(0, dtype)));
        const Arrays scaled = each(
            [&](const Array& u, const Array& v) {
              const Array x = u / max(np::sqrt(v), o.eps);
              if (!o.use_clipping) return x;
              const Array most =
                  o.clip_value_fn ? o.clip_value_fn->at(count, x.dtype()) : np::power(count.astype(x.dtype()), 0.25);
              return np::clip(x, -most, most);
            },
            g, s["nu"]);
        s["nu"] = tu::update_moment(g, s["nu"], b2, 2);
        const Arrays mu = tu::update_moment(scaled, s["mu"], b1, 1);
        s["mu"] = tu::cast(mu, o.mu_dtype);
        next_count(s);
        return o.nesterov ? tu::update_moment(scaled, mu, b1, 1) : mu;
      });
}
GradientTransformation adopt(const AdoptOptions& o) {
  return chain(scale_by_adopt(o), scale_by_learning_rate(o.learning_rate));
}

GradientTransformation scale_by_madgrad(const MadgradOptions& o) {
  return with_fields(
      "scale_by_madgrad",
      [](const Arrays& p) {
        return Fields{{"count", {first_count()}}, {"grad_sum_sq", zeros_like(p)}, {"s", zeros_like(p)}, {"x0", p}};
      },
      [o](const Arrays& g, Fields& s, const Given& given) {
        const Array count = s["count"][0];
        const Arrays& params = params_of(given, "scale_by_madgrad");
        const auto weight = [&](const Array& u) {
          const Array rate = o.learning_rate.at(count, u.dtype()).like(u);
          return (rate + o.eps) * np::sqrt((count + 1).astype(u.dtype()));
        };
        s["grad_sum_sq"] =
            each([&](const Array& t, const Array& u) { return t + weight(u) * (u * u); }, s["grad_sum_sq"], g);
        s["s"] = each([&](const Array& t, const Array& u) { return t + weight(u) * u; }, s["s"], g);
        next_count(s);
        return each(
            [&](const Array& x0, const Array& sum, const Array& square, const Array& p) {
              const Array z = x0 - sum / (np::cbrt(square) + o.eps);
              return one_minus(o.momentum) * z + o.momentum * p - p;
            },
            s["x0"], s["s"], s["grad_sum_sq"], params);
      });
}
GradientTransformation madgrad(const MadgradOptions& o) {
  return chain(add_decayed_weights(o.weight_decay), scale_by_madgrad(o));
}

}  // namespace cotan::optax::contrib
