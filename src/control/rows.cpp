// The inverse of vmap: operations that do the same for every row of their operands, where a row is what an index of axis 0
// stands for. Chains of them on small rows become a program per row, in lanes, so that what is between them never leaves
// the thread that computes it. Who has thousands of threads takes one dispatch for such a chain, however long it is.
#include <limits>
#include <map>
#include <set>

#include "control/control.hpp"
#include "core/error.hpp"
#include "ops/ops.hpp"
#include "passes/passes.hpp"
#include "passes/rewriter.hpp"

namespace cotan {

namespace {

constexpr std::int64_t least_rows = 64, most_elements = 256;  ///< of a value in a row

Ints without_first(const Ints& a) { return Ints(a.begin() + 1, a.end()); }
Ints one_less(Ints a) {
  for (auto& x : a) --x;
  return a;
}
bool has(const Ints& a, std::int64_t x) { return std::find(a.begin(), a.end(), x) != a.end(); }

/// How an operation is one on rows: which operands have rows (others are the same for all), and what it is on a row.
struct OnRows {
  Mask rows;
  Params params;
};
using Rule = std::optional<OnRows> (*)(const Equation&, std::span<const AbstractValue> in, const Shape& out);

std::optional<OnRows> elementwise_on_rows(const Equation& e, std::span<const AbstractValue> in, const Shape&) {
  Mask rows;
  for (const AbstractValue& t : in) rows.push_back(t.ndim() > 0);
  return OnRows{rows, e.params};
}
std::optional<OnRows> broadcast_on_rows(const Equation& e, std::span<const AbstractValue> in, const Shape& out) {
  const Ints& dims = e.params.ints("broadcast_dimensions");
  const bool from_rows = !dims.empty() && dims[0] == 0;
  if (from_rows && in[0].shape[0] != out[0]) return {};
  return OnRows{{from_rows},
                e.params.with("shape", without_first(out)).with("broadcast_dimensions", one_less(from_rows ? without_first(dims) : dims))};
}
std::optional<OnRows> reshape_on_rows(const Equation& e, std::span<const AbstractValue> in, const Shape& out) {
  if (in[0].ndim() == 0 || in[0].shape[0] != out[0]) return {};
  return OnRows{{true}, e.params.with("new_sizes", without_first(out))};
}
std::optional<OnRows> transpose_on_rows(const Equation& e, std::span<const AbstractValue>, const Shape&) {
  const Ints& p = e.params.ints("permutation");
  if (p[0] != 0) return {};
  return OnRows{{true}, e.params.with("permutation", one_less(without_first(p)))};
}
std::optional<OnRows> slice_on_rows(const Equation& e, std::span<const AbstractValue> in, const Shape& out) {
  if (in[0].shape[0] != out[0]) return {};
  Params params = e.params;
  for (const char* key : {"start_indices", "limit_indices", "strides"}) params = params.with(key, without_first(e.params.ints(key)));
  return OnRows{{true}, params};
}
std::optional<OnRows> pad_on_rows(const Equation& e, std::span<const AbstractValue> in, const Shape& out) {
  if (in[0].shape[0] != out[0] || e.params.ints("low")[0] != 0) return {};
  Params params = e.params;
  for (const char* key : {"low", "high", "interior"}) params = params.with(key, without_first(e.params.ints(key)));
  return OnRows{{true, false}, params};
}
std::optional<OnRows> rev_on_rows(const Equation& e, std::span<const AbstractValue>, const Shape&) {
  const Ints& dims = e.params.ints("dimensions");
  if (has(dims, 0)) return {};
  return OnRows{{true}, e.params.with("dimensions", one_less(dims))};
}
std::optional<OnRows> concatenate_on_rows(const Equation& e, std::span<const AbstractValue> in, const Shape&) {
  const std::int64_t axis = e.params.integer("dimension");
  if (axis == 0) return {};
  return OnRows{Mask(in.size(), true), e.params.with("dimension", axis - 1)};
}
std::optional<OnRows> reduction_on_rows(const Equation& e, std::span<const AbstractValue>, const Shape&) {
  const Ints& axes = e.params.ints("axes");
  if (has(axes, 0)) return {};
  return OnRows{{true}, e.params.with("axes", one_less(axes))};
}
std::optional<OnRows> argument_on_rows(const Equation& e, std::span<const AbstractValue>, const Shape&) {
  const std::int64_t axis = e.params.integer("axis");
  if (axis == 0) return {};
  return OnRows{{true}, e.params.with("axis", axis - 1)};
}
std::optional<OnRows> product_on_rows(const Equation& e, std::span<const AbstractValue>, const Shape&) {
  const Ints &contract_a = e.params.ints("contract_lhs"), &contract_b = e.params.ints("contract_rhs"),
             &batch_a = e.params.ints("batch_lhs"), &batch_b = e.params.ints("batch_rhs");
  // The result has batches first, then what is left of the left operand.
  if (!batch_a.empty() && batch_a[0] == 0 && batch_b[0] == 0)
    return OnRows{{true, true},
                  e.params.with("contract_lhs", one_less(contract_a))
                      .with("contract_rhs", one_less(contract_b))
                      .with("batch_lhs", one_less(without_first(batch_a)))
                      .with("batch_rhs", one_less(without_first(batch_b)))};
  if (batch_a.empty() && !has(contract_a, 0)) return OnRows{{true, false}, e.params.with("contract_lhs", one_less(contract_a))};
  return {};
}
std::optional<OnRows> lanes_on_rows(const Equation& e, std::span<const AbstractValue>, const Shape&) {
  const Lanes lanes(e.params);
  const Mask given = depends_on(*lanes.program, lanes.mapped);
  if (count(given) != given.size()) return {};
  return OnRows{lanes.mapped, e.params};
}

Rule rule_of(const Primitive& p) {
  using namespace ops;
  static const std::map<const Primitive*, Rule> rules{
      {&broadcast_in_dim_p, broadcast_on_rows}, {&reshape_p, reshape_on_rows},       {&transpose_p, transpose_on_rows},
      {&slice_p, slice_on_rows},                {&pad_p, pad_on_rows},               {&rev_p, rev_on_rows},
      {&concatenate_p, concatenate_on_rows},    {&reduce_sum_p, reduction_on_rows},  {&reduce_prod_p, reduction_on_rows},
      {&reduce_max_p, reduction_on_rows},       {&reduce_min_p, reduction_on_rows},  {&reduce_and_p, reduction_on_rows},
      {&reduce_or_p, reduction_on_rows},        {&argmax_p, argument_on_rows},       {&argmin_p, argument_on_rows},
      {&dot_general_p, product_on_rows},        {&lanes_p, lanes_on_rows}};
  if (p.scalar || p.scalars) return elementwise_on_rows;
  const auto at = rules.find(&p);
  return at == rules.end() ? nullptr : at->second;
}
/// Whether fusion ends there elsewhere: what follows has to wait for all of it.
bool ends_kernels(const Primitive& p) { return p.reduction || &p == &ops::dot_general_p || &p == &lanes_p; }

class RowFinder {
 public:
  explicit RowFinder(const Jaxpr& jaxpr) : j_(jaxpr), home_(jaxpr.types.size(), -1), places_(jaxpr.equations.size()) {
    for (std::size_t k = 0; k < j_.equations.size(); ++k) {
      place(k);
      for (Var v : j_.equations[k].outputs) home_[at(v)] = static_cast<int>(k);
    }
    move_to_readers();
    for (std::size_t k = 0; k < places_.size(); ++k)
      if (places_[k].rows > 0) {
        count_chain(k);
        groups_[{places_[k].depth, places_[k].rows}].push_back(k);
      }
    std::erase_if(groups_, [&](const auto& g) { return !pays(g.second); });
  }
  bool found() const { return !groups_.empty(); }

