// Lanes that read the stacked results of one shared scan, step by step, have to wait for it. Where there are threads
// enough, each lane computes the shared steps itself, next to those of its own scan, and none waits.
#include "lowering/device_passes.hpp"
#include "ops/ops.hpp"
#include "passes/passes.hpp"

namespace cotan {

namespace {

constexpr std::int64_t few_steps = 64;

std::size_t at(Var v) { return static_cast<std::size_t>(v.id); }
bool is(const Atom& a, Var v) { return std::get_if<Var>(&a) && std::get<Var>(a) == v; }

/// One shared scan and the lanes that read it.
class Pair {
 public:
  Pair(const Jaxpr& jaxpr, std::size_t first, std::size_t then)
      : jaxpr_(jaxpr),
        first_(first),
        then_(then),
        shared_(jaxpr.equations[first].params),
        lanes_(jaxpr.equations[then].params) {}

  /// Whether the two can be one scan, and what others read of the shared scan is a copy for each lane, or small.
  bool fits() {
    if (lanes_.apart || shared_.length < few_steps || !find_fed() || !find_own()) return false;
    merge_scans();
    if (!fits_lanes(merged_)) return false;
    Mask given = depends_on(*shared_.body, concat(concat(Mask(shared_.consts, false), Mask(shared_.carries, true)),
                                                  Mask(shared_.xs(), false)));
    std::fill_n(given.begin(), shared_.carries, true);
    for (std::size_t k = 0; k < given.size(); ++k) {
      const Wanted wanted = wanted_elsewhere(shared_results()[k]);
      if (wanted == Wanted::whole && k >= shared_.carries) return false;
      wanted_.push_back(wanted != Wanted::never);
      if (wanted_[k] && !given[k]) return false;
    }
    return true;
  }

  std::optional<Jaxpr> merged() const {
    auto order = brought_together(jaxpr_, first_, then_, fed_);
    if (!order) return std::nullopt;
    Jaxpr out = jaxpr_;
    const auto new_var = [&](AbstractValue type) {
      type.shape.insert(type.shape.begin(), lanes_.size);
      out.types.push_back(type);
      return Var{static_cast<std::int32_t>(out.types.size()) - 1};
    };
    const Equation &a = jaxpr_.equations[first_], &b = jaxpr_.equations[then_];
    out.equations = std::move(order->before);
    // The first carries are each lane's own, and so is all that follows from them.
    Equation both{&lanes_p, a.inputs, {}, {}, b.where};
    Lanes merged;
    merged.size = lanes_.size;
    merged.mapped.assign(a.inputs.size(), false);
    Types types;
    for (std::size_t i = 0; i < a.inputs.size(); ++i) {
      types.push_back(jaxpr_.type(a.inputs[i]));
      if (i < shared_.consts || i >= shared_.consts + shared_.carries) continue;
      const Var starts = new_var(types.back());
      out.equations.push_back({&ops::broadcast_in_dim_p, {a.inputs[i]}, {starts}, copies_of(types.back()), a.where});
      both.inputs[i] = starts;
      merged.mapped[i] = true;
    }
    for (std::size_t i = 0; i < b.inputs.size(); ++i) {
      if (fed_[i]) continue;
      both.inputs.push_back(b.inputs[i]);
      merged.mapped.push_back(lanes_.mapped[i]);
      types.push_back(lanes_.program->type(lanes_.program->inputs[i]));
    }
    merged.program = trace_to_jaxpr([&](std::span<const Array> in) { return run_lane(in); }, types, "lanes").jaxpr;
    both.params = merged.params();
    std::vector<std::pair<Var, Var>> per_lane;  // a result of the shared scan, and as the lanes have it
    for (std::size_t k = 0; k < wanted_.size(); ++k)
      if (wanted_[k]) {
        per_lane.emplace_back(shared_results()[k], new_var(jaxpr_.type(shared_results()[k])));
        both.outputs.push_back(per_lane.back().second);
      }
    both.outputs.insert(both.outputs.end(), b.outputs.begin(), b.outputs.end());
    out.equations.push_back(std::move(both));
    std::vector<Atom> now;  // by variable: what it is after this
    for (std::size_t v = 0; v < out.types.size(); ++v) now.emplace_back(Var{static_cast<std::int32_t>(v)});
    for (const auto& [result, lanes] : per_lane) {
      const AbstractValue& type = jaxpr_.type(result);
      const Var one{static_cast<std::int32_t>(out.types.size())};
      out.types.push_back(type);
      out.types.back().shape.insert(out.types.back().shape.begin(), 1);
      Shape limits = type.shape;
      limits.insert(limits.begin(), 1);
      out.equations.push_back(
          {&ops::slice_p,
           {lanes},
           {one},
           {{"start_indices", Ints(limits.size(), 0)}, {"limit_indices", limits}, {"strides", Ints(limits.size(), 1)}},
           a.where});
      out.equations.push_back({&ops::reshape_p, {one}, {result}, {{"new_sizes", type.shape}}, a.where});
    }
    for (Equation& e : order->after) {
      const auto copied =
          std::find_if(per_lane.begin(), per_lane.end(), [&](const auto& p) { return is_copies(e, p.first); });
      if (copied != per_lane.end()) {
        now[at(e.outputs[0])] = copied->second;
        continue;
      }
      for (Atom& a : e.inputs)
        if (const Var* v = std::get_if<Var>(&a)) a = now[at(*v)];
      out.equations.push_back(std::move(e));
    }
    for (Atom& a : out.outputs)
      if (const Var* v = std::get_if<Var>(&a)) a = now[at(*v)];
    return out;
  }

