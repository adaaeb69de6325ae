// What is switched on this thread: gradients, the region of a checkpoint, lower precision.
#pragma once
#include <cotan/torch/tensor.hpp>

#include "torch/graph/node.hpp"

namespace cotan::torch::detail {

struct Modes {
  bool gradients = true;
  std::shared_ptr<const Region> region;  ///< of checkpoint
  bool in_step = false;                  ///< nothing runs before its end
  std::optional<DType> autocast;         ///< the lower precision
};
Modes& modes();

}  // namespace cotan::torch::detail
