// The loops of the cumulative operations, on elements of the type that they are computed in: along contiguous
// lines, several side by side where each waits for its last result, and across many lines row by row.
#pragma once
#include <algorithm>
#include <array>

#include "backend/native/routines/cumulative_ops.hpp"
#include "backend/native/routines/cumulative_sums.hpp"
#include "backend/native/routines/vectorized.hpp"

namespace cotan::native {

template <class T, int inputs>
using Inputs = std::array<const T*, inputs>;

template <class T, std::size_t inputs>
std::array<const T*, inputs> advanced(std::array<const T*, inputs> in, std::int64_t by) {
  for (const T*& p : in) p += by;
  return in;
}

template <class Op, class T, std::size_t inputs>
[[gnu::always_inline]] inline auto next(typename Op::State s, const std::array<const T*, inputs>& in, std::int64_t at) {
  if constexpr (inputs == 1)
    return Op::next(s, in[0][at]);
  else
    return Op::next(s, in[0][at], in[1][at]);
}
template <class Op, class T, std::size_t inputs>
[[gnu::always_inline]] inline auto first(const std::array<const T*, inputs>& in, std::int64_t at) {
  if constexpr (inputs == 1)
    return Op::first(in[0][at]);
  else
    return Op::first(in[0][at], in[1][at]);
}

template <class Op>
inline constexpr bool sums_floats = std::is_same_v<Op, RunningSum<float>> || std::is_same_v<Op, RunningSum<double>>;

/// `lines` lines of n elements, `distance` apart; `state` has one for each.
template <class Op, int lines, class T = typename Op::Element>
void run_lines(const Inputs<T, Op::inputs>& in, T* out, std::int64_t distance, std::int64_t n, bool reverse,
               typename Op::State* state) {
  if constexpr (sums_floats<Op>) {
    for (int k = 0; k < lines; ++k)
      state[k] = running_sum(in[0] + k * distance, out + k * distance, n, state[k], reverse);
  } else {
    const std::int64_t step = reverse ? -1 : 1;
    std::int64_t at = reverse ? n - 1 : 0;
    if constexpr (lines == 1) {
      auto s = state[0];
      for (std::int64_t i = 0; i < n; ++i, at += step) {
        s = next<Op>(s, in, at);
        out[at] = Op::value(s);
      }
      state[0] = s;
    } else {
      typename Op::State s[lines];
      std::copy_n(state, lines, s);
      for (std::int64_t i = 0; i < n; ++i, at += step)
#pragma GCC unroll 4
        for (int k = 0; k < lines; ++k) {
          s[k] = next<Op>(s[k], in, at + k * distance);
          out[at + k * distance] = Op::value(s[k]);
        }
      std::copy_n(s, lines, state);
    }
  }
}

/// The same from the beginning of the lines; n > 0.
template <class Op, int lines, class T = typename Op::Element>
void run_whole_lines(const Inputs<T, Op::inputs>& in, T* out, std::int64_t distance, std::int64_t n, bool reverse,
                     typename Op::State* state) {
  for (int k = 0; k < lines; ++k) {
    const std::int64_t at = k * distance + (reverse ? n - 1 : 0);
    state[k] = first<Op>(in, at);
    out[at] = Op::value(state[k]);
  }
  const std::int64_t rest = reverse ? 0 : 1;
  run_lines<Op, lines>(advanced(in, rest), out + rest, distance, n - 1, reverse, state);
}

/// Neighbouring lines of a few elements, one after the other: the processor overlaps them by itself.
template <class Op, class T = typename Op::Element>
void run_short_lines(const Inputs<T, Op::inputs>& in, T* out, std::int64_t lines, std::int64_t n, bool reverse) {
  const std::int64_t step = reverse ? -1 : 1;
  for (std::int64_t line = 0; line < lines; ++line) {
    std::int64_t at = line * n + (reverse ? n - 1 : 0);
    auto s = first<Op>(in, at);
    out[at] = Op::value(s);
    for (std::int64_t i = 1; i < n; ++i) {
      at += step;
      s = next<Op>(s, in, at);
      out[at] = Op::value(s);
    }
  }
}

/// The state after n elements, which are taken in an order that depends on n alone.
template <class Op, class T = typename Op::Element>
COTAN_VECTORIZED typename Op::State state_after(const T* x, std::int64_t n) {
  if constexpr (sums_floats<Op>) {
    return total(x, n);
  } else {
    constexpr int parts = 8;
    typename Op::State s[parts];
    std::fill_n(s, parts, Op::identity());
    const std::int64_t even = n / parts * parts;
    for (std::int64_t i = 0; i < even; i += parts)
      for (int k = 0; k < parts; ++k) s[k] = Op::next(s[k], x[i + k]);
    for (std::int64_t i = even; i < n; ++i) s[0] = Op::next(s[0], x[i]);
    for (int k = 1; k < parts; ++k) s[0] = Op::join(s[0], s[k]);
    return s[0];
  }
}

/// Rows of `width` elements, `step` apart, each of which is taken into the `width` states.
template <class Op, class T = typename Op::Element>
COTAN_VECTORIZED void run_rows(const Inputs<T, Op::inputs>& in, T* out, std::int64_t step, std::int64_t rows,
                               std::int64_t width, typename Op::State* __restrict state) {
  for (std::int64_t i = 0; i < rows; ++i) {
    const auto x = advanced(in, i * step);
    T* __restrict const y = out + i * step;
    for (std::int64_t j = 0; j < width; ++j) {
      state[j] = next<Op>(state[j], x, j);
      y[j] = Op::value(state[j]);
    }
  }
}
/// The same with states in registers.
template <class Op, int width, class T = typename Op::Element>
void run_narrow_rows(const Inputs<T, Op::inputs>& in, T* out, std::int64_t step, std::int64_t rows,
                     typename Op::State* state) {
  typename Op::State s[width];
  std::copy_n(state, width, s);
  for (std::int64_t i = 0; i < rows; ++i)
#pragma GCC unroll 4
    for (int j = 0; j < width; ++j) {
      s[j] = next<Op>(s[j], in, i * step + j);
      out[i * step + j] = Op::value(s[j]);
    }
  std::copy_n(s, width, state);
}
template <class Op, class T = typename Op::Element>
void run_first_row(const Inputs<T, Op::inputs>& in, T* out, std::int64_t width, typename Op::State* state) {
  for (std::int64_t j = 0; j < width; ++j) {
    state[j] = first<Op>(in, j);
    out[j] = Op::value(state[j]);
  }
}
/// Without results.
template <class Op, class T = typename Op::Element>
COTAN_VECTORIZED void take_rows(const T* in, std::int64_t step, std::int64_t rows, std::int64_t width,
                                typename Op::State* __restrict state) {
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < width; ++j) state[j] = Op::next(state[j], in[i * step + j]);
}

}  // namespace cotan::native
