// Runs of float16 and bfloat16 to float and back, by the fastest instructions that this machine has.
#pragma once
#include "backend/native/routines/gemm_kernels.hpp"

namespace cotan::native {

inline void widen(const float16* from, float* to, std::int64_t n) { half_conversions().widen_f16(from, to, n); }
inline void widen(const bfloat16* from, float* to, std::int64_t n) { half_conversions().widen_bf16(from, to, n); }
inline void narrow(const float* from, float16* to, std::int64_t n) { half_conversions().narrow_f16(from, to, n); }
inline void narrow(const float* from, bfloat16* to, std::int64_t n) { half_conversions().narrow_bf16(from, to, n); }

}  // namespace cotan::native
