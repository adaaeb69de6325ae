// What blocks give to G, F and W, at even steps and at uneven ones.
#include <algorithm>
#include <cmath>

#include "dlm/blocks.hpp"
#include "dlm/errors.hpp"
#include "dlm/transition.hpp"

namespace cotan::dlm {

namespace np = numpy;

namespace {

constexpr auto dtype = f64;  // models are built in double precision

Array scalar(const std::string& name, const Array& a) {
  if (a.size() != 1) raise<ShapeError>("[dlm] '{}' is {}; a standard deviation is one number.", name, a.aval().str());
  return np::reshape(a, {}).astype(dtype);
}
Array host_matrix(int rows, int columns, const std::vector<double>& values) {
  return Array::from_host(values, {rows, columns});
}
Array unit_row(int m, int at = 0) {
  std::vector<double> f(static_cast<std::size_t>(m), 0.0);
  f[static_cast<std::size_t>(at)] = 1;
  return Array::from_host(f);
}
Array diagonal(const std::vector<Array>& entries) { return np::diag(np::stack(entries)); }

}  // namespace

Array Lookup::variance(const std::string& name) const {
  const auto at = parameters_.find(name);
  if (name.empty() || at == parameters_.end()) return np::zeros({}, dtype);
  return np::square(scalar(name, at->second));
}
Array Lookup::coefficients(const std::string& name, int order) const {
  const auto at = parameters_.find(name);
  if (at == parameters_.end())
    raise<ValueError>("[dlm] the coefficients '{}' of the autoregression are not given; put them into the parameters.",
                      name);
  const Array a = at->second.ndim() == 0 ? np::reshape(at->second, {1}) : at->second;
  if (a.ndim() != 1 || a.shape()[0] != order)
    raise<ShapeError>("[dlm] '{}' is {}; an autoregression of order {} has [{}] coefficients.", name,
                      at->second.aval().str(), order, order);
  return a.astype(dtype);
}

BlockMatrices matrices_of(const Block& block, const Lookup& p, std::int64_t n) {
  return std::visit(
      Overloaded{
          [&](const Trend& b) {
            const int m = b.order + 1;
            std::vector<Array> variances;
            for (int k = 0; k < m; ++k) variances.push_back(p.variance(b.sd[static_cast<std::size_t>(k)]));
            return BlockMatrices{np::eye(m, {}, 0, dtype) + np::eye(m, m, 1, dtype), unit_row(m), diagonal(variances),
                                 Band::diagonal | Band::above};
          },
          [&](const Seasonal& b) {
            const int m = b.period - 1;
            std::vector<double> G(static_cast<std::size_t>(m * m), 0.0);
            for (int k = 0; k < m; ++k) G[static_cast<std::size_t>(k)] = -1;
            for (int k = 1; k < m; ++k) G[static_cast<std::size_t>(k * m + k - 1)] = 1;
            return BlockMatrices{host_matrix(m, m, G), unit_row(m), p.variance(b.sd) * outer(unit_row(m), unit_row(m)),
                                 Band::below | Band::first_row};
          },
          [&](const Harmonics& b) {
            const int m = states_of(block);
            std::vector<double> G(static_cast<std::size_t>(m * m), 0.0), F(static_cast<std::size_t>(m), 0.0);
            std::vector<Array> variances;
            for (int k = 0; k < m; ++k) variances.push_back(p.variance(sd_of(b, k)));
            for (int h = 1; h <= b.count; ++h) {
              const double angle = 2 * M_PI * h / b.period;
              const auto at = static_cast<std::size_t>(2 * (h - 1)), width = static_cast<std::size_t>(m);
              F[at] = 1;
              G[at * width + at] = std::cos(angle);
              if (at + 1 == width) break;  // the last of all harmonics of an even period only changes its sign
              G[at * width + at + 1] = std::sin(angle);
              G[(at + 1) * width + at] = -std::sin(angle);
              G[(at + 1) * width + at + 1] = std::cos(angle);
            }
            return BlockMatrices{host_matrix(m, m, G), Array::from_host(F), diagonal(variances),
                                 Band::diagonal | Band::above | Band::below};
          },
          [&](const AutoRegression& b) {
            const Array phi = p.coefficients(b.coefficients, b.order), first = unit_row(b.order);
            return BlockMatrices{outer(phi, first) + np::eye(b.order, b.order, 1, dtype), first,
                                 p.variance(b.sd) * outer(first, first), Band::above | Band::first_column};
          },
          [&](const Regression& b) {
            const int k = columns_of(b);
            if (b.x.shape()[0] < n)
              raise<ShapeError>(
                  "[dlm] the regressors are {} but {} steps are wanted; give them for each step, future ones included.",
                  b.x.aval().str(), n);
            const Array x = np::reshape(b.x, {b.x.shape()[0], k}).astype(dtype)(range(0, n));
            return BlockMatrices{np::eye(k, {}, 0, dtype), x, p.variance(b.sd) * np::eye(k, {}, 0, dtype),
                                 0 | Band::diagonal};
          },
          [&](const Spline& b) {
            return BlockMatrices{host_matrix(2, 2, {1, 1, 0, 1}), unit_row(2),
                                 p.variance(b.sd) * host_matrix(2, 2, {1. / 3, 1. / 2, 1. / 2, 1}),
                                 Band::diagonal | Band::above};
          },
      },
      block);
}

namespace {

bool all_whole(const std::vector<double>& steps) {
  return std::all_of(steps.begin(), steps.end(), [](double d) { return d == std::floor(d); });
}

/// G^d and W + G W Gᵀ + … of whole numbers of steps, one after the other.
void take_whole_steps(BlockMatrices& matrices, const std::vector<double>& steps) {
  constexpr double most = 10000;
  const double longest = *std::max_element(steps.begin(), steps.end());
  if (longest > most)
    raise<ValueError>("[dlm] two timestamps are {} steps apart; up to {} are possible: count time in a longer unit.",
                      longest, most);
  const auto n = static_cast<std::int64_t>(steps.size()), m = matrices.G.shape(0);
  const Array wanted = np::reshape(Array::from_host(steps), {n, 1, 1}), G = matrices.G, W = matrices.W;
  const auto [powers, sums] = lax::fori_loop(
      0, static_cast<std::int64_t>(longest),
      [&](const Array& i, const std::pair<Array, Array>& now) {
        const Array more = i.astype(dtype) < wanted;
        return std::pair{np::where(more, np::matmul(G, now.first), now.first),
                         np::where(more, sandwich(G, now.second) + W, now.second)};
      },
      std::pair{np::broadcast_to(np::eye(m, {}, 0, dtype), {n, m, m}), np::zeros({n, m, m}, dtype)});
  matrices.G = powers;
  matrices.W = sums;
}

/// [[a, b], [c, d]] per step for series a to d.
Array matrix_of(const Array& a, const Array& b, const Array& c, const Array& d) {
  return np::stack({np::stack({a, b}, -1), np::stack({c, d}, -1)}, -2);
}

/// Where steps are not whole: the process in continuous time that is the same at whole steps.
void take_any_steps(const Block& block, const Lookup& p, BlockMatrices& matrices, const std::vector<double>& steps) {
  const auto n = static_cast<std::int64_t>(steps.size());
  const Array d = Array::from_host(steps), wide = np::reshape(d, {n, 1, 1}), one = np::ones({n}, dtype),
              zero = np::zeros({n}, dtype);
  const auto whole_only = [](const char* what) {
    raise<ValueError>(
        "[dlm] {} needs timestamps that are whole numbers of steps apart; give times in steps, or use another block.",
        what);
  };
  std::visit(Overloaded{
                 [&](const Trend& b) {
                   if (b.order == 2) whole_only("a trend of order 2");
                   matrices.W = matrices.W * wide;
                   if (b.order == 0) return;
                   matrices.G = matrix_of(one, d, zero, one);
                   const Array level = p.variance(b.sd[0]), slope = p.variance(b.sd[1]);
                   // Rounds a covariance up to one that exists: between whole steps, a level without noise of its own
                   // would have too little.
                   const Array from_slope = np::maximum(level * d + slope * d * (d - 1) * (2 * d - 1) / 6,
                                                        slope * d * (d - 1) * (d - 1) / 4);
                   const Array both = slope * d * (d - 1) / 2;
                   matrices.W = matrix_of(from_slope, both, both, slope * d);
                 },
                 [&](const Seasonal&) { whole_only("a full season"); },
                 [&](const Harmonics& b) {
                   const int m = states_of(block);
                   Array G = np::zeros({n, m, m}, dtype);
                   for (int h = 1; h <= b.count; ++h) {
                     const Array angle = (2 * M_PI * h / b.period) * d;
                     const int at = 2 * (h - 1);
                     if (at + 1 == m) whole_only("the last harmonic of an even period");
                     const auto block_of = range(at, at + 2);
                     G = G.at(all, block_of, block_of)
                             .set(matrix_of(np::cos(angle), np::sin(angle), -np::sin(angle), np::cos(angle)));
                   }
                   matrices.G = G;
                   matrices.W = matrices.W * wide;
                 },
                 [&](const AutoRegression& b) {
                   if (b.order > 1) whole_only("an autoregression of order 2 or more");
                   const Array phi = np::abs(matrices.G(0, 0)), square = phi * phi;
                   matrices.G = np::power(phi, wide);
                   const Array near_one = square > 1 - 1e-12;
                   const Array sum = (1 - np::power(square, wide)) / np::where(near_one, 1.0, 1 - square);
                   matrices.W = matrices.W * np::where(near_one, wide, sum);
                 },
                 [&](const Regression&) { matrices.W = matrices.W * wide; },
                 [&](const Spline& b) {
                   matrices.G = matrix_of(one, d, zero, one);
                   const Array both = d * d / 2;
                   matrices.W = p.variance(b.sd) * matrix_of(d * d * d / 3, both, both, d);
                 },
             },
             block);
}

}  // namespace

void take_steps(const Block& block, const Lookup& p, BlockMatrices& matrices, const std::vector<double>& steps) {
  if (all_whole(steps))
    take_whole_steps(matrices, steps);
  else
    take_any_steps(block, p, matrices, steps);
}

}  // namespace cotan::dlm
