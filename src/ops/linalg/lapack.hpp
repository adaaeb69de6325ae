// LAPACK by element type, on column-major matrices. The _work routines do not look for NaN: callers do.
#pragma once
#include <complex>
#define lapack_complex_float std::complex<float>
#define lapack_complex_double std::complex<double>
#include <cblas.h>
#include <lapacke.h>

#include <algorithm>
#include <limits>
#include <vector>

namespace cotan::lapack {

using Int = lapack_int;
/// Leading dimension of a matrix with this many rows; LAPACK refuses zero.
inline Int leading(std::int64_t rows) { return static_cast<Int>(std::max<std::int64_t>(rows, 1)); }

inline Int potrf(char uplo, Int n, float* a) { return LAPACKE_spotrf_work(LAPACK_COL_MAJOR, uplo, n, a, leading(n)); }
inline Int potrf(char uplo, Int n, double* a) { return LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, uplo, n, a, leading(n)); }

inline Int getrf(Int m, Int n, float* a, Int* pivots) {
  return LAPACKE_sgetrf_work(LAPACK_COL_MAJOR, m, n, a, leading(m), pivots);
}
inline Int getrf(Int m, Int n, double* a, Int* pivots) {
  return LAPACKE_dgetrf_work(LAPACK_COL_MAJOR, m, n, a, leading(m), pivots);
}

/// Row-major, unlike the rest: b becomes the solution of op(a) x = b or x op(a) = b.
inline void trsm(CBLAS_SIDE side, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, CBLAS_DIAG diag, Int m, Int n, const float* a,
                 Int lda, float* b) {
  cblas_strsm(CblasRowMajor, side, uplo, trans, diag, m, n, 1.0f, a, lda, b, leading(n));
}
inline void trsm(CBLAS_SIDE side, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, CBLAS_DIAG diag, Int m, Int n,
                 const double* a, Int lda, double* b) {
  cblas_dtrsm(CblasRowMajor, side, uplo, trans, diag, m, n, 1.0, a, lda, b, leading(n));
}

/// A workspace size that LAPACK answered as a floating-point number, rounded up past its rounding error.
template <class T>
std::size_t workspace_size(T answer) {
  return static_cast<std::size_t>(
      std::max<double>(1, static_cast<double>(answer) * (1 + std::numeric_limits<T>::epsilon())));
}
template <class T>
std::size_t workspace_size(std::complex<T> answer) {
  return workspace_size(answer.real());
}
/// The type of a number's parts.
template <class T>
struct PartOf {
  using Type = T;
};
template <class T>
struct PartOf<std::complex<T>> {
  using Type = T;
};
/// Memory for calls of one routine on matrices of one size: asking LAPACK how much it wants takes as long as a small
/// matrix.
template <class T>
struct Workspace {
  std::vector<T> work = {};
  std::vector<Int> iwork = {};
  std::vector<typename PartOf<T>::Type> rwork = {};  ///< of complex routines
};
/// Runs `routine(work, lwork)`; before the first time it is asked how much it wants.
template <class T, class Routine>
Int with_workspace(Workspace<T>& memory, Routine&& routine) {
  if (memory.work.empty()) {
    T size = 0;
    if (const Int info = routine(&size, Int{-1})) return info;
    memory.work.resize(workspace_size(size));
  }
  return routine(memory.work.data(), static_cast<Int>(memory.work.size()));
}

inline Int geqrf(Int m, Int n, float* a, float* tau, Workspace<float>& memory) {
  return with_workspace(memory, [&](float* work, Int lwork) {
    return LAPACKE_sgeqrf_work(LAPACK_COL_MAJOR, m, n, a, leading(m), tau, work, lwork);
  });
}
inline Int geqrf(Int m, Int n, double* a, double* tau, Workspace<double>& memory) {
  return with_workspace(memory, [&](double* work, Int lwork) {
    return LAPACKE_dgeqrf_work(LAPACK_COL_MAJOR, m, n, a, leading(m), tau, work, lwork);
  });
}
inline Int orgqr(Int m, Int n, Int k, float* a, const float* tau, Workspace<float>& memory) {
  return with_workspace(memory, [&](float* work, Int lwork) {
    return LAPACKE_sorgqr_work(LAPACK_COL_MAJOR, m, n, k, a, leading(m), tau, work, lwork);
  });
}
inline Int orgqr(Int m, Int n, Int k, double* a, const double* tau, Workspace<double>& memory) {
  return with_workspace(memory, [&](double* work, Int lwork) {
    return LAPACKE_dorgqr_work(LAPACK_COL_MAJOR, m, n, k, a, leading(m), tau, work, lwork);
  });
}

/// Eigenvalues into w and, with job 'V' and not 'N', eigenvectors over a.
inline Int syevd(char job, char uplo, Int n, float* a, float* w, Workspace<float>& memory) {
  Int isize = static_cast<Int>(memory.iwork.size());
  const auto call = [&](float* work, Int lwork, Int* iwork, Int liwork) {
    return LAPACKE_ssyevd_work(LAPACK_COL_MAJOR, job, uplo, n, a, leading(n), w, work, lwork, iwork, liwork);
  };
  return with_workspace(memory, [&](float* work, Int lwork) {
    if (lwork < 0) {
      const Int info = call(work, -1, &isize, -1);
      memory.iwork.resize(static_cast<std::size_t>(isize));
      return info;
    }
    return call(work, lwork, memory.iwork.data(), isize);
  });
}
inline Int syevd(char job, char uplo, Int n, double* a, double* w, Workspace<double>& memory) {
  Int isize = static_cast<Int>(memory.iwork.size());
  const auto call = [&](double* work, Int lwork, Int* iwork, Int liwork) {
    return LAPACKE_dsyevd_work(LAPACK_COL_MAJOR, job, uplo, n, a, leading(n), w, work, lwork, iwork, liwork);
  };
  return with_workspace(memory, [&](double* work, Int lwork) {
    if (lwork < 0) {
      const Int info = call(work, -1, &isize, -1);
      memory.iwork.resize(static_cast<std::size_t>(isize));
      return info;
    }
    return call(work, lwork, memory.iwork.data(), isize);
  });
}

inline Int gesdd(char job, Int m, Int n, float* a, float* s, float* u, float* vt, Int ldvt, Workspace<float>& memory) {
  memory.iwork.resize(8 * static_cast<std::size_t>(std::min(m, n)));
  return with_workspace(memory, [&](float* work, Int lwork) {
    return LAPACKE_sgesdd_work(LAPACK_COL_MAJOR, job, m, n, a, leading(m), s, u, leading(m), vt, ldvt, work, lwork,
                               memory.iwork.data());
  });
}
inline Int gesdd(char job, Int m, Int n, double* a, double* s, double* u, double* vt, Int ldvt,
                 Workspace<double>& memory) {
  memory.iwork.resize(8 * static_cast<std::size_t>(std::min(m, n)));
  return with_workspace(memory, [&](double* work, Int lwork) {
    return LAPACKE_dgesdd_work(LAPACK_COL_MAJOR, job, m, n, a, leading(m), s, u, leading(m), vt, ldvt, work, lwork,
                               memory.iwork.data());
  });
}

}  // namespace cotan::lapack
