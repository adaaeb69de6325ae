// Bounds of updates.
#include <cmath>

#include "optax/core.hpp"

namespace cotan::optax {

GradientTransformation clip(const Hyperparameter& max_delta) {
  return without_state("clip", [=](const Arrays& g, const Given&) { return tu::clip(g, minus(max_delta), max_delta); });
}

GradientTransformation clip_by_block_rms(const Hyperparameter& threshold) {
  return without_state("clip_by_block_rms", [=](const Arrays& g, const Given&) {
    return each([&](const Array& u) { return u / np::maximum(1.0, np::sqrt(np::mean(u * u)) / threshold); }, g);
  });
}

GradientTransformation clip_by_global_norm(const Hyperparameter& max_norm) {
  return without_state("clip_by_global_norm", [=](const Arrays& g, const Given&) {
    const Array norm = tu::norm(g), short_enough = norm < max_norm.like(norm);
    return each(
        [&](const Array& u) { return np::where(short_enough, u, u / norm.astype(u.dtype()) * max_norm.like(u)); }, g);
  });
}

Array unitwise_norm(const ArrayLike& value, const Axes& axis) {
  const Array& x = value.array();
  const Array square = x * x;
  const auto over = [&](const Axes& axes) {
    return np::broadcast_to(np::sqrt(np::sum(square, axes, true)), x.shape());
  };
  if (axis.given()) return over(axis);
  const int long_axes =
      static_cast<int>(std::count_if(x.shape().begin(), x.shape().end(), [](auto d) { return d != 1; }));
  if (long_axes <= 1) return over({});
  if (x.ndim() == 2 || x.ndim() == 3) return over(0);
  if (x.ndim() == 4) return over({0, 1, 2});
  if (x.ndim() == 5) return over({0, 1, 2, 3});
  throw_with_line<ShapeError>(
      fmt::format("[unitwise_norm] a leaf is {}; up to 5 axes are known: say by `axis` what a unit is summed over.",
                  x.aval().str()));
}

Array unitwise_clip(const ArrayLike& g_norm, const ArrayLike& max_norm, const ArrayLike& grad,
                    const Hyperparameter& div_eps) {
  if (g_norm->shape() != grad->shape() || max_norm->shape() != grad->shape())
    throw_with_line<ShapeError>(
        fmt::format("[unitwise_clip] norms are {} and {} and the gradient {}; give them one shape.",
                    g_norm->aval().str(), max_norm->aval().str(), grad->aval().str()));
  return np::where(g_norm < max_norm, grad, grad * (max_norm / max(g_norm.array(), div_eps)));
}

GradientTransformation adaptive_grad_clip(const Hyperparameter& clipping, const Hyperparameter& eps, const Axes& axis) {
  return without_state("adaptive_grad_clip", [=](const Arrays& g, const Given& given) {
    return each(
        [&](const Array& u, const Array& p) {
          return unitwise_clip(unitwise_norm(u, axis), clipping * max(unitwise_norm(p, axis), eps), u);
        },
        g, params_of(given, "adaptive_grad_clip"));
  });
}

std::pair<Arrays, Array> per_example_global_norm_clip(const Arrays& grads, const Hyperparameter& l2_norm_clip) {
  for (const Array& g : grads)
    if (g.ndim() == 0 || g.shape(0) != grads[0].shape(0))
      throw_with_line<ShapeError>(fmt::format(
          "[per_example_global_norm_clip] a gradient is {}; all need a first axis of examples.", g.aval().str()));
  const Arrays squares = each(
      [](const Array& g) {
        std::vector<int> axes;
        for (int k = 1; k < g.ndim(); ++k) axes.push_back(k);
        return axes.empty() ? g * g : np::sum(g * g, axes);
      },
      grads);
  Array square = squares[0];
  for (std::size_t i = 1; i < squares.size(); ++i) square = square + squares[i];
  const Array norms = np::sqrt(square);
  const Array factors = np::nan_to_num(np::minimum(l2_norm_clip.like(norms) / norms, 1.0), 1.0);
  return {each([&](const Array& g) { return np::tensordot(factors.astype(g.dtype()), g, 1); }, grads),
          np::sum((factors < 1.0).astype(i32))};
}

std::pair<Arrays, Arrays> per_example_layer_norm_clip(const Arrays& grads, const Hyperparameter& global_l2_norm_clip,
                                                      bool uniform) {
  double all = 0;
  for (const Array& g : grads)
    all += static_cast<double>(g.size()) / static_cast<double>(std::max<std::int64_t>(1, g.shape(0)));
  std::pair<Arrays, Arrays> out;
  for (const Array& g : grads) {
    const double size = static_cast<double>(g.size()) / static_cast<double>(std::max<std::int64_t>(1, g.shape(0)));
    const double share = uniform ? 1.0 / static_cast<double>(grads.size()) : size / all;
    const auto [clipped, count] = per_example_global_norm_clip({g}, times(global_l2_norm_clip, std::sqrt(share)));
    out.first.push_back(clipped[0]);
    out.second.push_back(count);
  }
  return out;
}

GradientTransformation keep_params_nonnegative() {
  return without_state("keep_params_nonnegative", [](const Arrays& g, const Given& given) {
    return each([](const Array& u, const Array& p) { return np::where(p + u < 0.0, -p, u); }, g,
                params_of(given, "keep_params_nonnegative"));
  });
}

GradientTransformation zero_nans() {
  return with_fields(
      "zero_nans",
      [](const Arrays& p) { return Fields{{"found_nan", each([](const Array&) { return np::zeros({}, bool_); }, p)}}; },
      [](const Arrays& g, Fields& s, const Given&) {
        s["found_nan"] = each([](const Array& u) { return np::any(np::isnan(u)); }, g);
        return each([](const Array& u) { return np::where(np::isnan(u), np::zeros_like(u), u); }, g);
      });
}

}  // namespace cotan::optax
