// Line searches: a step that decreases the loss enough.
#include <limits>

#include "optax/core.hpp"

namespace cotan::optax {

namespace {

const double infinity = std::numeric_limits<double>::infinity();

using Objective = std::function<Array(std::span<const Array>)>;

std::pair<Array, Arrays> value_and_gradient(const Objective& f, const Arrays& x) {
  auto result = flat::value_and_grad([&](std::span<const Array> in) { return Arrays{f(in)}; }, x, "value_and_grad",
                                     [](std::size_t i) { return fmt::format("leaf {}", i); });
  return {result.outputs[0], std::move(result.grads)};
}
const Objective& objective_of(const Given& given, const std::string& name) {
  if (!given.value_fn)
    throw_with_line<ValueError>(fmt::format(
        "[{}] needs the loss as a function; call update(gradients, state, params, {{.value = loss, .value_fn = f}}).",
        name));
  return given.value_fn;
}
/// No NaN: where there is one, infinity.
Array certain(const Array& error) {
  return np::where(np::isnan(error), np::full_like(error, infinity), np::maximum(error, 0.0));
}

struct Backtracking {
  Array rate, value, error, count;
  Arrays grad;
};

}  // namespace

GradientTransformation scale_by_backtracking_linesearch(const BacktrackingOptions& o) {
  const std::string name = "scale_by_backtracking_linesearch";
  const auto init = [=](const Arrays& p) {
    const DType dtype = p.empty() ? f32 : p[0].dtype();
    Fields s{{"learning_rate", {number(1, dtype)}},
             {"value", {number(infinity, dtype)}},
             {"num_linesearch_steps", {first_count()}},
             {"decrease_error", {number(infinity, dtype)}}};
    if (o.store_grad) s["grad"] = zeros_like(p);
    return s;
  };
  const auto update = [=](const Arrays& g, Fields& s, const Given& given) {
    const Arrays& params = params_of(given, name);
    const Objective& f = objective_of(given, name);
    const DType dtype = s["learning_rate"][0].dtype();
    const Array value = value_of(given, name).astype(dtype);
    const Array slope = tu::vdot(g, given.grad.value_or(g)).astype(dtype),
                atol = np::asarray(o.atol.like(dtype), dtype);
    const auto error_at = [&](const Array& rate, const Array& there) {
      const Array gain = o.slope_rtol * Array(rate * slope);
      return certain(there - plus(1.0, o.rtol) * value - gain);
    };
    const Backtracking start{min(o.increase_factor * s["learning_rate"][0], o.max_learning_rate), value,
                             number(infinity, dtype), first_count(), o.store_grad ? zeros_like(params) : Arrays{}};
    const Backtracking end = lax::while_loop(
        [&](const Backtracking& b) { return ~(b.error <= atol) & (b.count <= o.max_backtracking_steps); },
        [&](const Backtracking& b) {
          Backtracking next = b;
          next.rate = np::where(b.count > 0, o.decrease_factor * b.rate, b.rate);
          const Arrays there = tu::add_scale(params, next.rate, g);
          if (o.store_grad) {
            const auto [v, grad] = value_and_gradient(f, there);
            next.value = v.astype(dtype);
            next.error = error_at(next.rate, next.value);
            next.grad = tu::where((next.error <= atol) | (b.count == o.max_backtracking_steps), grad, b.grad);
          } else {
            next.value = f(there).astype(dtype);
            next.error = error_at(next.rate, next.value);
          }
          next.count = b.count + 1;
          return next;
        },
        start);
    const Array rate = np::where(np::isinf(end.error), np::zeros_like(end.rate), end.rate);
    s["learning_rate"] = {rate};
    s["value"] = {end.value};
    s["num_linesearch_steps"] = {end.count};
    s["decrease_error"] = {end.error};
    if (o.store_grad) s["grad"] = end.grad;
    return tu::scale(rate, g);
  };
  return with_fields(name, init, update);
}

namespace {

/// Where the zoom search is. low, high: ends of the interval; third: another point, for the cubic.
struct Zoom {
  Array count, step, value, slope, decrease_error, curvature_error, found, done, failed;
  Array low, value_low, slope_low, high, value_high, slope_high, third, value_third, safe, value_safe;
  Arrays grad, grad_safe;
};

struct ZoomSearch {
  const ZoomOptions& o;
  const Objective& f;
  const Arrays &params, &direction;
  Array guess, value_first, slope_first;
  DType dtype;

