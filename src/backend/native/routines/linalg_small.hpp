// Decompositions of matrices so small that a call of LAPACK costs more than the work. Sizes are template
// parameters, so that loops are unrolled and matrices are kept in registers.
#pragma once
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include "backend/native/routines/vectorized.hpp"

namespace cotan::native {

inline constexpr std::int64_t largest_small_matrix = 8;

/// f with the size as a template parameter: f.operator()<n>().
template <class F>
void with_size(std::int64_t n, F&& f) {
  const auto call = [&]<std::size_t... k>(std::index_sequence<k...>) {
    (void)((n == static_cast<std::int64_t>(k) + 1 && (f.template operator()<static_cast<int>(k) + 1>(), true)) || ...);
  };
  call(std::make_index_sequence<largest_small_matrix>());
}

/// A triangular matrix as the lower one of a system whose unknowns are solved from the first to the last.
template <class T, int n>
struct LowerTriangle {
  T rows[n][n];

  /// Of `a`, or of its transpose; the unknowns of an upper triangle are numbered backwards.
  LowerTriangle(const T* a, bool lower, bool transposed, bool unit_diagonal) {
    const bool backwards = lower == transposed;
    for (int i = 0; i < n; ++i)
      for (int k = 0; k <= i; ++k) {
        const int r = backwards ? n - 1 - i : i, c = backwards ? n - 1 - k : k;
        rows[i][k] = transposed ? a[c * n + r] : a[r * n + c];
      }
    if (unit_diagonal)
      for (int i = 0; i < n; ++i) rows[i][i] = 1;
  }

  /// Solves for `lanes` right-hand sides.
  template <int lanes>
  COTAN_VECTORIZED void solve(T (&x)[n][lanes]) const {
    for (int i = 0; i < n; ++i) {
      for (int k = 0; k < i; ++k)
        for (int lane = 0; lane < lanes; ++lane) x[i][lane] -= rows[i][k] * x[k][lane];
      for (int lane = 0; lane < lanes; ++lane) x[i][lane] /= rows[i][i];
    }
  }
};

// Several matrices side by side, one in each lane of a pair of vectors: the same operations on all of them.

template <class T>
struct Lanes {
  typedef T Vector __attribute__((vector_size(16)));
  static constexpr int width = 16 / sizeof(T), size = 2 * width;
  Vector halves[2];

  Lanes() = default;
  Lanes(T x) : halves{x - Vector{}, x - Vector{}} {}
  T get(int lane) const { return halves[lane / width][lane % width]; }
  void set(int lane, T x) { halves[lane / width][lane % width] = x; }

  /// f(vectors …) for both halves.
  template <class F, class... More>
  static Lanes map(F f, const Lanes& a, const More&... more) {
    Lanes out;
    for (int h = 0; h < 2; ++h) out.halves[h] = f(a.halves[h], more.halves[h]...);
    return out;
  }
  friend Lanes operator+(const Lanes& a, const Lanes& b) {
    return map([](Vector x, Vector y) { return x + y; }, a, b);
  }
  friend Lanes operator-(const Lanes& a, const Lanes& b) {
    return map([](Vector x, Vector y) { return x - y; }, a, b);
  }
  friend Lanes operator*(const Lanes& a, const Lanes& b) {
    return map([](Vector x, Vector y) { return x * y; }, a, b);
  }
  friend Lanes operator/(const Lanes& a, const Lanes& b) {
    return map([](Vector x, Vector y) { return x / y; }, a, b);
  }
  /// then where a > b, else otherwise; and the same for a == b.
  friend Lanes where_greater(const Lanes& a, const Lanes& b, const Lanes& then, const Lanes& otherwise) {
    return map([](Vector x, Vector y, Vector u, Vector v) { return x > y ? u : v; }, a, b, then, otherwise);
  }
  friend Lanes where_equal(const Lanes& a, const Lanes& b, const Lanes& then, const Lanes& otherwise) {
    return map([](Vector x, Vector y, Vector u, Vector v) { return x == y ? u : v; }, a, b, then, otherwise);
  }
  friend Lanes abs(const Lanes& a) {
    return map([](Vector x) { return x < 0 ? -x : x; }, a);
  }
  friend Lanes sqrt(const Lanes& a) {
#if defined(__SSE2__)
    if constexpr (sizeof(T) == 4)
      return map([](Vector x) { return static_cast<Vector>(_mm_sqrt_ps(x)); }, a);
    else
      return map([](Vector x) { return static_cast<Vector>(_mm_sqrt_pd(x)); }, a);
#else
    Lanes out;
    for (int lane = 0; lane < size; ++lane) out.set(lane, std::sqrt(a.get(lane)));
    return out;
#endif
  }
};
template <class T, int n>
using MatrixLanes = Lanes<T>[n][n];
/// Rows by number.
template <class T, int n>
using RowLanes = Lanes<T>[n];

/// `count` matrices, at most as many as there are lanes; other lanes get the first.
template <class T, int n>
COTAN_VECTORIZED void load_lanes(const T* in, std::int64_t count, MatrixLanes<T, n>& a) {
  for (int m = 0; m < Lanes<T>::size; ++m) {
    const T* const from = in + (m < count ? m : 0) * n * n;
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) a[i][j].set(m, from[i * n + j]);
  }
}
template <class T, int n>
COTAN_VECTORIZED void store_lanes(const MatrixLanes<T, n>& a, std::int64_t count, T* out) {
  for (int m = 0; m < count; ++m)
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) out[m * n * n + i * n + j] = a[i][j].get(m);
}
template <class T, int n>
COTAN_VECTORIZED void store_lanes(const RowLanes<T, n>& rows, std::int64_t count, std::int32_t* out) {
  for (int m = 0; m < count; ++m)
    for (int i = 0; i < n; ++i) out[m * n + i] = static_cast<std::int32_t>(rows[i].get(m));
}

