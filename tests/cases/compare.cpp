#include "cases/compare.hpp"

#include <cmath>
#include <sstream>

namespace cases {

namespace {

testing::AssertionResult differ(const Array& actual, const Array& expected, std::size_t at, const std::string& what) {
  std::ostringstream out;
  out << what << " at element " << at << " of " << cotan::describe(expected.dtype(), expected.shape())
      << "\nactual:   " << actual << "\nexpected: " << expected;
  return testing::AssertionFailure() << out.str();
}

template <class T, class Equal>
testing::AssertionResult compare(const Array& actual, const Array& expected, Equal equal) {
  const std::vector<T> a = actual.to_vector<T>(), e = expected.to_vector<T>();
  for (std::size_t i = 0; i < e.size(); ++i)
    if (!equal(a[i], e[i])) {
      std::ostringstream what;
      what.precision(17);
      what << +a[i] << " instead of " << +e[i];
      return differ(actual, expected, i, what.str());
    }
  return testing::AssertionSuccess();
}

template <class Equal>
testing::AssertionResult compare_elements(const Array& actual, const Array& expected, Equal equal_floats) {
  const auto same = [](auto a, auto e) { return a == e; };
  if (is_floating(expected.dtype())) return compare<double>(actual, expected, equal_floats);
  if (expected.dtype() == DType::u64) return compare<std::uint64_t>(actual, expected, same);
  return compare<std::int64_t>(actual, expected, same);
}

testing::AssertionResult same_type(const Array& actual, const Array& expected, bool any_dtype) {
  const bool dtypes =
      any_dtype ? is_floating(actual.dtype()) == is_floating(expected.dtype()) : actual.dtype() == expected.dtype();
  if (dtypes && actual.shape() == expected.shape()) return testing::AssertionSuccess();
  return testing::AssertionFailure() << actual.aval().str() << " instead of " << expected.aval().str();
}

bool same_bits(double a, double e) {
  return (std::isnan(a) && std::isnan(e)) || (a == e && std::signbit(a) == std::signbit(e));
}

}  // namespace

testing::AssertionResult close(const Array& actual, const Array& expected, Tolerance tolerance, bool any_dtype) {
  if (auto result = same_type(actual, expected, any_dtype); !result) return result;
  return compare_elements(actual, expected, [&](double a, double e) {
    if (std::isnan(e)) return std::isnan(a);
    if (std::isinf(e)) return a == e;
    return std::abs(a - e) <= tolerance.absolute + tolerance.relative * std::abs(e);
  });
}

testing::AssertionResult identical(const Array& actual, const Array& expected) {
  if (auto result = same_type(actual, expected, false); !result) return result;
  return compare_elements(actual, expected, same_bits);
}

std::pair<double, double> inner_product(const Arrays& a, const Arrays& b) {
  double sum = 0, scale = 0;
  for (std::size_t k = 0; k < a.size(); ++k) {
    const std::vector<double> x = a[k].to_vector<double>(), y = b[k].to_vector<double>();
    for (std::size_t i = 0; i < x.size(); ++i) {
      sum += x[i] * y[i];
      scale += std::abs(x[i] * y[i]);
    }
  }
  return {sum, scale};
}

}  // namespace cases