  JaxprPtr run() {
    Rewriter rewriter(j_);
    int deepest = 0;
    for (const Place& p : places_) deepest = std::max(deepest, p.depth);
    for (int depth = 0; depth <= deepest; ++depth) {
      // What is not on rows comes before what is, as deep.
      for (const bool on_rows : {false, true})
        for (std::size_t k = 0; k < places_.size(); ++k) {
          if (places_[k].depth != depth || (places_[k].rows > 0) != on_rows) continue;
          const auto group = groups_.find({depth, places_[k].rows});
          if (!on_rows || group == groups_.end())
            rewriter.emit(j_.equations[k], rewriter.read(j_.equations[k].inputs), j_.equations[k].params);
          else if (group->second.front() == k)
            emit_lanes(group->second, places_[k].rows, rewriter);
        }
    }
    return eliminate_dead_code(rewriter.finish(j_.outputs, "rows in lanes"));
  }

 private:
  /// Where an equation is in the new order: after everything of lesser depth.
  struct Place {
    std::int64_t rows = 0;  ///< 0: it is not on rows
    int depth = 0;
    OnRows on;
    int chain = 0;  ///< how many ends of kernels follow each other up to here, among those of the same depth and rows
  };
  static std::size_t at(Var v) { return static_cast<std::size_t>(v.id); }
  const Place* place_of(const Atom& a) const {
    const Var* v = std::get_if<Var>(&a);
    return v && home_[at(*v)] >= 0 ? &places_[static_cast<std::size_t>(home_[at(*v)])] : nullptr;
  }