 private:
  enum class Wanted { never, per_lane, whole };

  const std::vector<Var>& shared_results() const { return jaxpr_.equations[first_].outputs; }
  /// Which operands of the lanes are stacks of the shared scan.
  bool find_fed() {
    const Equation& b = jaxpr_.equations[then_];
    const auto& results = shared_results();
    fed_.assign(b.inputs.size(), false);
    from_.assign(b.inputs.size(), 0);
    for (std::size_t i = 0; i < b.inputs.size(); ++i)
      for (std::size_t k = shared_.carries; k < results.size(); ++k)
        if (!lanes_.mapped[i] && is(b.inputs[i], results[k])) {
          fed_[i] = true;
          from_[i] = k;
        }
    return any(fed_);
  }
  /// The one scan of a lane that reads them, and nothing else does.
  bool find_own() {
    const Jaxpr& lane = *lanes_.program;
    for (std::size_t i = 0; i < fed_.size(); ++i) {
      if (!fed_[i]) continue;
      for (std::size_t k = 0; k < lane.equations.size(); ++k)
        for (std::size_t x = 0; x < lane.equations[k].inputs.size(); ++x)
          if (is(lane.equations[k].inputs[x], lane.inputs[i])) {
            if (lane.equations[k].primitive != &scan_p || (own_at_ && *own_at_ != k)) return false;
            own_at_ = k;
            own_ = Scan(lane.equations[k].params);
            if (x < own_.consts + own_.carries) return false;
          }
      for (const Atom& a : lane.outputs)
        if (is(a, lane.inputs[i])) return false;
    }
    return own_at_ && own_.length == shared_.length && own_.reverse == shared_.reverse;
  }
  /// Which x of the lane's own scan is which stack of the shared one; -1: neither.
  std::vector<std::ptrdiff_t> shared_xs() const {
    const Jaxpr& lane = *lanes_.program;
    std::vector<std::ptrdiff_t> out(own_.xs(), -1);
    for (std::size_t x = 0; x < own_.xs(); ++x)
      for (std::size_t i = 0; i < fed_.size(); ++i)
        if (fed_[i] && is(lane.equations[*own_at_].inputs[own_.consts + own_.carries + x], lane.inputs[i]))
          out[x] = static_cast<std::ptrdiff_t>(from_[i]);
    return out;
  }
  /// Operands of both scans as those of the merged one.
  template <class T>
  std::vector<T> arranged(std::span<const T> theirs, std::span<const T> own) const {
    std::vector<T> out;
    const auto add = [&](std::span<const T> from) { out.insert(out.end(), from.begin(), from.end()); };
    add(theirs.subspan(0, shared_.consts));
    add(own.subspan(0, own_.consts));
    add(theirs.subspan(shared_.consts, shared_.carries));
    add(own.subspan(own_.consts, own_.carries));
    add(theirs.subspan(shared_.consts + shared_.carries));
    const std::vector<std::ptrdiff_t> given = shared_xs();
    for (std::size_t x = 0; x < given.size(); ++x)
      if (given[x] < 0) out.push_back(own[own_.consts + own_.carries + x]);
    return out;
  }
  void merge_scans() {
    const std::vector<std::ptrdiff_t> given = shared_xs();
    const Types theirs = shared_.body->input_types(), own = own_.body->input_types();
    const Types types = arranged<AbstractValue>(theirs, own);
    const auto step = [&](std::span<const Array> in) {
      Arrays a, b;
      const auto take = [&](Arrays& to, std::size_t n) {
        to.insert(to.end(), in.begin(), in.begin() + static_cast<std::ptrdiff_t>(n));
        in = in.subspan(n);
      };
      take(a, shared_.consts);
      take(b, own_.consts);
      take(a, shared_.carries);
      take(b, own_.carries);
      take(a, shared_.xs());
      const Arrays first = eval_jaxpr(*shared_.body, a);
      for (std::ptrdiff_t k : given) {
        if (k >= 0)
          b.push_back(first[static_cast<std::size_t>(k)]);
        else
          take(b, 1);
      }
      const Arrays then = eval_jaxpr(*own_.body, b);
      Arrays out;
      const auto give = [&](const Arrays& from, std::size_t begin, std::size_t end) {
        out.insert(out.end(), from.begin() + static_cast<std::ptrdiff_t>(begin),
                   from.begin() + static_cast<std::ptrdiff_t>(end));
      };
      give(first, 0, shared_.carries);
      give(then, 0, own_.carries);
      give(first, shared_.carries, first.size());
      give(then, own_.carries, then.size());
      return out;
    };
    merged_ = shared_;
    merged_.body = trace_to_jaxpr(step, types, "scan").jaxpr;
    merged_.consts += own_.consts;
    merged_.carries += own_.carries;
  }

