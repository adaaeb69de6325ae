// What a scan computes only to output it needs no loop: it is computed after the loop, for all steps at once. Sums over
// the steps become sums over outputs.
#include "core/def_use.hpp"
#include "core/error.hpp"
#include "lowering/device_passes.hpp"
#include "ops/ops.hpp"
#include "passes/passes.hpp"
#include "passes/rewriter.hpp"

namespace cotan {

namespace {

constexpr std::int64_t most_given_out = 64;  ///< of a value that is given out in place of what is computed from it

class Sinker {
 public:
  explicit Sinker(const Scan& scan) : s_(scan), body_(*scan.body), values_(body_) {
    sums_.assign(s_.carries, {});
    for (std::size_t k = 0; k < s_.carries; ++k) find_sum(k);
    stays_.assign(body_.equations.size(), false);
    for (std::size_t k = 0; k < s_.carries; ++k)
      if (sums_[k].empty()) keep(body_.outputs[k]);
    // Only elementwise operations move; the others stay, with all that they need.
    for (std::size_t k = body_.equations.size(); k-- > 0;)
      if (const Primitive& p = *body_.equations[k].primitive; !p.scalar && !p.scalars) keep_equation(k);
  }

  bool pays() {
    sunk_.assign(body_.equations.size(), false);
    for (std::size_t k = 0; k < s_.carries; ++k)
      for (Var v : sums_[k]) add_target(v);
    for (std::size_t k = s_.carries; k < body_.outputs.size(); ++k) add_target(body_.outputs[k]);
    bool costly = false;
    for (std::size_t k = 0; k < sunk_.size(); ++k)
      costly = costly || (sunk_[k] && !body_.equations[k].primitive->rewrites.is_cheap);
    if (!costly) return false;
    find_frontier();
    std::size_t more = 0, fewer = 0;
    for (Var v : given_) {
      if (body_.type(v).size() > most_given_out) return false;
      ++more;
    }
    for (std::size_t k = 0; k < s_.carries; ++k) fewer += sums_[k].size();
    for (std::size_t k = s_.carries; k < body_.outputs.size(); ++k) fewer += is_sunk(body_.outputs[k]);
    return more <= fewer;
  }

  Arrays run(std::span<const Array> args) const {
    Scan loop = s_;
    Arrays operands(args.begin(), args.begin() + static_cast<std::ptrdiff_t>(s_.consts));
    Jaxpr body = body_;
    body.inputs.assign(body_.inputs.begin(), body_.inputs.begin() + static_cast<std::ptrdiff_t>(s_.consts));
    body.outputs.clear();
    for (std::size_t k = 0; k < s_.carries; ++k) {
      if (!sums_[k].empty()) continue;
      body.inputs.push_back(body_.inputs[s_.consts + k]);
      operands.push_back(args[s_.consts + k]);
      body.outputs.push_back(body_.outputs[k]);
    }
    loop.carries = body.outputs.size();
    for (std::size_t k = s_.consts + s_.carries; k < args.size(); ++k) {
      body.inputs.push_back(body_.inputs[k]);
      operands.push_back(args[k]);
    }
    std::vector<int> place(body_.types.size(), -1);  // of a value among the results of the loop
    std::vector<int> y_of(body_.outputs.size(), -1);
    for (std::size_t k = s_.carries; k < body_.outputs.size(); ++k) {
      if (is_sunk(body_.outputs[k])) continue;
      y_of[k] = static_cast<int>(body.outputs.size());
      if (const Var* v = std::get_if<Var>(&body_.outputs[k])) place[at(*v)] = y_of[k];
      body.outputs.push_back(body_.outputs[k]);
    }
    for (Var v : given_) {
      place[at(v)] = static_cast<int>(body.outputs.size());
      body.outputs.push_back(v);
    }
    loop.body = eliminate_dead_code(std::make_shared<const Jaxpr>(std::move(body)));
    const Arrays results = bind(scan_p, operands, loop.params());

    // All steps at once.
    Lanes rest;
    rest.size = s_.length;
    Jaxpr after;
    after.name = "after";
    after.types = body_.types;
    Arrays inputs;
    for (std::size_t k = 0; k < frontier_.size(); ++k) {
      const Var v = frontier_[k];
      after.inputs.push_back(v);
      const auto input = std::find(body_.inputs.begin(), body_.inputs.end(), v);
      const auto number = static_cast<std::size_t>(input - body_.inputs.begin());
      const bool constant = input != body_.inputs.end() && number < s_.consts;
      rest.mapped.push_back(!constant);
      if (constant || (input != body_.inputs.end() && number >= s_.consts + s_.carries))
        inputs.push_back(args[number]);
      else
        inputs.push_back(results[static_cast<std::size_t>(place[at(v)])]);
    }
    for (std::size_t k = 0; k < sunk_.size(); ++k)
      if (sunk_[k]) after.equations.push_back(body_.equations[k]);
    for (std::size_t k = 0; k < s_.carries; ++k)
      for (Var v : sums_[k]) after.outputs.push_back(v);
    for (std::size_t k = s_.carries; k < body_.outputs.size(); ++k)
      if (is_sunk(body_.outputs[k])) after.outputs.push_back(body_.outputs[k]);
    rest.program = std::make_shared<const Jaxpr>(std::move(after));
    const Mask mapped = depends_on(*rest.program, rest.mapped);
    Arrays values = eval_jaxpr(*batched_program(rest), inputs);
    for (std::size_t k = 0; k < values.size(); ++k)
      if (!mapped[k]) values[k] = ops::batch_at_front(values[k], not_batched, s_.length);

    Arrays out;
    std::size_t next = 0, carry = 0;
    for (std::size_t k = 0; k < s_.carries; ++k) {
      if (sums_[k].empty()) {
        out.push_back(results[carry++]);
        continue;
      }
      Array terms = values[next++];
      for (std::size_t t = 1; t < sums_[k].size(); ++t) terms = bind1(ops::add_p, {terms, values[next++]});
      out.push_back(bind1(ops::add_p, {args[s_.consts + k], bind1(ops::reduce_sum_p, {terms}, {{"axes", Ints{0}}})}));
    }
    for (std::size_t k = s_.carries; k < body_.outputs.size(); ++k)
      out.push_back(y_of[k] >= 0 ? results[static_cast<std::size_t>(y_of[k])] : values[next++]);
    return out;
  }

