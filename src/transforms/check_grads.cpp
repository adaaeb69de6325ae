// check_grads: derivatives beside finite differences.
#include <cmath>
#include <cotan/lax.hpp>
#include <cotan/numpy.hpp>
#include <cotan/numpy/complex.hpp>
#include <cotan/random.hpp>
#include <cotan/test_util.hpp>

#include "core/error.hpp"

namespace cotan::flat {

namespace {

namespace np = numpy;
using test_util::CheckOptions;

/// What is used where nothing is said: the tolerance, and a step whose rounding errors stay below it.
struct Defaults {
  double tolerance, eps;
};
Defaults defaults_of(DType t) {
  switch (t) {
    case DType::f64:
    case DType::c128:
      return {1e-5, 1e-4};
    case DType::c64:
      return {1e-3, 5e-3};
    case DType::f16:
      return {1e-2, 0.1};
    case DType::bf16:
      return {1e-1, 0.1};
    default:
      return {2e-3, 5e-3};
  }
}
double tolerance_of(DType t) { return defaults_of(t).tolerance; }
double step_of(const CheckOptions& o, std::span<const Array> args) {
  double eps = defaults_of(DType::f64).eps;
  for (const Array& a : args)
    if (is_inexact(a.dtype())) eps = std::max(eps, defaults_of(a.dtype()).eps);
  return o.eps.value_or(eps);
}

/// Standard normal numbers like `a`, others with every `number`; zero for what has no derivative.
Array random_like(const Array& a, std::uint64_t number) {
  if (!is_inexact(a.dtype())) return np::zeros_like(a);
  const auto draw = [&](std::uint64_t part) {
    return random::normal(
        random::fold_in(random::key(static_cast<std::int64_t>(part)), static_cast<std::int64_t>(number)), a.shape());
  };
  if (is_complex(a.dtype())) return lax::complex(draw(0), draw(1)).astype(a.dtype());
  return draw(0).astype(a.dtype());
}
Arrays random_like(std::span<const Array> arrays, std::uint64_t seed) {
  Arrays out;
  for (const Array& a : arrays) out.push_back(random_like(a, seed + out.size()));
  return out;
}

/// All elements; of complex ones real parts, then imaginary parts.
std::vector<double> numbers_of(const Array& a) {
  if (!is_complex(a.dtype())) return a.astype(DType::f64).to_vector<double>();
  std::vector<double> out = numbers_of(np::real(a)), im = numbers_of(np::imag(a));
  out.insert(out.end(), im.begin(), im.end());
  return out;
}

Arrays moved(std::span<const Array> args, std::span<const Array> tangents, double by) {
  Arrays out(args.begin(), args.end());
  for (std::size_t i = 0; i < args.size(); ++i)
    if (is_inexact(args[i].dtype())) out[i] = args[i] + tangents[i] * Array(by);
  return out;
}
Arrays finite_difference(const FlatFunction& f, std::span<const Array> args, std::span<const Array> tangents,
                         double eps) {
  Arrays above = f(moved(args, tangents, eps)), below = f(moved(args, tangents, -eps));
  for (std::size_t i = 0; i < above.size(); ++i)
    above[i] = is_inexact(above[i].dtype()) ? (above[i] - below[i]) * Array(0.5 / eps) : np::zeros_like(above[i]);
  return above;
}
/// tangents with all but leaf `only` set to zero.
Arrays along_one(std::span<const Array> tangents, std::size_t only) {
  Arrays out(tangents.begin(), tangents.end());
  for (std::size_t i = 0; i < out.size(); ++i)
    if (i != only) out[i] = np::zeros_like(out[i]);
  return out;
}

struct Allowed {
  double atol, rtol;
  bool fits(double got, double want) const {
    return got == want || (std::isnan(got) && std::isnan(want)) || std::abs(got - want) <= atol + rtol * std::abs(want);
  }
};
Allowed allowed(const CheckOptions& o, DType t) {
  return {o.atol.value_or(tolerance_of(t)), o.rtol.value_or(tolerance_of(t))};
}

/// What is wrong, in words; empty: nothing.
std::string difference(const Array& got, const Array& want, const CheckOptions& o) {
  if (got.shape() != want.shape())
    return fmt::format("has shape {} and must have {}", describe(got.shape()), describe(want.shape()));
  const Allowed limit = allowed(o, want.dtype());
  const std::vector<double> g = numbers_of(got), w = numbers_of(want);
  std::size_t worst = g.size();
  for (std::size_t i = 0; i < g.size(); ++i)
    if (!limit.fits(g[i], w[i]) && (worst == g.size() || std::abs(g[i] - w[i]) > std::abs(g[worst] - w[worst])))
      worst = i;
  if (worst == g.size()) return {};
  return fmt::format("is {} at element {} and finite differences give {}, off by {:.3g} where {:.3g} is allowed",
                     g[worst], worst, w[worst], std::abs(g[worst] - w[worst]),
                     limit.atol + limit.rtol * std::abs(w[worst]));
}
std::string difference(const Arrays& got, const Arrays& want, std::string_view of, const CheckOptions& o) {
  if (got.size() != want.size()) return fmt::format("{} {}s are {} and must be {}", of, got.size(), of, want.size());
  for (std::size_t k = 0; k < got.size(); ++k)
    if (const std::string text = is_inexact(want[k].dtype()) ? difference(got[k], want[k], o) : ""; !text.empty())
      return fmt::format("{} of output leaf {} {}", of, k, text);
  return {};
}

void check_outputs(const Arrays& got, const Arrays& want, const CheckOptions& o, const std::string& what) {
  if (const std::string text = difference(got, want, "value", o); !text.empty())
    raise<ValueError>("[check_grads] {}: the {}; the rule must also compute the function.", what, text);
}
[[noreturn]] void fail(const std::string& what, const std::string& argument, const std::string& text) {
  raise<ValueError>(
      "[check_grads] {} with respect to {}: {}; check the derivative rule, or whether the function has a "
      "kink there.",
      what, argument, text);
}

/// Σ a b over all leaves that have derivatives, without conjugation.
double inner(const Arrays& a, const Arrays& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!is_inexact(a[i].dtype())) continue;
    const Array product = np::real(np::sum(a[i] * b[i]));
    sum += product.astype(DType::f64).to_vector<double>()[0];
  }
  return sum;
}

}  // namespace