  void place(std::size_t k) {
    const Equation& e = j_.equations[k];
    Place& p = places_[k];
    if (auto on = on_rows(e)) {
      p.on = std::move(*on);
      p.rows = j_.type(e.outputs[0]).shape[0];
    }
    for (std::size_t i = 0; i < e.inputs.size(); ++i)
      if (const Place* from = place_of(e.inputs[i])) {
        const bool same_rows = p.rows > 0 && p.on.rows[i] && from->rows == p.rows;
        p.depth = std::max(p.depth, from->depth + (from->rows > 0 && !same_rows));
      }
  }
  /// As late as readers allow, where there are others on such rows: one group rather than two.
  void move_to_readers() {
    std::map<std::int64_t, std::set<int>> depths;  // by number of rows
    int deepest = 0;
    for (const Place& p : places_) {
      deepest = std::max(deepest, p.depth);
      if (p.rows > 0) depths[p.rows].insert(p.depth);
    }
    std::vector<int> latest(j_.types.size(), deepest);
    for (std::size_t k = places_.size(); k-- > 0;) {
      Place& p = places_[k];
      const Equation& e = j_.equations[k];
      if (p.rows > 0) {
        int last = deepest;
        for (Var v : e.outputs) last = std::min(last, latest[at(v)]);
        p.depth = std::max(p.depth, *std::prev(depths[p.rows].upper_bound(last)));
      }
      for (std::size_t i = 0; i < e.inputs.size(); ++i)
        if (const Place* from = place_of(e.inputs[i])) {
          const bool same_rows = p.rows > 0 && p.on.rows[i] && from->rows == p.rows;
          int& last = latest[at(std::get<Var>(e.inputs[i]))];
          last = std::min(last, same_rows ? p.depth : p.depth - 1);
        }
    }
  }
  void count_chain(std::size_t k) {
    Place& p = places_[k];
    for (const Atom& a : j_.equations[k].inputs)
      if (const Place* from = place_of(a); from && from->rows == p.rows && from->depth == p.depth) p.chain = std::max(p.chain, from->chain);
    p.chain += ends_kernels(*j_.equations[k].primitive);
  }

  std::optional<OnRows> on_rows(const Equation& e) const {
    const Rule rule = rule_of(*e.primitive);
    if (!rule) return {};
    std::int64_t rows = -1;
    for (Var v : e.outputs) {
      const Shape& s = j_.type(v).shape;
      if (s.empty() || s[0] < least_rows || (rows >= 0 && s[0] != rows)) return {};
      rows = s[0];
      if (j_.type(v).size() > rows * most_elements) return {};
    }
    if (rows < 0) return {};
    Types in;
    for (const Atom& a : e.inputs) in.push_back(j_.type(a));
    auto on = rule(e, in, j_.type(e.outputs[0]).shape);
    if (!on) return {};
    for (std::size_t i = 0; i < in.size(); ++i) {
      if (on->rows[i] && (in[i].ndim() == 0 || in[i].shape[0] != rows)) return {};
      if (in[i].size() > (on->rows[i] ? rows : 1) * most_elements) return {};
    }
    return on;
  }

