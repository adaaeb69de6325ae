// Matrices that a number describes. Integers are computed exactly, on the host.
#include <cmath>
#include <cotan/lax.hpp>
#include <cotan/numpy.hpp>
#include <cotan/scipy/linalg_matrices.hpp>
#include <functional>

#include "core/error.hpp"
#include "linalg/operands.hpp"
#include "ops/ops.hpp"

namespace cotan::scipy::linalg {

namespace np = cotan::numpy;

namespace {

void check_size(std::string_view op, std::int64_t n, std::int64_t least = 0) {
  if (n < least) raise<ValueError>("[{}] cannot make a matrix of size {}; give {} or more.", op, n, least);
}
/// As [m, 1] or [1, m].
Array row_numbers(std::int64_t m, DType dtype = i32) { return np::expand_dims(np::arange(m, dtype), -1); }
Array column_numbers(std::int64_t n, DType dtype = i32) { return np::expand_dims(np::arange(n, dtype), 0); }
/// What halves are computed in; other floats are themselves, and f32 stands for integers.
DType computed_in(DType dtype) { return dtype == f64 || dtype == f32 ? dtype : f32; }

Array from_elements(std::int64_t m, std::int64_t n, DType dtype,
                    const std::function<double(std::int64_t, std::int64_t)>& element) {
  std::vector<double> values;
  values.reserve(static_cast<std::size_t>(m * n));
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < n; ++j) values.push_back(element(i, j));
  return cotan::linalg::from_numbers(values, {m, n}, dtype);
}

/// Rows of Pascal's triangle, with signs that alternate where asked for.
std::vector<double> triangle(std::int64_t n, bool alternating) {
  std::vector<double> out(static_cast<std::size_t>(n * n), 0);
  const auto at = [&](std::int64_t i, std::int64_t j) -> double& { return out[static_cast<std::size_t>(i * n + j)]; };
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j <= i; ++j) {
      const double above = i > 0 ? at(i - 1, j) : 0, beside = i > 0 && j > 0 ? at(i - 1, j - 1) : 0;
      at(i, j) = i == 0 ? 1 : alternating ? beside - above : above + beside;
    }
  return out;
}

Array of_triangle(std::string_view op, std::int64_t n, std::string_view kind, DType dtype, bool inverse) {
  check_size(op, n);
  if (kind != "symmetric" && kind != "lower" && kind != "upper")
    raise<ValueError>("[{}] there is no kind '{}'; use \"symmetric\", \"lower\" or \"upper\".", op, kind);
  const std::vector<double> lower = triangle(n, inverse);
  const auto at = [&](std::int64_t i, std::int64_t j) { return lower[static_cast<std::size_t>(i * n + j)]; };
  return from_elements(n, n, dtype, [&](std::int64_t i, std::int64_t j) {
    if (kind == "lower") return at(i, j);
    if (kind == "upper") return at(j, i);
    double sum = 0;  // L Lᵀ, and of the inverse L⁻ᵀ L⁻¹
    for (std::int64_t k = 0; k < n; ++k) sum += inverse ? at(k, i) * at(k, j) : at(i, k) * at(j, k);
    return sum;
  });
}

}  // namespace

Array hilbert(std::int64_t n, DType dtype, const std::source_location& where) {
  const cotan::detail::CallSite site(where);
  check_size("hilbert", n);
  const DType wide = computed_in(dtype);
  return (1 / (row_numbers(n, wide) + column_numbers(n, wide) + 1)).astype(dtype);
}

Array invhilbert(std::int64_t n, DType dtype, const std::source_location& where) {
  const cotan::detail::CallSite site(where);
  check_size("invhilbert", n);
  // Each element follows from the one before it, by factors that leave integers.
  std::vector<double> out(static_cast<std::size_t>(n * n));
  long double p = static_cast<long double>(n);
  for (std::int64_t i = 0; i < n; ++i) {
    if (i > 0) p = p * static_cast<long double>((n - i) * (n + i)) / static_cast<long double>(i * i);
    long double r = p * p;
    for (std::int64_t j = i; j < n; ++j) {
      if (j > i) r = -r * static_cast<long double>((n - j) * (n + j)) / static_cast<long double>(j * j);
      const auto element = static_cast<double>(r / static_cast<long double>(i + j + 1));
      out[static_cast<std::size_t>(i * n + j)] = out[static_cast<std::size_t>(j * n + i)] = element;
    }
  }
  return cotan::linalg::from_numbers(out, {n, n}, dtype);
}

Array pascal(std::int64_t n, std::string_view kind, DType dtype, const std::source_location& where) {
  const cotan::detail::CallSite site(where);
  return of_triangle("pascal", n, kind, dtype, false);
}
Array invpascal(std::int64_t n, std::string_view kind, DType dtype, const std::source_location& where) {
  const cotan::detail::CallSite site(where);
  return of_triangle("invpascal", n, kind, dtype, true);
}

Array helmert(std::int64_t n, bool full, DType dtype, const std::source_location& where) {
  const cotan::detail::CallSite site(where);
  check_size("helmert", n, 1);
  const std::int64_t skipped = full ? 0 : 1;
  return from_elements(n - skipped, n, dtype, [&](std::int64_t row, std::int64_t j) {
    const std::int64_t k = row + skipped;
    if (k == 0) return 1 / std::sqrt(static_cast<double>(n));
    const double size = std::sqrt(static_cast<double>(k) * static_cast<double>(k + 1));
    return j < k ? 1 / size : j == k ? -static_cast<double>(k) / size : 0.0;
  });
}

Array hadamard(std::int64_t n, DType dtype, const std::source_location& where) {
  const cotan::detail::CallSite site(where);
  if (n < 1 || (n & (n - 1)) != 0) raise<ValueError>("[hadamard] the size {} is no power of 2; give one that is.", n);
  if (dtype == bool_ || is_unsigned_integer(dtype))
    raise<TypeError>("[hadamard] {} cannot hold -1; give a dtype of floats or signed integers.", dtype);
  const Array bits = lax::population_count(row_numbers(n) & column_numbers(n));
  return (1 - 2 * (bits & 1)).astype(dtype);
}

Array dft(std::int64_t n, const std::optional<std::string_view>& scale, DType dtype,
          const std::source_location& where) {
  const cotan::detail::CallSite site(where);
  check_size("dft", n);
  if (scale && *scale != "sqrtn" && *scale != "n")
    raise<ValueError>("[dft] there is no scale '{}'; use none, \"sqrtn\" or \"n\".", *scale);
  if (!is_complex(dtype)) raise<TypeError>("[dft] {} cannot hold roots of unity; give c64 or c128.", dtype);
  const auto size = static_cast<double>(n);
  const double factor = !scale ? 1 : *scale == "n" ? 1 / size : 1 / std::sqrt(size);
  // Angles of whole turns are taken off before they are rounded.
  const auto angle = [&](std::int64_t j, std::int64_t k) {
    return -2 * np::pi * static_cast<double>(j * k % n) / size;
  };
  const auto part = [&](double (*f)(double)) {
    return from_elements(n, n, real_dtype(dtype),
                         [&](std::int64_t j, std::int64_t k) { return factor * f(angle(j, k)); });
  };
  return ops::complex(part([](double t) { return std::cos(t); }), part([](double t) { return std::sin(t); }));
}

}  // namespace cotan::scipy::linalg
