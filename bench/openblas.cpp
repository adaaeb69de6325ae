// The peer "openblas": what a C++ program gets by calling OpenBLAS and LAPACK itself, buffers reused.
#include <cblas.h>
#include <lapacke.h>

#include <cmath>
#include <memory>

#include "workload.hpp"

namespace bench {
namespace {

void multiply(int n, const float* a, const float* b, float* c) {
  cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1, a, n, b, n, 0, c, n);
}
void multiply(int n, const double* a, const double* b, double* c) {
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1, a, n, b, n, 0, c, n);
}
void multiply_vector(int n, const float* a, const float* x, float* y) {
  cblas_sgemv(CblasRowMajor, CblasNoTrans, n, n, 1, a, n, x, 1, 0, y, 1);
}
void multiply_vector(int n, const double* a, const double* x, double* y) {
  cblas_dgemv(CblasRowMajor, CblasNoTrans, n, n, 1, a, n, x, 1, 0, y, 1);
}

/// Two operands and a result, alive as long as the case.
template <class T>
struct Operands {
  std::vector<T> a, b, c;
};
template <class T>
auto operands(std::size_t a, std::size_t b, std::size_t c) {
  return std::make_shared<Operands<T>>(Operands<T>{uniform<T>(a, 1), uniform<T>(b, 2), std::vector<T>(c)});
}

template <class T>
Case result_of(std::shared_ptr<Operands<T>> data, std::function<void()> call) {
  return {.call = std::move(call), .check = [data] {
            std::vector<double> numbers;
            summarize(numbers, data->c.data(), data->c.size());
            return numbers;
          }};
}

template <class T>
Case batched(std::int64_t n, std::int64_t batch) {
  const auto size = static_cast<std::size_t>(n * n * batch);
  const auto data = operands<T>(size, size, size);
  return result_of<T>(data, [=] {
    for (std::int64_t i = 0; i < batch; ++i) {
      const std::int64_t at = i * n * n;
      multiply(static_cast<int>(n), &data->a[at], &data->b[at], &data->c[at]);
    }
  });
}

template <class T>
Case matrix_times_vector(std::int64_t n) {
  const auto size = static_cast<std::size_t>(n);
  const auto data = operands<T>(size * size, size, size);
  return result_of<T>(data,
                      [=] { multiply_vector(static_cast<int>(n), data->a.data(), data->b.data(), data->c.data()); });
}

/// x = a x, again and again, between two buffers.
template <class T>
Case chain(std::int64_t n, std::int64_t products) {
  const auto size = static_cast<std::size_t>(n * n);
  const auto data = operands<T>(size, size, size);
  const T scale = std::sqrt(T(3) / static_cast<T>(n));
  for (auto* values : {&data->a, &data->b})
    for (T& v : *values) v *= scale;
  const auto spare = std::make_shared<std::vector<T>>(size);
  return result_of<T>(data, [=] {
    const T* from = data->b.data();
    for (std::int64_t i = 0; i < products; ++i) {
      T* to = (products - i) % 2 == 1 ? data->c.data() : spare->data();
      multiply(static_cast<int>(n), data->a.data(), from, to);
      from = to;
    }
  });
}

Case axpy(std::int64_t n) {
  const auto size = static_cast<std::size_t>(n);
  const auto data = operands<float>(size, size, 0);
  return {.call = [=] { cblas_saxpy(static_cast<int>(n), 1.5f, data->a.data(), 1, data->b.data(), 1); }};
}

Case cholesky(std::int64_t n, std::int64_t batch) {
  const auto size = static_cast<std::size_t>(n * n * batch);
  const auto data = operands<float>(size, 0, size);
  std::vector<float> positive(size, 0);
  for (std::int64_t matrix = 0; matrix < batch; ++matrix)
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = 0; j < n; ++j) {
        float& element = positive[(matrix * n + i) * n + j];
        element = i == j ? 4 : 0;
        for (std::int64_t k = 0; k < n; ++k)
          element += data->a[(matrix * n + i) * n + k] * data->a[(matrix * n + j) * n + k];
      }
  data->a = std::move(positive);
  return result_of<float>(data, [=] {
    const auto order = static_cast<lapack_int>(n);
    // Row-major lower is column-major upper, which spares LAPACKE its transposed copies.
    for (std::int64_t at = 0; at < static_cast<std::int64_t>(data->a.size()); at += n * n) {
      for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t j = 0; j < n; ++j) data->c[at + i * n + j] = j <= i ? data->a[at + i * n + j] : 0;
      LAPACKE_spotrf_work(LAPACK_COL_MAJOR, 'U', order, &data->c[at], order);
    }
  });
}

const Register all[] = {
    {"openblas", "gemm",
     [](const Parameters& p) { return p.is_double() ? batched<double>(p["n"], 1) : batched<float>(p["n"], 1); }},
    {"openblas", "gemv",
     [](const Parameters& p) {
       return p.is_double() ? matrix_times_vector<double>(p["n"]) : matrix_times_vector<float>(p["n"]);
     }},
    {"openblas", "small_gemm",
     [](const Parameters& p) {
       return p.is_double() ? chain<double>(p["n"], p["products"]) : chain<float>(p["n"], p["products"]);
     }},
    {"openblas", "batched_gemm",
     [](const Parameters& p) {
       return p.is_double() ? batched<double>(p["n"], p["batch"]) : batched<float>(p["n"], p["batch"]);
     }},
    {"openblas", "axpy", [](const Parameters& p) { return axpy(p["n"]); }},
    {"openblas", "cholesky", [](const Parameters& p) { return cholesky(p["n"], p["batch"]); }},
};

}  // namespace
}  // namespace bench
