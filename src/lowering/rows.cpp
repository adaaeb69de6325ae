// The inverse of vmap: finds operations that treat every row of their operands alike, a row being one index of some
// axis. Chains of them on small rows become a program per row, in lanes, so that values between them never leave the
// thread that computes them. On a GPU such a chain is one dispatch, however long it is.
#include "core/rows.hpp"

#include <limits>
#include <map>
#include <set>

#include "control/control.hpp"
#include "core/error.hpp"
#include "lowering/device_passes.hpp"
#include "ops/ops.hpp"
#include "passes/passes.hpp"
#include "passes/rewriter.hpp"

namespace cotan {

namespace {

using namespace rows;

constexpr std::int64_t most_in_a_row = 256;  ///< of a value in a row

/// Whether an operation ends a fused kernel elsewhere: what follows has to wait for all of its result.
bool ends_kernels(const Primitive& p) { return p.reduction || &p == &lanes_p; }

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
      // At equal depth, equations that are not on rows come first.
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
      p.rows = rows_of(e.outputs[0], p.on.out);
    }
    for (std::size_t i = 0; i < e.inputs.size(); ++i)
      if (const Place* from = place_of(e.inputs[i])) {
        const bool same_rows = is_row(p, *from, i);
        p.depth = std::max(p.depth, from->depth + (from->rows > 0 && !same_rows));
      }
  }
  /// Equations move as late as their readers allow, next to others on the same number of rows: one group rather than
  /// two.
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
          const bool same_rows = is_row(p, *from, i);
          int& last = latest[at(std::get<Var>(e.inputs[i]))];
          last = std::min(last, same_rows ? p.depth : p.depth - 1);
        }
    }
  }
  void count_chain(std::size_t k) {
    Place& p = places_[k];
    for (const Atom& a : j_.equations[k].inputs)
      if (const Place* from = place_of(a); from && from->rows == p.rows && from->depth == p.depth)
        p.chain = std::max(p.chain, from->chain);
    p.chain += ends_kernels(*j_.equations[k].primitive);
  }

  std::int64_t rows_of(const Atom& a, int axis) const { return j_.type(a).shape[static_cast<std::size_t>(axis)]; }
  /// Whether operand i of an equation is the rows that another one gives.
  static bool is_row(const Place& p, const Place& from, std::size_t i) {
    return p.rows > 0 && from.rows == p.rows && p.on.in[i] != whole && p.on.in[i] == from.on.out;
  }
  /// The axis along which a value has rows. A value that no operation on rows computes has them along its first axis.
  int axis_of(const Atom& a) const {
    const AbstractValue& type = j_.type(a);
    const Place* from = place_of(a);
    if (from && from->rows > 0) return from->on.out;
    return type.ndim() > 0 && type.shape[0] >= least_rows ? 0 : whole;
  }

  std::optional<OnRows> on_rows(const Equation& e) const {
    const Rule rule = rule_of(*e.primitive);
    if (!rule || e.outputs.empty()) return {};
    Types in;
    std::vector<int> axes;
    for (const Atom& a : e.inputs) {
      in.push_back(j_.type(a));
      axes.push_back(axis_of(a));
    }
    const AbstractValue& out = j_.type(e.outputs[0]);
    if (out.ndim() == 0) return {};
    auto on = rule({e, in, axes, out});
    if (!on) return {};
    const std::int64_t rows = rows_of(e.outputs[0], on->out);
    if (rows < least_rows) return {};
    for (Var v : e.outputs)
      if (j_.type(v).ndim() <= on->out || rows_of(v, on->out) != rows || j_.type(v).size() > rows * most_in_a_row)
        return {};
    for (std::size_t i = 0; i < in.size(); ++i) {
      if (on->in[i] != whole && (in[i].ndim() <= on->in[i] || rows_of(e.inputs[i], on->in[i]) != rows)) return {};
      if (in[i].size() > (on->in[i] != whole ? rows : 1) * most_in_a_row) return {};
    }
    return on;
  }

  /// Whether these equations would be several kernels. Two reductions in a row are usually one kernel, and so are
  /// results of the same size.
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

  /// An operand of the lanes: a value with its rows along an axis, or whole.
  using Operand = std::pair<std::int32_t, int>;

  void emit_lanes(const std::vector<std::size_t>& members, std::int64_t rows, Rewriter& rewriter) const {
    Mask inside(j_.equations.size(), false), computed(j_.types.size(), false), differs(j_.types.size(), false);
    for (std::size_t k : members) inside[k] = true;
    Lanes lanes;
    lanes.size = rows;
    lanes.apart = true;
    Types types;
    std::vector<Operand> operands;
    std::map<Operand, std::size_t> number;
    for (std::size_t k : members) {
      const Equation& e = j_.equations[k];
      bool any_rows = false;
      for (std::size_t i = 0; i < e.inputs.size(); ++i) {
        const Var* v = std::get_if<Var>(&e.inputs[i]);
        if (!v) continue;
        const int axis = places_[k].on.in[i];
        any_rows = any_rows || (reads_inside(k, i, computed) ? differs[at(*v)] : axis != whole);
        if (reads_inside(k, i, computed) || !number.emplace(Operand{v->id, axis}, operands.size()).second) continue;
        operands.emplace_back(v->id, axis);
        types.push_back(j_.type(*v));
        if (axis != whole) types.back().shape = without(types.back().shape, axis);
        lanes.mapped.push_back(axis != whole);
      }
      for (Var v : e.outputs) {
        computed[at(v)] = true;
        differs[at(v)] = any_rows;
      }
    }
    const std::vector<Var> given = read_outside(inside, members, differs);
    lanes.program = eliminate_dead_code(inline_all_calls(
        trace_to_jaxpr([&](std::span<const Array> in) { return row_program(members, computed, number, given, in); },
                       types, "rows")
            .jaxpr));
    // A value that is the same for all rows is computed inside, and again outside if others read it.
    for (std::size_t k : members)
      if (!differs[at(j_.equations[k].outputs[0])])
        rewriter.emit(j_.equations[k], rewriter.read(j_.equations[k].inputs), j_.equations[k].params);
    Equation e{&lanes_p, {}, {}, lanes.params(), j_.equations[members.front()].where};
    for (const auto& [id, axis] : operands) e.inputs.push_back(moved(rewriter.read(Var{id}), axis, 0, rewriter));
    for (Var v : given) {
      AbstractValue type = j_.type(v);
      const int axis = places_[static_cast<std::size_t>(home_[at(v)])].on.out;
      std::rotate(type.shape.begin(), type.shape.begin() + axis, type.shape.begin() + axis + 1);
      e.outputs.push_back(rewriter.new_var(type));
    }
    const std::vector<Var> results = e.outputs;
    rewriter.out().equations.push_back(std::move(e));
    for (std::size_t i = 0; i < given.size(); ++i)
      rewriter.substitute(
          given[i], moved(results[i], 0, places_[static_cast<std::size_t>(home_[at(given[i])])].on.out, rewriter));
  }
  /// A value with one axis moved.
  static Atom moved(const Atom& a, int from, int to, Rewriter& rewriter) {
    if (from == to || from == whole) return a;
    AbstractValue type = rewriter.type(a);
    Ints order;
    for (int k = 0; k < type.ndim(); ++k) order.push_back(k);
    const Ints::value_type axis = order[static_cast<std::size_t>(from)];
    order = without(order, from);
    order.insert(order.begin() + to, axis);
    const Shape old = type.shape;
    for (std::size_t k = 0; k < order.size(); ++k) type.shape[k] = old[static_cast<std::size_t>(order[k])];
    Equation e{&ops::transpose_p, {a}, {rewriter.new_var(type)}, {{"permutation", order}}, {}};
    const Var out = e.outputs[0];
    rewriter.out().equations.push_back(std::move(e));
    return out;
  }
  /// Whether operand i of a member is what another member has computed, row by row.
  bool reads_inside(std::size_t k, std::size_t i, const Mask& computed) const {
    const Var* v = std::get_if<Var>(&j_.equations[k].inputs[i]);
    return v && computed[at(*v)] && is_row(places_[k], places_[static_cast<std::size_t>(home_[at(*v)])], i);
  }
  /// Values that differ between rows and that others want.
  std::vector<Var> read_outside(const Mask& inside, const std::vector<std::size_t>& members,
                                const Mask& differs) const {
    Mask wanted(j_.types.size(), false);
    const auto want = [&](const Atom& a) {
      if (const Var* v = std::get_if<Var>(&a)) wanted[at(*v)] = true;
    };
    for (std::size_t k = 0; k < j_.equations.size(); ++k)
      for (std::size_t i = 0; i < j_.equations[k].inputs.size(); ++i)
        if (const Place* from = place_of(j_.equations[k].inputs[i]);
            from && !(inside[k] && is_row(places_[k], *from, i)))
          want(j_.equations[k].inputs[i]);
    for (const Atom& a : j_.outputs) want(a);
    std::vector<Var> out;
    for (std::size_t k : members)
      for (Var v : j_.equations[k].outputs)
        if (wanted[at(v)] && differs[at(v)]) out.push_back(v);
    return out;
  }

  Arrays row_program(const std::vector<std::size_t>& members, const Mask& computed,
                     const std::map<Operand, std::size_t>& number, const std::vector<Var>& given,
                     std::span<const Array> in) const {
    Arrays values(j_.types.size());
    for (std::size_t k : members) {
      const Equation& e = j_.equations[k];
      Arrays operands;
      for (std::size_t i = 0; i < e.inputs.size(); ++i)
        if (const Var* v = std::get_if<Var>(&e.inputs[i]))
          operands.push_back(reads_inside(k, i, computed) ? values[at(*v)]
                                                          : in[number.at({v->id, places_[k].on.in[i]})]);
        else
          operands.push_back(std::get<Literal>(e.inputs[i]).value);
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

}  // namespace

JaxprPtr rows_in_lanes(const JaxprPtr& jaxpr) {
  RowFinder finder(*jaxpr);
  return finder.found() ? finder.run() : jaxpr;
}

}  // namespace cotan
