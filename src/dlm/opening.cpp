// The part of the Chandrasekhar recursions that no parameter changes, on the host: which steps find the first state, for how
// long covariances are too large to be told apart from each other, and series that stand for gaps.
#include <algorithm>
#include <cmath>

#include "dlm/chandrasekhar.hpp"
#include "dlm/diffuse_steps.hpp"

namespace cotan::dlm {

namespace {

using Numbers = std::vector<double>;

/// Gaps become values between their neighbours, so that little has to be taken out of the likelihood again.
Numbers filled(const Numbers& y) {
  const std::size_t n = y.size();
  Numbers out = y;
  for (std::size_t t = 0, before = n; t < n; ++t) {
    if (!std::isnan(y[t])) {
      before = t;
      continue;
    }
    const auto after = static_cast<std::size_t>(std::find_if(y.begin() + static_cast<std::ptrdiff_t>(t), y.end(), [](double v) { return !std::isnan(v); }) - y.begin());
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
    if (std::isnan(y[t])) gaps.push_back(t);
  const std::size_t width = 1 + gaps.size();
  Numbers out(y.size() * width, 0.0);
  for (std::size_t t = 0; t < y.size(); ++t) out[t * width] = whole[t];
  for (std::size_t k = 0; k < gaps.size(); ++k) out[gaps[k] * width + k + 1] = 1;
  return Array::from_host(out, {static_cast<std::int64_t>(y.size()), static_cast<std::int64_t>(width)});
}

/// Variances of states in those of an observation's error, without any other noise: G as it is, one series.
class ErrorVariances {
 public:
  explicit ErrorVariances(const StateSpace& s) : m_(static_cast<std::size_t>(s.x0.shape(0))), G_(s.G.to_vector<double>()), Z_(s.F.to_vector<double>()), C_(m_ * m_, 0.0) {}
  /// A step with this gain, or with the best one.
  void step(const double* gain) {
    Numbers M(m_, 0.0);
    double S = 1;
    for (std::size_t i = 0; i < m_; ++i)
      for (std::size_t j = 0; j < m_; ++j) M[i] += C_[i * m_ + j] * Z_[j];
    for (std::size_t i = 0; i < m_; ++i) S += Z_[i] * M[i];
    for (std::size_t i = 0; i < m_; ++i)
      for (std::size_t j = 0; j < m_; ++j) {
        const double a = gain ? gain[i] : M[i] / S, b = gain ? gain[j] : M[j] / S;
        C_[i * m_ + j] += S * a * b - a * M[j] - M[i] * b;
      }
    for (int side = 0; side < 2; ++side) C_ = transposed_product();
  }
  double largest() const {
    double out = 0;
    for (std::size_t i = 0; i < m_; ++i) out = std::max(out, C_[i * m_ + i]);
    return out;
  }

 private:
  /// (G C)ᵀ, twice of which is G C Gᵀ.
  Numbers transposed_product() const {
    Numbers out(m_ * m_, 0.0);
    for (std::size_t i = 0; i < m_; ++i)
      for (std::size_t k = 0; k < m_; ++k)
        if (const double g = G_[i * m_ + k]; g != 0)
          for (std::size_t j = 0; j < m_; ++j) out[j * m_ + i] += g * C_[k * m_ + j];
    return out;
  }
  std::size_t m_;
  Numbers G_, Z_, C_;
};

/// Steps until covariances have come down to what they stay near to: the recursions subtract from them, and never lose what
/// rounding made of the first one. Where few steps see much less than a period, that takes some.
std::int64_t steps_with_matrices(const StateSpace& s, const DiffuseSteps& found, std::int64_t n) {
  const double small = 1e4 / found.loss;
  ErrorVariances variances(s);
  const auto m = static_cast<std::size_t>(s.x0.shape(0));
  std::int64_t t = 0;
  for (; t < found.steps; ++t) variances.step(found.gains.data() + static_cast<std::size_t>(t) * m);
  for (; t < n && !(variances.largest() < small); ++t) variances.step(nullptr);
  return t;
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
  const auto gaps = std::count_if(series.begin(), series.end(), [](double v) { return std::isnan(v); });
  // With each gap a step moves one more vector.
  if (4 * gaps > m + 12 || (s.D0 && s.diffuse_steps >= n)) return {};
  DiffuseSteps found{0, true, {}, 0, 1};
  std::int64_t first = 0;
  if (s.D0) {
    found = find_diffuse(s, Array::from_host(whole));
    // Each of the first steps finds a direction, or some cannot be told apart.
    if (!found.found || found.steps != s.D0->shape(1)) return {};
    first = steps_with_matrices(s, found, n / 2);
  }
  if (first > n / 2) return {};
  found.gains.resize(static_cast<std::size_t>(first * m), 0.0);
  Numbers finds(static_cast<std::size_t>(first), 0.0);
  std::fill_n(finds.begin(), found.steps, 1.0);
  return Opening{with_gap_series(series, whole), Array::from_host(found.gains, {first, m}),
                 Array::from_host(finds, {first}) > 0, Array::from_host(Numbers{found.log_infinite}, {})};
}

}  // namespace cotan::dlm
