#include "backend/gpu/codegen/loop.hpp"

#include <algorithm>

#include "backend/gpu/codegen/loop_uses.hpp"
#include "backend/gpu/codegen/loop_writer.hpp"

namespace cotan::gpu {

LoopWriter::LoopWriter(Program& program, std::span<const Step> steps, const std::string& name, const LoopPlan& plan,
                       const Surroundings& around, const Capabilities& device)
    : program_(program),
      steps_(steps),
      plan_(plan),
      device_(device),
      s_(program, name, device),
      w_(s_.body),
      order_(program, s_, is_team(plan)),
      places_(found_.places) {
  s_.whole_arena = true;
  s_.enter(around, plan.threads);
  order_.look_at(steps);
  found_ = analyze(program, steps, plan, order_,
                   {.indices = around.indices, .room = s_.room(), .subgroup_size = s_.subgroup_size});
  for (BufferId b : locals_of(program, steps)) declare(b, local_name(b));
  order_.begin(places_.own());
}

Shader LoopWriter::write() {
  const Repeat* loop = only_loop(steps_);
  if (loop && loop->parallel) return write_lanes(*loop);
  w_.keep_loads_here();
  if (plan_.chunk) {
    take_first_and_end();
    add_repeat(*loop, true);
  } else {
    add(steps_);
  }
  return s_.finish(plan_.threads, {1, 1, 1});
}

Shader LoopWriter::write_lanes(const Repeat& lanes) {
  const std::string lane = w_.new_name("lane");
  if (plan_.one_thread)
    w_.let(lane, fmt::format("i32((group.y * groups.x + group.x) * {}u + thread)", plan_.threads));
  else
    w_.let(lane, "i32(group.y * groups.x + group.x)");
  w_.line(fmt::format("if ({} >= {}) {{ return; }}", lane, lanes.length));
  bind_index(lanes, lane);
  w_.keep_loads_here();
  if (has_loops(lanes)) bring_close(lanes);  // read once, and not in every step
  plan_.chunk ? add_cut(lanes) : add(lanes.steps);
  const std::int64_t count = plan_.one_thread ? (lanes.length + plan_.threads - 1) / plan_.threads : lanes.length;
  return s_.finish(plan_.threads, grid(count, device_.groups));
}

void LoopWriter::take_first_and_end() {
  first_ = expr::variable(std::int64_t{1} << 31);
  end_ = expr::variable(std::int64_t{1} << 31);
  s_.add_index(first_);
  s_.add_index(end_);
}

/// The steps of a lane whose long loop is cut: what is before it in the first dispatch, and again where only the shader
/// has it, what is after it in the last one.
void LoopWriter::add_cut(const Repeat& lanes) {
  take_first_and_end();
  const std::span<const Step> steps(lanes.steps);
  const std::size_t at = cut_of_lanes(program_, lanes, plan_)->at;
  for (std::size_t k = 0; k < at; ++k) {
    if (writes_only_locals(program_, steps[k]))
      add(steps.subspan(k, 1));
    else
      add_if(fmt::format("{} == 0", w_.value(first_)), steps.subspan(k, 1));
  }
  const Repeat& loop = *std::get<std::unique_ptr<Repeat>>(steps[at]);
  add_repeat(loop, true);
  add_if(fmt::format("{} == {}", w_.value(end_), loop.length), steps.subspan(at + 1));
}

// Arrays of the shader's own ---------------------------------------------------------------------------

/// In one thread, a variable for each element unless elements are chosen at run time.
void LoopWriter::declare(BufferId b, const std::string& name) {
  const auto& type = buffer(b).type;
  const std::string element = type_name(type.dtype);
  const std::int64_t n = std::max<std::int64_t>(type.size(), 1);
  if (places_.is_spread(b)) {
    w_.variable_of(element, name);
    s_.set_spread(b, name);
    return;
  }
  if (!plan_.one_thread && !places_.is_private(b)) {
    s_.share(name, element, n);
    s_.set_array(b, name);
    return;
  }
  const bool scalars =
      n <= most_scalars && !found_.indexed.contains(name) && (places_.is_private(b) || found_.few_locals);
  if (scalars)
    for (std::int64_t k = 0; k < n; ++k) w_.variable_of(element, fmt::format("{}_{}", name, k));
  else
    w_.line(w_.dialect().array(element, name, n));
  s_.set_array(b, name, scalars ? n : 0);
}

void LoopWriter::bring_close(const Repeat& loop) {
  for (BufferId b : loop.kept_close) {
    if (s_.has_array(b) || !found_.close.contains({loop.scope, b})) continue;
    order_.before({b}, {});
    const bool own = is_close_to_each(plan_, buffer(b).type.size());
    own ? copy_to_each(b, close_name(b, loop, own)) : copy_to_group(b, close_name(b, loop, own));
  }
  w_.forget_loads();
}
void LoopWriter::copy_to_each(BufferId b, const std::string& name) {
  const auto& type = buffer(b).type;
  std::vector<std::string> values;
  for (std::int64_t k = 0; k < type.size(); ++k) {
    values.push_back(w_.new_name("x"));
    w_.let(values.back(), s_.loaded(b, type.dtype, std::to_string(k)));
  }
  if (team()) places_.add_private(b);
  declare(b, name);
  for (std::int64_t k = 0; k < type.size(); ++k)
    w_.line(s_.store(b, type.dtype, std::to_string(k), values[static_cast<std::size_t>(k)]));
}
void LoopWriter::copy_to_group(BufferId b, const std::string& name) {
  const auto& type = buffer(b).type;
  // Read from memory under the buffer's own name, then called by the new one.
  const std::string at = open_elements(type.size());
  const std::string from = s_.loaded(b, type.dtype, at);
  w_.line(fmt::format("{}[{}] = {};", name, at, from));
  w_.close();
  declare(b, name);
  order_.bring_close(b);
}
void LoopWriter::let_go(const Repeat& loop) {
  for (BufferId b : loop.kept_close)
    if (buffer(b).storage != Storage::local) {
      s_.clear_array(b);
      order_.let_go(b);
      places_.remove_private(b);
    }
}

Shader steps_shader(Program& program, std::span<const Step> steps, const std::string& name, const LoopPlan& plan,
                    const Surroundings& around, const Capabilities& device) {
  const expr::GraphScope scope(program.graph);
  return LoopWriter(program, steps, name, plan, around, device).write();
}

}  // namespace cotan::gpu
