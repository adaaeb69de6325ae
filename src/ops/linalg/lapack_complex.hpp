// LAPACK for complex matrices, by the names that lapack.hpp has for real ones.
#pragma once
#include <complex>

#include "ops/linalg/lapack.hpp"

namespace cotan::lapack {

inline Int potrf(char uplo, Int n, std::complex<float>* a) {
  return LAPACKE_cpotrf_work(LAPACK_COL_MAJOR, uplo, n, a, leading(n));
}
inline Int potrf(char uplo, Int n, std::complex<double>* a) {
  return LAPACKE_zpotrf_work(LAPACK_COL_MAJOR, uplo, n, a, leading(n));
}
inline Int getrf(Int m, Int n, std::complex<float>* a, Int* pivots) {
  return LAPACKE_cgetrf_work(LAPACK_COL_MAJOR, m, n, a, leading(m), pivots);
}
inline Int getrf(Int m, Int n, std::complex<double>* a, Int* pivots) {
  return LAPACKE_zgetrf_work(LAPACK_COL_MAJOR, m, n, a, leading(m), pivots);
}
inline void trsm(CBLAS_SIDE side, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, CBLAS_DIAG diag, Int m, Int n,
                 const std::complex<float>* a, Int lda, std::complex<float>* b) {
  const std::complex<float> one = 1;
  cblas_ctrsm(CblasRowMajor, side, uplo, trans, diag, m, n, &one, a, lda, b, leading(n));
}
inline void trsm(CBLAS_SIDE side, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, CBLAS_DIAG diag, Int m, Int n,
                 const std::complex<double>* a, Int lda, std::complex<double>* b) {
  const std::complex<double> one = 1;
  cblas_ztrsm(CblasRowMajor, side, uplo, trans, diag, m, n, &one, a, lda, b, leading(n));
}

inline Int geqrf(Int m, Int n, std::complex<float>* a, std::complex<float>* tau,
                 Workspace<std::complex<float>>& memory) {
  return with_workspace(memory, [&](std::complex<float>* work, Int lwork) {
    return LAPACKE_cgeqrf_work(LAPACK_COL_MAJOR, m, n, a, leading(m), tau, work, lwork);
  });
}
inline Int orgqr(Int m, Int n, Int k, std::complex<float>* a, const std::complex<float>* tau,
                 Workspace<std::complex<float>>& memory) {
  return with_workspace(memory, [&](std::complex<float>* work, Int lwork) {
    return LAPACKE_cungqr_work(LAPACK_COL_MAJOR, m, n, k, a, leading(m), tau, work, lwork);
  });
}
inline Int syevd(char job, char uplo, Int n, std::complex<float>* a, float* w, Workspace<std::complex<float>>& memory) {
  const auto call = [&](std::complex<float>* work, Int lwork, float* rwork, Int lrwork, Int* iwork, Int liwork) {
    return LAPACKE_cheevd_work(LAPACK_COL_MAJOR, job, uplo, n, a, leading(n), w, work, lwork, rwork, lrwork, iwork,
                               liwork);
  };
  return with_workspace(memory, [&](std::complex<float>* work, Int lwork) {
    if (lwork < 0) {
      float rsize = 0;
      Int isize = 0;
      const Int info = call(work, -1, &rsize, -1, &isize, -1);
      memory.rwork.resize(workspace_size(rsize));
      memory.iwork.resize(static_cast<std::size_t>(isize));
      return info;
    }
    return call(work, lwork, memory.rwork.data(), static_cast<Int>(memory.rwork.size()), memory.iwork.data(),
                static_cast<Int>(memory.iwork.size()));
  });
}
inline Int gesdd(char job, Int m, Int n, std::complex<float>* a, float* s, std::complex<float>* u,
                 std::complex<float>* vt, Int ldvt, Workspace<std::complex<float>>& memory) {
  const auto small = static_cast<std::size_t>(std::min(m, n)), large = static_cast<std::size_t>(std::max(m, n));
  memory.iwork.resize(8 * small);
  memory.rwork.resize(small * std::max(5 * small + 7, 2 * large + 2 * small + 1));
  return with_workspace(memory, [&](std::complex<float>* work, Int lwork) {
    return LAPACKE_cgesdd_work(LAPACK_COL_MAJOR, job, m, n, a, leading(m), s, u, leading(m), vt, ldvt, work, lwork,
                               memory.rwork.data(), memory.iwork.data());
  });
}
/// Eigenvalues into w and, where wanted, eigenvectors into v.
inline Int geev(bool vectors, Int n, std::complex<float>* a, std::complex<float>* w, std::complex<float>* v,
                Workspace<std::complex<float>>& memory) {
  memory.rwork.resize(2 * static_cast<std::size_t>(n));
  return with_workspace(memory, [&](std::complex<float>* work, Int lwork) {
    return LAPACKE_cgeev_work(LAPACK_COL_MAJOR, 'N', vectors ? 'V' : 'N', n, a, leading(n), w, nullptr, 1, v,
                              vectors ? leading(n) : 1, work, lwork, memory.rwork.data());
  });
}

inline Int geqrf(Int m, Int n, std::complex<double>* a, std::complex<double>* tau,
                 Workspace<std::complex<double>>& memory) {
  return with_workspace(memory, [&](std::complex<double>* work, Int lwork) {
    return LAPACKE_zgeqrf_work(LAPACK_COL_MAJOR, m, n, a, leading(m), tau, work, lwork);
  });
}
inline Int orgqr(Int m, Int n, Int k, std::complex<double>* a, const std::complex<double>* tau,
                 Workspace<std::complex<double>>& memory) {
  return with_workspace(memory, [&](std::complex<double>* work, Int lwork) {
    return LAPACKE_zungqr_work(LAPACK_COL_MAJOR, m, n, k, a, leading(m), tau, work, lwork);
  });
}
inline Int syevd(char job, char uplo, Int n, std::complex<double>* a, double* w,
                 Workspace<std::complex<double>>& memory) {
  const auto call = [&](std::complex<double>* work, Int lwork, double* rwork, Int lrwork, Int* iwork, Int liwork) {
    return LAPACKE_zheevd_work(LAPACK_COL_MAJOR, job, uplo, n, a, leading(n), w, work, lwork, rwork, lrwork, iwork,
                               liwork);
  };
  return with_workspace(memory, [&](std::complex<double>* work, Int lwork) {
    if (lwork < 0) {
      double rsize = 0;
      Int isize = 0;
      const Int info = call(work, -1, &rsize, -1, &isize, -1);
      memory.rwork.resize(workspace_size(rsize));
      memory.iwork.resize(static_cast<std::size_t>(isize));
      return info;
    }
    return call(work, lwork, memory.rwork.data(), static_cast<Int>(memory.rwork.size()), memory.iwork.data(),
                static_cast<Int>(memory.iwork.size()));
  });
}
inline Int gesdd(char job, Int m, Int n, std::complex<double>* a, double* s, std::complex<double>* u,
                 std::complex<double>* vt, Int ldvt, Workspace<std::complex<double>>& memory) {
  const auto small = static_cast<std::size_t>(std::min(m, n)), large = static_cast<std::size_t>(std::max(m, n));
  memory.iwork.resize(8 * small);
  memory.rwork.resize(small * std::max(5 * small + 7, 2 * large + 2 * small + 1));
  return with_workspace(memory, [&](std::complex<double>* work, Int lwork) {
    return LAPACKE_zgesdd_work(LAPACK_COL_MAJOR, job, m, n, a, leading(m), s, u, leading(m), vt, ldvt, work, lwork,
                               memory.rwork.data(), memory.iwork.data());
  });
}
/// Eigenvalues into w and, where wanted, eigenvectors into v.
inline Int geev(bool vectors, Int n, std::complex<double>* a, std::complex<double>* w, std::complex<double>* v,
                Workspace<std::complex<double>>& memory) {
  memory.rwork.resize(2 * static_cast<std::size_t>(n));
  return with_workspace(memory, [&](std::complex<double>* work, Int lwork) {
    return LAPACKE_zgeev_work(LAPACK_COL_MAJOR, 'N', vectors ? 'V' : 'N', n, a, leading(n), w, nullptr, 1, v,
                              vectors ? leading(n) : 1, work, lwork, memory.rwork.data());
  });
}

}  // namespace cotan::lapack
