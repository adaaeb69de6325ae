#include "backend/gpu/target.hpp"

#include "backend/gpu/elements.hpp"
#include "backend/gpu/routines/attention.hpp"
#include "backend/gpu/routines/cumulative.hpp"
#include "backend/gpu/routines/matmul.hpp"
#include "backend/gpu/routines/radix_sort.hpp"
#include "backend/gpu/routines/runs.hpp"
#include "compiler/memory.hpp"
#include "core/error.hpp"

namespace cotan::gpu {

namespace {

bool prefers_routine(const Primitive& p, std::span<const AbstractValue> types, const Params& params) {
  return is_matmul(p) && prefers_matmul(types, params);
}
bool takes_strides(const Primitive& p, const AbstractValue&) { return is_matmul(p) || is_attention(p); }

std::size_t item_bytes(DType) { return element_bytes; }

/// Inside loops everything is expanded: one shader can hold it all.
bool is_expanded_in_loops(const Primitive&, std::span<const AbstractValue>, const Params&) { return true; }

}  // namespace

bool is_expanded(const Primitive& p, std::span<const AbstractValue> types, const Params& params,
                 const Capabilities& device) {
  return !prefers_cumulative(p, types, params) && !prefers_counting_sort(p, types, device) &&
         !prefers_radix_sort(p, types, device) && !prefers_sum_of_runs(p) &&
         !prefers_attention(p, types, params, device);
}

void check_size(const AbstractValue& type, std::string_view device) {
  constexpr std::int64_t most = std::int64_t{1} << 30;  // indices are i32, in elements
  checked_bytes(type, "jit");
  if (type.size() >= most)
    raise<OutOfMemoryError>("[jit] the device '{}' has no room for {}; work in smaller pieces.", device, type);
}

lowering::Target target_of(const Capabilities& device, Wanted is_expanded, void (*check_size)(const AbstractValue&)) {
  lowering::Target out{.expands = is_expanded, .expands_in_loops = is_expanded_in_loops};
  out.shares_scans = 2048;  // so many groups run side by side
  out.sinks_outputs = out.puts_rows_in_lanes = out.splits_constants = true;
  out.control = {.keep_lanes = true, .in_levels = true};
  compiler::Target& t = out.compiler = {.prefers_routine = prefers_routine, .takes_strides = takes_strides};
  t.lane_bytes = element_bytes;  // a lane is a thread or a group of them: none are side by side in an array
  t.lane_equations = 4000;
  t.check_size = check_size;
  t.item_bytes = item_bytes;
  t.keeps_rows = false;
  t.block_bytes = static_cast<std::int64_t>(device.block_bytes());
  t.joins_alike = t.pads_rows = true;
  t.parallel_work = 0;
  t.parallel_pieces = std::int64_t{1} << 40;
  t.small_bytes = 4096;
  // Of what a group shares, after what reductions want; the more the better up to a point.
  constexpr std::size_t reductions = 4 << 10, enough = 24 << 10;
  t.kept_close_bytes = 6 << 10;
  t.local_bytes = std::min(enough, device.workgroup_bytes - reductions - t.kept_close_bytes);
  t.cut = {.long_reduction = 1 << 14, .few_results = 1 << 13, .piece_elements = 1 << 12, .most_pieces = 1024};
  return out;
}

}  // namespace cotan::gpu
