// Vectors of a fixed number of bytes, for the kernels of gemm; an instruction set's file adds what the
// compiler's vector types cannot express (fused multiply-add and partial vectors). Included after
// COTAN_SIMD_TARGET is defined: the attribute that enables the instructions, function by function.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#define COTAN_SIMD_INLINE COTAN_SIMD_TARGET [[gnu::always_inline]] static inline

namespace cotan::native {
namespace {

template <class T, int bytes>
struct VectorOf {
  using Element = T;
  typedef T Vector __attribute__((vector_size(bytes)));
  static constexpr int lanes = bytes / sizeof(T);

  COTAN_SIMD_INLINE Vector load(const T* p) {
    Vector v;
    std::memcpy(&v, p, sizeof v);
    return v;
  }
  COTAN_SIMD_INLINE void store(T* p, Vector v) { std::memcpy(p, &v, sizeof v); }
  COTAN_SIMD_INLINE Vector broadcast(T x) { return x - Vector{}; }

  /// x[0], y[0], x[1], y[1], … and the same for the upper halves.
  COTAN_SIMD_INLINE Vector interleave_low(Vector x, Vector y) {
    return interleave(x, y, std::make_index_sequence<lanes>{});
  }
  COTAN_SIMD_INLINE Vector interleave_high(Vector x, Vector y) {
    return interleave<lanes / 2>(x, y, std::make_index_sequence<lanes>{});
  }

 private:
  template <int from = 0, std::size_t... i>
  COTAN_SIMD_INLINE Vector interleave(Vector x, Vector y, std::index_sequence<i...>) {
    return __builtin_shufflevector(x, y, static_cast<int>(from + i / 2 + (i % 2) * lanes)...);
  }
};

}  // namespace
}  // namespace cotan::native