  /// Whether these would be several kernels. Two reductions after each other are one, often enough, and so are results of
  /// one size.
  bool pays(const std::vector<std::size_t>& members) const {
    constexpr int short_chain = 2;
    constexpr std::size_t most_equations = 1000;
    Mask inside(j_.equations.size(), false);
    int chain = 0;
    for (std::size_t k : members) {
      inside[k] = true;
      chain = std::max(chain, places_[k].chain);
    }
    if (chain == 0 || members.size() > most_equations) return false;
    std::set<std::int64_t> sizes;
    for (Var v : read_outside(inside, members, Mask(j_.types.size(), true))) sizes.insert(j_.type(v).size());
    return chain > short_chain || sizes.size() > 1;
  }

  void emit_lanes(const std::vector<std::size_t>& members, std::int64_t rows, Rewriter& rewriter) const {
    Mask inside(j_.equations.size(), false), computed(j_.types.size(), false), differs(j_.types.size(), false);
    for (std::size_t k : members) inside[k] = true;
    // What all rows have alike is computed inside, and once more outside for whoever wants it there.
    Equation lanes_equation{&lanes_p, {}, {}, {}, j_.equations[members.front()].where};
    Lanes lanes;
    lanes.size = rows;
    lanes.apart = true;
    Types types;
    std::map<std::pair<std::int32_t, bool>, std::size_t> number;  // of an operand: a value, with its rows or whole
    for (std::size_t k : members) {
      const Equation& e = j_.equations[k];
      bool any_rows = false;
      for (std::size_t i = 0; i < e.inputs.size(); ++i) {
        const Var* v = std::get_if<Var>(&e.inputs[i]);
        if (!v) continue;
        const bool by_row = places_[k].on.rows[i];
        if (by_row && computed[at(*v)]) {
          any_rows = any_rows || differs[at(*v)];
          continue;
        }
        any_rows = any_rows || by_row;
        if (!number.emplace(std::pair{v->id, by_row}, types.size()).second) continue;
        AbstractValue type = j_.type(*v);
        if (by_row) type.shape.erase(type.shape.begin());
        types.push_back(type);
        lanes.mapped.push_back(by_row);
        lanes_equation.inputs.push_back(*v);
      }
      for (Var v : e.outputs) {
        computed[at(v)] = true;
        differs[at(v)] = any_rows;
      }
    }
    const std::vector<Var> given = read_outside(inside, members, differs);
    lanes.program = eliminate_dead_code(inline_all_calls(
        trace_to_jaxpr([&](std::span<const Array> in) { return row_program(members, computed, number, given, in); }, types, "rows").jaxpr));
    // Those that all rows have alike come first: nothing inside the lanes may follow from what is only there.
    for (std::size_t k : members)
      if (!differs[at(j_.equations[k].outputs[0])])
        rewriter.emit(j_.equations[k], rewriter.read(j_.equations[k].inputs), j_.equations[k].params);
    lanes_equation.outputs = given;
    rewriter.emit(lanes_equation, rewriter.read(lanes_equation.inputs), lanes.params());
  }
  /// Values that differ between rows and that others want.
  std::vector<Var> read_outside(const Mask& inside, const std::vector<std::size_t>& members, const Mask& differs) const {
    Mask wanted(j_.types.size(), false);
    const auto want = [&](const Atom& a) {
      if (const Var* v = std::get_if<Var>(&a)) wanted[at(*v)] = true;
    };
    for (std::size_t k = 0; k < j_.equations.size(); ++k)
      for (std::size_t i = 0; i < j_.equations[k].inputs.size(); ++i)
        if (!inside[k] || !places_[k].on.rows[i]) want(j_.equations[k].inputs[i]);
    for (const Atom& a : j_.outputs) want(a);
    std::vector<Var> out;
    for (std::size_t k : members)
      for (Var v : j_.equations[k].outputs)
        if (wanted[at(v)] && differs[at(v)]) out.push_back(v);
    return out;
  }