  Arrays run_lane(std::span<const Array> in) const {
    const Jaxpr& lane = *lanes_.program;
    const std::size_t theirs = shared_.body->inputs.size();
    Arrays values(lane.types.size());
    for (std::size_t i = 0, next = theirs; i < fed_.size(); ++i)
      if (!fed_[i]) values[at(lane.inputs[i])] = in[next++];
    const auto value = [&](const Atom& a) {
      return std::get_if<Var>(&a) ? values[at(std::get<Var>(a))] : std::get<Literal>(a).value;
    };
    Arrays shared;
    for (std::size_t k = 0; k < lane.equations.size(); ++k) {
      const Equation& e = lane.equations[k];
      Arrays operands;
      for (const Atom& a : e.inputs) operands.push_back(value(a));
      const Arrays results =
          k == *own_at_ ? run_merged(in.subspan(0, theirs), operands, shared) : bind(*e.primitive, operands, e.params);
      for (std::size_t i = 0; i < results.size(); ++i) values[at(e.outputs[i])] = results[i];
    }
    Arrays out = where(wanted_, std::span<const Array>(shared));
    for (const Atom& a : lane.outputs) out.push_back(value(a));
    return out;
  }
  /// Results of the lane's own scan, and of the shared one.
  Arrays run_merged(std::span<const Array> theirs, std::span<const Array> own, Arrays& shared) const {
    const Arrays results = bind_scan(merged_, arranged(theirs, own));
    Arrays out;
    const std::size_t shared_ys = merged_.carries + shared_.ys();
    for (std::size_t k = 0; k < results.size(); ++k)
      (k < shared_.carries || (k >= merged_.carries && k < shared_ys) ? shared : out).push_back(results[k]);
    return out;
  }

  Params copies_of(const AbstractValue& type) const {
    Shape shape = type.shape;
    shape.insert(shape.begin(), lanes_.size);
    Ints dims;
    for (std::size_t d = 1; d < shape.size(); ++d) dims.push_back(static_cast<std::int64_t>(d));
    return {{"shape", shape}, {"broadcast_dimensions", dims}};
  }
  /// Whether an equation only gives each lane its copy of `v`.
  bool is_copies(const Equation& e, Var v) const {
    return e.primitive == &ops::broadcast_in_dim_p && is(e.inputs[0], v) && e.params == copies_of(jaxpr_.type(v));
  }
  Wanted wanted_elsewhere(Var v) const {
    Wanted out = Wanted::never;
    for (std::size_t k = 0; k < jaxpr_.equations.size(); ++k) {
      const Equation& e = jaxpr_.equations[k];
      const bool reads = std::any_of(e.inputs.begin(), e.inputs.end(), [&](const Atom& a) { return is(a, v); });
      if (!reads || k == then_) continue;
      if (!is_copies(e, v)) return Wanted::whole;
      out = Wanted::per_lane;
    }
    const bool given =
        std::any_of(jaxpr_.outputs.begin(), jaxpr_.outputs.end(), [&](const Atom& a) { return is(a, v); });
    return given ? Wanted::whole : out;
  }

  const Jaxpr& jaxpr_;
  const std::size_t first_, then_;
  const Scan shared_;
  const Lanes lanes_;
  Mask fed_;                       ///< by operand of the lanes
  std::vector<std::size_t> from_;  ///< which result of the shared scan
  std::optional<std::size_t> own_at_;
  Scan own_, merged_;
  Mask wanted_;  ///< by result of the shared scan: whether others read it
};

std::optional<Jaxpr> merge_one(const Jaxpr& jaxpr, std::int64_t most_lanes) {
  for (std::size_t then = 0; then < jaxpr.equations.size(); ++then) {
    const Equation& e = jaxpr.equations[then];
    if (e.primitive != &lanes_p || Lanes(e.params).size > most_lanes) continue;
    for (std::size_t first = 0; first < then; ++first) {
      if (jaxpr.equations[first].primitive != &scan_p) continue;
      Pair pair(jaxpr, first, then);
      if (!pair.fits()) continue;
      if (auto merged = pair.merged()) return merged;
    }
  }
  return std::nullopt;
}

}  // namespace

JaxprPtr shared_scans_in_lanes(const JaxprPtr& jaxpr, std::int64_t most_lanes) {
  JaxprPtr out = jaxpr;
  while (auto merged = merge_one(*out, most_lanes)) {
    out = eliminate_dead_code(std::make_shared<const Jaxpr>(std::move(*merged)));
    verify_if_enabled(*out, "taking shared scans into lanes");
  }
  return out;
}

}  // namespace cotan
