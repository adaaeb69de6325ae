// The numbers of optional features. webgpu.h has renumbered them once, and the library that is loaded need not be as
// new as the header that cotan was compiled with.
#pragma once
#include "backend/webgpu/api.hpp"

namespace cotan::webgpu {

struct FeatureNumbers {
  WGPUFeatureName f16, subgroups, timestamps;
};
/// Of the library that is loaded.
const FeatureNumbers& feature_numbers(WGPUInstance instance);

}  // namespace cotan::webgpu