void check_jvp(const FlatFunction& f, const JvpOfLists& jvp, std::span<const Array> args, const CheckOptions& o,
               const std::string& what, const Paths& paths) {
  const Arrays tangents = random_like(args, 0);
  const auto wrong = [&](const Arrays& direction) {
    return difference(jvp(args, direction).second, finite_difference(f, args, direction, step_of(o, args)), "tangent",
                      o);
  };
  check_outputs(jvp(args, tangents).first, f(args), o, what);
  const std::string together = wrong(tangents);
  if (together.empty()) return;
  for (std::size_t i = 0; i < args.size(); ++i)
    if (const std::string text = is_inexact(args[i].dtype()) ? wrong(along_one(tangents, i)) : ""; !text.empty())
      fail(what, paths(i), text);
  fail(what, "all arguments together", together);
}

void check_vjp(const FlatFunction& f, const VjpOfLists& vjp, std::span<const Array> args, const CheckOptions& o,
               const std::string& what, const Paths& paths) {
  const auto [outputs, pull] = vjp(args);
  check_outputs(outputs, f(args), o, what);
  const Arrays tangents = random_like(args, 0), cotangents = random_like(outputs, 1000), back = pull(cotangents);
  if (back.size() != args.size())
    raise<ValueError>("[check_grads] {}: the pullback gives {} cotangents for {} arguments; give one for each.", what,
                      back.size(), args.size());
  DType widest = DType::f64;
  for (const Arrays* list : {&tangents, &outputs})
    for (const Array& a : *list)
      if (is_inexact(a.dtype()) && tolerance_of(a.dtype()) > tolerance_of(widest)) widest = a.dtype();
  const Allowed limit = allowed(o, widest);
  const auto wrong = [&](const Arrays& direction) -> std::string {
    const double got = inner(direction, back),
                 want = inner(finite_difference(f, args, direction, step_of(o, args)), cotangents);
    if (limit.fits(got, want)) return {};
    return fmt::format(
        "the cotangent along a random direction is {} and finite differences give {}, off by {:.3g} where "
        "{:.3g} is allowed",
        got, want, std::abs(got - want), limit.atol + limit.rtol * std::abs(want));
  };
  const std::string together = wrong(tangents);
  if (together.empty()) return;
  for (std::size_t i = 0; i < args.size(); ++i)
    if (const std::string text = is_inexact(args[i].dtype()) ? wrong(along_one(tangents, i)) : ""; !text.empty())
      fail(what, paths(i), text);
  fail(what, "all arguments together", together);
}

namespace {

void check_order(const FlatFunction& f, std::span<const Array> args, int order, const CheckOptions& o,
                 const std::string& of, const Paths& paths) {
  const auto called = [&](std::string_view kind) { return fmt::format("{}{}", kind, of.empty() ? "" : " of " + of); };
  for (const std::string& mode : o.modes) {
    if (mode == "fwd") {
      const JvpOfLists of_f = [&](std::span<const Array> x, std::span<const Array> t) { return jvp(f, x, t, paths); };
      check_jvp(f, of_f, args, o, called("JVP"), paths);
      if (order == 1) continue;
      const std::size_t n = args.size();
      const FlatFunction both = [&](std::span<const Array> in) {
        auto [y, t] = jvp(f, in.subspan(0, n), in.subspan(n), paths);
        y.insert(y.end(), t.begin(), t.end());
        return y;
      };
      Arrays twice(args.begin(), args.end());
      twice.insert(twice.end(), args.begin(), args.end());
      const Paths names = [&](std::size_t i) { return i < n ? paths(i) : "the tangent of " + paths(i - n); };
      check_order(both, twice, order - 1, o, called("JVP"), names);
    } else if (mode == "rev") {
      const VjpOfLists of_f = [&](std::span<const Array> x) {
        auto [y, pull] = vjp(f, x, "vjp", paths);
        FlatFunction apply = [pull = std::move(pull)](std::span<const Array> ct) {
          return pull.apply(ct, [](std::size_t i) { return fmt::format("output leaf {}", i); });
        };
        return std::pair<Arrays, FlatFunction>{std::move(y), std::move(apply)};
      };
      check_vjp(f, of_f, args, o, called("VJP"), paths);
      if (order == 1) continue;
      const FlatFunction gradient = [&](std::span<const Array> in) {
        const auto [y, pull] = of_f(in);
        return pull(y);
      };
      check_order(gradient, args, order - 1, o, called("VJP"), paths);
    } else {
      raise<ValueError>("[check_grads] there is no mode '{}'; modes are \"fwd\" and \"rev\".", mode);
    }
  }
}

}  // namespace

void check_grads(const FlatFunction& f, std::span<const Array> args, int order, const CheckOptions& options,
                 const Paths& paths) {
  if (order < 1) raise<ValueError>("[check_grads] order is {}; it must be at least 1.", order);
  for (std::size_t i = 0; i < args.size(); ++i)
    if (!args[i].defined())
      raise<ValueError>("[check_grads] {} is an empty Array; assign it before the call.", paths(i));
  check_order(f, args, order, options, "", paths);
}

}  // namespace cotan::flat
