// The flat side of control flow: traces the functions, checks what they return, binds the primitives.
#include "lax/control_flow.hpp"

#include <cmath>
#include <cotan/control_flow.hpp>
#include <cotan/eager.hpp>
#include <cotan/numpy.hpp>

#include "control/control.hpp"
#include "core/construct.hpp"
#include "core/effects.hpp"
#include "core/error.hpp"
#include "ops/ops.hpp"
#include "ops/promote.hpp"

namespace cotan::flat {

namespace {

Array concrete_or_none(const Array& a) { return concrete(a) ? a : Array(); }

/// A carry as it enters a loop: weak scalars take the dtype that the body gives back.
struct Carry {
  Arrays init;
  const Paths& paths;
  std::string_view name;
  std::vector<std::pair<std::size_t, numpy::ResultType>> casts = {};
  std::vector<bool> wide = std::vector<bool>(init.size());  ///< weak ones that met f64: f64 between steps, weak inside

  Types types() const { return widened(types_of(init), wide); }
  Arrays values() const { return widened(init, wide); }
  /// What the function sees of a step's arguments, the carries first.
  Arrays enter(std::span<const Array> args) const { return narrowed(args, wide); }
  /// The other way: what a step hands on of the function's results.
  Arrays leave(Arrays out) const {
    for (std::size_t i = 0; i < init.size(); ++i)
      if (!init[i].weak_type()) out[i] = strong(out[i]);
    return widened(out, wide);
  }

