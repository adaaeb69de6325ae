// A program that is ready to run on the device: shaders, and how to call them.
#pragma once
#include <mutex>

#include "backend/webgpu/memory.hpp"
#include "backend/webgpu/plan.hpp"
#include "core/backend.hpp"
#include "passes/passes.hpp"

namespace cotan::webgpu {

const compiler::Target& webgpu_target();
/// The program without operations that the device has no code for, and what of it is computed once.
SplitConstants for_device(const JaxprPtr& jaxpr);

class Executable {
 public:
  Executable(const JaxprPtr& jaxpr, Backend& backend);
  Arrays run(std::span<const Array> args, const std::vector<bool>* donated) const;
  const Plan& plan() const { return plan_; }

 private:
  class Call;
  void compute_constants() const;
  Backend& backend_;
  Plan plan_;
  std::unique_ptr<Executable> constants_program_;
  mutable std::once_flag computed_;
  mutable std::vector<std::unique_ptr<Memory>> constants_;  ///< further arguments, the same in every call
};

const Executable& executable_of(const JaxprPtr& jaxpr, Backend& backend);
void clear_cache();
void explain(const JaxprPtr& jaxpr, Explanation& out);

}  // namespace cotan::webgpu
