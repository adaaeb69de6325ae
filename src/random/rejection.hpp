// Samplers by rejection, as primitives: elementwise, so that vmap and derivatives do not see their loops, and composed
// of other operations, so that every device runs them. Operands are words of keys and positions, then parameters.
#pragma once
#include "ops/elementwise.hpp"
#include "random/sampling.hpp"

namespace cotan::random {

// gamma_variates.cpp: of a key for each element and the shape parameter
extern const Primitive random_gamma_p, random_loggamma_p;
// poisson.cpp, binomial.cpp: of a key, positions, and the rate, or how many tries and their probability
extern const Primitive random_knuth_p, random_inversion_p;

/// The first `words` operands are u32, the rest floats of one dtype, which is that of the result.
template <std::size_t words>
Types sampler_type(const Primitive& self, std::span<const AbstractValue> x, const Params&) {
  const Shape shape = ops::elementwise_shape(self, x);
  for (std::size_t i = 0; i < x.size(); ++i)
    if (x[i].dtype != (i < words ? DType::u32 : x.back().dtype))
      raise<TypeError>("[{}] operand {} is {}; words are u32, and parameters of one dtype.", self.name, i, x[i]);
  ops::check_dtype(self, x.back().dtype, ops::Accepts::floating);
  return {{x.back().dtype, shape, false}};
}

using Sampler = Array (*)(std::span<const Array>);
/// The sampler gets operands of the result's shape, but words that all elements share as 0-d.
template <std::size_t words, Sampler sampler>
Arrays sampler_eval(const Primitive& self, std::span<const Array> x, const Params& params) {
  const Shape shape = self.type(self, types_of(x), params)[0].shape;
  Arrays in(x.begin(), x.end());
  for (std::size_t i = words; i < in.size(); ++i) in[i] = ops::broadcast_to(ops::cast(in[i], in[i].dtype()), shape);
  return {sampler(in)};
}
template <std::size_t words, Sampler sampler>
Primitive rejection_sampler(std::string_view name, std::vector<PartialRule> partials = {}) {
  return {.name = name,
          .op_class = OpClass::routine,
          .type = sampler_type<words>,
          .eval = sampler_eval<words, sampler>,
          .partials = partials,
          .batch = ops::elementwise_batch,
          .not_differentiable = partials.empty(),
          .is_composed = true};
}

}  // namespace cotan::random
