#include "compiler/donation.hpp"

#include <algorithm>

#include "compiler/memory.hpp"
#include "core/buffer.hpp"

namespace cotan::compiler {

std::vector<std::vector<int>> reusable_arguments(const Program& program, std::span<const int> units,
                                                 const std::vector<bool>& side_by_side) {
  const auto buffer = [&](BufferId b) -> const Buffer& { return program.buffers[static_cast<std::size_t>(b)]; };
  const auto unit = [&](int step) { return step < 0 || units.empty() ? step : units[static_cast<std::size_t>(step)]; };
  const auto is_alone = [&](int step) {
    return units.empty() || std::count(units.begin(), units.end(), units[static_cast<std::size_t>(step)]) == 1;
  };
  std::vector<int> last_read(program.buffers.size(), -1), read_before(program.buffers.size(), -1);
  struct FirstWrite {
    int step = -1;
    BufferId by = -1;  // the output itself, or a temporary that lives in its memory
  };
  std::vector<FirstWrite> first_write(program.outputs.size());
  for (int s = 0; s < static_cast<int>(program.steps.size()); ++s) {
    const Step& step = program.steps[static_cast<std::size_t>(s)];
    for (BufferId b : all_reads_of(program, step)) {
      if (last_read[static_cast<std::size_t>(b)] != s) read_before[static_cast<std::size_t>(b)] = last_read[static_cast<std::size_t>(b)];
      last_read[static_cast<std::size_t>(b)] = s;
    }
    for (BufferId b : all_writes_of(program, step)) {
      if (buffer(b).storage != Storage::output) continue;
      FirstWrite& first = first_write[static_cast<std::size_t>(buffer(b).place)];
      if (first.step < 0) first = {s, b};
    }
  }
  std::vector<std::vector<int>> out(program.outputs.size());
  for (std::size_t k = 0; k < program.outputs.size(); ++k) {
    const auto [at, by] = first_write[k];
    if (at < 0) continue;
    for (std::size_t j = 0; j < program.inputs.size(); ++j) {
      const BufferId input = program.inputs[j];
      const bool returned = std::any_of(program.outputs.begin(), program.outputs.end(),
                                        [&](const Output& o) { return o.buffer == input; });
      const int last = last_read[static_cast<std::size_t>(input)];
      if (returned || last > at || buffer(input).bytes() != buffer(program.outputs[k].buffer).bytes()) continue;
      // Steps side by side may overwrite what none of the others reads.
      const bool alone = is_alone(at) || (!side_by_side.empty() && side_by_side[static_cast<std::size_t>(at)] &&
                                          unit(read_before[static_cast<std::size_t>(input)]) < unit(at));
      const bool in_place = last == at && alone &&
                            can_overwrite(program, program.steps[static_cast<std::size_t>(at)], input, by);
      if (unit(last) < unit(at) || in_place) out[k].push_back(static_cast<int>(j));
    }
  }
  return out;
}

bool is_sole_owner(std::span<const Array> args, std::size_t k) {
  const auto* c = concrete(args[k]);
  if (c->buffer.use_count() > 1) return false;
  for (std::size_t j = 0; j < args.size(); ++j)
    if (j != k && args[j].value() == args[k].value()) return false;
  return true;
}

}  // namespace cotan::compiler
