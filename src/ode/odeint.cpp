// odeint: the state as one vector, a loop of steps between each two times, and the adjoint equation for reverse mode
// (Chen et al., 2018): what the result is sensitive to is integrated backwards in time, with the state.
#include <cotan/lax.hpp>
#include <cotan/ode.hpp>

#include "core/construct.hpp"
#include "core/jaxpr.hpp"
#include "ode/dopri.hpp"
#include "ops/promote.hpp"

namespace cotan {

namespace {

namespace np = numpy;
namespace fu = flatten_util::detail;

/// dy/dt of a vector at a time, with arguments.
using Field = std::function<Array(const Array& y, const Array& t, std::span<const Array> args)>;

Array solution(const Field& field, const Array& y0, const Array& ts, const Arrays& args, const flat::OdeOptions& o);

/// Leaves as one vector. Inside of loops that is an expression on every device as long as parts are few.
Array joined(Arrays parts, const fu::Layout& layout) {
  constexpr std::size_t few = 4;
  while (parts.size() > 1) {
    Arrays next;
    for (std::size_t i = 0; i < parts.size(); i += few) {
      const auto from = parts.begin() + static_cast<std::ptrdiff_t>(i);
      next.push_back(fu::raveled(Arrays(from, from + std::min<std::ptrdiff_t>(few, parts.end() - from)), layout));
    }
    parts = std::move(next);
  }
  return fu::raveled(parts, layout);
}

struct OdeState {
  Array y, slope, t, dt, last_t;
  ode::Polynomial polynomial;
};
struct OdeSteps {
  Array number;
  OdeState state;
};

/// One step, or a try that is too long.
OdeSteps step_of(const ode::Slope& f, const OdeSteps& s, const flat::OdeOptions& o) {
  const OdeState& now = s.state;
  const ode::Step step = ode::dopri_step(f, now.y, now.slope, now.t, now.dt);
  const Array ratio = ode::error_ratio(step.error, o.rtol, o.atol, now.y, step.y);
  const Array dt = np::clip(ode::next_length(now.dt, ratio), 0.0, o.hmax);
  const OdeState next{step.y, step.slope, now.t + now.dt,
                      dt,     now.t,      ode::dopri_polynomial(step, now.y, now.slope, now.dt)};
  OdeState again = now;
  again.dt = dt;
  const Array good = ratio <= 1.0;
  return {s.number + 1, tree::map([&](const Array& a, const Array& b) { return np::where(good, a, b); }, next, again)};
}

Array forward(const Field& field, const Array& y0, const Array& ts, std::span<const Array> args,
              const flat::OdeOptions& o) {
  const Arrays constants(args.begin(), args.end());
  const ode::Slope f = [&](const Array& y, const Array& t) { return field(y, t, constants); };
  const Array t0 = ts(0), slope = f(y0, t0);
  const Array dt = np::clip(ode::first_step(f, y0, slope, t0, o.rtol, o.atol), 0.0, o.hmax);
  const OdeState start{y0, slope, t0, dt, t0, {y0, y0, y0, y0, y0}};
  const auto [end, ys] = lax::scan(
      [&](const OdeState& from, const Array& target) {
        const OdeSteps to = lax::while_loop(
            [&](const OdeSteps& s) {
              const Array more = (s.state.t < target) & (s.state.dt > 0.0);
              return o.mxstep ? more & (s.number < *o.mxstep) : more;
            },
            [&](const OdeSteps& s) { return step_of(f, s, o); }, OdeSteps{np::zeros({}, i32), from});
        const OdeState& s = to.state;
        const Array span = s.t - s.last_t, known = np::where(span > 0.0, span, 1.0);
        const Array share = ode::as_part_of(y0, (target - s.last_t) / known);
        Array y = s.polynomial[0];
        for (std::size_t i = 1; i < s.polynomial.size(); ++i) y = y * share + s.polynomial[i];
        // A time that steps did not reach, since they became NaN or too many, and one that lies behind.
        const Array reached = (s.t >= target) & (target >= s.last_t);
        return std::pair{s, np::where(reached, y, np::nan)};
      },
      start, ts(range(1, none)));
  return np::concatenate({np::expand_dims(y0, 0), ys});
}

// Reverse mode ----------------------------------------------------------------------------------------

/// Which arguments have derivatives, and how they lie in the state of the adjoint equation: y, its cotangent, that of
/// the time, those of the arguments.
struct Adjoint {
  Field field;
  std::vector<bool> inexact;

