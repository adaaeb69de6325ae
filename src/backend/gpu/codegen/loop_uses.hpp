// What steps use: for who plans a shader of several steps, and for who writes it.
#pragma once
#include <set>

#include "backend/gpu/codegen/loop.hpp"
#include "compiler/memory.hpp"

namespace cotan::gpu {

/// A kernel of so many terms is written out in full where a thread works by itself.
inline constexpr std::int64_t most_unrolled = 128;
/// An array of so many elements is as many variables there, if all that it is asked for are elements of known numbers …
inline constexpr std::int64_t most_scalars = 128;
/// … or one of so few, among which the shader can choose.
inline constexpr std::int64_t most_chosen = 8;

/// f(buffer, read, written) for every buffer that the steps use, carries and conditions included.
template <class F>
void for_each_use(std::span<const Step> steps, F&& f) {
  for (const Step& step : steps) {
    for (BufferId b : compiler::reads_of(step)) f(b, true, false);
    for (BufferId b : compiler::writes_of(step)) f(b, false, true);
    if (const auto* repeat = std::get_if<std::unique_ptr<Repeat>>(&step)) {
      for (const compiler::Carried& c : (*repeat)->carries)
        for (BufferId b : {c.start, c.in, c.out, c.result}) f(b, true, true);
      if ((*repeat)->holds >= 0) f((*repeat)->holds, true, false);
      for_each_use((*repeat)->condition, f);
      for_each_use((*repeat)->steps, f);
    }
    if (const auto* choice = std::get_if<std::unique_ptr<Choice>>(&step))
      for (const auto& branch : (*choice)->branches) for_each_use(branch, f);
  }
}
/// All buffers that are arrays of the shader's own, and their bytes.
std::set<BufferId> locals_of(const Program& program, std::span<const Step> steps);
std::size_t local_bytes(const Program& program, std::span<const Step> steps);
/// The loop that the steps are, if they are no more than that.
const Repeat* only_loop(std::span<const Step> steps);
/// Whether there are loops among the steps of a lane.
bool has_loops(const Repeat& lanes);

}  // namespace cotan::gpu
