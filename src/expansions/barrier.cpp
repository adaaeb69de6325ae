// What a device has no routine for, and what says nothing of elements: barriers, and which platform runs a program.
#include "expansions/tools.hpp"

namespace cotan::expansions {

namespace {

/// Where no routine copies, the barrier has done its work once programs are as they will be.
Arrays barrier(const Primitive&, std::span<const Array> x, const Params&) { return {x.begin(), x.end()}; }
/// Devices that expand all routines are GPUs: there is one.
Arrays platform_index(const Primitive&, std::span<const Array>, const Params& params) {
  return {scalar(DType::i32, ops::number_of_platform(params, "webgpu"))};
}

const RuleFor<Expansion> expands_barrier{{&ops::optimization_barrier_p}, {barrier}};
const RuleFor<Expansion> expands_platform_index{{&ops::platform_index_p}, {platform_index}};

}  // namespace

}  // namespace cotan::expansions
