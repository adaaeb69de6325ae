// A smoother that needs the square root of the memory of all covariances: it keeps the state before each block of
// steps, and computes the others again on its way back.
#include <cmath>

#include "dlm/errors.hpp"
#include "dlm/shocks.hpp"

namespace cotan::dlm {

namespace np = numpy;

namespace {

/// What is said of a step.
struct Said {
  Array x, mean, variance;
  Shocks shocks;
};
struct Ahead {
  Array y, variance;     ///< before it is seen
  Array state_variance;  ///< after it
};

/// Steps in blocks: a leading axis of steps as two, zeros (missing values) at the end.
Array in_blocks(const Array& a, std::int64_t blocks, std::int64_t length) {
  Shape more = a.shape();
  more[0] = blocks * length - a.shape(0);
  Shape split = a.shape();
  split[0] = blocks;
  split.insert(split.begin() + 1, length);
  return np::reshape(more[0] > 0 ? np::concatenate({a, np::zeros(more, a.dtype())}, 0) : a, split);
}
Array in_steps(const Array& a, std::int64_t steps) {
  Shape joined(a.shape().begin() + 1, a.shape().end());
  joined[0] = a.shape(0) * a.shape(1);
  return np::reshape(a, joined)(range(0, steps));
}
template <class T>
T all_in_steps(const T& t, std::int64_t steps) {
  return tree::map([=](const Array& a) { return in_steps(a, steps); }, t);
}

/// Both passes over some of the steps of a model, which share the kind of their beliefs.
class Passes {
 public:
  using Slices = std::vector<Array>;

  Passes(const StateSpace& model, const Observations& o, const Array& parts, const std::optional<Array>& others)
      : steps_(o.y.shape(0)), transition_(model), inputs_(model, o), parts_(parts), others_(others) {
    // A block of all steps where their covariances are few.
    length_ = kept_steps(model, steps_).steps() == 0
                  ? steps_
                  : std::max<std::int64_t>(1, std::llround(std::sqrt(static_cast<double>(steps_))));
    blocks_ = (steps_ + length_ - 1) / length_;
    Slices all = inputs_.all;
    all.push_back(np::ones({steps_}, bool_));  // steps that there are
    for (const Array& a : all) blocked_.push_back(in_blocks(a, blocks_, length_));
  }

  struct Forward {
    Belief end;
    Ahead ahead;
    Array minus2_log;
  };
  Forward forward(const Belief& first) {
    const auto step = [&](const Belief& now, const Slices& in) {
      const Matrices m = inputs_.matrices(in);
      const Observed seen = observe(m, now, in[0], in[1]);
      return std::pair{next(m, now, seen, in), std::pair{ahead(m, now, seen.after), seen.minus2_log}};
    };
    const auto block = [&](const Belief& now, const Slices& in) {
      const auto [end, said] = lax::scan(step, now, in);
      return std::pair{end, std::pair{now, said}};
    };
    const auto [end, each] = lax::scan(block, first, blocked_);
    starts_ = each.first;
    return {end, all_in_steps(each.second.first, steps_), np::sum(each.second.second)};
  }
  /// After forward().
  std::pair<Adjoint, Said> backward(const Adjoint& end) const {
    const auto on = [&](const Belief& now, const Slices& in) {
      const Matrices m = inputs_.matrices(in);
      return std::pair{next(m, now, observe(m, now, in[0], in[1]), in), now};
    };
    const auto back = [&](const Adjoint& after, const std::pair<Belief, Slices>& in) {
      const auto& [belief, slices] = in;
      const Matrices m = inputs_.matrices(slices);
      const std::vector<Look> looks = observe(m, belief, slices[0], slices[1]).looks;
      const Adjoint later = moved_back(transition_, m, after), now = observed_back(looks, later);
      Array x = belief.x + times(belief.C, now.r);
      if (belief.D) x = x + times(*belief.D, times(transposed(*belief.D), *now.r1));
      const Combined c = combined(combinations(m), belief, now);
      return std::pair{now, Said{x, c.mean, c.variance, shocks(looks, later, now)}};
    };
    const auto block = [&](const Adjoint& after, const std::pair<Belief, Slices>& in) {
      const Belief each = lax::scan(on, in.first, in.second).second;
      return lax::scan(back, after, std::pair{each, in.second}, {.reverse = true});
    };
    const auto [start, said] = lax::scan(block, end, std::pair{starts_, blocked_}, {.reverse = true});
    return {start, all_in_steps(said, steps_)};
  }

