// A network with other weights: those of a program that is being traced.
#pragma once
#include "model.hpp"

namespace gpt {

inline std::vector<cotan::Array> weights_of(const Gpt& net) {
  std::vector<cotan::Array> out;
  for (const Tensor& t : nn::parameters(net)) out.push_back(t.array());
  return out;
}
/// A copy that computes with these, in the order of weights_of.
inline Gpt with_weights(const Gpt& net, const std::vector<cotan::Array>& weights) {
  Gpt out = net;
  std::size_t next = 0;
  for (const auto& entry : nn::detail::listed(out).tensors)
    if (entry.role == nn::detail::Listing::Role::parameter) *entry.tensor = torch::from(weights[next++]);
  return out;
}

}  // namespace gpt
