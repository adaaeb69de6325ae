// Simplifies loops: what does not depend on the step is computed before them; equal operands are passed, carried and
// stacked once; results that equal operands are replaced by those.
#include <algorithm>

#include "control/control.hpp"
#include "ops/ops.hpp"
#include "passes/rewriter.hpp"

namespace cotan {

namespace {

using Substitution = std::vector<Atom>;  // by variable

std::size_t id(Var v) { return static_cast<std::size_t>(v.id); }
bool same(const Atom& a, const Atom& b) {
  const Var *x = std::get_if<Var>(&a), *y = std::get_if<Var>(&b);
  return x && y && *x == *y;
}
Substitution no_substitution(const Jaxpr& program) {
  Substitution out;
  for (std::size_t i = 0; i < program.types.size(); ++i) out.push_back(Var{static_cast<std::int32_t>(i)});
  return out;
}
void substitute(const Substitution& by, Jaxpr& program) {
  const auto replace = [&](std::vector<Atom>& atoms) {
    for (Atom& a : atoms)
      if (const Var* v = std::get_if<Var>(&a)) a = by[id(*v)];
  };
  for (Equation& e : program.equations) replace(e.inputs);
  replace(program.outputs);
}

/// The inputs of a program from `first` on are `operands`: equal ones become one, literals move into the
/// program.
void merge_equal(Jaxpr& program, std::size_t first, std::vector<Atom>& operands) {
  Substitution by = no_substitution(program);
  std::vector<Var> inputs(program.inputs.begin(), program.inputs.begin() + static_cast<std::ptrdiff_t>(first));
  std::vector<Atom> kept;
  for (std::size_t k = 0; k < operands.size(); ++k) {
    const Var input = program.inputs[first + k];
    const auto twin = std::find_if(kept.begin(), kept.end(), [&](const Atom& a) { return same(a, operands[k]); });
    if (std::holds_alternative<Literal>(operands[k])) {
      by[id(input)] = operands[k];
    } else if (twin != kept.end()) {
      by[id(input)] = inputs[first + static_cast<std::size_t>(twin - kept.begin())];
    } else {
      inputs.push_back(input);
      kept.push_back(operands[k]);
    }
  }
  if (kept.size() == operands.size()) return;
  inputs.insert(inputs.end(), program.inputs.begin() + static_cast<std::ptrdiff_t>(first + operands.size()),
                program.inputs.end());
  program.inputs = std::move(inputs);
  operands = std::move(kept);
  substitute(by, program);
}

/// A program that a loop runs, and what its leading inputs are outside of it.
struct Body {
  Jaxpr program;
  std::vector<Atom> constants;
};

/// Which invariant equations are worth moving out. Views and fills cost nothing where they are read, and a value much
/// larger than its operands costs more to read than to compute; constants that only the compiler knows stay too.
class Invariants {
 public:
  Invariants(const Body& body, bool runs)
      : program_(body.program), known_(program_.types.size()), made_of_(known_.size()) {
    for (std::size_t k = 0; k < body.constants.size(); ++k) {
      known_[id(program_.inputs[k])] = true;
      made_of_[id(program_.inputs[k])] = program_.type(program_.inputs[k]).size();
    }
    for (const Equation& e : program_.equations) taken_.push_back(visit(e, runs));
  }
  const Mask& taken() const { return taken_; }
  /// Those taken, and those that they need.
  Mask needed() const {
    Mask out = taken_, wanted(program_.types.size());
    for (std::size_t i = taken_.size(); i-- > 0;) {
      const Equation& e = program_.equations[i];
      for (Var v : e.outputs) out[i] = out[i] || wanted[id(v)];
      if (!out[i]) continue;
      for (const Atom& a : e.inputs)
        if (const Var* v = std::get_if<Var>(&a)) wanted[id(*v)] = true;
    }
    return out;
  }

 private:
  bool visit(const Equation& e, bool runs) {
    std::int64_t sources = 0, size = 0;
    for (const Atom& a : e.inputs) {
      const Var* v = std::get_if<Var>(&a);
      if (v && !known_[id(*v)]) return false;
      if (v) sources += made_of_[id(*v)];
    }
    for (Var v : e.outputs) size += program_.type(v).size();
    const bool taken = worth(e, sources, size, runs);
    for (Var v : e.outputs) {
      known_[id(v)] = true;
      made_of_[id(v)] = taken ? program_.type(v).size() : std::min(sources, program_.type(v).size());
    }
    return taken;
  }
  static bool worth(const Equation& e, std::int64_t sources, std::int64_t size, bool runs) {
    switch (e.primitive->op_class) {
      case OpClass::elementwise:
      case OpClass::data:
        return size <= sources;
      case OpClass::reduction:
      case OpClass::routine:
        return true;
      case OpClass::control:
        return runs;  // moving it out could make a loop that never runs compute for ever
      default:
        return false;
    }
  }

