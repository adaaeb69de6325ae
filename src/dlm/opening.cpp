// The part of the Chandrasekhar recursions that no parameter changes, on the host: where the steps that find the first
// state lead, and series that stand for gaps.
#include <algorithm>
#include <cmath>

#include "dlm/chandrasekhar.hpp"
#include "dlm/finding.hpp"

namespace cotan::dlm {

namespace {

bool is_missing(double v) { return std::isnan(v); }

/// Gaps are filled by values between their neighbours, so that little has to be corrected in the likelihood.
Numbers filled(const Numbers& y) {
  const std::size_t n = y.size();
  Numbers out = y;
  for (std::size_t t = 0, before = n; t < n; ++t) {
    if (!is_missing(y[t])) {
      before = t;
      continue;
    }
    const auto next = std::find_if_not(y.begin() + static_cast<std::ptrdiff_t>(t), y.end(), is_missing);
    const auto after = static_cast<std::size_t>(next - y.begin());
    if (before == n || after == n) {
      out[t] = before == n ? y[after] : y[before];
    } else {
      const double share = static_cast<double>(t - before) / static_cast<double>(after - before);
      out[t] = y[before] + share * (y[after] - y[before]);
    }
  }
  return out;
}

/// The filled series, and one for each gap.
Array with_gap_series(const Numbers& y, const Numbers& whole) {
  std::vector<std::size_t> gaps;
  for (std::size_t t = 0; t < y.size(); ++t)
    if (is_missing(y[t])) gaps.push_back(t);
  const std::size_t width = 1 + gaps.size();
  Numbers out(y.size() * width, 0.0);
  for (std::size_t t = 0; t < y.size(); ++t) out[t * width] = whole[t];
  for (std::size_t k = 0; k < gaps.size(); ++k) out[gaps[k] * width + k + 1] = 1;
  return Array::from_host(out, {static_cast<std::int64_t>(y.size()), static_cast<std::int64_t>(width)});
}

/// W of each standard deviation by itself, as far as it is of states that were diffuse.
std::vector<Array> kinds_of_noise(const Model& model, const Parameters& parameters, const StateSpace& s,
                                  const Array& y) {
  const Array diffuse = numpy::any(*s.D0 != 0, -1);
  Parameters nothing;
  for (const ParameterInfo& p : parameters_of(model))
    if (p.kind == ParameterInfo::Kind::autoregression) nothing[p.name] = parameters.at(p.name);
  std::vector<Array> out;
  for (const ParameterInfo& p : parameters_of(model)) {
    if (p.kind == ParameterInfo::Kind::autoregression) continue;
    Parameters one = nothing;
    one[p.name] = numpy::ones({}, f64);
    const Array W = numpy::where(diffuse, state_space(model, one, y(range(0, 1))).W, 0.0);
    if (numpy::any(W != 0).item<bool>()) out.push_back(W);
  }
  return out;
}

bool is_the_same_at_every_step(const StateSpace& s) {
  return s.G.ndim() == 2 && s.F.ndim() == 2 && s.W.ndim() == 2 && s.V.ndim() == 2;
}

}  // namespace

std::optional<Opening> opening_of(const Model& model, const Parameters& parameters, const Array& y) {
  if (model.first != FirstState::diffuse || model.x0.defined() || model.C0.defined() || !is_concrete(y)) return {};
  const StateSpace s = state_space(model, parameters, y);
  if (!is_the_same_at_every_step(s) || !is_concrete(s.G)) return {};
  const Numbers series = y.to_vector<double>(), whole = filled(series);
  const auto n = y.shape(0), m = s.x0.shape(0);
  const auto gaps = std::count_if(series.begin(), series.end(), is_missing);
  // With each gap a step moves one more vector.
  if (4 * gaps > m + 12 || (s.D0 && s.diffuse_steps >= n)) return {};
  const Array all_series = with_gap_series(series, whole);
  if (!s.D0) {
    const Array x0 = outer((numpy::arange(gaps + 1) == 0).astype(f64), s.x0);
    return Opening{all_series, x0, numpy::zeros({}, f64), {}, {}, {}, 0, numpy::zeros({}, f64)};
  }
  const DiffuseSteps found = find_diffuse(s, Array::from_host(whole));
  // Each of the first steps finds a direction, or some cannot be told apart.
  if (!found.found || found.steps != s.D0->shape(1) || found.steps > n / 2) return {};
  const Finding finding(s, found);
  const std::int64_t settling = finding.settling(n / 2);
  if (found.steps + settling > n / 2) return {};
  Opening out{all_series(range(found.steps, none)),
              finding.states(all_series),
              finding.covariance(1, {}),
              {},
              {},
              {},
              settling,
              numpy::full({}, found.log_infinite, f64)};
  if (const std::vector<Array> noise = kinds_of_noise(model, parameters, s, y); !noise.empty()) {
    std::vector<Array> spread;
    for (const Array& W : noise) spread.push_back(finding.covariance(0, W.to_vector<double>()));
    out.noise = numpy::stack(noise);
    out.spread = numpy::stack(spread);
  }
  if (s.D0->shape(1) < m) out.errors = finding.errors();
  return out;
}

}  // namespace cotan::dlm
