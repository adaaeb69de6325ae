// Scalings whose memory is small: of a matrix, what a row and a column need.
#include <algorithm>
#include <numeric>

#include "optax/core.hpp"

namespace cotan::optax {

namespace {

/// The second largest and the largest axis, if both are large enough.
std::optional<std::pair<int, int>> factored_axes(const Shape& shape, const FactoredRmsOptions& o) {
  if (!o.factored || shape.size() < 2) return std::nullopt;
  std::vector<int> order(shape.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return shape[a] < shape[b]; });
  const std::size_t n = order.size();
  if (shape[order[n - 2]] < o.min_dim_size_to_factor) return std::nullopt;
  return std::pair{order[n - 2], order[n - 1]};
}
Array without_axis(const Array& x, int axis) {
  Shape shape = x.shape();
  shape.erase(shape.begin() + axis);
  return np::zeros(shape, x.dtype());
}

}  // namespace

GradientTransformation scale_by_factored_rms(const FactoredRmsOptions& o) {
  return with_fields(
      "scale_by_factored_rms",
      [o](const Arrays& params) {
        Fields s{{"count", {first_count()}}, {"v_row", {}}, {"v_col", {}}, {"v", {}}};
        for (const Array& p : params) {
          const auto axes = factored_axes(p.shape(), o);
          const Array none = np::zeros({1}, p.dtype());
          s["v_row"].push_back(axes ? without_axis(p, axes->second) : none);
          s["v_col"].push_back(axes ? without_axis(p, axes->first) : none);
          s["v"].push_back(axes ? none : np::zeros_like(p));
        }
        return s;
      },
      [o](const Arrays& g, Fields& s, const Given& given) {
        const Arrays& params = params_of(given, "scale_by_factored_rms");
        if (g.size() != s["v"].size()) raise_leaf_counts(g.size(), s["v"].size());
        const Array count = s["count"][0];
        Arrays out;
        for (std::size_t i = 0; i < g.size(); ++i) {
          const DType dtype = params[i].dtype();
          const Array t = (count - o.step_offset + 1).astype(dtype);
          const Array decay = 1.0 - np::power(t, -o.decay_rate), square = g[i] * g[i] + o.epsilon;
          const auto mean = [&](const Array& before, const Array& now) {
            return (decay * before + (1.0 - decay) * now).astype(dtype);
          };
          if (const auto axes = factored_axes(params[i].shape(), o)) {
            const auto [column, row] = *axes;
            const Array v_row = s["v_row"][i] = mean(s["v_row"][i], np::mean(square, row));
            const Array v_col = s["v_col"][i] = mean(s["v_col"][i], np::mean(square, column));
            const Array all = np::mean(v_row, column > row ? column - 1 : column, true);
            out.push_back(g[i] * np::expand_dims(np::power(v_row / all, -0.5), row) *
                          np::expand_dims(np::power(v_col, -0.5), column));
          } else {
            const Array v = s["v"][i] = mean(s["v"][i], square);
            out.push_back(g[i] * np::power(v, -0.5));
          }
        }
        s["count"][0] = safe_increment(count);
        return out;
      });
}

GradientTransformation scale_by_sm3(const Hyperparameter& b1, const Hyperparameter& b2, const Hyperparameter& eps) {
  // A vector for each axis of each leaf, one after the other.
  const auto for_axes = [](const Arrays& x, const auto& f) {
    Arrays out;
    for (const Array& a : x)
      for (int axis = 0; axis < a.ndim(); ++axis) out.push_back(f(a, axis));
    return out;
  };
  return with_fields(
      "scale_by_sm3",
      [=](const Arrays& p) {
        for (const Array& a : p)
          if (a.ndim() == 0)
            throw_with_line<ShapeError>("[scale_by_sm3] a parameter is a scalar; give it an axis by reshape({1}).");
        return Fields{{"mu", for_axes(p, [](const Array& a, int i) { return np::zeros({a.shape(i)}, a.dtype()); })},
                      {"nu", zeros_like(p)}};
      },
      [=](const Arrays& g, Fields& s, const Given&) {
        const bool all = b2.is_number() && b2.number() == 1.0;
        std::size_t at = 0;
        Arrays sums;
        for (const Array& u : g) {
          Array least;
          for (int axis = 0; axis < u.ndim(); ++axis, ++at) {
            Shape shape(u.shape().size(), 1);
            shape[axis] = u.shape(axis);
            const Array v = np::reshape(s["mu"].at(at), shape);
            least = least.defined() ? np::minimum(least, v) : v;
          }
          sums.push_back((all ? u * u : one_minus(b2) * Array(u * u)) + b2 * least);
        }
        const Arrays scaled =
            each([&](const Array& u,
                     const Array& t) { return u * np::where(t > 0, lax::rsqrt(t + eps), np::zeros_like(t)); },
                 g, sums);
        s["mu"] = for_axes(sums, [](const Array& a, int axis) {
          std::vector<int> others;
          for (int k = 0; k < a.ndim(); ++k)
            if (k != axis) others.push_back(k);
          return others.empty() ? a : np::max(a, others);
        });
        return s["nu"] = tu::update_moment(scaled, s["nu"], b1, 1);
      });
}

}  // namespace cotan::optax
