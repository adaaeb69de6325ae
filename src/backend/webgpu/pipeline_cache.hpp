// Compiled pipelines on disk, for the next start: Dawn asks for them and hands them over. Other implementations of
// WebGPU know nothing of this.
#pragma once
#include <cstdint>

#include "backend/webgpu/api.hpp"

namespace cotan::webgpu {

/// Goes into the chain of a device's descriptor; nullptr where nothing is to be kept (COTAN_CACHE_DIR=off), or where
/// the library is not Dawn. Lives as long as the process.
WGPUChainedStruct* pipeline_cache_descriptor();

/// Of this process.
struct PipelineCacheCounts {
  std::uint64_t found = 0, missed = 0, stored = 0, failed = 0;
};
PipelineCacheCounts pipeline_cache_counts();

}  // namespace cotan::webgpu
