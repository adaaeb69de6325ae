// A program that is ready to run on the device: shaders, and how to call them.
#pragma once
#include "backend/webgpu/plan.hpp"
#include "core/backend.hpp"

namespace cotan::webgpu {

const compiler::Target& webgpu_target();
/// The program without operations that the device has no code for.
JaxprPtr with_expansions(const JaxprPtr& jaxpr);

class Executable {
 public:
  Executable(const JaxprPtr& jaxpr, Backend& backend);
  Arrays run(std::span<const Array> args, const std::vector<bool>* donated) const;
  const Plan& plan() const { return plan_; }

 private:
  class Call;
  Backend& backend_;
  Plan plan_;
};

const Executable& executable_of(const JaxprPtr& jaxpr, Backend& backend);
void clear_cache();
void explain(const JaxprPtr& jaxpr, Explanation& out);

}  // namespace cotan::webgpu