  /// True if the body gives back what it takes; false if it must be traced again, after retype(). Raises where that
  /// would not help, with all that differ.
  bool settle(std::span<const Array> next) {
    casts.clear();
    std::string problems;
    if (next.size() != init.size())
      raise<InternalError>("[{}] {} carries became {}; this is a bug in cotan.", name, init.size(), next.size());
    for (std::size_t i = 0; i < init.size(); ++i) {
      const AbstractValue &in = init[i].aval(), &out = next[i].aval();
      if (in.dtype == out.dtype && in.shape == out.shape) {
        if (in.weak_type && !out.weak_type) casts.push_back({i, {out.dtype, false}});
        continue;
      }
      if (in.weak_type && in.shape == out.shape) {
        const Arrays both{init[i], abstract_array({out.dtype, out.shape, out.weak_type})};
        if (numpy::result_type(both).dtype == out.dtype) {
          casts.push_back({i, {out.dtype, out.weak_type}});
          continue;
        }
      }
      problems += fmt::format("\n  {} is {} at first, but the function returns {}", paths(i), in, out);
      if (in.shape == out.shape)
        problems += fmt::format("; cast one of them with astype({})", cotan::name(in.dtype));
      else
        problems += "; start with that shape, or return the first one";
    }
    if (!problems.empty())
      raise<TypeError>("[{}] the carry must keep its shapes and dtypes from step to step, but{}.", name, problems);
    return casts.empty();
  }
  /// Not part of settle(), which runs while the body is traced: there a cast would become part of the body.
  void retype() {
    for (const auto& [i, type] : casts) {
      init[i] = numpy::cast_to(init[i], type);
      if (!type.weak) init[i] = strong(init[i]);
      wide[i] = false;
    }
    casts.clear();
  }
};

/// Steps between checkpoints: about the root of the length, and a divisor of it if there is one nearby.
std::int64_t steps_between(const ScanCheckpoint& checkpoint, std::int64_t length) {
  if (checkpoint.steps() != ScanCheckpoint::root) return checkpoint.steps();
  const auto root = static_cast<std::int64_t>(std::sqrt(static_cast<double>(length)));
  for (std::int64_t k = root; k <= root + root / 4; ++k)
    if (k > 0 && length % k == 0) return k;
  return std::max<std::int64_t>(root, 1);
}

Array rows(const Array& a, std::int64_t from, std::int64_t to) { return ops::slice_axis(a, 0, from, to); }

/// A scan over scans of `k` steps, each of which keeps nothing for the backward pass but its operands.
Arrays scan_with_checkpoints(const Scan& s, std::span<const Array> args, std::int64_t k) {
  const std::int64_t segments = s.length / k, whole = segments * k;
  const std::size_t fixed = s.consts + s.carries;
  const auto xs = args.subspan(fixed);
  Scan inner = s, rest = s, outer = s;
  inner.length = k;
  rest.length = s.length - whole;
  outer.length = segments;
  Arrays carry(args.begin() + static_cast<std::ptrdiff_t>(s.consts), args.begin() + static_cast<std::ptrdiff_t>(fixed));
  const auto consts = args.subspan(0, s.consts);
  std::vector<Arrays> ys(s.ys());  // in the order of steps
  const auto run_rest = [&] {
    if (rest.length == 0) return;
    Arrays in = concat(consts, carry);
    for (const Array& x : xs) in.push_back(rows(x, whole, s.length));
    const Arrays out = checkpoint([&](std::span<const Array> a) { return bind_scan(rest, a); }, in, nullptr);
    std::copy_n(out.begin(), s.carries, carry.begin());
    for (std::size_t i = 0; i < ys.size(); ++i) ys[i].push_back(out[s.carries + i]);
  };
  if (s.reverse) run_rest();
  Arrays in = concat(consts, carry);
  Types slice_types = types_of(in);
  for (const Array& x : xs) {
    Shape shape = x.shape();
    shape[0] = k;
    slice_types.push_back({x.dtype(), shape, x.weak_type()});
    shape.insert(shape.begin(), segments);
    in.push_back(ops::reshape(rows(x, 0, whole), shape));
  }
  const ClosedJaxpr segment = trace_to_jaxpr(
      [&](std::span<const Array> a) {
        return checkpoint([&](std::span<const Array> b) { return bind_scan(inner, b); }, a, nullptr);
      },
      slice_types, "scan", s.body->name);
  outer.body = segment.jaxpr;
  outer.consts += segment.consts.size();
  outer.unroll = 1;
  const Arrays out = bind_scan(outer, concat(segment.consts, in));
  std::copy_n(out.begin(), s.carries, carry.begin());
  for (std::size_t i = 0; i < ys.size(); ++i) {
    const Array& y = out[s.carries + i];
    Shape shape(y.shape().begin() + 1, y.shape().end());
    shape[0] = whole;
    ys[i].push_back(ops::reshape(y, shape));
  }
  if (!s.reverse) run_rest();
  Arrays results = carry;
  for (Arrays& parts : ys) {
    if (s.reverse) std::reverse(parts.begin(), parts.end());
    results.push_back(parts.size() == 1 ? parts[0] : ops::concatenate(parts, 0));
  }
  return results;
}

}  // namespace

void raise_structure_mismatch(std::string_view name, std::string_view what, const std::string& in,
                              const std::string& out, const std::string& difference) {
  raise<TreeError>("[{}] the {} has structure {} but the function returns {}; they must be alike.{}", name, what, in,
                   out, difference);
}

Arrays scan(const FlatFn& body, std::span<const Array> init, std::span<const Array> xs, const ScanOptions& options,
            const Paths& carry_paths, const Paths& x_paths, std::string_view name) {
  check_all_defined(init, name, carry_paths);
  check_all_defined(xs, name, x_paths);
  std::optional<std::int64_t> length = options.length;
  std::string first = "the length given";
  Types slices;
  for (std::size_t i = 0; i < xs.size(); ++i) {
    if (xs[i].ndim() == 0)
      raise<ShapeError>("[{}] {} is a scalar and has no axis to scan over; capture it in the function instead.", name,
                        x_paths(i));
    const std::int64_t n = xs[i].shape()[0];
    if (length && *length != n)
      raise<ShapeError>("[{}] first axes have different sizes: {} for {} but {} for {} (shape {}); they must be equal.",
                        name, *length, first, n, x_paths(i), describe(xs[i].shape()));
    if (!length) first = x_paths(i);
    length = n;
    slices.push_back({xs[i].dtype(), Shape(xs[i].shape().begin() + 1, xs[i].shape().end()), xs[i].weak_type()});
  }
  if (!length)
    raise<ValueError>("[{}] there are no xs, so the number of steps is not known; pass lax::length(n) as xs.", name);
  if (*length < 0) raise<ValueError>("[{}] the length is {}; it must not be negative.", name, *length);
  if (options.unroll < 1) raise<ValueError>("[{}] unroll is {}; it must be at least 1.", name, options.unroll);
  if (options.checkpoint.steps() < ScanCheckpoint::root)
    raise<ValueError>("[{}] checkpoint is {}; give a number of steps, or sqrt_n.", name, options.checkpoint.steps());

  Carry carry{Arrays(init.begin(), init.end()), carry_paths, name};
  if (is_jit_disabled() && *length > 0) return scan_without_jit(body, init, xs, *length, options.reverse);
  effects::Watched watched(body);
  ClosedJaxpr closed;
  for (bool settled = false; !settled; carry.retype()) {
    Types types = carry.types();
    types.insert(types.end(), slices.begin(), slices.end());
    std::vector<bool> wanted;
    closed = trace_to_jaxpr(
        [&](std::span<const Array> in) {
          Arrays out = watched(carry.enter(in));
          check_outputs_defined(out, name);
          settled = carry.settle(std::span(out).subspan(0, init.size()));
          return settled ? carry.leave(std::move(out)) : out;
        },
        types, name, {}, &wanted);
    if (add_wanted(carry.wide, wanted)) settled = false;
  }
  if (watched.found())
    return effects::call(name, [&](const Array& token) {
      return scan(effects::Threaded(body), effects::with_token(token, init), xs, options,
                  effects::after_token(carry_paths), x_paths, name);
    });
  Scan s;
  s.body = closed.jaxpr;
  s.consts = closed.consts.size();
  s.carries = init.size();
  s.length = *length;
  s.reverse = options.reverse;
  s.unroll = std::min(options.unroll, std::max<std::int64_t>(*length, 1));
  Arrays args = concat(closed.consts, carry.values());
  args.insert(args.end(), xs.begin(), xs.end());
  const std::int64_t k = steps_between(options.checkpoint, *length);
  return carry.enter(k > 0 && k < *length && !is_eval_trace(current_trace()) ? scan_with_checkpoints(s, args, k)
                                                                             : bind_scan(s, args));
}

namespace {

/// A condition with effects is computed before the first step and at the end of each one, and carried.
Arrays while_with_effects(const FlatFn& condition, const FlatFn& body, std::span<const Array> init,
                          const Paths& carry_paths, std::string_view name) {
  Arrays carry = effects::with_token(condition(init)[0], init);
  const auto step = [&](std::span<const Array> in) {
    const Arrays next = body(in.subspan(1));
    return effects::with_token(condition(next)[0], next);
  };
  Arrays out = effects::call(name, [&](const Array& token) {
    return while_loop([&](std::span<const Array> in) { return Arrays{in[1]}; }, effects::Threaded(step),
                      effects::with_token(token, carry), effects::after_token(carry_paths, 2), name);
  });
  out.erase(out.begin());
  return out;
}

}  // namespace

Arrays while_loop(const FlatFn& condition, const FlatFn& body, std::span<const Array> init, const Paths& carry_paths,
                  std::string_view name) {
  check_all_defined(init, name, carry_paths);
  Carry carry{Arrays(init.begin(), init.end()), carry_paths, name};
  if (is_jit_disabled()) return while_without_jit(condition, body, init);
  effects::Watched watched_condition(condition), watched_body(body);
  ClosedJaxpr step, test;
  const auto trace_step = [&](std::span<const Array> in, bool& settled) {
    Arrays out = watched_body(carry.enter(in));
    check_outputs_defined(out, name);
    settled = carry.settle(out);
    return settled ? carry.leave(std::move(out)) : out;
  };
  const auto trace_test = [&](std::span<const Array> in) {
    const Arrays out = watched_condition(carry.enter(in));
    check_outputs_defined(out, name);
    if (out[0].ndim() != 0 || out[0].dtype() != DType::bool_)
      raise<TypeError>("[{}] the condition gives {}; it must give one bool, as all(…) or a comparison of scalars do.",
                       name, out[0].aval());
    return out;
  };
  for (bool settled = false; !settled; carry.retype()) {
    std::vector<bool> wanted;
    step = trace_to_jaxpr([&](std::span<const Array> in) { return trace_step(in, settled); }, carry.types(), name, {},
                          &wanted);
    if (add_wanted(carry.wide, wanted)) settled = false;
    if (!settled) continue;
    test = trace_to_jaxpr(trace_test, carry.types(), name, {}, &wanted);
    if (add_wanted(carry.wide, wanted)) settled = false;
  }
  if (watched_condition.found()) return while_with_effects(condition, body, init, carry_paths, name);
  if (watched_body.found())
    return effects::call(name, [&](const Array& token) {
      return while_loop([&](std::span<const Array> in) { return condition(in.subspan(1)); }, effects::Threaded(body),
                        effects::with_token(token, init), effects::after_token(carry_paths), name);
    });
  While w;
  w.condition = test.jaxpr;
  w.body = step.jaxpr;
  w.condition_consts = test.consts.size();
  w.body_consts = step.consts.size();
  return carry.enter(bind(while_p, concat(concat(test.consts, step.consts), carry.values()), w.params()));
}

Arrays fori_loop(const Array& lower, const Array& upper, const FlatFn& body, std::span<const Array> init,
                 const Paths& carry_paths) {
  for (const Array* bound : {&lower, &upper}) {
    if (!bound->defined()) raise<ValueError>("[fori_loop] a bound is an empty Array; assign it before the call.");
    if (bound->ndim() != 0 || !is_integer(bound->dtype()))
      raise<TypeError>("[fori_loop] a bound is {}; both must be integers.", bound->aval());
  }
  const Arrays bounds = numpy::cast_all(Arrays{lower, upper}, numpy::result_type(Arrays{lower, upper}));
  if (concrete_or_none(bounds[0]).defined() && concrete_or_none(bounds[1]).defined()) {
    const auto from = bounds[0].item<std::int64_t>(), to = bounds[1].item<std::int64_t>();
    const std::int64_t steps = std::max<std::int64_t>(to - from, 0);
    const Array index =
        ops::cast(ops::iota(steps > INT32_MAX ? DType::i64 : DType::i32, {steps}, 0), bounds[0].dtype());
    const Array first = scalar(bounds[0].dtype(), from);
    ScanOptions options;
    options.length = steps;
    const Arrays xs{index};
    return scan(
        [&](std::span<const Array> in) {
          Arrays args{in.back() + first};
          args.insert(args.end(), in.begin(), in.end() - 1);
          return body(args);
        },
        init, xs, options, carry_paths, [](std::size_t) { return std::string("the counter"); }, "fori_loop");
  }
  // Counter and bound are carried.
  Arrays carry{strong(bounds[0]), strong(bounds[1])};
  carry.insert(carry.end(), init.begin(), init.end());
  Arrays out = while_loop([](std::span<const Array> in) { return Arrays{in[0] < in[1]}; },
                          [&](std::span<const Array> in) {
                            Arrays args{in[0]};
                            args.insert(args.end(), in.begin() + 2, in.end());
                            Arrays next{in[0] + 1, in[1]};
                            for (const Array& a : body(args)) next.push_back(a);
                            return next;
                          },
                          carry, [&](std::size_t i) { return i < 2 ? std::string("the counter") : carry_paths(i - 2); },
                          "fori_loop");
  out.erase(out.begin(), out.begin() + 2);
  return out;
}

Arrays associative_scan(const FlatFn& combine, std::span<const Array> elements, bool reverse, int axis,
                        const Paths& paths) {
  constexpr std::string_view name = "associative_scan";
  if (elements.empty()) return {};
  check_all_defined(elements, name, paths);
  Arrays args;
  Types slices;  // of one element, which keeps the axis
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const Array& x = elements[i];
    if (axis < -x.ndim() || axis >= x.ndim())
      raise<ShapeError>("[{}] {} has shape {} and no axis {} to scan over; give every leaf that axis.", name, paths(i),
                        describe(x.shape()), axis);
    args.push_back(ops::move_axis(x, axis < 0 ? axis + x.ndim() : axis, 0));
    if (args[i].shape()[0] != args[0].shape()[0])
      raise<ShapeError>(
          "[{}] the leaves have different sizes along axis {}: {} for {} but {} for {}; they must be equal.", name,
          axis, args[0].shape()[0], paths(0), args[i].shape()[0], paths(i));
    slices.push_back({x.dtype(), Shape(args[i].shape().begin() + 1, args[i].shape().end()), false});
  }
  const std::size_t n = elements.size();
  Types types = slices;
  types.insert(types.end(), slices.begin(), slices.end());
  const auto axis_of = [&](std::size_t i) { return axis < 0 ? axis + elements[i].ndim() : axis; };
  const ClosedJaxpr closed = trace_to_jaxpr(
      [&](std::span<const Array> in) {
        Arrays stacked;
        for (std::size_t i = 0; i < 2 * n; ++i) {
          Shape shape = in[i].shape();
          shape.insert(shape.begin() + axis_of(i % n), 1);
          stacked.push_back(ops::reshape(in[i], shape));
        }
        Arrays out = combine(stacked);
        check_outputs_defined(out, name);
        std::string problems;
        for (std::size_t i = 0; i < n; ++i) {
          if (out[i].shape() != stacked[i].shape() || (out[i].dtype() != in[i].dtype() && !out[i].weak_type())) {
            problems +=
                fmt::format("\n  {} is {} but the function returns {}", paths(i), stacked[i].aval(), out[i].aval());
            continue;
          }
          out[i] = strong(ops::reshape(ops::cast(out[i], in[i].dtype()), in[i].shape()));
        }
        if (!problems.empty())
          raise<TypeError>(
              "[{}] the function must return what it takes, on stacks of elements (here of one), but{}; cast "
              "with astype, and treat axis {} as a batch.",
              name, problems, axis);
        return out;
      },
      types, name);
  AssociativeScan s;
  s.combine = closed.jaxpr;
  s.consts = closed.consts.size();
  s.reverse = reverse;
  for (Array& a : args) a = strong(a);
  Arrays out = bind(associative_scan_p, concat(closed.consts, args), s.params());
  for (std::size_t i = 0; i < n; ++i) out[i] = ops::move_axis(out[i], 0, axis_of(i));
  return out;
}

