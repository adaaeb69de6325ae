#include "dlm/finding.hpp"

#include <algorithm>

namespace cotan::dlm {

namespace {

Numbers transposed(const Numbers& X, std::size_t rows, std::size_t columns) {
  Numbers out(X.size());
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < columns; ++j) out[j * rows + i] = X[i * columns + j];
  return out;
}
Array matrix(const Numbers& numbers, std::size_t width) {
  return Array::from_host(numbers,
                          {static_cast<std::int64_t>(numbers.size() / width), static_cast<std::int64_t>(width)});
}

}  // namespace

Finding::Finding(const StateSpace& s, const DiffuseSteps& found)
    : found_(found),
      m_(static_cast<std::size_t>(s.x0.shape(0))),
      steps_(static_cast<std::size_t>(found.steps)),
      G_(s.G.to_vector<double>()),
      Z_(s.F.to_vector<double>()) {}

Array Finding::covariance(double V, const Numbers& W) const { return matrix(covariance_of(V, W), m_); }

Array Finding::states(const Array& y) const {
  const auto series = static_cast<std::size_t>(y.shape(1));
  const Numbers values = y.to_vector<double>();
  Numbers x(m_ * series, 0.0);
  for (std::size_t t = 0; t < steps_; ++t) x = step(std::move(x), values.data() + t * series, gain(t), series);
  return matrix(transposed(x, m_, series), m_);
}

Array Finding::errors() const {
  Numbers x(m_ * steps_, 0.0);
  for (std::size_t t = 0; t < steps_; ++t) {
    Numbers error(steps_, 0.0);
    error[t] = -1;
    x = step(std::move(x), error.data(), gain(t), steps_);
  }
  return matrix(x, steps_);
}

std::int64_t Finding::settling(std::int64_t most) const {
  const double small = 1e4 / found_.loss;
  Numbers C = covariance_of(1, {});
  const auto largest = [&] {
    double out = 0;
    for (std::size_t i = 0; i < m_; ++i) out = std::max(out, C[i * (m_ + 1)]);
    return out;
  };
  std::int64_t t = 0;
  for (; t < most && !(largest() < small); ++t) C = step_of_covariance(std::move(C), nullptr, 1, {});
  return t;
}

Numbers Finding::moved_on(const Numbers& X, std::size_t columns) const {
  Numbers out(m_ * columns, 0.0);
  for (std::size_t i = 0; i < m_; ++i)
    for (std::size_t k = 0; k < m_; ++k)
      if (const double g = G_[i * m_ + k]; g != 0)
        for (std::size_t j = 0; j < columns; ++j) out[i * columns + j] += g * X[k * columns + j];
  return out;
}
Numbers Finding::seen(const Numbers& X, std::size_t columns) const {
  Numbers out(columns, 0.0);
  for (std::size_t i = 0; i < m_; ++i)
    if (Z_[i] != 0)
      for (std::size_t j = 0; j < columns; ++j) out[j] += Z_[i] * X[i * columns + j];
  return out;
}

Numbers Finding::step(Numbers X, const double* y, const double* gain, std::size_t columns) const {
  const Numbers predicted = seen(X, columns);
  for (std::size_t i = 0; i < m_; ++i)
    for (std::size_t j = 0; j < columns; ++j) X[i * columns + j] += gain[i] * (y[j] - predicted[j]);
  return moved_on(X, columns);
}

Numbers Finding::step_of_covariance(Numbers C, const double* gain, double V, const Numbers& W) const {
  const Numbers M = seen(C, m_);
  double S = V;
  for (std::size_t i = 0; i < m_; ++i) S += Z_[i] * M[i];
  for (std::size_t i = 0; i < m_; ++i)
    for (std::size_t j = 0; j < m_; ++j) {
      const double a = gain ? gain[i] : M[i] / S, b = gain ? gain[j] : M[j] / S;
      C[i * m_ + j] += S * a * b - a * M[j] - M[i] * b;
    }
  C = moved_on(transposed(moved_on(C, m_), m_, m_), m_);
  for (std::size_t i = 0; i < W.size(); ++i) C[i] += W[i];
  return C;
}

Numbers Finding::covariance_of(double V, const Numbers& W) const {
  Numbers C(m_ * m_, 0.0);
  for (std::size_t t = 0; t < steps_; ++t) C = step_of_covariance(std::move(C), gain(t), V, W);
  return C;
}

}  // namespace cotan::dlm
