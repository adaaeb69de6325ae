// What is switched on this thread: gradients, the region of a checkpoint, lower precision.
#pragma once
#include <cotan/torch/tensor.hpp>

namespace cotan::torch::detail {

struct Modes {
  bool gradients = true;
  std::uint32_t region = 0;       ///< of checkpoint; 0: none
  std::optional<DType> autocast;  ///< the lower precision
};
Modes& modes();

}  // namespace cotan::torch::detail
