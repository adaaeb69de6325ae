// Functions of samplers, element by element: exact fused multiply-adds on every machine, fast where there is an
// instruction for them.
#pragma once
#include <cmath>

#include "ops/elementwise.hpp"

#define COTAN_INLINE [[gnu::always_inline]] inline

namespace cotan::ops {

using Xs = std::span<const expr::Expr>;

/// c[0] x^n + … + c[n], each step rounded once.
template <class T, std::size_t n>
COTAN_INLINE T horner(T x, const T (&c)[n]) {
  T y = c[0];
  for (std::size_t i = 1; i < n; ++i) y = std::fma(y, x, c[i]);
  return y;
}

/// y[i] = F::of(x[i]...): operand k moves by steps[k] elements.
template <class F, class T, std::size_t... k>
COTAN_INLINE void map(const T* const* x, const std::int64_t* steps, T* y, std::int64_t n, std::index_sequence<k...>) {
  for (std::int64_t i = 0; i < n; ++i) y[i] = static_cast<T>(F::of(static_cast<Compute<T>>(x[k][i * steps[k]])...));
}
// std::fma is exact everywhere but only fast as an instruction, which x86-64 compilers may not assume.
#if defined(__x86_64__) && defined(__GNUC__)
template <class F, std::size_t operands, class T>
[[gnu::target("fma")]] void map_with_fma(const T* const* x, const std::int64_t* steps, T* y, std::int64_t n) {
  map<F>(x, steps, y, n, std::make_index_sequence<operands>());
}
template <class F, std::size_t operands, class T>
void map_operands(const T* const* x, const std::int64_t* steps, T* y, std::int64_t n) {
  static const bool has_fma = __builtin_cpu_supports("fma");
  if (has_fma)
    map_with_fma<F, operands>(x, steps, y, n);
  else
    map<F>(x, steps, y, n, std::make_index_sequence<operands>());
}
#else
template <class F, std::size_t operands, class T>
void map_operands(const T* const* x, const std::int64_t* steps, T* y, std::int64_t n) {
  map<F>(x, steps, y, n, std::make_index_sequence<operands>());
}
#endif

template <class F, std::size_t operands>
Arrays sampler_eval(const Primitive& self, std::span<const Array> x, const Params& params) {
  auto [out, buffer] = allocate_like(x, self.type(self, types_of(x), params)[0]);
  dispatch_floating(out.dtype(), self.name, [&, &b = buffer, n = out.size()]<class T>() {
    const T* in[operands];
    std::int64_t steps[operands];
    for (std::size_t k = 0; k < operands; ++k) {
      in[k] = data<T>(x[k]);
      steps[k] = step(x[k], n);
    }
    map_operands<F, operands>(in, steps, reinterpret_cast<T*>(b->data()), n);
  });
  return {out};
}

template <class F, std::size_t operands = 1>
Primitive sampler_function(std::string_view name, std::vector<PartialRule> partials,
                           decltype(Primitive::scalar) scalar) {
  return {.name = name,
          .op_class = OpClass::elementwise,
          .type = elementwise_type<Accepts::floating>,
          .eval = sampler_eval<F, operands>,
          .partials = std::move(partials),
          .batch = elementwise_batch,
          .scalar = scalar};
}

}  // namespace cotan::ops