/// The lower triangle of a becomes l, where l lᵀ is a; what is above becomes zero. NaN where a matrix is not
/// positive definite.
template <class T, int n>
COTAN_VECTORIZED void cholesky_lanes(MatrixLanes<T, n>& a) {
  Lanes<T> poison = 0;  // or NaN
  for (int j = 0; j < n; ++j) {
    Lanes<T> d = a[j][j];
    for (int k = 0; k < j; ++k) d = d - a[j][k] * a[j][k];
    poison = where_greater(d, 0, poison, std::numeric_limits<T>::quiet_NaN());
    a[j][j] = sqrt(d);
    d = Lanes<T>(1) / a[j][j];
    for (int i = j + 1; i < n; ++i) {
      for (int k = 0; k < j; ++k) a[i][j] = a[i][j] - a[i][k] * a[j][k];
      a[i][j] = a[i][j] * d;
    }
  }
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) a[i][j] = j > i ? 0 : a[i][j] + poison;
}

/// a becomes its packed factors. Row k was exchanged with row pivots[k]; in the end row k is what was row
/// permutation[k]. A matrix with NaN becomes all NaN, and its rows stay where they are.
template <class T, int n>
COTAN_VECTORIZED void lu_lanes(MatrixLanes<T, n>& a, RowLanes<T, n>& pivots, RowLanes<T, n>& permutation) {
  Lanes<T> poison = 0;  // or NaN
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) poison = where_equal(a[i][j], a[i][j], poison, a[i][j]);
  for (int i = 0; i < n; ++i) {
    permutation[i] = T(i);
    for (int j = 0; j < n; ++j) a[i][j] = a[i][j] + poison;
  }
  for (int k = 0; k < n; ++k) {
    Lanes<T> largest = abs(a[k][k]), pivot = T(k);
    for (int i = k + 1; i < n; ++i) {
      const Lanes<T> size = abs(a[i][k]);
      pivot = where_greater(size, largest, T(i), pivot);  // never where one is NaN
      largest = where_greater(size, largest, size, largest);
    }
    pivots[k] = pivot;
    for (int i = k + 1; i < n; ++i) {
      const auto exchange = [&](Lanes<T>& upper, Lanes<T>& lower) {
        const Lanes<T> u = upper, l = lower;
        upper = where_equal(pivot, T(i), l, u);
        lower = where_equal(pivot, T(i), u, l);
      };
      for (int j = 0; j < n; ++j) exchange(a[k][j], a[i][j]);
      exchange(permutation[k], permutation[i]);
    }
    // For a singular matrix everything that would be divided is zero too.
    const Lanes<T> divisor = where_equal(a[k][k], 0, 1, a[k][k]);
    for (int i = k + 1; i < n; ++i) {
      a[i][k] = a[i][k] / divisor;
      for (int j = k + 1; j < n; ++j) a[i][j] = a[i][j] - a[i][k] * a[k][j];
    }
  }
}

}  // namespace cotan::native
