// Attention on devices without a routine for it: products, and a softmax.
#include "ops/attention.hpp"

#include "expansions/tools.hpp"

namespace cotan::expansions {

Arrays attention(const Primitive& p, std::span<const Array> x, const Params& params) {
  if (&p == &ops::attention_p) return ops::attention_forward(x, params);
  return &p == &ops::attention_tangent_p ? ops::attention_tangent(x, params) : ops::attention_backward(x, params);
}

}  // namespace cotan::expansions
