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
      if (last_read[static_cast<std::size_t>(b)] != s)
        read_before[static_cast<std::size_t>(b)] = last_read[static_cast<std::size_t>(b)];
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
      // Steps that run side by side may overwrite only what none of the others reads.
      const bool alone = is_alone(at) || (!side_by_side.empty() && side_by_side[static_cast<std::size_t>(at)] &&
                                          unit(read_before[static_cast<std::size_t>(input)]) < unit(at));
      const bool in_place =
          last == at && alone && can_overwrite(program, program.steps[static_cast<std::size_t>(at)], input, by);
      if (unit(last) < unit(at) || in_place) out[k].push_back(static_cast<int>(j));
    }
  }
  return out;
}

Donations::Donations(const Program& program, std::span<const int> units, const std::vector<bool>& side_by_side,
                     bool same_dtype)
    : reusable_(reusable_arguments(program, units, side_by_side)) {
  for (std::size_t k = 0; k < reusable_.size(); ++k) {
    const Output& o = program.outputs[k];
    output_bytes_.push_back(
        o.buffer < 0 ? 0 : static_cast<std::int64_t>(program.buffers[static_cast<std::size_t>(o.buffer)].bytes()));
    if (same_dtype)
      std::erase_if(reusable_[k], [&](int j) {
        const BufferId input = program.inputs[static_cast<std::size_t>(j)];
        return program.buffers[static_cast<std::size_t>(input)].type.dtype != o.type.dtype;
      });
  }
}

const std::vector<int>& Donations::when(const std::vector<bool>& given_up) const {
  std::lock_guard lock(mutex_);
  for (const Decided& d : decided_)
    if (d.given_up == given_up) return d.taken;
  std::vector<int> taken;
  std::vector<bool> gone(given_up.size());
  for (const std::vector<int>& candidates : reusable_) {
    const auto at = std::find_if(candidates.begin(), candidates.end(), [&](int j) {
      const auto k = static_cast<std::size_t>(j);
      return k < given_up.size() && given_up[k] && !gone[k];
    });
    taken.push_back(at == candidates.end() ? -1 : *at);
    if (at != candidates.end()) gone[static_cast<std::size_t>(*at)] = true;
  }
  return decided_.emplace_back(Decided{given_up, std::move(taken)}).taken;
}

std::int64_t Donations::bytes_saved(const std::vector<bool>& given_up) const {
  std::int64_t bytes = 0;
  const std::vector<int>& taken = when(given_up);
  for (std::size_t k = 0; k < taken.size(); ++k)
    if (taken[k] >= 0) bytes += output_bytes_[k];
  return bytes;
}

SoleOwners::SoleOwners(std::span<const Array> args) : args_(args) {
  for (const Array& a : args) ++seen_[a.value().get()];
}
bool SoleOwners::contain(std::size_t k) const {
  return concrete(args_[k])->buffer.use_count() == 1 && seen_.at(args_[k].value().get()) == 1;
}

}  // namespace cotan::compiler
