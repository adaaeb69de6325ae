// The kernels of Fourier transforms, written once over vectors of any width. Each instruction set's file defines
// COTAN_SIMD_TARGET and a struct derived from VectorOf<T, bytes> with multiply_add. (No lambdas: they would not be
// compiled for the instruction set.)
#pragma once
#include <cmath>
#include <utility>

#include "backend/native/routines/fft_kernels.hpp"
#include "backend/native/routines/gemm_simd.hpp"

namespace cotan::native {
namespace {

template <class Simd>
struct FftLanes {
  using T = typename Simd::Element;
  using Vector = typename Simd::Vector;
  static constexpr int lanes = Simd::lanes;

  /// A complex number in every lane.
  struct Number {
    Vector re, im;
  };
  COTAN_SIMD_INLINE Number add(const Number& a, const Number& b) { return {a.re + b.re, a.im + b.im}; }
  COTAN_SIMD_INLINE Number sub(const Number& a, const Number& b) { return {a.re - b.re, a.im - b.im}; }
  COTAN_SIMD_INLINE Number times_minus_i(const Number& a) { return {a.im, -a.re}; }
  COTAN_SIMD_INLINE Number mul(const Number& a, const Number& b) {
    return {Simd::multiply_add(a.re, b.re, -(a.im * b.im)), Simd::multiply_add(a.re, b.im, a.im * b.re)};
  }
  COTAN_SIMD_INLINE Number broadcast(const T* w) { return {Simd::broadcast(w[0]), Simd::broadcast(w[1])}; }

  // Small transforms --------------------------------------------------------------------------------------

  COTAN_SIMD_INLINE void transform_4(Number& x0, Number& x1, Number& x2, Number& x3) {
    const Number a = add(x0, x2), b = sub(x0, x2), c = add(x1, x3), d = times_minus_i(sub(x1, x3));
    x0 = add(a, c), x1 = add(b, d), x2 = sub(a, c), x3 = sub(b, d);
  }
  COTAN_SIMD_INLINE void transform_8(Number* x) {
    transform_4(x[0], x[2], x[4], x[6]);
    transform_4(x[1], x[3], x[5], x[7]);
    const Vector h = Simd::broadcast(static_cast<T>(0.70710678118654752440));
    const Number a = {(x[3].re + x[3].im) * h, (x[3].im - x[3].re) * h}, b = times_minus_i(x[5]),
                 c = {(x[7].im - x[7].re) * h, -((x[7].re + x[7].im) * h)};
    const Number y[] = {x[0], x[2], x[4], x[6], x[1], a, b, c};
#pragma GCC unroll 4
    for (int k = 0; k < 4; ++k) {
      x[k] = add(y[k], y[k + 4]);
      x[k + 4] = sub(y[k], y[k + 4]);
    }
  }
  /// Of sums and differences of opposite elements.
  template <int n>
  COTAN_SIMD_INLINE void transform_odd(Number* x, const T* roots) {
    constexpr int half = n / 2;
    Number sums[half], differences[half], total = x[0];
#pragma GCC unroll 4
    for (int j = 0; j < half; ++j) {
      sums[j] = add(x[j + 1], x[n - 1 - j]);
      differences[j] = sub(x[j + 1], x[n - 1 - j]);
      total = add(total, sums[j]);
    }
    Number even[half], odd[half];
#pragma GCC unroll 4
    for (int k = 0; k < half; ++k) {
      even[k] = x[0];
      odd[k] = {Vector{}, Vector{}};
#pragma GCC unroll 4
      for (int j = 0; j < half; ++j) {
        const Number w = broadcast(roots + 2 * ((j + 1) * (k + 1) % n));
        even[k] = {Simd::multiply_add(sums[j].re, w.re, even[k].re), Simd::multiply_add(sums[j].im, w.re, even[k].im)};
        odd[k] = {Simd::multiply_add(differences[j].re, w.im, odd[k].re),
                  Simd::multiply_add(differences[j].im, w.im, odd[k].im)};
      }
    }
    x[0] = total;
#pragma GCC unroll 4
    for (int k = 0; k < half; ++k) {  // even + i odd, and even - i odd
      x[k + 1] = {even[k].re - odd[k].im, even[k].im + odd[k].re};
      x[n - 1 - k] = {even[k].re + odd[k].im, even[k].im - odd[k].re};
    }
  }
  template <int radix>
  COTAN_SIMD_INLINE void transform(Number* x, const T* roots) {
    if constexpr (radix == 2) {
      const Number a = x[0];
      x[0] = add(a, x[1]);
      x[1] = sub(a, x[1]);
    } else if constexpr (radix == 4) {
      transform_4(x[0], x[1], x[2], x[3]);
    } else if constexpr (radix == 8) {
      transform_8(x);
    } else {
      transform_odd<radix>(x, roots);
    }
  }