Arrays map(const FlatFn& f, std::span<const Array> xs, std::optional<std::int64_t> batch_size, const Paths& paths) {
  const auto one = [&](std::span<const Array> in) { return f(in); };
  const auto no_carry = [](std::size_t) { return std::string(); };
  if (!batch_size) return scan(one, {}, xs, {}, no_carry, paths, "map");
  if (*batch_size < 1) raise<ValueError>("[map] batch_size is {}; it must be at least 1.", *batch_size);
  if (xs.empty()) raise<ValueError>("[map] there are no xs to map over; pass at least one Array.");
  check_all_defined(xs, "map", paths);
  for (std::size_t i = 0; i < xs.size(); ++i)
    if (xs[i].ndim() == 0 || xs[i].shape()[0] != xs[0].shape()[0])
      raise<ShapeError>("[map] {} has shape {}; all xs need a first axis, of one size.", paths(i),
                        describe(xs[i].shape()));
  const std::int64_t n = xs[0].shape()[0], k = *batch_size, whole = n / k * k;
  const auto batch = [&](std::span<const Array> in) {
    return vmap(
        one, in, std::vector<int>(in.size(), 0), [](std::size_t outs) { return std::vector<int>(outs, 0); }, paths);
  };
  Arrays chunks, rest;
  for (const Array& x : xs) {
    Shape shape = x.shape();
    shape[0] = k;
    shape.insert(shape.begin(), n / k);
    chunks.push_back(ops::reshape(rows(x, 0, whole), shape));
    rest.push_back(rows(x, whole, n));
  }
  Arrays out;
  for (const Array& y : scan(batch, {}, chunks, {}, no_carry, paths, "map")) {
    Shape shape(y.shape().begin() + 1, y.shape().end());
    shape[0] = whole;
    out.push_back(ops::reshape(y, shape));
  }
  if (whole < n) {
    const Arrays last = batch(rest);
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = ops::concatenate(Arrays{out[i], last[i]}, 0);
  }
  return out;
}

}  // namespace cotan::flat
