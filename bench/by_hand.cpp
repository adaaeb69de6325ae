// The peer "by_hand": what somebody who wants one filter fast writes in C++, sizes fixed at compile time,
// buffers reused. Compiled with -O3 -march=native.
#include <cmath>
#include <memory>

#include "workload.hpp"

namespace bench {
namespace {

/// What the filter reads and writes: a number, vector or matrix a step.
template <class T>
struct Series {
  Series(std::size_t n, std::size_t m) : y(uniform<T>(n, 1)), x(n * m), P(n * m * m), v(n), S(n) {}

  std::vector<T> y;
  T likelihood = 0;
  std::vector<T> x, P, v, S;
};

/// The filter of cotan_loops.cpp for the parameters log_q and log_r.
template <int m, class T>
T kalman_filter(T log_q, T log_r, std::size_t n, const T* y, T* xs, T* Ps, T* vs, T* Ss) {
  T F[m][m] = {}, Q[m][m] = {}, x[m] = {}, P[m][m] = {};
  for (int i = 0; i < m; ++i) {
    F[i][i] = T(0.9);
    if (i + 1 < m) F[i][i + 1] = T(0.1);
    Q[i][i] = T(0.1) * std::exp(log_q);
    P[i][i] = 10;
  }
  const T R = std::exp(log_r);
  T likelihood = 0;
  for (std::size_t t = 0; t < n; ++t) {
    // H picks the first state.
    const T v = y[t] - x[0], S = P[0][0] + R;
    for (int i = 0; i < m; ++i) {
      xs[t * m + i] = x[i];
      for (int j = 0; j < m; ++j) Ps[(t * m + i) * m + j] = P[i][j];
    }
    T FP[m][m], K[m], next_x[m], L[m][m], next_P[m][m];
    for (int i = 0; i < m; ++i)
      for (int j = 0; j < m; ++j) {
        T sum = 0;
        for (int k = 0; k < m; ++k) sum += F[i][k] * P[k][j];
        FP[i][j] = sum;
      }
    for (int i = 0; i < m; ++i) K[i] = FP[i][0] / S;
    for (int i = 0; i < m; ++i) {
      T sum = 0;
      for (int k = 0; k < m; ++k) sum += F[i][k] * x[k];
      next_x[i] = sum + K[i] * v;
    }
    for (int i = 0; i < m; ++i)
      for (int j = 0; j < m; ++j) L[i][j] = F[i][j] - (j == 0 ? K[i] : 0);  // F - K H
    for (int i = 0; i < m; ++i)
      for (int j = 0; j < m; ++j) {
        T sum = Q[i][j];
        for (int k = 0; k < m; ++k) sum += FP[i][k] * L[j][k];
        next_P[i][j] = sum;
      }
    vs[t] = v;
    Ss[t] = S;
    // Last, as the call spills registers; term by term like the others, as the order shows in f32.
    likelihood = likelihood + std::log(S) + v * v / S;
    for (int i = 0; i < m; ++i) {
      x[i] = next_x[i];
      for (int j = 0; j < m; ++j) P[i][j] = next_P[i][j];
    }
  }
  return likelihood;
}

template <class T, int m>
Case filter_case(const Parameters& p) {
  const auto series = std::make_shared<Series<T>>(static_cast<std::size_t>(p["n"]), m);
  return {.call =
              [=] {
                Series<T>& s = *series;
                s.likelihood =
                    kalman_filter<m, T>(0, 0, s.y.size(), s.y.data(), s.x.data(), s.P.data(), s.v.data(), s.S.data());
              },
          .check =
              [=] {
                std::vector<double> numbers;
                summarize(numbers, &series->likelihood, 1);
                for (const auto* values : {&series->x, &series->P, &series->v, &series->S})
                  summarize(numbers, values->data(), values->size());
                return numbers;
              }};
}

template <class T>
Case filter_case(const Parameters& p) {
  switch (p["m"]) {
    case 2:
      return filter_case<T, 2>(p);
    case 4:
      return filter_case<T, 4>(p);
    case 8:
      return filter_case<T, 8>(p);
  }
  throw Missing("written for 2, 4 and 8 states");
}

const Register kalman("by_hand", "kalman", [](const Parameters& p) {
  return p.is_double() ? filter_case<double>(p) : filter_case<float>(p);
});

}  // namespace
}  // namespace bench
