// Reductions of one shape that give little, such as the norms of all gradients, follow each other: devices that run
// alike kernels as one (backend/gpu/alike.cpp) then find them, and memory is planned so that none waits for another's.
#include "compiler/side_by_side.hpp"

#include <algorithm>
#include <map>

#include "compiler/memory.hpp"
#include "ops/matrix_product.hpp"

namespace cotan::compiler {

namespace {

/// A step and those that were put behind it.
struct Unit {
  std::vector<std::size_t> steps;
  std::vector<BufferId> reads, writes;  ///< sorted
};

using Shape = std::vector<std::int64_t>;

/// By which kernels are alike: loops, and how much there is in each pass.
Shape shape_of(const Kernel& kernel) {
  Shape out;
  for (const Loop& l : kernel.loops) out.insert(out.end(), {l.extent, l.length, l.reduced});
  for (const Pass& p : kernel.passes)
    for (const std::size_t n : {p.reductions.size(), p.stores.size(), p.rows.size()})
      out.push_back(static_cast<std::int64_t>(n));
  return out;
}

bool gives_little(const Program& program, const Kernel& kernel) {
  constexpr std::int64_t little = 1 << 13;
  const bool reduces = std::any_of(kernel.loops.begin(), kernel.loops.end(), [](const Loop& l) { return l.reduced; });
  std::int64_t elements = 0;
  for (const Pass& p : kernel.passes)
    for (const auto* stores : {&p.stores, &p.rows})
      for (const Store& s : *stores) elements += program.buffers[static_cast<std::size_t>(s.buffer)].type.size();
  return reduces && elements <= little;
}

bool meet(const std::vector<BufferId>& a, const std::vector<BufferId>& b) {
  return std::any_of(a.begin(), a.end(), [&](BufferId x) { return std::binary_search(b.begin(), b.end(), x); });
}
bool must_stay_behind(const Unit& later, const Unit& earlier) {
  return meet(later.reads, earlier.writes) || meet(later.writes, earlier.reads) || meet(later.writes, earlier.writes);
}
void add_sorted(std::vector<BufferId>& to, const std::vector<BufferId>& more) {
  to.insert(to.end(), more.begin(), more.end());
  std::sort(to.begin(), to.end());
}

Routine* product_in(Step& step) {
  auto* routine = std::get_if<Routine>(&step);
  return routine && is_matrix_product(*routine->primitive) ? routine : nullptr;
}

void pair_products(Program& program) {
  for (std::size_t k = 1; k < program.steps.size(); ++k) {
    const Routine* before = product_in(program.steps[k - 1]);
    Routine* own = product_in(program.steps[k]);
    if (!before || !own || before->beside_last) continue;
    const auto unit = [&](const Step& step) {
      Unit out;
      add_sorted(out.reads, all_reads_of(program, step));
      add_sorted(out.writes, all_writes_of(program, step));
      return out;
    };
    own->beside_last = !must_stay_behind(unit(program.steps[k]), unit(program.steps[k - 1]));
  }
}

}  // namespace

void put_side_by_side(Program& program) {
  constexpr std::size_t furthest = 512;  // steps that one may pass
  std::vector<Unit> units;
  std::map<Shape, std::size_t> last;
  for (std::size_t k = 0; k < program.steps.size(); ++k) {
    Unit own{{k}, {}, {}};
    add_sorted(own.reads, all_reads_of(program, program.steps[k]));
    add_sorted(own.writes, all_writes_of(program, program.steps[k]));
    const auto* kernel = std::get_if<Kernel>(&program.steps[k]);
    if (kernel && gives_little(program, *kernel)) {
      const auto [at, is_first] = last.try_emplace(shape_of(*kernel), units.size());
      const auto from = units.begin() + static_cast<std::ptrdiff_t>(at->second);
      if (!is_first && units.size() - at->second <= furthest &&
          std::none_of(from, units.end(), [&](const Unit& u) { return must_stay_behind(own, u); })) {
        from->steps.push_back(k);
        add_sorted(from->reads, own.reads);
        add_sorted(from->writes, own.writes);
        continue;
      }
      at->second = units.size();
    }
    units.push_back(std::move(own));
  }
  std::vector<Step> ordered;
  for (const Unit& u : units)
    for (std::size_t k : u.steps) ordered.push_back(std::move(program.steps[k]));
  program.steps = std::move(ordered);
  pair_products(program);
}

}  // namespace cotan::compiler
