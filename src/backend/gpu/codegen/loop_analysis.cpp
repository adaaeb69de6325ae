#include "backend/gpu/codegen/loop_analysis.hpp"

#include <algorithm>
#include <unordered_set>

#include "backend/gpu/codegen/loop_unroll.hpp"
#include "backend/gpu/codegen/loop_uses.hpp"

namespace cotan::gpu {

using compiler::Carried;

namespace {

/// More than this in variables costs more than it brings: an array then.
constexpr std::size_t most_scalar_bytes = 400;

/// f(load) for all loads that an expression needs, in the order in which they are written.
template <class F>
void each_load(Expr e, std::unordered_set<const expr::Node*>& seen, F&& f) {
  if (!seen.insert(e.get()).second) return;
  if (e->op != expr::Op::load) {
    for (Expr x : e->operands) each_load(x, seen, f);
    return;
  }
  f(e);
  if (e->operands.size() > 1) each_load(e->operands[1], seen, f);
  each_load(e->operands[0], seen, f);
}

/// Goes through the steps in the order in which they are written. What it finds of arrays changes what it finds of
/// others (a copy that is not made is a read of memory), so it goes again until that is all: only sets grow.
class Analyzer {
 public:
  Analyzer(const Program& program, std::span<const Step> steps, const LoopPlan& plan, const Order& order,
           const LoopSurroundings& around)
      : program_(program),
        steps_(steps),
        plan_(plan),
        order_(order),
        around_(around),
        locals_(locals_of(program, steps)) {
    found_.few_locals = local_bytes(program, steps) <= most_scalar_bytes;
  }

  LoopAnalysis run() {
    std::size_t before;
    do {
      before = found_.indexed.size() + not_spread_.size();
      start();
      const Repeat* loop = only_loop(steps_);
      if (loop && loop->parallel)
        visit_lanes(*loop);
      else
        visit(steps_);
    } while (before != found_.indexed.size() + not_spread_.size());
    return std::move(found_);
  }

 private:
  /// An array of the shader's own, as it is declared.
  struct Array {
    std::string name;
    std::int64_t size;
    bool may_be_scalars;
  };

  void start() {
    found_.places = Places(program_, steps_, plan_, around_.subgroup_size, not_spread_);
    found_.close.clear();
    found_.fetched.clear();
    arrays_.clear();
    shared_.clear();
    indices_ = around_.indices;
    room_ = around_.room;
    for (BufferId b : locals_) declare(b, local_name(b), found_.places.is_private(b));
  }
  void declare(BufferId b, const std::string& name, bool own) {
    const std::int64_t size = std::max<std::int64_t>(buffer(b).type.size(), 1);
    const bool in_thread = plan_.one_thread || own;
    arrays_[b] = {name, size, in_thread && size <= most_scalars && (own || found_.few_locals)};
    if (!in_thread && !found_.places.is_spread(b) && shared_.insert(name).second)
      room_ -= ShaderBuilder::shared_bytes(size);
  }

  // Steps -----------------------------------------------------------------------------------------------

  void visit_lanes(const Repeat& lanes) {
    indices_.push_back(lanes.index);
    const auto closer = has_loops(lanes) ? bring_close(lanes) : std::vector<BufferId>{};
    visit(lanes.steps);
    for (BufferId b : closer) arrays_.erase(b);
  }
  void visit(std::span<const Step> steps) {
    for (const Step& step : steps) {
      if (const auto* kernel = std::get_if<Kernel>(&step)) {
        visit_kernel(*kernel);
      } else if (const auto* repeat = std::get_if<std::unique_ptr<Repeat>>(&step)) {
        visit_repeat(**repeat);
      } else if (const auto* choice = std::get_if<std::unique_ptr<Choice>>(&step)) {
        look_at((*choice)->index, true, false);
        for (const auto& branch : (*choice)->branches) visit(branch);
      }
    }
  }

  void visit_repeat(const Repeat& loop) {
    const std::vector<BufferId> closer = bring_close(loop);
    const bool is_while = loop.length < 0;
    const bool turns =
        is_while || is_team(plan_) ||
        std::any_of(loop.carries.begin(), loop.carries.end(), [](const Carried& c) { return c.spare >= 0; });
    for (const Carried& c : loop.carries) {
      if (c.in_place) continue;
      const bool known = is_team(plan_) || buffer(c.in).type.size() <= most_copied(found_);
      for (BufferId b : {c.start, c.in, c.out}) look_at(b, known, false);
      for (BufferId b : {c.in, c.result}) look_at(b, known, true);
      if (!turns || loop.length == 1) continue;
      partner_[c.in] = c.out;  // in every second step one is where the other was
      partner_[c.out] = c.in;
    }
    if (loop.holds >= 0) look_at(loop.holds, true, false);
    visit(loop.condition);
    if (!is_while) loops_.push_back(&loop);
    visit(loop.steps);
    if (!is_while) loops_.pop_back();
    for (const Carried& c : loop.carries)
      for (BufferId b : {c.in, c.out}) partner_.erase(b);
    for (BufferId b : closer) arrays_.erase(b);
  }

