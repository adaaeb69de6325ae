// jet: derivatives along a curve, by forward mode in forward mode with respect to its parameter.
#include <cotan/experimental/jet.hpp>
#include <cotan/numpy.hpp>

#include "core/construct.hpp"
#include "ops/ops.hpp"
#include "transforms/traces.hpp"

namespace cotan::flat {

namespace {

double factorial(std::size_t k) {
  double out = 1;
  for (std::size_t i = 2; i <= k; ++i) out *= static_cast<double>(i);
  return out;
}

/// The curve at t: x + t x1 + t² x2 / 2! + …
Array on_curve(const Array& x, const std::vector<Arrays>& derivatives, std::size_t leaf, const Array& t) {
  if (!is_inexact(x.dtype())) return x;
  const Array s = ops::cast(t, x.dtype());
  Array sum;
  for (std::size_t k = derivatives.size(); k > 0; --k) {
    const Array& term = derivatives[k - 1][leaf];
    sum = (sum.defined() ? term + sum : term) * s / Array(static_cast<double>(k));
  }
  return sum.defined() ? x + sum : x;
}

/// [h(t), h'(t), …] up to an order.
Arrays derivatives_at(const FlatFn& h, const Array& t, std::size_t order) {
  if (order == 0) return h(std::span(&t, 1));
  const auto below = [&](std::span<const Array> in) { return derivatives_at(h, in[0], order - 1); };
  const Array one = ops::full({}, scalar(t.dtype(), 1));
  JvpResult r = jvp_flat(below, std::span(&t, 1), std::span(&one, 1), "jet");
  const std::size_t outputs = r.primals.size() / order;
  for (std::size_t i = r.primals.size() - outputs, end = r.primals.size(); i < end; ++i)
    r.primals.push_back(r.tangents[i].defined() ? r.tangents[i] : ops::zeros_of(r.primals[i].aval()));
  return r.primals;
}

}  // namespace

std::pair<Arrays, std::vector<Arrays>> jet(const FlatFn& f, std::span<const Array> primals,
                                           const std::vector<Arrays>& series, bool factorial_scaled,
                                           const Paths& paths) {
  check_defined(primals, "jet", paths);
  std::vector<Arrays> derivatives = series;
  bool wide = false;
  for (std::size_t k = 0; k < series.size(); ++k)
    for (std::size_t i = 0; i < primals.size(); ++i) {
      wide |= primals[i].dtype() == DType::f64 || primals[i].dtype() == DType::c128;
      if (!is_inexact(primals[i].dtype())) continue;
      check_tangent(series[k][i], primals[i].aval(), "jet", i, paths);
      const Array term = ops::cast(series[k][i], primals[i].dtype());
      derivatives[k][i] = factorial_scaled ? term : term * Array(factorial(k + 1));
    }
  const auto h = [&](std::span<const Array> in) {
    Arrays x;
    for (std::size_t i = 0; i < primals.size(); ++i) x.push_back(on_curve(primals[i], derivatives, i, in[0]));
    return with_names(f, paths)(x);
  };
  const Array start = scalar(wide ? DType::f64 : DType::f32, 0);
  const Arrays all = derivatives_at(h, start, series.size());
  const std::size_t outputs = all.size() / (series.size() + 1);
  std::pair<Arrays, std::vector<Arrays>> out;
  for (std::size_t k = 0; k <= series.size(); ++k) {
    Arrays& part = k == 0 ? out.first : out.second.emplace_back();
    for (std::size_t i = 0; i < outputs; ++i) {
      const Array& value = all[k * outputs + i];
      part.push_back(k == 0 || factorial_scaled || !is_inexact(value.dtype()) ? value : value / Array(factorial(k)));
    }
  }
  return out;
}

}  // namespace cotan::flat