  Arrays row_program(const std::vector<std::size_t>& members, const Mask& computed,
                     const std::map<std::pair<std::int32_t, bool>, std::size_t>& number, const std::vector<Var>& given,
                     std::span<const Array> in) const {
    Arrays values(j_.types.size());
    for (std::size_t k : members) {
      const Equation& e = j_.equations[k];
      Arrays operands;
      for (std::size_t i = 0; i < e.inputs.size(); ++i) {
        const bool by_row = places_[k].on.rows[i];
        if (const Var* v = std::get_if<Var>(&e.inputs[i]))
          operands.push_back(by_row && computed[at(*v)] ? values[at(*v)] : in[number.at({v->id, by_row})]);
        else
          operands.push_back(std::get<Literal>(e.inputs[i]).value);
      }
      const Arrays results = e.primitive == &lanes_p ? eval_jaxpr(*Lanes(e.params).program, operands)
                                                     : bind(*e.primitive, operands, places_[k].on.params);
      for (std::size_t i = 0; i < results.size(); ++i) values[at(e.outputs[i])] = results[i];
    }
    Arrays out;
    for (Var v : given) out.push_back(values[at(v)]);
    return out;
  }

  const Jaxpr& j_;
  std::vector<int> home_;
  std::vector<Place> places_;
  std::map<std::pair<int, std::int64_t>, std::vector<std::size_t>> groups_;
};

/// A matrix that all rows share, times their own matrices: such a product has the rows behind, and is transposed to have
/// them in front. With exchanged operands they are there.
JaxprPtr rows_first(const JaxprPtr& jaxpr) {
  const Jaxpr& j = *jaxpr;
  std::vector<std::int64_t> brought_first(j.types.size(), -1);  // the axis that all readers, transposes, bring to the front
  const auto note = [&](const Atom& a, std::int64_t axis) {
    const Var* v = std::get_if<Var>(&a);
    if (!v) return;
    std::int64_t& first = brought_first[static_cast<std::size_t>(v->id)];
    first = first == -1 || first == axis ? axis : -2;
  };
  for (const Equation& e : j.equations)
    for (const Atom& a : e.inputs) note(a, e.primitive == &ops::transpose_p ? e.params.ints("permutation")[0] : -2);
  for (const Atom& a : j.outputs) note(a, -2);
  Rewriter rewriter(j);
  std::vector<std::int64_t> exchanged(j.types.size(), -1);  // axes of the left operand in the result
  for (const Equation& e : j.equations) {
    if (e.primitive == &ops::dot_general_p && e.params.ints("batch_lhs").empty()) {
      const auto v = static_cast<std::size_t>(e.outputs[0].id);
      const std::int64_t left = j.type(e.inputs[0]).ndim() - static_cast<std::int64_t>(e.params.ints("contract_lhs").size());
      const AbstractValue& type = j.types[v];
      if (left > 0 && left < type.ndim() && brought_first[v] == left && type.shape[static_cast<std::size_t>(left)] >= least_rows) {
        exchanged[v] = left;
        AbstractValue after = type;
        std::rotate(after.shape.begin(), after.shape.begin() + left, after.shape.end());
        Equation product{e.primitive, {rewriter.read(e.inputs[1]), rewriter.read(e.inputs[0])}, {rewriter.new_var(after)},
                         e.params.with("contract_lhs", e.params.ints("contract_rhs")).with("contract_rhs", e.params.ints("contract_lhs")), e.where};
        rewriter.substitute(e.outputs[0], product.outputs[0]);
        rewriter.out().equations.push_back(std::move(product));
        continue;
      }
    }
    Params params = e.params;
    if (const Var* v = e.primitive == &ops::transpose_p ? std::get_if<Var>(&e.inputs[0]) : nullptr; v && exchanged[static_cast<std::size_t>(v->id)] > 0) {
      Ints axes = params.ints("permutation");
      const std::int64_t left = exchanged[static_cast<std::size_t>(v->id)], right = static_cast<std::int64_t>(axes.size()) - left;
      for (auto& axis : axes) axis = axis < left ? axis + right : axis - left;
      params = params.with("permutation", axes);
    }
    rewriter.emit(e, rewriter.read(e.inputs), params);
  }
  return rewriter.finish(j.outputs, "rows first");
}

}  // namespace

JaxprPtr rows_in_lanes(const JaxprPtr& jaxpr) {
  const JaxprPtr with_rows = rows_first(jaxpr);
  RowFinder finder(*with_rows);
  return finder.found() ? finder.run() : jaxpr;
}

}  // namespace cotan