  Arrays differentiable(std::span<const Array> args) const {
    Arrays out;
    for (std::size_t i = 0; i < args.size(); ++i)
      if (inexact[i]) out.push_back(args[i]);
    return out;
  }
  Arrays with(std::span<const Array> args, std::span<const Array> chosen) const {
    Arrays out(args.begin(), args.end());
    for (std::size_t i = 0, k = 0; i < out.size(); ++i)
      if (inexact[i]) out[i] = chosen[k++];
    return out;
  }
};

/// The adjoint equation in the time that goes backwards, -t.
Field adjoint_field(const Adjoint& adjoint, const fu::Layout& layout) {
  return [adjoint, layout](const Array& state, const Array& back, std::span<const Array> args) {
    const Arrays parts = fu::unraveled(state, layout);
    Arrays primals{parts[0], (-back).astype(parts[2].dtype(), {})};
    for (const Array& a : adjoint.differentiable(args)) primals.push_back(a);
    const flat::Paths paths = [](std::size_t i) { return "argument " + std::to_string(i); };
    const auto [slope, pullback] = flat::vjp(
        [&](std::span<const Array> in) {
          return Arrays{adjoint.field(in[0], in[1], adjoint.with(args, in.subspan(2)))};
        },
        primals, "odeint", paths);
    Arrays out{-slope[0]};
    const Arrays cotangents = pullback.apply(Arrays{parts[1]}, paths);
    for (std::size_t i = 0; i < cotangents.size(); ++i)
      out.push_back(cotangents[i].defined() ? cotangents[i] : np::zeros_like(primals[i]));
    return joined(out, layout);
  };
}

/// Cotangents of y0, the times and the arguments, from those of the solution at all times.
Arrays backward(const Adjoint& adjoint, const Array& ys, const Array& ts, const Arrays& args, const Array& g,
                const flat::OdeOptions& o) {
  const Arrays chosen = adjoint.differentiable(args);
  Arrays parts{ys(0), g(0), np::zeros({}, ts.dtype())};
  for (const Array& a : chosen) parts.push_back(np::zeros_like(a));
  const fu::Layout layout = fu::layout_of(parts);
  const Field field = adjoint_field(adjoint, layout);
  struct At {
    Array y, t, last_t, g, last_g;
  };
  const auto rest = range(1, none), others = range(none, -1);
  const At xs{ys(rest), ts(rest), ts(others), g(rest), g(others)};
  Arrays carry(parts.begin() + 1, parts.end());
  carry[0] = g(-1);
  const auto [end, ts_bar] = lax::scan(
      [&](const Arrays& from, const At& at) {
        const Array slope = adjoint.field(at.y, at.t, args);
        Array moved = np::sum(slope * at.g);
        if (is_complex(moved.dtype())) moved = lax::real(moved);
        moved = moved.astype(ts.dtype(), {});
        Arrays state{at.y, from[0], from[1] - moved};
        state.insert(state.end(), from.begin() + 2, from.end());
        const Array times = np::stack({-at.t, -at.last_t});
        Arrays to = fu::unraveled(solution(field, joined(state, layout), times, args, o)(-1), layout);
        to.erase(to.begin());
        to[0] = to[0] + at.last_g;
        return std::pair{to, moved};
      },
      carry, xs, {.reverse = true});
  Arrays out{end[0], np::concatenate({np::expand_dims(end[1], 0), ts_bar})};
  for (std::size_t i = 0, k = 2; i < args.size(); ++i) out.push_back(adjoint.inexact[i] ? end[k++] : Array());
  return out;
}

Array solution(const Field& field, const Array& y0, const Array& ts, const Arrays& args, const flat::OdeOptions& o) {
  Arrays operands{y0, ts};
  operands.insert(operands.end(), args.begin(), args.end());
  Adjoint adjoint{field, {}};
  for (const Array& a : args) adjoint.inexact.push_back(is_inexact(a.dtype()));
  const auto solve = [field, o](std::span<const Array> in) {
    return Arrays{forward(field, in[0], in[1], in.subspan(2), o)};
  };
  return flat::custom_vjp(
      solve,
      [solve](std::span<const Array> in) {
        const Arrays ys = solve(in);
        Arrays residuals{ys[0]};
        residuals.insert(residuals.end(), in.begin() + 1, in.end());
        return std::pair{ys, residuals};
      },
      [adjoint, o](std::span<const Array> in) {
        return backward(adjoint, in[0], in[1], Arrays(in.begin() + 2, in.end() - 1), in.back(), o);
      },
      operands, "odeint")[0];
}

// The public function -----------------------------------------------------------------------------------

void check_odeint(std::span<const Array> y0, const Array& t, const flat::OdeOptions& o) {
  if (y0.empty()) raise<TreeError>("[odeint] y0 has no Arrays; give a state.");
  for (const Array& y : y0)
    if (!is_inexact(y.dtype()))
      raise<TypeError>("[odeint] the state has {}, but it changes by fractions; give floats.", y.aval());
  if (t.ndim() != 1 || t.size() == 0 || is_complex(t.dtype()))
    raise<ShapeError>("[odeint] the times are {}; give a vector of at least one real number.", t.aval());
  if (!(o.rtol >= 0) || !(o.atol >= 0) || !(o.hmax > 0) || (o.mxstep && *o.mxstep < 1))
    raise<ValueError>(
        "[odeint] rtol is {}, atol {}, hmax {}; tolerances cannot be negative, and steps must be longer "
        "than 0, and at least one.",
        o.rtol, o.atol, o.hmax);
}

}  // namespace

Arrays flat::odeint(const FlatFunction& func, std::span<const Array> y0, const Array& t, std::span<const Array> args,
                    const OdeOptions& options) {
  check_odeint(y0, t, options);
  Arrays start;
  for (const Array& y : y0) start.push_back(strong(y));
  const Array times = strong(np::to_inexact(t));
  const fu::Layout layout = fu::layout_of(start);
  // Traced once; what it captured, and is not known, becomes an argument, so that it has a derivative too.
  Arrays inputs = start;
  inputs.push_back(times(0));
  for (const Array& a : args) inputs.push_back(strong(a));
  const flat::Paths paths = [n = start.size()](std::size_t i) {
    return i < n ? "leaf " + std::to_string(i) + " of y0" : i == n ? "t" : "argument " + std::to_string(i - n - 1);
  };
  const Program program = flat::make_jaxpr(FlatFn(func), inputs, "odeint", paths);
  Arrays known, operands(inputs.begin() + static_cast<std::ptrdiff_t>(start.size()) + 1, inputs.end());
  const std::size_t given = operands.size();
  std::vector<bool> is_known;
  for (const Array& c : program.consts()) {
    is_known.push_back(is_concrete(c));
    (is_known.back() ? known : operands).push_back(c);
  }
  const Types types = program.jaxpr()->output_types();
  for (std::size_t i = 0; i < start.size(); ++i)
    if (i >= types.size() || types[i].shape != start[i].shape())
      raise<ShapeError>("[odeint] the function gives {} for the state {}; it must have its shape.",
                        i < types.size() ? types[i].str() : "nothing", start[i].aval());
  const Field field = [jaxpr = program.jaxpr(), layout, known, is_known, given](const Array& y, const Array& time,
                                                                                std::span<const Array> rest) {
    Arrays all;
    std::size_t k = 0, captured = given;
    for (const bool constant : is_known) all.push_back(constant ? known[k++] : rest[captured++]);
    for (const Array& leaf : fu::unraveled(y, layout)) all.push_back(leaf);
    all.push_back(time);
    all.insert(all.end(), rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(given));
    return joined(eval_jaxpr(*jaxpr, all), layout);
  };
  const Array ys = solution(field, fu::raveled(start, layout), times, operands, options);
  Arrays out;
  std::int64_t at = 0;
  for (const AbstractValue& leaf : layout.leaves) {
    Shape shape = leaf.shape;
    shape.insert(shape.begin(), ys.shape(0));
    out.push_back(np::reshape(ys(all, range(at, at + leaf.size())), shape).astype(leaf.dtype, {}));
    at += leaf.size();
  }
  return out;
}

}  // namespace cotan
