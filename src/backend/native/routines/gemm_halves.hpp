// Runs of float16 and bfloat16 to float and back, by integer arithmetic on vectors: exact, and rounding to
// nearest even, as the conversions of the scalar types do. Included like gemm_microkernels.hpp, and after
// COTAN_SIMD_BYTES, the size of a vector, is defined (__builtin_convertvector does not take it from a
// template parameter).
#pragma once
#include <cotan/dtype.hpp>

#include "backend/native/routines/gemm_kernels.hpp"
#include "backend/native/routines/gemm_simd.hpp"

namespace cotan::native {
namespace {

constexpr int lanes_of_floats = COTAN_SIMD_BYTES / 4;
typedef std::uint16_t Halves __attribute__((vector_size(COTAN_SIMD_BYTES / 2)));
typedef std::uint32_t Bits __attribute__((vector_size(COTAN_SIMD_BYTES)));
typedef float Floats __attribute__((vector_size(COTAN_SIMD_BYTES)));

COTAN_SIMD_INLINE Floats widen(Halves halves, bfloat16) {
  return (Floats)(__builtin_convertvector(halves, Bits) << 16);
}
COTAN_SIMD_INLINE Floats widen(Halves halves, float16) {
  const Bits h = __builtin_convertvector(halves, Bits);
  const Bits sign = (h & 0x8000u) << 16, magnitude = (h & 0x7fffu) << 13;
  // The exponents' biases differ by 112; the multiplication also makes subnormals normal.
  const Bits finite = (Bits)((Floats)magnitude * 0x1p112f);
  return (Floats)(((h & 0x7fffu) >= 0x7c00u ? magnitude | 0x7f800000u : finite) | sign);
}

COTAN_SIMD_INLINE Halves narrow(Floats floats, bfloat16) {
  const Bits f = (Bits)floats;
  const Bits rounded = (f + 0x7fffu + ((f >> 16) & 1u)) >> 16;
  return __builtin_convertvector((f & 0x7fffffffu) > 0x7f800000u ? (f >> 16) | 0x40u : rounded, Halves);
}
COTAN_SIMD_INLINE Halves narrow(Floats floats, float16) {
  const Bits f = (Bits)floats;
  const Bits sign = (f >> 16) & 0x8000u, magnitude = f & 0x7fffffffu;
  const Bits normal = (magnitude - 0x38000000u + 0xfffu + ((magnitude >> 13) & 1u)) >> 13;
  const Bits subnormal = (Bits)((Floats)magnitude + 0.5f) - 0x3f000000u;  // the addition rounds
  Bits h = magnitude < 0x38800000u ? subnormal : normal;
  h = magnitude >= 0x477ff000u ? Bits{} + 0x7c00u : h;  // rounds to infinity
  h = magnitude > 0x7f800000u ? Bits{} + 0x7e00u : h;   // NaN
  return __builtin_convertvector(h | sign, Halves);
}

template <class Half>
COTAN_SIMD_TARGET void widen_run(const Half* from, float* to, std::int64_t count) {
  for (std::int64_t i = 0; i < count; i += lanes_of_floats) {
    const std::size_t n = std::min<std::int64_t>(lanes_of_floats, count - i);
    Halves halves{};
    if (n == sizeof(Floats) / sizeof(float))
      std::memcpy(&halves, from + i, sizeof halves);
    else
      std::memcpy(&halves, from + i, n * sizeof(Half));
    const Floats floats = widen(halves, Half());
    if (n == sizeof(Floats) / sizeof(float))
      std::memcpy(to + i, &floats, sizeof floats);
    else
      std::memcpy(to + i, &floats, n * sizeof(float));
  }
}

template <class Half>
COTAN_SIMD_TARGET void narrow_run(const float* from, Half* to, std::int64_t count) {
  for (std::int64_t i = 0; i < count; i += lanes_of_floats) {
    const std::size_t n = std::min<std::int64_t>(lanes_of_floats, count - i);
    Floats floats{};
    if (n == sizeof(Floats) / sizeof(float))
      std::memcpy(&floats, from + i, sizeof floats);
    else
      std::memcpy(&floats, from + i, n * sizeof(float));
    const Halves halves = narrow(floats, Half());
    if (n == sizeof(Floats) / sizeof(float))
      std::memcpy(static_cast<void*>(to + i), &halves, sizeof halves);
    else
      std::memcpy(static_cast<void*>(to + i), &halves, n * sizeof(Half));
  }
}

constexpr HalfConversions make_half_conversions() {
  return {widen_run<float16>, widen_run<bfloat16>, narrow_run<float16>, narrow_run<bfloat16>};
}

}  // namespace
}  // namespace cotan::native