  // Where vectors are read and written ----------------------------------------------------------------------

  template <std::size_t... i>
  COTAN_SIMD_INLINE Vector every_other(Vector a, Vector b, int first, std::index_sequence<i...>) {
    return first ? __builtin_shufflevector(a, b, (2 * i + 1)...) : __builtin_shufflevector(a, b, (2 * i)...);
  }

  struct Tile {
    T* data;
    COTAN_SIMD_TARGET [[gnu::always_inline]] Number load(std::int64_t i) const {
      const T* const p = data + 2 * lanes * i;
      return {Simd::load(p), Simd::load(p + lanes)};
    }
    COTAN_SIMD_TARGET [[gnu::always_inline]] void store(std::int64_t i, const Number& x) const {
      T* const p = data + 2 * lanes * i;
      Simd::store(p, x.re);
      Simd::store(p + lanes, x.im);
    }
  };
  struct SideBySide {
    T* data;
    std::int64_t stride;
    bool swapped;  ///< the imaginary part is first
    COTAN_SIMD_TARGET [[gnu::always_inline]] Number load(std::int64_t i) const {
      constexpr auto all = std::make_index_sequence<lanes>{};
      const Vector a = Simd::load(data + i * stride), b = Simd::load(data + i * stride + lanes);
      const Number x = {every_other(a, b, 0, all), every_other(a, b, 1, all)};
      return swapped ? Number{x.im, x.re} : x;
    }
    COTAN_SIMD_TARGET [[gnu::always_inline]] void store(std::int64_t i, const Number& x) const {
      const Vector a = swapped ? x.im : x.re, b = swapped ? x.re : x.im;
      Simd::store(data + i * stride, Simd::interleave_low(a, b));
      Simd::store(data + i * stride + lanes, Simd::interleave_high(a, b));
    }
  };
  struct Apart {
    T *re, *im;
    std::int64_t stride;
    COTAN_SIMD_TARGET [[gnu::always_inline]] Number load(std::int64_t i) const {
      return {Simd::load(re + i * stride), Simd::load(im + i * stride)};
    }
    COTAN_SIMD_TARGET [[gnu::always_inline]] void store(std::int64_t i, const Number& x) const {
      Simd::store(re + i * stride, x.re);
      Simd::store(im + i * stride, x.im);
    }
  };

  // Passes ----------------------------------------------------------------------------------------------------

  template <int radix, class In, class Out>
  COTAN_SIMD_TARGET static void pass_of(const FftPass<T>& p, In in, Out out) {
    const T* const roots = p.roots.data();
    const std::int64_t done = p.done, rest = p.rest;
    for (std::int64_t k = 0; k < done; ++k) {
      const T* const w = p.twiddles.data() + 2 * radix * k;
      for (std::int64_t q = 0; q < rest; ++q) {
        Number x[radix];
#pragma GCC unroll 8
        for (int j = 0; j < radix; ++j) x[j] = in.load((k * radix + j) * rest + q);
        if (k > 0) {
#pragma GCC unroll 8
          for (int j = 1; j < radix; ++j) x[j] = mul(x[j], broadcast(w + 2 * j));
        }
        transform<radix>(x, roots);
#pragma GCC unroll 8
        for (int j = 0; j < radix; ++j) out.store((j * done + k) * rest + q, x[j]);
      }
    }
  }
  template <class In, class Out>
  COTAN_SIMD_TARGET static void pass(const FftPass<T>& p, In in, Out out) {
    switch (p.radix) {
      case 2:
        return pass_of<2>(p, in, out);
      case 3:
        return pass_of<3>(p, in, out);
      case 4:
        return pass_of<4>(p, in, out);
      case 5:
        return pass_of<5>(p, in, out);
      case 7:
        return pass_of<7>(p, in, out);
      default:
        return pass_of<8>(p, in, out);
    }
  }

