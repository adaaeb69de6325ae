// cotan::experimental::ode: ordinary differential equations.
#pragma once
#include <cotan/flatten_util.hpp>
#include <limits>
#include <optional>

namespace cotan::flat {

/// Of odeint.
struct OdeOptions {
  double rtol = 1.4e-8, atol = 1.4e-8;
  std::optional<std::int64_t> mxstep = {};
  double hmax = std::numeric_limits<double>::infinity();
};
/// func: the leaves of y, the time, args -> dy / dt. Gives the leaves of y at all times, along a new first axis.
Arrays odeint(const FlatFunction& func, std::span<const Array> y0, const Array& t, std::span<const Array> args,
              const OdeOptions& options);

}  // namespace cotan::flat

/// `jax.experimental.ode`.
namespace cotan::experimental::ode {

/// Of odeint.
struct OdeintOptions {
  double rtol = 1.4e-8;                                   ///< error that a step may make, relative to y
  double atol = 1.4e-8;                                   ///< and absolute
  std::optional<std::int64_t> mxstep = {};                ///< at most so many steps from one time to the next
  double hmax = std::numeric_limits<double>::infinity();  ///< the longest step
};

/// The solution of dy/dt = func(y, t, args…) with y0 at t[0], at the times `t`, which rise: a tree like y0 whose leaves
/// have a new first axis. Steps are Dormand and Prince's, of lengths that keep the error within the tolerances, in a
/// loop of the program. Reverse mode solves the adjoint equation backwards in time, and gives derivatives by y0, t,
/// args and whatever `func` captures; there is no forward mode. `jax.experimental.ode.odeint`.
///
///     ct::Array ys = odeint([](ct::Array y, ct::Array t, ct::Array k) { return -k * y; }, y0, ts, std::tuple{k});
template <class F, class Y, class... A>
auto odeint(const F& func, const Y& y0, const ArrayLike& t, const std::tuple<A...>& args,
            const OdeintOptions& options = {}) {
  const auto start = lax::detail::traced(y0);
  const auto more = lax::detail::traced(args);
  const Arrays leaves = tree::leaves(start);
  const FlatFunction flat = [&](std::span<const Array> in) {
    const auto y = tree::unflatten(start, in.subspan(0, leaves.size()));
    const auto rest = tree::unflatten(more, in.subspan(leaves.size() + 1));
    const auto slope = lax::detail::traced(
        std::apply([&](const auto&... a) { return func(y, Array(in[leaves.size()]), a...); }, rest));
    lax::detail::check_structure("odeint", "state", start, slope);
    return tree::leaves(slope);
  };
  return tree::unflatten(start, flat::odeint(flat, leaves, t, tree::leaves(more),
                                             {options.rtol, options.atol, options.mxstep, options.hmax}));
}
/// The same of a function of y and t alone.
template <class F, class Y>
auto odeint(const F& func, const Y& y0, const ArrayLike& t, const OdeintOptions& options = {}) {
  return odeint(func, y0, t, std::tuple<>(), options);
}

}  // namespace cotan::experimental::ode
