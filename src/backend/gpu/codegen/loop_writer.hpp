// Writes several steps, whole loops among them, into one shader, after they have been analyzed.
#pragma once
#include "backend/gpu/codegen/loop_analysis.hpp"

namespace cotan::gpu {

class LoopWriter {
 public:
  LoopWriter(Program& program, std::span<const Step> steps, const std::string& name, const LoopPlan& plan,
             const Surroundings& around, const Capabilities& device);
  Shader write();

 private:
  // The whole (loop.cpp).
  Shader write_lanes(const Repeat& lanes);
  void take_first_and_end();
  void add_cut(const Repeat& lanes);

  // Arrays of the shader's own (loop.cpp).
  void declare(BufferId b, const std::string& name);
  void bring_close(const Repeat& loop);
  void copy_to_each(BufferId b, const std::string& name);
  void copy_to_group(BufferId b, const std::string& name);
  void let_go(const Repeat& loop);

  // Steps (loop_steps.cpp).
  void add(std::span<const Step> steps);
  void add_if(const std::string& condition, std::span<const Step> steps);
  void add_kernel(const Kernel& kernel);
  void write_out(const Kernel& kernel);
  void write_element(const Kernel& element);
  std::string written_sum(const Kernel& element, const compiler::Reduce& sum);
  void add_choice(const Choice& choice);
  std::string agreed(BufferId b, DType dtype);
  std::string open_elements(std::int64_t n);
  void copy(BufferId to, BufferId from, BufferId like);
  void copy_spread(BufferId to, BufferId from, const AbstractValue& type);
  void copy_chosen(BufferId to, const std::string& choice, BufferId a, BufferId b, BufferId like);

  // Loops (loop_repeat.cpp).
  /// From here on the loop's index is called `name`; that of a loop of one step is a number.
  void bind_index(const Repeat& loop, const std::string& name) {
    if (loop.length != 1) w_.bind(loop.index, name);
  }
  void add_repeat(const Repeat& loop, bool cut);
  void run_repeat(const Repeat& loop, bool cut);
  void copy_carries(const Repeat& loop, BufferId compiler::Carried::* to, BufferId compiler::Carried::* from);
  void run_copying(const Repeat& loop, bool cut);
  void run_in_turns(const Repeat& loop, bool cut);
  void add_last_odd_step(const Repeat& loop, bool cut, const std::string& first, const std::string& end);
  void one_step(const Repeat& loop, const std::string& index, bool swapped);
  void swap_places(const Repeat& loop);
  void restore_places(const Repeat& loop);
  void run_while(const Repeat& loop);
  std::string fetch(Expr load, const Repeat& loop, Expr step);
  void begin_fetching(const Repeat& loop, Expr first);
  void go_on_fetching(const Repeat& loop);

  const compiler::Buffer& buffer(BufferId b) const { return program_.buffers[static_cast<std::size_t>(b)]; }
  bool team() const { return is_team(plan_); }

  struct Pending {
    BufferId buffer;
    DType dtype;
    std::string offset, value;
  };
  Program& program_;
  const std::span<const Step> steps_;
  const LoopPlan plan_;
  const Capabilities& device_;
  ShaderBuilder s_;
  Writer& w_;
  Order order_;
  LoopAnalysis found_;
  Places& places_;
  std::vector<Pending> pending_;  ///< stores of elements that are written out
  Expr first_, end_;              ///< of a loop that is cut: its steps in this dispatch
};

}  // namespace cotan::gpu
