#include "backend/gpu/alike.hpp"

#include <algorithm>
#include <map>

#include "backend/gpu/codegen/loop.hpp"
#include "compiler/memory.hpp"

namespace cotan::gpu {

namespace {

/// A part of the memory of a program. Arguments that become results are not known yet: who decides on them sees the
/// order that steps are in after this.
struct Touched {
  Storage storage;
  std::int64_t from, to;
  bool overlaps(const Touched& o) const { return storage == o.storage && from < o.to && o.from < to; }
};

/// Steps that run at the same time.
struct Unit {
  std::vector<std::size_t> steps;
  std::vector<Touched> reads, writes;
};

void add_touched(const Program& program, const std::vector<BufferId>& buffers, std::vector<Touched>& out) {
  for (BufferId id : buffers) {
    const compiler::Buffer& b = program.buffers[static_cast<std::size_t>(program.root(id))];
    if (b.storage == Storage::arena)
      out.push_back({b.storage, b.place, b.place + std::max<std::int64_t>(compiler::stride_of(b) * b.copies, 1)});
    else if (b.storage == Storage::input || b.storage == Storage::output)
      out.push_back({b.storage, b.place, b.place + 1});
  }
}
bool any_overlap(const std::vector<Touched>& a, const std::vector<Touched>& b) {
  return std::any_of(a.begin(), a.end(), [&](const Touched& x) {
    return std::any_of(b.begin(), b.end(), [&](const Touched& y) { return x.overlaps(y); });
  });
}
bool must_stay_behind(const Unit& later, const Unit& earlier) {
  return any_overlap(later.reads, earlier.writes) || any_overlap(later.writes, earlier.reads) ||
         any_overlap(later.writes, earlier.writes);
}

}  // namespace

std::vector<AlikeSteps> group_alike_steps(Program& program, const Capabilities& device) {
  constexpr std::size_t most_instances = 1024, worth_of_small = 8, worth_of_sums = 5;
  constexpr std::int64_t long_sum = 128;
  std::vector<Step>& steps = program.steps;
  std::vector<Shader> shaders(steps.size());
  using Key = std::tuple<std::string, std::array<std::uint32_t, 3>, std::uint32_t>;
  std::map<Key, int> seen;
  const auto key_of = [&](std::size_t k) { return Key{shaders[k].text, shaders[k].groups, shaders[k].threads}; };
  // Only kernels of one shape can be alike, and most programs have none: shaders are written for those that may be.
  std::map<std::pair<std::string, std::vector<std::int64_t>>, int> shapes;
  const auto shape_of = [](const Kernel& kernel) {
    const std::size_t scope = kernel.name.rfind(": ");  // whatever part of the program it is for
    const std::size_t own = scope == std::string::npos ? 0 : scope + 2;
    std::pair<std::string, std::vector<std::int64_t>> out{kernel.name.substr(own), {}};
    for (const compiler::Loop& l : kernel.loops) out.second.push_back(l.extent);
    return out;
  };
  for (const Step& step : steps)
    if (const auto* kernel = std::get_if<Kernel>(&step)) ++shapes[shape_of(*kernel)];
  for (std::size_t k = 0; k < steps.size(); ++k) {
    const auto* kernel = std::get_if<Kernel>(&steps[k]);
    if (!kernel || kept_count(*kernel) == 0 || shapes[shape_of(*kernel)] < 2) continue;
    shaders[k] = kernel_shader(program, *kernel, {}, device);
    ++seen[key_of(k)];
  }
  std::vector<Unit> units;
  std::map<Key, std::size_t> open;  // where the next one may join
  for (std::size_t k = 0; k < steps.size(); ++k) {
    Unit own{{k}, {}, {}};
    add_touched(program, compiler::all_reads_of(program, steps[k]), own.reads);
    add_touched(program, compiler::all_writes_of(program, steps[k]), own.writes);
    const bool may_join = !shaders[k].text.empty() && seen[key_of(k)] > 1;
    if (may_join) {
      const auto at = open.find(key_of(k));
      const std::size_t most = std::min<std::size_t>(
          most_instances, (device.uniform_bytes / 4 - 1) / std::max<std::size_t>(shaders[k].slots.size(), 1));
      if (at != open.end() && units[at->second].steps.size() < most &&
          std::none_of(units.begin() + static_cast<std::ptrdiff_t>(at->second), units.end(),
                       [&](const Unit& u) { return must_stay_behind(own, u); })) {
        Unit& unit = units[at->second];
        unit.steps.push_back(k);
        unit.reads.insert(unit.reads.end(), own.reads.begin(), own.reads.end());
        unit.writes.insert(unit.writes.end(), own.writes.begin(), own.writes.end());
        continue;
      }
      open[key_of(k)] = units.size();
    }
    units.push_back(std::move(own));
  }
  std::vector<AlikeSteps> out;
  std::vector<Step> ordered;
  for (const Unit& unit : units) {
    const std::size_t first = ordered.size(), count = unit.steps.size();
    // Few small ones are better off with what else is small.
    const auto* kernel = std::get_if<Kernel>(&steps[unit.steps[0]]);
    const bool small = fits_one_group(program, steps[unit.steps[0]], device);
    const std::size_t worth = !small                                         ? 2
                              : kernel && reduced_count(*kernel) >= long_sum ? worth_of_sums
                                                                             : worth_of_small;
    if (count >= worth && count > 1) {
      AlikeSteps alike{first, count, shaders[unit.steps[0]]};
      for (std::size_t k = 1; k < count; ++k)
        alike.shader.slots.insert(alike.shader.slots.end(), shaders[unit.steps[k]].slots.begin(),
                                  shaders[unit.steps[k]].slots.end());
      alike.shader.instances = static_cast<std::uint32_t>(count);
      alike.shader.groups[2] = static_cast<std::uint32_t>(count);
      alike.shader.text = fmt::format("// {} alike\n", count) + alike.shader.text;
      out.push_back(std::move(alike));
    }
    for (std::size_t k : unit.steps) ordered.push_back(std::move(steps[k]));
  }
  steps = std::move(ordered);
  return out;
}

}  // namespace cotan::gpu
