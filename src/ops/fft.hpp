// How a Fourier transform of a length is taken apart into stages, and the constants that the stages read. What makes
// the tables (cotan::fft) and what reads them (expansions) must agree.
#pragma once
#include <complex>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/def_use.hpp"

namespace cotan::ops {

/// exp(-2 pi i k / n), as exact as a double can be: the angle is reduced in integers.
std::complex<double> root_of_unity(std::int64_t k, std::int64_t n);

/// A stage joins transforms of length `done`, of which there are `radix` times `rest`, to transforms of length
/// radix * done. Its twiddle factors w^(j k), w = exp(-2 pi i / (radix * done)), are one table, or the products of two
/// short ones: w^(j k) = coarse[j, k / split] * fine[j, k % split].
struct FftStage {
  std::int64_t radix, done, rest;
  std::int64_t split = 1;  ///< 1: there is one table, `coarse`
  std::int64_t coarse = 0, fine = 0,
               matrix = 0;  ///< where the tables begin; each is all real parts, then all imaginary ones
  bool has_twiddles() const { return done > 1; }
  bool is_dense() const;  ///< a product with a matrix: a prime that is too large for straight-line code
  std::int64_t coarse_size() const { return radix * (done / split); }
  std::int64_t fine_size() const { return radix * split; }
};
struct FftPlan {
  std::vector<FftStage> stages;  ///< none: there is nothing to do
  std::int64_t table_size = 0;
};

/// Whether fft_p takes the length: it has no large prime factor.
bool has_fft_plan(std::int64_t n);
FftPlan fft_plan(std::int64_t n);
/// All tables of a plan, one after the other.
std::vector<double> fft_tables(const FftPlan& plan);

/// An equation that puts both results of a transform together along a last axis of size 2.
struct WholeTransform {
  const Equation* transform;
  bool swapped;  ///< the imaginary part is first
};
/// Whether `e`, of the program, is one.
std::optional<WholeTransform> whole_transform(const Jaxpr& program, const DefUse& values, const Equation& e);

/// All roots of unity of order n.
std::vector<std::complex<double>> roots_of_unity(std::int64_t n);
/// The transform of a vector in double, for tables and as the reference. Any length, fast where its prime factors are
/// small. `roots`: of the order of its length.
std::vector<std::complex<double>> fft_on_host(std::span<const std::complex<double>> x,
                                              const std::vector<std::complex<double>>& roots);

}  // namespace cotan::ops