  /// Small arrays that a loop only reads, next to who computes with them. Which ones have a copy now.
  std::vector<BufferId> bring_close(const Repeat& loop) {
    std::vector<BufferId> out;
    for (BufferId b : loop.kept_close) {
      const std::int64_t size = buffer(b).type.size();
      const bool own = is_close_to_each(plan_, size);
      const std::string name = close_name(b, loop, own);
      if (arrays_.contains(b) || (plan_.one_thread && (size > most_scalars || found_.indexed.contains(name)))) continue;
      // Loops one after the other have each their own: where there is no room for more, they read from memory.
      if (!own && room_ < ShaderBuilder::shared_bytes(size) + ShaderBuilder::for_reductions(plan_.threads)) continue;
      declare(b, name, own && is_team(plan_));
      found_.close.emplace(loop.scope, b);
      out.push_back(b);
    }
    return out;
  }

  void visit_kernel(const Kernel& kernel) {
    if (!is_written_out(kernel, plan_, found_.places)) return visit_passes(kernel);
    each_element(kernel, [&](const Kernel& element) {
      if (!has_written_sums(element)) return visit_passes(element);
      const compiler::Pass& pass = element.passes[0];
      for (const compiler::Reduce& r : pass.reductions) each_term(element, r, [&](Expr term) { look_at_loads(term); });
      for (const auto* list : {&pass.stores, &pass.rows}) look_at_stores(*list);
    });
  }
  void visit_passes(const Kernel& kernel) {
    // The only index of a loop of one element is the number 0, which the kernel calls by the name of the loop's.
    zero_is_named_ =
        std::any_of(kernel.loops.begin(), kernel.loops.end(), [](const compiler::Loop& l) { return l.extent == 1; });
    for (const compiler::Pass& pass : kernel.passes) {
      for (const compiler::Reduce& r : pass.reductions) {
        look_at_loads(r.value);
        if (r.position) look_at_loads(r.position);
      }
      for (const auto* list : {&pass.stores, &pass.rows}) look_at_stores(*list);
    }
    zero_is_named_ = false;
  }

  // What they use ---------------------------------------------------------------------------------------

  void look_at_stores(const std::vector<compiler::Store>& stores) {
    for (const compiler::Store& st : stores) {
      look_at_loads(st.offset);
      look_at_loads(st.value);
      look_at(st.buffer, is_number(st.offset), true);
    }
  }
  void look_at_loads(Expr e) {
    std::unordered_set<const expr::Node*> seen;
    each_load(e, seen, [&](Expr load) {
      const auto b = static_cast<BufferId>(load->bits);
      // Not all threads may come by where an element is read under a condition.
      if (load->operands.size() > 1 && found_.places.is_spread(program_.root(b))) not_spread_.insert(program_.root(b));
      look_at(b, is_number(load->operands[0]), false);
      fetch_ahead(load);
    });
  }
  /// Numbers as they are written in a shader, where negative ones are no plain numbers.
  bool is_number(Expr offset) const {
    const auto number = expr::as_integer(offset);
    return number && *number >= (zero_is_named_ ? 1 : 0);
  }

  /// An element of a buffer is used; `known`: its number is known now.
  void look_at(BufferId b, bool known, bool written, bool as_partner = false) {
    while (true) {
      if (const auto other = partner_.find(b); other != partner_.end() && !as_partner)
        look_at(other->second, known, written, true);
      as_partner = false;
      if (const auto at = arrays_.find(b); at != arrays_.end()) {
        const Array& array = at->second;
        if (!known && array.may_be_scalars && (written || array.size > most_chosen)) found_.indexed.insert(array.name);
        return;
      }
      if (buffer(b).storage != Storage::part) return;
      known = known && is_number(buffer(b).start);
      b = buffer(b).whole;
    }
  }

  /// Notes a load that can be done a step ahead.
  void fetch_ahead(Expr load) {
    constexpr std::size_t most_fetched = 24;
    if (loops_.empty() || load->operands.size() > 1) return;
    const auto b = static_cast<BufferId>(load->bits);
    if (program_.root(b) != b || arrays_.contains(b) || order_.is_written(b)) return;
    const Repeat& loop = *loops_.back();
    if (loop.length < 2 || !depends_on(load->operands[0], loop.index) || !known_at_start(load->operands[0], loop))
      return;
    auto& list = found_.fetched[loop.scope];
    if (list.size() < most_fetched && std::find(list.begin(), list.end(), load) == list.end()) list.push_back(load);
  }
  /// Whether an offset is made of indices of the loops around alone.
  bool known_at_start(Expr e, const Repeat& loop) const {
    if (e->op == expr::Op::load) return false;
    if (e->op == expr::Op::variable)
      return e == loop.index || std::find(indices_.begin(), indices_.end(), e) != indices_.end();
    return std::all_of(e->operands.begin(), e->operands.end(), [&](Expr x) { return known_at_start(x, loop); });
  }

  const compiler::Buffer& buffer(BufferId b) const { return program_.buffers[static_cast<std::size_t>(b)]; }

  const Program& program_;
  const std::span<const Step> steps_;
  const LoopPlan plan_;
  const Order& order_;
  const LoopSurroundings& around_;
  const std::set<BufferId> locals_;
  LoopAnalysis found_;
  std::set<BufferId> not_spread_;  ///< arrays that are not always read by all threads
  // As far as the steps have been gone through.
  std::map<BufferId, Array> arrays_;
  std::map<BufferId, BufferId> partner_;
  std::set<std::string> shared_;
  std::vector<const Repeat*> loops_;  ///< of scans
  std::vector<Expr> indices_;
  std::int64_t room_ = 0;
  bool zero_is_named_ = false;
};

}  // namespace

LoopAnalysis analyze(const Program& program, std::span<const Step> steps, const LoopPlan& plan, const Order& order,
                     const LoopSurroundings& around) {
  return Analyzer(program, steps, plan, order, around).run();
}

}  // namespace cotan::gpu
