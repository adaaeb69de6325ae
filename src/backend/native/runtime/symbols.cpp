#include "backend/native/runtime/symbols.hpp"

#include <cmath>

#include "ops/scalar_math.hpp"

extern "C" {
int cotan_native_routine(void*, std::int64_t, void* const*);
int cotan_native_failed(void*);
const void* cotan_native_step(void*, std::int64_t);
void cotan_native_mark(std::int64_t*, std::int64_t);
int cotan_native_parallel(void (*)(void* const*, std::int64_t, std::int64_t), void* const*, std::int64_t, std::int64_t);
}

namespace cotan::native {

namespace {

template <class F>
const void* address(F* f) {
  return reinterpret_cast<const void*>(f);
}
/// A function of scalar_math under its two names.
template <class F, class D>
void add(std::vector<RuntimeSymbol>& list, std::string_view f32, std::string_view f64, F* single, D* twice) {
  list.push_back({f32, address(single)});
  list.push_back({f64, address(twice)});
}
#define COTAN_MATH(name) \
  add(out, "cotan_" #name "_f32", "cotan_" #name "_f64", &scalar_math::name<float>, &scalar_math::name<double>)

float fmod_f32(float a, float b) { return std::fmod(a, b); }
double fmod_f64(double a, double b) { return std::fmod(a, b); }

}  // namespace

std::vector<RuntimeSymbol> runtime_symbols() {
  std::vector<RuntimeSymbol> out{{"cotan_native_routine", address(&cotan_native_routine)},
                                 {"cotan_native_failed", address(&cotan_native_failed)},
                                 {"cotan_native_step", address(&cotan_native_step)},
                                 {"cotan_native_mark", address(&cotan_native_mark)},
                                 {"cotan_native_parallel", address(&cotan_native_parallel)}};
  COTAN_MATH(sin);
  COTAN_MATH(cos);
  COTAN_MATH(tan);
  COTAN_MATH(log);
  COTAN_MATH(lgamma);
  COTAN_MATH(digamma);
  COTAN_MATH(polygamma);
  COTAN_MATH(erf_inv);
  add(out, "cotan_fmod_f32", "cotan_fmod_f64", &fmod_f32, &fmod_f64);
  return out;
}

}  // namespace cotan::native
