#include "backend/native/routines/conv_loops.hpp"

#include <cstdlib>
#include <numeric>

namespace cotan::native {
namespace {

/// Every `place_every`-th place from `first_place` with every `tap_every`-th tap from `first_tap`: those meet
/// consecutive elements of lhs.
struct Phase {
  std::int64_t first_place, place_every, places;
  std::int64_t first_tap, tap_every, taps;
  std::int64_t origin, place_step, tap_step;  // along the axis of lhs
};

/// Taps that fall on padding wherever the window is are removed. The others meet lhs somewhere, so that if a loop of
/// one step can leave lhs, another loop says so as well.
void drop_idle_taps(Phase& phase, std::int64_t size) {
  const std::int64_t reach = (phase.places - 1) * phase.place_step;
  for (; phase.taps > 0 && phase.origin + reach < 0; --phase.taps) {
    phase.origin += phase.tap_step;
    phase.first_tap += phase.tap_every;
  }
  while (phase.taps > 0 && phase.origin + (phase.taps - 1) * phase.tap_step >= size) --phase.taps;
}

std::vector<Phase> phases_of(const ConvSpatialAxis& a) {
  const std::int64_t place_divisor = std::gcd(a.stride, a.lhs_dilation),
                     tap_divisor = std::gcd(a.rhs_dilation, a.lhs_dilation);
  Phase phase{};
  phase.place_every = a.lhs_dilation / place_divisor;
  phase.tap_every = a.lhs_dilation / tap_divisor;
  phase.place_step = a.stride / place_divisor;
  phase.tap_step = a.rhs_dilation / tap_divisor;
  std::vector<Phase> phases;
  for (std::int64_t place = 0; place < std::min(phase.place_every, a.out_size); ++place) {
    const auto spread = [&](std::int64_t tap) { return place * a.stride + tap * a.rhs_dilation - a.padding_low; };
    std::int64_t tap = 0;
    const std::int64_t end = std::min(phase.tap_every, a.window);
    while (tap < end && spread(tap) % a.lhs_dilation != 0) ++tap;
    phase.first_place = place;
    phase.places = (a.out_size - place - 1) / phase.place_every + 1;
    phase.first_tap = tap;
    phase.taps = tap < end ? (a.window - tap - 1) / phase.tap_every + 1 : 0;
    phase.origin = phase.taps ? spread(tap) / a.lhs_dilation : 0;
    drop_idle_taps(phase, a.lhs_size);
    phases.push_back(phase);
  }
  return phases;
}

void add_axis(ConvLoops& loops, const ConvSpatialAxis& a, const Phase& p) {
  const std::int64_t last = p.origin + (p.places - 1) * p.place_step + (p.taps - 1) * p.tap_step;
  const bool leaves = p.origin < 0 || last >= a.lhs_size;
  const int slides = static_cast<int>(loops.origin.size()), axis = leaves ? slides : -1;
  loops.origin.push_back(p.origin);
  loops.extent.push_back(a.lhs_size);
  loops.lhs += p.origin * a.lhs;
  loops.rhs += p.first_tap * a.rhs;
  loops.out += p.first_place * a.out;
  loops.positions.push_back({p.places, p.place_step * a.lhs, 0, p.place_every * a.out, axis, p.place_step, slides});
  loops.reduction.push_back({p.taps, p.tap_step * a.lhs, p.tap_every * a.rhs, 0, axis, p.tap_step, slides});
}

/// In the order of lhs in memory, since most of the elements that are moved are read there; without loops of
/// one step, and with those joined that are one in memory.
std::vector<ConvLoop> tidied(std::vector<ConvLoop> loops) {
  std::stable_sort(loops.begin(), loops.end(),
                   [](const ConvLoop& x, const ConvLoop& y) { return std::abs(x.lhs) > std::abs(y.lhs); });
  std::vector<ConvLoop> out;
  for (const ConvLoop& inner : loops) {
    if (inner.size == 1) continue;
    if (!out.empty()) {
      const ConvLoop& outer = out.back();
      const auto follows = [&](std::int64_t ConvLoop::* operand) {
        return outer.*operand == inner.size * inner.*operand;
      };
      if (outer.axis < 0 && inner.axis < 0 && follows(&ConvLoop::lhs) && follows(&ConvLoop::rhs) &&
          follows(&ConvLoop::out)) {
        const std::int64_t size = outer.size * inner.size;
        out.back() = inner;
        out.back().size = size;
        out.back().slides = -1;
        continue;
      }
    }
    out.push_back(inner);
  }
  if (out.empty()) out.push_back({});
  return out;
}

ConvLoop fixed(const ConvAxis& a) { return {a.size, a.lhs, a.rhs, a.out}; }

}  // namespace

std::vector<ConvLoops> loops_of(const Convolution& problem) {
  ConvLoops start;
  start.groups = fixed(problem.groups);
  start.features = fixed(problem.out_features);
  start.positions = {fixed(problem.batch)};
  start.reduction = {fixed(problem.in_features)};
  std::vector<ConvLoops> all = {start};
  for (const ConvSpatialAxis& axis : problem.spatial) {
    std::vector<ConvLoops> longer;
    for (const Phase& phase : phases_of(axis))
      for (const ConvLoops& loops : all) {
        longer.push_back(loops);
        add_axis(longer.back(), axis, phase);
      }
    all = std::move(longer);
  }
  for (ConvLoops& loops : all) {
    loops.positions = tidied(std::move(loops.positions));
    loops.reduction = tidied(std::move(loops.reduction));
  }
  return all;
}

std::int64_t steps(const std::vector<ConvLoop>& loops) {
  std::int64_t n = 1;
  for (const ConvLoop& loop : loops) n *= loop.size;
  return n;
}

std::int64_t offset_at(const std::vector<ConvLoop>& loops, std::int64_t index, std::int64_t ConvLoop::* operand) {
  std::int64_t offset = 0;
  for (auto loop = loops.rbegin(); loop != loops.rend(); ++loop) {
    offset += index % loop->size * ((*loop).*operand);
    index /= loop->size;
  }
  return offset;
}

std::int64_t even_steps(const std::vector<ConvLoop>& loops, std::int64_t ConvLoop::* operand) {
  std::int64_t n = loops.back().size;
  for (auto loop = loops.rbegin() + 1; loop != loops.rend(); ++loop) {
    if ((*loop).*operand != n * (loops.back().*operand)) break;
    n *= loop->size;
  }
  return n;
}

void add_coordinates(const std::vector<ConvLoop>& loops, std::int64_t index, std::int64_t* at) {
  for (auto loop = loops.rbegin(); loop != loops.rend(); index /= loop++->size)
    if (loop->axis >= 0) at[loop->axis] += index % loop->size * loop->step;
}

std::vector<std::size_t> axes_to_check(const ConvLoops& loops, const ConvLoop& innermost) {
  std::vector<std::size_t> axes;
  for (int axis = 0; axis < static_cast<int>(loops.extent.size()); ++axis) {
    const auto leaves = [&](const ConvLoop& loop) { return loop.axis == axis; };
    if (axis != innermost.axis && (std::any_of(loops.positions.begin(), loops.positions.end(), leaves) ||
                                   std::any_of(loops.reduction.begin(), loops.reduction.end(), leaves)))
      axes.push_back(static_cast<std::size_t>(axis));
  }
  return axes;
}

}  // namespace cotan::native
