// A program that is ready to run on the device: shaders, and how to call them.
#pragma once
#include <mutex>

#include "backend/gpu/plan.hpp"
#include "backend/webgpu/memory.hpp"
#include "backend/webgpu/timeline.hpp"
#include "compiler/donation.hpp"
#include "core/backend.hpp"
#include "lowering/pipeline.hpp"

namespace cotan::webgpu {

using compiler::Storage;
using gpu::BufferId;
using gpu::Plan;
using gpu::Shader;

const lowering::Target& webgpu_target();

/// The device "webgpu".
Backend& backend();

class Executable {
 public:
  Executable(const JaxprPtr& jaxpr, Backend& backend);
  /// Where `donated`, an argument's memory may become a result's.
  Arrays run(std::span<const Array> args, const std::vector<bool>* donated) const;
  const Plan& plan() const { return plan_; }
  const compiler::Donations& donations() const { return *donations_; }
  /// Of the calls that were profiled.
  ProgramTimes& times() const { return *times_; }

 private:
  class Call;
  void compute_constants() const;
  Backend& backend_;
  Plan plan_;
  std::unique_ptr<Executable> constants_program_;
  mutable std::once_flag computed_;
  mutable std::vector<std::unique_ptr<Memory>> constants_;  ///< further arguments, the same in every call
  std::unique_ptr<compiler::Donations> donations_;
  std::shared_ptr<ProgramTimes> times_ = std::make_shared<ProgramTimes>();
};
const Executable& executable_of(const JaxprPtr& jaxpr, Backend& backend);
void clear_cache();
void explain(const JaxprPtr& jaxpr, const std::vector<bool>* donated, Explanation& out);

}  // namespace cotan::webgpu