  Array number_of(const Hyperparameter& h) const { return np::asarray(h.like(dtype), dtype); }
  Array decrease_error(const Array& step, const Array& value, const Array& slope) const {
    Array error = value - value_first - o.slope_rtol * Array(step * slope_first);
    if (o.approx_dec_rtol) {
      const Hyperparameter share = plus(times(2.0, o.slope_rtol), -1.0);
      const Array change = value - value_first - *o.approx_dec_rtol * Array(np::abs(value_first));
      error = np::minimum(np::maximum(slope - share * slope_first, change), error);
    }
    return certain(error);
  }
  Array curvature_error(const Array& slope) const {
    return certain(np::abs(slope) - o.curv_rtol * Array(np::abs(slope_first)));
  }
  /// The point at a step, and how far it is from what is wanted.
  Array try_step(Zoom& z, const Array& step) const {
    const auto [value, grad] = value_and_gradient(f, tu::add_scale(params, step, direction));
    z.step = step;
    z.value = value.astype(dtype);
    z.grad = grad;
    z.slope = tu::vdot(grad, direction).astype(dtype);
    z.decrease_error = decrease_error(step, z.value, z.slope);
    z.curvature_error = curvature_error(z.slope);
    return np::maximum(z.decrease_error, z.curvature_error);
  }
  static void keep_safe(Zoom& z, const Array& when) {
    z.safe = np::where(when, z.step, z.safe);
    z.value_safe = np::where(when, z.value, z.value_safe);
    z.grad_safe = tu::where(when, z.grad, z.grad_safe);
  }
  Zoom widened(const Zoom& z) const;
  Zoom narrowed(const Zoom& z) const;
  Zoom stepped(const Zoom& z) const;
};

/// Longer steps until one of them ends an interval.
Zoom ZoomSearch::widened(const Zoom& z) const {
  Zoom next = z;
  Array step = np::where(z.count == 0, guess, o.increase_factor * z.step), longest = np::zeros({}, bool_);
  if (o.max_learning_rate) {
    longest = step >= number_of(*o.max_learning_rate);
    step = min(step, *o.max_learning_rate);
  }
  const Array error = try_step(next, step), tol = number_of(o.tol);
  keep_safe(next, next.decrease_error <= tol);
  const Array is_high = (next.decrease_error > 0.0) | ((next.value >= z.value) & (z.count > 0));
  const Array is_low = (next.slope >= 0.0) & ~is_high;
  next.low = np::where(is_low, step, z.step);
  next.value_low = np::where(is_low, next.value, z.value);
  next.slope_low = np::where(is_low, next.slope, z.slope);
  next.high = np::where(is_low, z.step, step);
  next.value_high = np::where(is_low, z.value, next.value);
  next.slope_high = np::where(is_low, z.slope, next.slope);
  next.found = is_high | is_low | (error <= tol);
  next.done = (error <= tol) | (longest & ~next.found);
  next.failed = (z.count + 1 >= o.max_linesearch_steps) & ~next.done;
  next.third = next.low;
  next.value_third = next.value_low;
  next.count = safe_increment(z.count);
  return next;
}

Array cubic_minimum(const Array& a, const Array& fa, const Array& slope, const Array& b, const Array& fb,
                    const Array& c, const Array& fc) {
  const Array db = b - a, dc = c - a, denominator = (db * dc) * (db * dc) * (db - dc);
  const Array rb = fb - fa - slope * db, rc = fc - fa - slope * dc;
  const Array A = (dc * dc * rb - db * db * rc) / denominator;
  const Array B = (-(dc * dc * dc) * rb + db * db * db * rc) / denominator;
  return a + (-B + np::sqrt(B * B - 3.0 * A * slope)) / (3.0 * A);
}
Array quadratic_minimum(const Array& a, const Array& fa, const Array& slope, const Array& b, const Array& fb) {
  const Array db = b - a, B = (fb - fa - slope * db) / (db * db);
  return a - slope / (2.0 * B);
}

/// A point inside of the interval, which ends it anew.
Zoom ZoomSearch::narrowed(const Zoom& z) const {
  Zoom next = z;
  const Array size = np::abs(z.high - z.low), left = np::minimum(z.high, z.low), right = np::maximum(z.high, z.low);
  const Array cubic = cubic_minimum(z.low, z.value_low, z.slope_low, z.high, z.value_high, z.third, z.value_third);
  const Array quadratic = quadratic_minimum(z.low, z.value_low, z.slope_low, z.high, z.value_high);
  const Array by_cubic = (cubic > left + 0.2 * size) & (cubic < right - 0.2 * size);
  const Array by_quadratic = (quadratic > left + 0.1 * size) & (quadratic < right - 0.1 * size);
  const Array middle = np::where(by_cubic, cubic, np::where(by_quadratic, quadratic, (z.low + z.high) / 2.0));
  const Array error = try_step(next, middle), tol = number_of(o.tol);
  keep_safe(next, (next.decrease_error <= tol) & (next.value < z.value_safe));
  next.done = error <= tol;
  const Array high_to_middle = (next.decrease_error > 0.0) | (next.value >= z.value_low);
  const Array high_to_low = (next.slope * (z.high - z.low) >= 0.0) & ~high_to_middle;
  const auto pick = [&](const Array& middle_one, const Array& low_one, const Array& high_one) {
    return np::where(high_to_low, low_one, np::where(high_to_middle, middle_one, high_one));
  };
  next.high = pick(middle, z.low, z.high);
  next.value_high = pick(next.value, z.value_low, z.value_high);
  next.slope_high = pick(next.slope, z.slope_low, z.slope_high);
  next.low = np::where(high_to_middle, z.low, middle);
  next.value_low = np::where(high_to_middle, z.value_low, next.value);
  next.slope_low = np::where(high_to_middle, z.slope_low, next.slope);
  const Array from_high = high_to_middle | high_to_low;
  next.third = np::where(from_high, z.high, z.low);
  next.value_third = np::where(from_high, z.value_high, z.value_low);
  const Array too_small = size <= number_of(o.stepsize_precision);
  next.failed = ((z.count + 1 >= o.max_linesearch_steps) | (too_small & (next.safe > 0.0))) & ~next.done;
  next.count = safe_increment(z.count);
  return next;
}

/// One evaluation further. A search that failed takes the safe step, if there is one.
Zoom ZoomSearch::stepped(const Zoom& z) const {
  Zoom next = lax::cond(z.found, [&] { return narrowed(z); }, [&] { return widened(z); });
  const Array use_safe = next.failed & ((next.safe > 0.0) | np::isinf(next.decrease_error));
  next.step = np::where(use_safe, next.safe, next.step);
  next.value = np::where(use_safe, next.value_safe, next.value);
  next.grad = tu::where(use_safe, next.grad_safe, next.grad);
  return next;
}

}  // namespace

GradientTransformation scale_by_zoom_linesearch(const ZoomOptions& o) {
  const std::string name = "scale_by_zoom_linesearch";
  if (o.initial_guess_strategy != "keep" && o.initial_guess_strategy != "one")
    throw_with_line<ValueError>(fmt::format("[{}] the initial guess strategy \"{}\"; it must be \"keep\" or \"one\".",
                                            name, o.initial_guess_strategy));
  const auto init = [](const Arrays& p) {
    const DType dtype = p.empty() ? f32 : p[0].dtype();
    const Array far = number(infinity, dtype);
    return Fields{{"learning_rate", {number(1, dtype)}},     {"value", {far}},          {"grad", zeros_like(p)},
                  {"num_linesearch_steps", {first_count()}}, {"decrease_error", {far}}, {"curvature_error", {far}}};
  };
  const auto update = [=](const Arrays& g, Fields& s, const Given& given) {
    const Arrays& params = params_of(given, name);
    const Objective& f = objective_of(given, name);
    const DType dtype = s["learning_rate"][0].dtype();
    const Arrays grad = given.grad.value_or(g);
    const Array value = value_of(given, name).astype(dtype), slope = tu::vdot(g, grad).astype(dtype);
    const Array zero = number(0, dtype), far = number(infinity, dtype), no = np::zeros({}, bool_);
    const Array guess = o.initial_guess_strategy == "one" ? number(1, dtype) : s["learning_rate"][0];
    const ZoomSearch search{o, f, params, g, guess, value, slope, dtype};
    const Zoom start{first_count(), zero, value, slope, far,  far,   no,   no,    no,   zero, value,
                     slope,         zero, value, slope, zero, value, zero, value, grad, grad};
    const Zoom end = lax::while_loop([](const Zoom& z) { return ~(z.done | z.failed); },
                                     [&](const Zoom& z) { return search.stepped(z); }, start);
    s["learning_rate"] = {end.step};
    s["value"] = {end.value};
    s["grad"] = end.grad;
    s["num_linesearch_steps"] = {end.count};
    s["decrease_error"] = {end.decrease_error};
    s["curvature_error"] = {end.curvature_error};
    return tu::scale(end.step, g);
  };
  return with_fields(name, init, update);
}

namespace detail {
std::pair<Array, Arrays> value_and_grad_from_state(const Objective& value_fn, const Arrays& params,
                                                   const State& state) {
  const auto values = tree_utils::tree_get_all_with_path(state, "value");
  const auto grads = tree_utils::tree_get_all_with_path(state, "grad");
  if (values.size() != 1 || grads.size() != 1)
    throw_with_line<ValueError>(
        "[value_and_grad_from_state] the state has no value and gradient, or several; a line search that stores "
        "gradients leaves them there.");
  const Array value = values[0].second.at(0);
  using Both = std::pair<Array, Arrays>;
  return choose(
      np::isfinite(value), [&] { return Both{value, grads[0].second}; },
      [&] {
        auto [v, g] = value_and_gradient(value_fn, params);
        return Both{v.astype(value.dtype()), tu::cast_like(g, grads[0].second)};
      });
}
}  // namespace detail

}  // namespace cotan::optax