  const Jaxpr& program_;
  Mask known_, taken_;
  std::vector<std::int64_t> made_of_;
};

/// Takes invariant equations out of a body; their results become constants of it. `runs`: the loop has a
/// first step.
void hoist(Body& body, Rewriter& before, bool runs) {
  Jaxpr& program = body.program;
  const Invariants invariants(body, runs);
  const Mask &taken = invariants.taken(), needed = invariants.needed();
  if (!any(taken)) return;
  Substitution outside = no_substitution(program);
  for (std::size_t k = 0; k < body.constants.size(); ++k) outside[id(program.inputs[k])] = body.constants[k];
  Mask read(program.types.size()), inside(program.equations.size());
  const auto mark = [&](const std::vector<Atom>& atoms) {
    for (const Atom& a : atoms)
      if (const Var* v = std::get_if<Var>(&a)) read[id(*v)] = true;
  };
  mark(program.outputs);
  for (std::size_t i = program.equations.size(); i-- > 0;) {
    const Equation& e = program.equations[i];
    inside[i] = !taken[i] && std::any_of(e.outputs.begin(), e.outputs.end(), [&](Var v) { return read[id(v)]; });
    if (inside[i]) mark(e.inputs);
  }
  std::vector<Var> more;
  std::vector<Equation> rest;
  for (std::size_t i = 0; i < program.equations.size(); ++i) {
    const Equation& e = program.equations[i];
    if (inside[i]) rest.push_back(e);
    if (!needed[i]) continue;
    Equation copy{e.primitive, {}, {}, e.params, e.where};
    for (const Atom& a : e.inputs) {
      const Var* v = std::get_if<Var>(&a);
      copy.inputs.push_back(v ? outside[id(*v)] : a);
    }
    for (Var v : e.outputs) {
      copy.outputs.push_back(before.new_var(program.type(v)));
      outside[id(v)] = copy.outputs.back();
      if (!taken[i] || !read[id(v)]) continue;
      more.push_back(v);
      body.constants.push_back(outside[id(v)]);
    }
    before.out().equations.push_back(std::move(copy));
  }
  program.inputs.insert(program.inputs.begin() + static_cast<std::ptrdiff_t>(body.constants.size() - more.size()),
                        more.begin(), more.end());
  program.equations = std::move(rest);
}

JaxprPtr finished(Jaxpr program) {
  auto done = std::make_shared<const Jaxpr>(std::move(program));
  verify_if_enabled(*done, "simplifying loops");
  return done;
}

class ScanSimplifier {
 public:
  ScanSimplifier(const Equation& e, Params params, Rewriter& out)
      : equation_(e), scan_(params), out_(out), body_{*scan_.body, {}}, kept_(scan_.carries, true) {
    const std::vector<Atom> operands = out.read(e.inputs);
    const auto at = operands.begin() + static_cast<std::ptrdiff_t>(scan_.consts),
               xs = at + static_cast<std::ptrdiff_t>(scan_.carries);
    body_.constants.assign(operands.begin(), at);
    carries_.assign(at, xs);
    xs_.assign(xs, operands.end());
  }

  void run() {
    settle_carries();
    merge_equal(program(), body_.constants.size() + carries_.size(), xs_);
    merge_equal(program(), 0, body_.constants);
    if (scan_.length > 0) hoist(body_, out_, true);
    emit();
  }

 private:
  Jaxpr& program() { return body_.program; }

  /// Carries that stay what they were are constants; carries that are always equal are one.
  void settle_carries() {
    Jaxpr& p = program();
    Substitution by = no_substitution(p);
    std::vector<Var> constants(p.inputs.begin(), p.inputs.begin() + static_cast<std::ptrdiff_t>(scan_.consts)), carries;
    std::vector<Atom> first, next;
    for (std::size_t i = 0; i < scan_.carries; ++i) {
      const Var input = p.inputs[scan_.consts + i];
      const Atom& output = p.outputs[i];
      std::size_t twin = 0;
      while (twin < first.size() && !(same(first[twin], carries_[i]) && same(next[twin], output))) ++twin;
      if (same(output, input)) {
        constants.push_back(input);
        body_.constants.push_back(carries_[i]);
        out_.substitute(equation_.outputs[i], carries_[i]);
        kept_[i] = false;
      } else if (twin < first.size()) {
        by[id(input)] = carries[twin];
        twins_.push_back({i, twin});
        kept_[i] = false;
      } else {
        carries.push_back(input);
        first.push_back(carries_[i]);
        next.push_back(output);
      }
    }
    if (carries.size() == scan_.carries) return;
    std::vector<Var> inputs = std::move(constants);
    inputs.insert(inputs.end(), carries.begin(), carries.end());
    inputs.insert(inputs.end(), p.inputs.begin() + static_cast<std::ptrdiff_t>(scan_.consts + scan_.carries),
                  p.inputs.end());
    next.insert(next.end(), p.outputs.begin() + static_cast<std::ptrdiff_t>(scan_.carries), p.outputs.end());
    p.inputs = std::move(inputs);
    p.outputs = std::move(next);
    carries_ = std::move(first);
    substitute(by, p);
  }