 private:
  Belief next(const Matrices& m, const Belief& now, const Observed& seen, const Slices& in) const {
    const Belief next = moved_on(transition_, m, seen.after);
    if (blocks_ * length_ == steps_) return next;
    return tree::map([&](const Array& a, const Array& b) { return np::where(in.back(), a, b); }, next, now);
  }
  static Ahead ahead(const Matrices& m, const Belief& b, const Belief& after) {
    const Array variance = np::sum(np::matmul(m.F, b.C) * m.F, -1) + np::diagonal(m.V);
    return {times(m.F, b.x), b.D ? np::where(unknown_values(m.F, b), INFINITY, variance) : variance,
            np::diagonal(with_infinite(after))};
  }
  Array combinations(const Matrices& m) const {
    const std::int64_t states = parts_.shape(1);
    const Array rows = np::reshape(np::expand_dims(parts_, 1) * m.F, {-1, states});
    return others_ ? np::concatenate({rows, *others_}, 0) : rows;
  }

  std::int64_t steps_, length_, blocks_;
  Transition transition_;
  StepInputs inputs_;
  Array parts_;
  std::optional<Array> others_;
  Slices blocked_;
  Belief starts_;
};

Array joined(const Array& a, const Array& b) { return np::concatenate({a, b}, 0); }

}  // namespace

Decomposition decompose(const StateSpace& model, const Array& y, const Array& parts,
                        const std::optional<Array>& others) {
  const StateSpace s = checked(model, y);
  const std::int64_t n = y.shape(0), m = s.x0.shape(0), p = s.F.shape(-2);
  const auto check = [&](const char* what, const Array& a) {
    if (!a.defined() || a.ndim() != 2 || a.shape(0) < 1 || a.shape(1) != m)
      raise<ShapeError>("[dlm] {} are {}; they must be [number of them, {} states].", what,
                        a.defined() ? a.aval().str() : "missing", m);
    return a.astype(s.G.dtype());
  };
  const Array masks = check("the parts", parts);
  const std::optional<Array> rows = others ? std::optional(check("the other combinations", *others)) : std::nullopt;
  const Observations o = observations(s, y);

  Passes::Forward f;
  Said said;
  if (s.D0) {
    Split split(s, o);
    Passes first(split.first, split.first_o, masks, rows);
    f = first.forward(first_belief(split.first));
    Adjoint after = nothing_after(s);
    Said rest_said;
    if (split.has_rest) {
      split.go_on_from(f.end);
      Passes rest(split.rest, split.rest_o, masks, rows);
      const Passes::Forward more = rest.forward(first_belief(split.rest));
      f.ahead = tree::map(joined, f.ahead, more.ahead);
      f.minus2_log = f.minus2_log + more.minus2_log;
      std::tie(after, rest_said) = rest.backward(after);
    }
    said = first.backward(with_diffuse_terms(after)).second;
    if (split.has_rest) said = tree::map(joined, said, rest_said);
  } else {
    Passes all(s, o, masks, rows);
    f = all.forward(first_belief(s));
    said = all.backward(nothing_after(s)).second;
  }
  const auto of_parts = [&](const Array& a) {
    return np::reshape(a(cotan::all, range(0, masks.shape(0) * p)), {n, masks.shape(0), p});
  };
  const auto of_others = [&](const Array& a) {
    return rows ? std::optional(a(cotan::all, range(masks.shape(0) * p, none))) : std::nullopt;
  };
  const Array sd = np::sqrt(said.variance), predicted = np::isfinite(f.ahead.variance);
  const auto [value_shock, value_shock_sd] = sizes_of_shocks(said.shocks.value, said.shocks.value_variance);
  const auto [state_shock, state_shock_sd] = sizes_of_shocks(said.shocks.state, said.shocks.state_variance);
  return {said.x,
          np::sqrt(np::maximum(f.ahead.state_variance[-1], 0.0)),
          of_parts(said.mean),
          of_parts(sd),
          of_others(said.mean),
          of_others(sd),
          np::where(predicted, f.ahead.y, NAN),
          np::where(predicted, np::sqrt(f.ahead.variance), NAN),
          f.minus2_log,
          value_shock,
          value_shock_sd,
          state_shock,
          state_shock_sd};
}

}  // namespace cotan::dlm
