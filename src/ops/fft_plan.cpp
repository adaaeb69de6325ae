#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <map>
#include <numbers>

#include "core/error.hpp"
#include "ops/fft.hpp"

namespace cotan::ops {

namespace {

/// Straight-line code up to here: more values than registers hold would be no faster.
constexpr std::int64_t largest_butterfly = 16;
/// Products with matrices up to here; beyond, a convolution takes less (cotan::fft does that).
constexpr std::int64_t largest_matrix = 127;
/// Tables of more elements are made of two shorter ones.
constexpr std::int64_t longest_table = 4096;

std::int64_t smallest_factor(std::int64_t n) {
  for (std::int64_t p = 2; p * p <= n; ++p)
    if (n % p == 0) return p;
  return n;
}

using Radices = std::vector<std::int64_t>;

/// As few butterflies as can be, and of those choices the one with the smallest.
Radices butterflies(std::int64_t n, std::map<std::int64_t, Radices>& known) {
  if (n == 1) return {};
  if (const auto at = known.find(n); at != known.end()) return at->second;
  const auto sum = [](const Radices& r) {
    std::int64_t total = 0;
    for (auto radix : r) total += radix;
    return total;
  };
  Radices best;
  for (std::int64_t radix = 2; radix <= largest_butterfly; ++radix) {
    if (n % radix != 0) continue;
    Radices rest = butterflies(n / radix, known);
    rest.push_back(radix);
    if (best.empty() || rest.size() < best.size() || (rest.size() == best.size() && sum(rest) < sum(best)))
      best = std::move(rest);
  }
  return known[n] = best;
}

Radices radices_of(std::int64_t n) {
  Radices out;
  std::int64_t small = 1;
  while (n > 1) {
    const std::int64_t p = smallest_factor(n);
    (p > largest_butterfly ? out.emplace_back(p), 0 : small *= p);
    n /= p;
  }
  std::map<std::int64_t, Radices> known;
  const Radices rest = butterflies(small, known);
  out.insert(out.end(), rest.begin(), rest.end());
  // Later stages read elements that are farther apart: they take fewer at a time.
  std::sort(out.rbegin(), out.rend());
  return out;
}

std::int64_t divisor_near_root(std::int64_t n) {
  auto d = static_cast<std::int64_t>(std::sqrt(static_cast<double>(n)));
  while (n % d != 0) --d;
  return d;
}

}  // namespace

std::complex<double> root_of_unity(std::int64_t k, std::int64_t n) {
  k = (k % n + n) % n;
  // Into the first eighth of the circle: there sine and cosine have no large error.
  bool conjugate = false, swap = false, negate = false;
  if (2 * k > n) k = n - k, conjugate = true;
  if (4 * k > n) k = n - 2 * k, negate = true, n *= 2;  // pi - angle
  if (8 * k > n) k = n - 4 * k, swap = true, n *= 4;    // pi / 2 - angle
  const double angle = 2 * std::numbers::pi * (static_cast<double>(k) / static_cast<double>(n));
  double c = std::cos(angle), s = std::sin(angle);
  if (swap) std::swap(c, s);
  if (negate) c = -c;
  return {c, conjugate ? s : -s};
}

bool FftStage::is_dense() const { return radix > largest_butterfly; }

bool has_fft_plan(std::int64_t n) {
  while (n > 1) {
    const std::int64_t p = smallest_factor(n);
    if (p > largest_matrix) return false;
    n /= p;
  }
  return true;
}

FftPlan fft_plan(std::int64_t n) {
  FftPlan plan;
  const auto allocate = [&](std::int64_t size) {
    plan.table_size += 2 * size;
    return plan.table_size - 2 * size;
  };
  std::int64_t done = 1;
  for (std::int64_t radix : radices_of(n)) {
    FftStage stage{radix, done, n / (done * radix)};
    if (stage.has_twiddles()) {
      if (radix * done > longest_table) stage.split = divisor_near_root(done);
      stage.coarse = allocate(stage.coarse_size());
      if (stage.split > 1) stage.fine = allocate(stage.fine_size());
    }
    if (stage.is_dense()) stage.matrix = allocate(radix * radix);
    plan.stages.push_back(stage);
    done *= radix;
  }
  return plan;
}

std::vector<double> fft_tables(const FftPlan& plan) {
  std::vector<double> out(static_cast<std::size_t>(plan.table_size));
  /// w^(j k step), w of order n, at [j, k].
  const auto fill = [&](std::int64_t first, std::int64_t rows, std::int64_t columns, std::int64_t step,
                        std::int64_t n) {
    for (std::int64_t j = 0; j < rows; ++j)
      for (std::int64_t k = 0; k < columns; ++k) {
        const std::complex<double> w = root_of_unity(j * k % n * step, n);
        out[static_cast<std::size_t>(first + j * columns + k)] = w.real();
        out[static_cast<std::size_t>(first + (rows + j) * columns + k)] = w.imag();
      }
  };
  for (const FftStage& s : plan.stages) {
    const std::int64_t length = s.radix * s.done;
    if (s.has_twiddles()) fill(s.coarse, s.radix, s.done / s.split, s.split, length);
    if (s.has_twiddles() && s.split > 1) fill(s.fine, s.radix, s.split, 1, length);
    if (s.is_dense()) fill(s.matrix, s.radix, s.radix, 1, s.radix);
  }
  return out;
}

namespace {

using C = std::complex<double>;

/// in: n elements, `stride` apart; roots[k * (size / n)] is the k-th root of order n.
void transform(const C* in, std::int64_t stride, C* out, std::int64_t n, const std::vector<C>& roots) {
  const std::int64_t p = smallest_factor(n), m = n / p;
  if (n == 1) {
    out[0] = in[0];
    return;
  }
  for (std::int64_t j = 0; j < p; ++j) transform(in + j * stride, stride * p, out + j * m, m, roots);
  const auto size = static_cast<std::int64_t>(roots.size());
  std::vector<C> x(static_cast<std::size_t>(p));
  for (std::int64_t k = 0; k < m; ++k) {
    for (std::int64_t j = 0; j < p; ++j)
      x[static_cast<std::size_t>(j)] = out[j * m + k] * roots[static_cast<std::size_t>(j * k * (size / n))];
    for (std::int64_t i = 0; i < p; ++i) {
      C sum = x[0];
      for (std::int64_t j = 1; j < p; ++j)
        sum += x[static_cast<std::size_t>(j)] * roots[static_cast<std::size_t>(i * j % p * (size / p))];
      out[i * m + k] = sum;
    }
  }
}

}  // namespace

std::vector<C> roots_of_unity(std::int64_t n) {
  std::vector<C> out;
  for (std::int64_t k = 0; k < n; ++k) out.push_back(root_of_unity(k, n));
  return out;
}

std::vector<C> fft_on_host(std::span<const C> x, const std::vector<C>& roots) {
  std::vector<C> out(x.size());
  transform(x.data(), 1, out.data(), static_cast<std::int64_t>(x.size()), roots);
  return out;
}

}  // namespace cotan::ops