  /// The scan, without the ys that need none: slices of xs, constants, and copies of others.
  void emit() {
    Jaxpr& p = program();
    const std::size_t consts = body_.constants.size(), carries = carries_.size();
    std::vector<Atom> outputs(p.outputs.begin(), p.outputs.begin() + static_cast<std::ptrdiff_t>(carries));
    std::vector<Var> results;
    for (std::size_t i = 0; i < kept_.size(); ++i)
      if (kept_[i]) results.push_back(out_.bind(equation_.outputs[i]));
    for (const auto& [carry, twin] : twins_) out_.substitute(equation_.outputs[carry], results[twin]);
    for (std::size_t k = carries; k < p.outputs.size(); ++k) {
      const Atom& slice = p.outputs[k];
      const Var y = equation_.outputs[kept_.size() + k - carries];
      const Var* v = std::get_if<Var>(&slice);
      const auto input = std::find_if(p.inputs.begin(), p.inputs.end(), [&](Var in) { return v && in == *v; });
      const auto at = static_cast<std::size_t>(input - p.inputs.begin());
      const auto twin = std::find_if(outputs.begin() + static_cast<std::ptrdiff_t>(carries), outputs.end(),
                                     [&](const Atom& a) { return same(a, slice); });
      if (!v || at < consts) {
        out_.substitute(y, repeated(v ? body_.constants[at] : slice));
      } else if (at >= consts + carries && input != p.inputs.end()) {
        out_.substitute(y, xs_[at - consts - carries]);
      } else if (twin != outputs.end()) {
        out_.substitute(y, results[static_cast<std::size_t>(twin - outputs.begin())]);
      } else {
        outputs.push_back(slice);
        results.push_back(out_.bind(y));
      }
    }
    if (outputs.empty()) return;
    p.outputs = std::move(outputs);
    Scan s = scan_;
    s.body = finished(std::move(p));
    s.consts = consts;
    s.carries = carries;
    Equation e{&scan_p, std::move(body_.constants), std::move(results), s.params(), equation_.where};
    e.inputs.insert(e.inputs.end(), carries_.begin(), carries_.end());
    e.inputs.insert(e.inputs.end(), xs_.begin(), xs_.end());
    out_.out().equations.push_back(std::move(e));
  }
  Atom repeated(const Atom& slice) {
    AbstractValue type = out_.type(slice);
    Ints dims;
    for (int i = 0; i < type.ndim(); ++i) dims.push_back(i + 1);
    type.shape.insert(type.shape.begin(), scan_.length);
    const Var v = out_.new_var(type);
    out_.out().equations.push_back({&ops::broadcast_in_dim_p,
                                    {slice},
                                    {v},
                                    {{"broadcast_dimensions", dims}, {"shape", Ints(type.shape)}},
                                    equation_.where});
    return v;
  }

  const Equation& equation_;
  Scan scan_;
  Rewriter& out_;
  Body body_;
  std::vector<Atom> carries_, xs_;
  Mask kept_;                                               // of the carries
  std::vector<std::pair<std::size_t, std::size_t>> twins_;  // a carry, and the one kept that is equal to it
};

}  // namespace

void simplify_scan(const Equation& e, const Params& params, Rewriter& out) { ScanSimplifier(e, params, out).run(); }

void simplify_while(const Equation& e, const Params& params, Rewriter& out) {
  While w(params);
  const std::vector<Atom> operands = out.read(e.inputs);
  const auto at = operands.begin() + static_cast<std::ptrdiff_t>(w.condition_consts),
             carries = at + static_cast<std::ptrdiff_t>(w.body_consts);
  Body condition{*w.condition, {operands.begin(), at}}, body{*w.body, {at, carries}};
  for (Body* part : {&condition, &body}) {
    merge_equal(part->program, 0, part->constants);
    hoist(*part, out, false);
  }
  w.condition_consts = condition.constants.size();
  w.body_consts = body.constants.size();
  w.condition = finished(std::move(condition.program));
  w.body = finished(std::move(body.program));
  std::vector<Atom> inputs = std::move(condition.constants);
  inputs.insert(inputs.end(), body.constants.begin(), body.constants.end());
  inputs.insert(inputs.end(), carries, operands.end());
  out.emit(e, std::move(inputs), w.params());
}

void simplify_associative_scan(const Equation& e, const Params& params, Rewriter& out) {
  AssociativeScan s(params);
  const std::vector<Atom> operands = out.read(e.inputs);
  const auto elements = operands.begin() + static_cast<std::ptrdiff_t>(s.consts);
  Body combine{*s.combine, {operands.begin(), elements}};
  merge_equal(combine.program, 0, combine.constants);
  hoist(combine, out, false);
  s.consts = combine.constants.size();
  s.combine = finished(std::move(combine.program));
  std::vector<Atom> inputs = std::move(combine.constants);
  inputs.insert(inputs.end(), elements, operands.end());
  out.emit(e, std::move(inputs), s.params());
}

}  // namespace cotan
