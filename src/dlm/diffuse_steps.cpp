#include "dlm/diffuse_steps.hpp"

#include <algorithm>
#include <cmath>

namespace cotan::dlm {

namespace {

// Larger than the filter's bound in f32, so that a direction that is found here is also found there, and not later.
constexpr double clearly = 2e-5;

/// D, [m, d], row by row, and the largest that each row has been.
class Directions {
 public:
  explicit Directions(const Array& D0)
      : m_(static_cast<std::size_t>(D0.shape(0))),
        d_(static_cast<std::size_t>(D0.shape(1))),
        D_(D0.to_vector<double>()),
        size_(m_, 0.0) {
    measure();
  }

  /// What Z sees of D: |f|², and the most that f can be.
  struct Seen {
    double length = 0, most = 0;
    bool finds() const { return std::sqrt(length) > clearly * most; }
  };
  /// Takes the direction that Z sees out of D, if it is clearly there, and writes its gain.
  Seen look(const double* Z, double* gain) {
    std::vector<double> f(d_, 0.0);
    Seen seen;
    for (std::size_t j = 0; j < m_; ++j) {
      if (Z[j] == 0) continue;
      for (std::size_t k = 0; k < d_; ++k) f[k] += D_[j * d_ + k] * Z[j];
      seen.most += std::abs(Z[j]) * size_[j];
    }
    for (const double v : f) seen.length += v * v;
    if (!seen.finds()) return seen;
    for (std::size_t j = 0; j < m_; ++j) {
      double along = 0;
      for (std::size_t k = 0; k < d_; ++k) along += D_[j * d_ + k] * f[k] / seen.length;
      for (std::size_t k = 0; k < d_; ++k) D_[j * d_ + k] -= along * f[k];
      gain[j] = along;
    }
    return seen;
  }
  void move_on(const double* G) {
    std::vector<double> moved(D_.size(), 0.0);
    for (std::size_t i = 0; i < m_; ++i)
      for (std::size_t j = 0; j < m_; ++j)
        if (const double e = G[i * m_ + j]; e != 0)
          for (std::size_t k = 0; k < d_; ++k) moved[i * d_ + k] += e * D_[j * d_ + k];
    D_.swap(moved);
    measure();
  }

 private:
  void measure() {
    for (std::size_t i = 0; i < m_; ++i) {
      double sum = 0;
      for (std::size_t k = 0; k < d_; ++k) sum += D_[i * d_ + k] * D_[i * d_ + k];
      size_[i] = std::max(size_[i], std::sqrt(sum));
    }
  }

  std::size_t m_, d_;
  std::vector<double> D_, size_;
};

}  // namespace

DiffuseSteps find_diffuse(const StateSpace& model, const Array& y) {
  const auto n = static_cast<std::size_t>(y.shape(0)), m = static_cast<std::size_t>(model.x0.shape(0));
  const auto p = static_cast<std::size_t>(model.F.shape(-2));
  const std::vector<double> G = model.G.to_vector<double>(), F = model.F.to_vector<double>(),
                            seen = y.to_vector<double>();
  Directions D(*model.D0);
  std::int64_t left = model.D0->shape(1);
  std::vector<double> gain(m);
  DiffuseSteps out{0, left == 0, {}, 0, 1};
  for (std::size_t t = 0; t < n && !out.found; ++t) {
    std::fill(gain.begin(), gain.end(), 0.0);
    for (std::size_t i = 0; i < p && !out.found; ++i) {
      if (std::isnan(seen[t * p + i])) continue;
      const Directions::Seen direction = D.look(F.data() + ((model.F.ndim() == 3 ? t * p : 0) + i) * m, gain.data());
      if (!direction.finds()) continue;
      out.log_infinite += std::log(direction.length);
      out.loss = std::max(out.loss, direction.most / std::sqrt(direction.length));
      out.found = --left == 0;
    }
    out.gains.insert(out.gains.end(), gain.begin(), gain.end());
    ++out.steps;
    if (!out.found) D.move_on(G.data() + (model.G.ndim() == 3 ? t * m * m : 0));
  }
  return out;
}

}  // namespace cotan::dlm
