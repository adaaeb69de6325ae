#include "control/support.hpp"

#include <cmath>
#include <cstdlib>

namespace control {

Array formula(const Shape& shape, int k, int lane, ct::DType dtype) {
  std::int64_t n = 1;
  for (std::int64_t d : shape) n *= d;
  std::vector<double> values;
  for (std::int64_t i = 0; i < n; ++i)
    values.push_back((static_cast<double>((37 * i + 59 * k + 23 * lane + 11) % 101) - 50.5) / 40);
  // Not by way of f64, which some devices have not.
  if (dtype == ct::f32) return Array::from_host(std::vector<float>(values.begin(), values.end()), shape);
  return Array::from_host(values, shape).astype(dtype);
}
Array formula_lanes(const Shape& shape, int k, int axis) {
  return np::stack({formula(shape, k, 0), formula(shape, k, 1), formula(shape, k, 2)}, axis);
}

Array positive(const Array& a) {
  const std::int64_t n = a.shape(-1);
  return np::matmul(a, np::matrix_transpose(a)) + 2 * np::eye(n, n, 0, a.dtype());
}

testing::AssertionResult close(const Array& got, const Array& want, double tolerance) {
  if (!got.defined()) return testing::AssertionFailure() << "an empty Array instead of " << want;
  if (got.shape() != want.shape() || got.dtype() != want.dtype())
    return testing::AssertionFailure() << got.aval().str() << " instead of " << want.aval().str();
  const std::vector<double> g = got.to_vector<double>(), w = want.to_vector<double>();
  double scale = 1;
  for (double v : w)
    if (std::isfinite(v)) scale = std::max(scale, std::abs(v));
  if (!ct::is_floating(want.dtype())) scale = 0;
  for (std::size_t i = 0; i < g.size(); ++i) {
    const bool same =
        g[i] == w[i] || (std::isnan(g[i]) && std::isnan(w[i])) || std::abs(g[i] - w[i]) <= tolerance * scale;
    if (!same)
      return testing::AssertionFailure() << "element " << i << " is " << testing::PrintToString(g[i]) << " instead of "
                                         << testing::PrintToString(w[i]) << "; got\n"
                                         << got << "\ninstead of\n"
                                         << want;
  }
  return testing::AssertionSuccess();
}
testing::AssertionResult close(const Arrays& got, const Arrays& want, double tolerance) {
  if (got.size() != want.size())
    return testing::AssertionFailure() << got.size() << " arrays instead of " << want.size();
  for (std::size_t i = 0; i < got.size(); ++i)
    if (testing::AssertionResult same = close(got[i], want[i], tolerance); !same)
      return testing::AssertionFailure() << "array " << i << ": " << same.message();
  return testing::AssertionSuccess();
}

}  // namespace control
