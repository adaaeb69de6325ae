#include "compiler/costs.hpp"

#include <algorithm>
#include <set>
#include <unordered_set>

#include "ops/ops.hpp"

namespace cotan::compiler {

namespace {

bool is_transcendental(const Primitive& p) {
  using namespace ops;
  static const std::set<const Primitive*> all{
      &pow_p,   &exp_p,     &exp2_p,      &expm1_p,    &log_p,       &log2_p,      &log10_p, &log1p_p,
      &sin_p,   &cos_p,     &tan_p,       &asin_p,     &acos_p,      &atan_p,      &sinh_p,  &cosh_p,
      &tanh_p,  &asinh_p,   &acosh_p,     &atanh_p,    &cbrt_p,      &sqrt_p,      &rsqrt_p, &atan2_p,
      &hypot_p, &digamma_p, &polygamma_p, &logistic_p, &logaddexp_p, &logaddexp2_p};
  return all.contains(&p);
}

double elements(const AbstractValue& t) { return static_cast<double>(t.size()); }
bool on_floats(const Equation& e, const Jaxpr& program) {
  return std::any_of(e.inputs.begin(), e.inputs.end(),
                     [&](const Atom& a) { return is_inexact(program.type(a).dtype); });
}

double of_product(const Equation& e, const Jaxpr& program) {
  Types operands;
  for (const Atom& a : e.inputs) operands.push_back(program.type(a));
  return e.primitive->product_flops(operands, program.type(e.outputs[0]), e.params);
}

void add(Costs& to, const Costs& more, double times) {
  to.flops += times * more.flops;
  to.transcendentals += times * more.transcendentals;
}

/// How often the programs of a loop run.
double times_of(const Equation& e) {
  if (e.params.has("length")) return static_cast<double>(e.params.integer("length"));
  return e.params.has("size") ? static_cast<double>(e.params.integer("size")) : 1;
}

void add_nested(Costs& out, const Equation& e) {
  for (const auto& [key, value] : e.params.items()) {
    if (const auto* program = std::get_if<JaxprPtr>(&value)) add(out, costs_of(**program), times_of(e));
    if (const auto* branches = std::get_if<std::vector<JaxprPtr>>(&value)) {
      Costs most;
      for (const JaxprPtr& b : *branches) {
        const Costs of_branch = costs_of(*b);
        if (of_branch.flops + of_branch.transcendentals >= most.flops + most.transcendentals) most = of_branch;
      }
      add(out, most, 1);
    }
  }
}

void add_own(Costs& out, const Equation& e, const Jaxpr& program) {
  const Primitive& p = *e.primitive;
  if (!on_floats(e, program)) return;
  const double results = elements(program.type(e.outputs[0]));
  if (p.product_flops)
    out.flops += of_product(e, program);
  else if (is_transcendental(p))
    out.transcendentals += results;
  else if (p.op_class == OpClass::elementwise && !p.casts && !p.rewrites.shares_memory)
    out.flops += results;
  else if (p.op_class == OpClass::reduction)
    out.flops += std::max(elements(program.type(e.inputs[0])) - results, 0.0);
}

/// The buffers that expressions load from.
class Loads {
 public:
  void visit(const Expr& e) {
    if (!e || !seen_.insert(e.get()).second) return;
    if (e->op == expr::Op::load) buffers.insert(static_cast<BufferId>(e->bits));
    for (const Expr& operand : e->operands) visit(operand);
  }
  std::set<BufferId> buffers;

 private:
  std::unordered_set<const expr::Node*> seen_;
};

bool is_in_memory(const Buffer& b) {
  return b.storage == Storage::input || b.storage == Storage::output || b.storage == Storage::arena ||
         b.storage == Storage::part;
}

double bytes_of(const Program& program, const Kernel& kernel) {
  double iterations = 1;
  for (const Loop& l : kernel.loops) iterations *= static_cast<double>(l.extent);
  Loads loads;
  std::set<BufferId> stored;
  for (const Pass& pass : kernel.passes) {
    for (const Reduce& r : pass.reductions) {
      loads.visit(r.value);
      stored.insert(r.result);
    }
    for (const auto* list : {&pass.stores, &pass.rows})
      for (const Store& s : *list) {
        loads.visit(s.offset);
        loads.visit(s.value);
        stored.insert(s.buffer);
      }
  }
  double out = 0;
  for (const auto* touched : {&loads.buffers, &stored})
    for (const BufferId id : *touched) {
      const Buffer& b = program.buffers[static_cast<std::size_t>(id)];
      if (is_in_memory(b))  // of a slice of a large array no more than what is looked at
        out += std::min(static_cast<double>(b.bytes()), iterations * static_cast<double>(itemsize(b.type.dtype)));
    }
  return out;
}

double bytes_of(const Program& program, const std::vector<Step>& steps);
double bytes_of(const Program& program, const Step& step) {
  return visit_step(step,
                    Overloaded{[&](const Kernel& kernel) { return bytes_of(program, kernel); },
                               [&](const Routine& routine) {
                                 double out = 0;
                                 for (const Operand& o : routine.operands)
                                   out += elements(o.type) * static_cast<double>(itemsize(o.type.dtype));
                                 for (const BufferId id : routine.results)
                                   out += static_cast<double>(program.buffers[static_cast<std::size_t>(id)].bytes());
                                 return out;
                               },
                               [&](const Repeat& loop) {
                                 const double steps = static_cast<double>(std::max<std::int64_t>(loop.length, 1));
                                 return steps * (bytes_of(program, loop.condition) + bytes_of(program, loop.steps));
                               },
                               [&](const Choice& choice) {
                                 double most = 0;
                                 for (const auto& branch : choice.branches)
                                   most = std::max(most, bytes_of(program, branch));
                                 return most;
                               }});
}
double bytes_of(const Program& program, const std::vector<Step>& steps) {
  double out = 0;
  for (const Step& step : steps) out += bytes_of(program, step);
  return out;
}

}  // namespace

Costs costs_of(const Jaxpr& program) {
  Costs out;
  for (const Equation& e : program.equations) {
    const bool nested = e.primitive->op_class == OpClass::call || e.primitive->op_class == OpClass::control;
    if (nested)
      add_nested(out, e);
    else
      add_own(out, e, program);
  }
  return out;
}

double bytes_accessed(const Program& program) { return bytes_of(program, program.steps); }

}  // namespace cotan::compiler
