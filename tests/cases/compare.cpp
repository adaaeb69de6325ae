#include "cases/compare.hpp"

#include <cmath>
#include <complex>
#include <functional>
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

/// Complex elements as neighbouring parts.
testing::AssertionResult compare_complex(const Array& actual, const Array& expected,
                                         const std::function<bool(double a, double e, double size)>& equal) {
  const std::vector<double> a = as_doubles(actual), e = as_doubles(expected);
  for (std::size_t i = 0; i < e.size(); ++i) {
    const double size = std::hypot(e[i / 2 * 2], e[i / 2 * 2 + 1]);
    if (!equal(a[i], e[i], size)) {
      std::ostringstream what;
      what.precision(17);
      what << (i % 2 ? "imaginary part " : "real part ") << a[i] << " instead of " << e[i];
      return differ(actual, expected, i / 2, what.str());
    }
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
      any_dtype ? is_inexact(actual.dtype()) == is_inexact(expected.dtype()) : actual.dtype() == expected.dtype();
  if (dtypes && actual.shape() == expected.shape()) return testing::AssertionSuccess();
  return testing::AssertionFailure() << actual.aval().str() << " instead of " << expected.aval().str();
}

bool same_bits(double a, double e) {
  return (std::isnan(a) && std::isnan(e)) || (a == e && std::signbit(a) == std::signbit(e));
}

}  // namespace

std::vector<double> as_doubles(const Array& a) {
  if (!is_complex(a.dtype())) return a.to_vector<double>();
  std::vector<double> out;
  for (const std::complex<double>& z : a.to_vector<std::complex<double>>()) {
    out.push_back(z.real());
    out.push_back(z.imag());
  }
  return out;
}

testing::AssertionResult close(const Array& actual, const Array& expected, Tolerance tolerance, bool any_dtype) {
  if (auto result = same_type(actual, expected, any_dtype); !result) return result;
  const auto near = [&](double a, double e, double size) {
    if (std::isnan(e)) return std::isnan(a);
    if (std::isinf(e)) return a == e;
    return std::abs(a - e) <= tolerance.absolute + tolerance.relative * (std::isfinite(size) ? size : std::abs(e));
  };
  if (is_complex(expected.dtype())) return compare_complex(actual, expected, near);
  return compare_elements(actual, expected, [&](double a, double e) { return near(a, e, std::abs(e)); });
}

testing::AssertionResult identical(const Array& actual, const Array& expected) {
  if (auto result = same_type(actual, expected, false); !result) return result;
  if (is_complex(expected.dtype()))
    return compare_complex(actual, expected, [](double a, double e, double) { return same_bits(a, e); });
  return compare_elements(actual, expected, same_bits);
}

std::pair<double, double> inner_product(const Arrays& a, const Arrays& b) {
  double sum = 0, scale = 0;
  for (std::size_t k = 0; k < a.size(); ++k) {
    const std::vector<double> x = as_doubles(a[k]), y = as_doubles(b[k]);
    for (std::size_t i = 0; i < x.size(); ++i) {
      sum += is_complex(a[k].dtype()) && i % 2 ? -x[i] * y[i] : x[i] * y[i];
      scale += std::abs(x[i] * y[i]);
    }
  }
  return {sum, scale};
}

}  // namespace cases
