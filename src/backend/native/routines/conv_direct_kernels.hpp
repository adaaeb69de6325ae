// The innermost loops of direct convolutions. Vectors have 64 bytes on every machine, and products are
// rounded before they are added, so that results do not depend on the instruction set.
#pragma once
#include <cstdint>
#include <cstring>

namespace cotan::native {

template <class T>
struct DirectKernels {
  /// y[i] += w * x[i * stride]
  void (*add_scaled)(std::int64_t count, T w, const T* x, std::int64_t stride, T* y);
  /// y[i] += w[i] * x[i]
  void (*add_products)(std::int64_t count, const T* w, const T* x, T* y);
  /// The sum of w[i] * x[i]
  T (*dot)(std::int64_t count, const T* w, const T* x);
};

namespace direct {

#define COTAN_ALWAYS_INLINE [[gnu::always_inline]] inline

template <class T, int bytes>
struct Vector {
  typedef T Type __attribute__((vector_size(bytes)));
  static constexpr std::int64_t lanes = bytes / sizeof(T);
  Type value;
  COTAN_ALWAYS_INLINE explicit Vector(const T* p) { std::memcpy(&value, p, sizeof value); }
  COTAN_ALWAYS_INLINE void store(T* p) const { std::memcpy(p, &value, sizeof value); }
};

/// The steps from `i` on that fill whole vectors; returns where they end.
template <int bytes, class T>
COTAN_ALWAYS_INLINE std::int64_t add_scaled(std::int64_t i, std::int64_t count, T w, const T* x, T* y) {
  using V = Vector<T, bytes>;
  for (; i + V::lanes <= count; i += V::lanes) {
    V sum(y + i);
    sum.value += w * V(x + i).value;
    sum.store(y + i);
  }
  return i;
}
template <int bytes, class T>
COTAN_ALWAYS_INLINE std::int64_t add_products(std::int64_t i, std::int64_t count, const T* w, const T* x, T* y) {
  using V = Vector<T, bytes>;
  for (; i + V::lanes <= count; i += V::lanes) {
    V sum(y + i);
    sum.value += V(w + i).value * V(x + i).value;
    sum.store(y + i);
  }
  return i;
}

template <class T>
COTAN_ALWAYS_INLINE void add_scaled(std::int64_t count, T w, const T* x, std::int64_t stride, T* y) {
  std::int64_t i = 0;
  if (stride == 1) {
    i = add_scaled<64>(i, count, w, x, y);
    i = add_scaled<32>(i, count, w, x, y);
    i = add_scaled<16>(i, count, w, x, y);
  }
  for (; i < count; ++i) y[i] += w * x[i * stride];
}
template <class T>
COTAN_ALWAYS_INLINE void add_products(std::int64_t count, const T* w, const T* x, T* y) {
  std::int64_t i = add_products<64>(0, count, w, x, y);
  i = add_products<32>(i, count, w, x, y);
  i = add_products<16>(i, count, w, x, y);
  for (; i < count; ++i) y[i] += w[i] * x[i];
}
template <class T>
COTAN_ALWAYS_INLINE T dot(std::int64_t count, const T* w, const T* x) {
  using V = Vector<T, 64>;
  typename V::Type sums{};
  std::int64_t i = 0;
  for (; i + V::lanes <= count; i += V::lanes) sums += V(w + i).value * V(x + i).value;
  T sum = 0;
  for (; i < count; ++i) sum += w[i] * x[i];
  for (std::int64_t lane = 0; lane < V::lanes; ++lane) sum += sums[lane];
  return sum;
}

#undef COTAN_ALWAYS_INLINE

/// The same code for one instruction set after the other.
#define COTAN_DIRECT_KERNELS(name, target)                                                               \
  template <class T>                                                                                     \
  struct name {                                                                                          \
    target static void add_scaled(std::int64_t count, T w, const T* x, std::int64_t stride, T* y) {      \
      direct::add_scaled(count, w, x, stride, y);                                                        \
    }                                                                                                    \
    target static void add_products(std::int64_t count, const T* w, const T* x, T* y) {                  \
      direct::add_products(count, w, x, y);                                                              \
    }                                                                                                    \
    target static T dot(std::int64_t count, const T* w, const T* x) { return direct::dot(count, w, x); } \
    static constexpr DirectKernels<T> kernels = {add_scaled, add_products, dot};                         \
  };
COTAN_DIRECT_KERNELS(Portable, )
#if defined(__x86_64__)
COTAN_DIRECT_KERNELS(Avx2, [[gnu::target("avx2")]])
COTAN_DIRECT_KERNELS(Avx512, [[gnu::target("avx512f")]])
#endif
#undef COTAN_DIRECT_KERNELS

}  // namespace direct

/// The kernels for this machine.
template <class T>
const DirectKernels<T>& direct_kernels() {
#if defined(__x86_64__)
  static const bool avx512 = __builtin_cpu_supports("avx512f"), avx2 = __builtin_cpu_supports("avx2");
  if (avx512) return direct::Avx512<T>::kernels;
  if (avx2) return direct::Avx2<T>::kernels;
#endif
  return direct::Portable<T>::kernels;
}

}  // namespace cotan::native
