// LAPACK's reductions of matrices to simpler ones, by element type. A macro names the routines of one type.
#pragma once
#include <complex>

#include "ops/linalg/lapack.hpp"

namespace cotan::lapack {

template <class T>
using Part = typename PartOf<T>::Type;

/// gehrd, and sytrd, which is hetrd of complex matrices: results over a and into tau.
#define COTAN_LAPACK_REDUCTIONS(T, letter, symmetric)                                                                 \
  inline Int gehrd(Int n, T* a, T* tau, Workspace<T>& memory) {                                                       \
    return with_workspace(memory, [&](T* work, Int lwork) {                                                           \
      return LAPACKE_##letter##gehrd_work(LAPACK_COL_MAJOR, n, 1, n, a, leading(n), tau, work, lwork);                \
    });                                                                                                               \
  }                                                                                                                   \
  inline Int sytrd(char uplo, Int n, T* a, Part<T>* d, Part<T>* e, T* tau, Workspace<T>& memory) {                    \
    return with_workspace(memory, [&](T* work, Int lwork) {                                                           \
      return LAPACKE_##letter##symmetric##trd_work(LAPACK_COL_MAJOR, uplo, n, a, leading(n), d, e, tau, work, lwork); \
    });                                                                                                               \
  }
COTAN_LAPACK_REDUCTIONS(float, s, sy)
COTAN_LAPACK_REDUCTIONS(double, d, sy)
COTAN_LAPACK_REDUCTIONS(std::complex<float>, c, he)
COTAN_LAPACK_REDUCTIONS(std::complex<double>, z, he)
#undef COTAN_LAPACK_REDUCTIONS

/// Schur's form over a and, where wanted, its vectors into v; QR with columns in another order; eigenvalues and vectors
/// of a real matrix, each pair of vectors as its real and its imaginary part.
#define COTAN_LAPACK_REAL(T, letter)                                                                                   \
  inline Int gees(bool vectors, Int n, T* a, T* v, Workspace<T>& memory) {                                             \
    std::vector<T> re(static_cast<std::size_t>(n)), im(re.size());                                                     \
    Int none = 0;                                                                                                      \
    return with_workspace(memory, [&](T* work, Int lwork) {                                                            \
      return LAPACKE_##letter##gees_work(LAPACK_COL_MAJOR, vectors ? 'V' : 'N', 'N', nullptr, n, a, leading(n), &none, \
                                         re.data(), im.data(), v, vectors ? leading(n) : 1, work, lwork, nullptr);     \
    });                                                                                                                \
  }                                                                                                                    \
  inline Int geqp3(Int m, Int n, T* a, Int* pivots, T* tau, Workspace<T>& memory) {                                    \
    return with_workspace(memory, [&](T* work, Int lwork) {                                                            \
      return LAPACKE_##letter##geqp3_work(LAPACK_COL_MAJOR, m, n, a, leading(m), pivots, tau, work, lwork);            \
    });                                                                                                                \
  }                                                                                                                    \
  inline Int geev(bool vectors, Int n, T* a, T* re, T* im, T* v, Workspace<T>& memory) {                               \
    return with_workspace(memory, [&](T* work, Int lwork) {                                                            \
      return LAPACKE_##letter##geev_work(LAPACK_COL_MAJOR, 'N', vectors ? 'V' : 'N', n, a, leading(n), re, im,         \
                                         nullptr, 1, v, vectors ? leading(n) : 1, work, lwork);                        \
    });                                                                                                                \
  }
COTAN_LAPACK_REAL(float, s)
COTAN_LAPACK_REAL(double, d)
#undef COTAN_LAPACK_REAL

#define COTAN_LAPACK_COMPLEX(T, letter)                                                                                \
  inline Int gees(bool vectors, Int n, T* a, T* v, Workspace<T>& memory) {                                             \
    std::vector<T> w(static_cast<std::size_t>(n));                                                                     \
    memory.rwork.resize(w.size());                                                                                     \
    Int none = 0;                                                                                                      \
    return with_workspace(memory, [&](T* work, Int lwork) {                                                            \
      return LAPACKE_##letter##gees_work(LAPACK_COL_MAJOR, vectors ? 'V' : 'N', 'N', nullptr, n, a, leading(n), &none, \
                                         w.data(), v, vectors ? leading(n) : 1, work, lwork, memory.rwork.data(),      \
                                         nullptr);                                                                     \
    });                                                                                                                \
  }                                                                                                                    \
  inline Int geqp3(Int m, Int n, T* a, Int* pivots, T* tau, Workspace<T>& memory) {                                    \
    memory.rwork.resize(2 * static_cast<std::size_t>(n));                                                              \
    return with_workspace(memory, [&](T* work, Int lwork) {                                                            \
      return LAPACKE_##letter##geqp3_work(LAPACK_COL_MAJOR, m, n, a, leading(m), pivots, tau, work, lwork,             \
                                          memory.rwork.data());                                                        \
    });                                                                                                                \
  }
COTAN_LAPACK_COMPLEX(std::complex<float>, c)
COTAN_LAPACK_COMPLEX(std::complex<double>, z)
#undef COTAN_LAPACK_COMPLEX

}  // namespace cotan::lapack