  COTAN_SIMD_INLINE SideBySide side_by_side(const FftMemory<T>& m) {
    return {m.im < m.re ? m.im : m.re, m.stride, m.im < m.re};
  }
  COTAN_SIMD_TARGET static void first_pass(const FftPass<T>& p, const FftMemory<T>& from, Tile to) {
    if (from.side_by_side)
      pass(p, side_by_side(from), to);
    else
      pass(p, Apart{from.re, from.im, from.stride}, to);
  }
  COTAN_SIMD_TARGET static void last_pass(const FftPass<T>& p, Tile from, const FftMemory<T>& to) {
    if (to.side_by_side)
      pass(p, from, side_by_side(to));
    else
      pass(p, from, Apart{to.re, to.im, to.stride});
  }
  /// All but the first and the last `left_out`; `at` is where the elements are, and then where they were left.
  COTAN_SIMD_TARGET static void next_passes(const FftPasses<T>& passes, std::size_t left_out, T*& at, T*& other) {
    for (std::size_t k = 1; k + left_out < passes.size(); ++k) {
      pass(passes[k], Tile{at}, Tile{other});
      std::swap(at, other);
    }
  }
  static T* second_tile(const FftPasses<T>& passes, T* tiles) {
    const FftPass<T>& p = passes.front();
    return tiles + 2 * lanes * p.radix * p.done * p.rest;
  }

  COTAN_SIMD_TARGET static void columns(const FftPasses<T>& passes, const FftMemory<T>& from, const FftMemory<T>& to,
                                        T* tiles) {
    T *at = tiles, *other = second_tile(passes, tiles);
    first_pass(passes.front(), from, Tile{at});
    next_passes(passes, 1, at, other);
    last_pass(passes.back(), Tile{at}, to);
  }
  COTAN_SIMD_TARGET static T* columns_to_tile(const FftPasses<T>& passes, const FftMemory<T>& from, T* tiles) {
    T *at = tiles, *other = second_tile(passes, tiles);
    first_pass(passes.front(), from, Tile{at});
    next_passes(passes, 0, at, other);
    return at;
  }
  COTAN_SIMD_TARGET static void columns_of_tile(const FftPasses<T>& passes, const T* from, const FftMemory<T>& to,
                                                T* tiles) {
    T *at = tiles, *other = second_tile(passes, tiles);
    pass(passes.front(), Tile{const_cast<T*>(from)}, Tile{at});
    next_passes(passes, 1, at, other);
    last_pass(passes.back(), Tile{at}, to);
  }

  // Squares -----------------------------------------------------------------------------------------------------

  /// By perfect shuffles: each halves the distance of what belongs together.
  COTAN_SIMD_INLINE void transpose(Vector* x) {
    Vector y[lanes];
#pragma GCC unroll 6
    for (int step = 1; step < lanes; step *= 2) {
#pragma GCC unroll 16
      for (int i = 0; i < lanes / 2; ++i) {
        y[2 * i] = Simd::interleave_low(x[i], x[i + lanes / 2]);
        y[2 * i + 1] = Simd::interleave_high(x[i], x[i + lanes / 2]);
      }
#pragma GCC unroll 16
      for (int i = 0; i < lanes; ++i) x[i] = y[i];
    }
  }
  COTAN_SIMD_TARGET static void turn(std::int64_t count, const T* tile, const T* factors, std::int64_t factor_stride,
                                     const T* coarse, std::int64_t coarse_stride, T* to, std::int64_t to_stride) {
    for (std::int64_t first = 0; first < count; first += lanes, to += to_stride) {
      Vector re[lanes], im[lanes];
#pragma GCC unroll 16
      for (int i = 0; i < lanes; ++i) {
        const std::int64_t k = first + i;
        const T* const w = factors + k * factor_stride;
        Number x = Tile{const_cast<T*>(tile)}.load(k);
        x = mul(x, {Simd::load(w), Simd::load(w + lanes)});
        if (coarse) x = mul(x, broadcast(coarse + k * coarse_stride));
        re[i] = x.re, im[i] = x.im;
      }
      transpose(re);
      transpose(im);
#pragma GCC unroll 16
      for (int i = 0; i < lanes; ++i) Tile{to}.store(i, {re[i], im[i]});
    }
  }
};

template <class Simd>
constexpr FftKernels<typename Simd::Element> make_fft_kernels() {
  using L = FftLanes<Simd>;
  return {L::lanes, L::columns, L::columns_to_tile, L::columns_of_tile, L::turn};
}

}  // namespace
}  // namespace cotan::native
