#include <fmt/format.h>

#include <cotan/torch/func.hpp>
#include <cotan/torch/run.hpp>

#include "torch/graph/op.hpp"

namespace cotan::torch::func::detail {

namespace {
thread_local int transforms = 0;
}

TransformScope::TransformScope() {
  if (transforms++ == 0) mark_step();
}
TransformScope::~TransformScope() { --transforms; }

std::string path(std::size_t i) { return fmt::format("tensor {}", i); }

void raise_not_scalar(std::string_view transform, std::size_t tensors) {
  throw_with_line<ValueError>(fmt::format("[{}] the function must give one tensor, not {}.", transform, tensors));
}
void raise_unknown_name(const std::string& name) {
  throw_with_line<ValueError>(
      fmt::format("[functional_call] the module has no parameter or buffer \"{}\"; names are those of "
                  "named_parameters().",
                  name));
}

}  // namespace cotan::torch::func::detail