 private:
  static std::size_t at(Var v) { return static_cast<std::size_t>(v.id); }
  /// c' = c + t, or (c + t) + u and so on, where nothing else looks at c or c'.
  void find_sum(std::size_t k) {
    const Var carry = body_.inputs[s_.consts + k];
    const Var* next = std::get_if<Var>(&body_.outputs[k]);
    std::vector<Var> terms;
    if (next && values_.reads(carry) == 1 && is_floating(body_.type(*next).dtype) && *next != carry &&
        add_terms(*next, carry, terms))
      sums_[k] = terms;
  }
  bool add_terms(Var v, Var carry, std::vector<Var>& terms) const {
    if (v == carry) return true;
    const Equation* e = values_.only_for_its_reader(v);
    if (!e || e->primitive != &ops::add_p) return false;
    for (const std::size_t side : {0u, 1u}) {
      const Var* chain = std::get_if<Var>(&e->inputs[side]);
      const Var* term = std::get_if<Var>(&e->inputs[1 - side]);
      if (!chain || !term || body_.type(*term).size() > most_given_out || !add_terms(*chain, carry, terms)) continue;
      terms.push_back(*term);
      return true;
    }
    return false;
  }
  void keep(const Atom& a) {
    if (const auto k = values_.home(a)) keep_equation(*k);
  }
  void keep_equation(std::size_t k) {
    if (stays_[k]) return;
    stays_[k] = true;
    for (const Atom& a : body_.equations[k].inputs) keep(a);
  }
  bool is_sunk(const Atom& a) const {
    const auto k = values_.home(a);
    return k && sunk_[*k];
  }
  void add_target(const Atom& a) {
    const auto k = values_.home(a);
    if (!k || stays_[*k] || sunk_[*k]) return;
    sunk_[*k] = true;
    for (const Atom& x : body_.equations[*k].inputs) add_target(x);
  }
  /// What the moved equations read, and which of that the loop has to output for them.
  void find_frontier() {
    std::vector<bool> seen(body_.types.size(), false), given(body_.types.size(), false);
    for (std::size_t k = s_.carries; k < body_.outputs.size(); ++k)
      if (const Var* v = std::get_if<Var>(&body_.outputs[k]); v && !is_sunk(body_.outputs[k])) given[at(*v)] = true;
    const auto need = [&](const Atom& a) {
      const Var* v = std::get_if<Var>(&a);
      if (!v || is_sunk(a) || seen[at(*v)]) return;
      seen[at(*v)] = true;
      frontier_.push_back(*v);
      const auto input = std::find(body_.inputs.begin(), body_.inputs.end(), *v);
      const auto number = static_cast<std::size_t>(input - body_.inputs.begin());
      const bool there = input != body_.inputs.end() && (number < s_.consts || number >= s_.consts + s_.carries);
      if (!there && !given[at(*v)]) given_.push_back(*v);
    };
    for (std::size_t k = 0; k < sunk_.size(); ++k)
      if (sunk_[k])
        for (const Atom& a : body_.equations[k].inputs) need(a);
    for (const auto& terms : sums_)
      for (Var v : terms) need(v);
  }

  const Scan& s_;
  const Jaxpr& body_;
  const DefUse values_;
  std::vector<std::vector<Var>> sums_;  ///< by carry: what each step adds to it, where it does nothing else
  std::vector<bool> stays_, sunk_;
  std::vector<Var> frontier_, given_;
};

}  // namespace

JaxprPtr sink_outputs(const JaxprPtr& jaxpr) {
  Rewriter rewriter(*jaxpr);
  for (const Equation& e : jaxpr->equations) {
    // Lanes run side by side already.
    const Params params =
        e.primitive == &lanes_p ? e.params : map_nested(e.params, [](const JaxprPtr& j) { return sink_outputs(j); });
    if (e.primitive == &scan_p) {
      const Scan scan(params);
      Sinker sinker(scan);
      constexpr std::int64_t few_steps = 8;
      if (scan.length >= few_steps && sinker.pays()) {
        Types types;
        for (const Atom& a : e.inputs) types.push_back(jaxpr->type(a));
        const auto run = [&](std::span<const Array> in) { return sinker.run(in); };
        const JaxprPtr form = inline_all_calls(trace_to_jaxpr(run, types, "scan").jaxpr);
        const std::vector<Atom> results = splice(*form, rewriter.read(e.inputs), rewriter);
        for (std::size_t k = 0; k < e.outputs.size(); ++k) rewriter.substitute(e.outputs[k], results[k]);
        continue;
      }
    }
    rewriter.emit(e, rewriter.read(e.inputs), params);
  }
  return eliminate_dead_code(rewriter.finish(jaxpr->outputs, "sinking outputs of loops"));
}

}  // namespace cotan
