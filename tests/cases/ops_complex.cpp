// Complex numbers: their parts, and what only they have. Everything else is under its own name.
#include <cotan/cotan.hpp>

#include "cases/case_ops.hpp"

namespace cases {

namespace np = cotan::numpy;
namespace lax = cotan::lax;
using cotan::ArrayLike;

namespace {

OpFunction unary(Array (*f)(const ArrayLike&)) {
  return [f](Args x, const Params&) { return Arrays{f(x[0])}; };
}

/// A filter whose state turns in the complex plane.
Arrays rotation_scan(Args x, const Params&) {
  const auto [last, ys] = lax::scan(
      [&](const Array& state, const Array& input) {
        const Array next = state * x[0] + input;
        return std::pair{next, np::abs(next)};
      },
      x[1], x[2]);
  return {last, ys};
}
Arrays newton_while(Args x, const Params&) {
  struct State {
    Array z, steps;
  };
  const State last = lax::while_loop(
      [](const State& s) { return (np::abs(s.z * s.z - 1) > 1e-3) & (s.steps < 20); },
      [](const State& s) { return State{s.z - (s.z * s.z - 1) / (2 * s.z), s.steps + 1}; }, State{x[0], np::array(0)});
  return {last.z, last.steps};
}
Arrays cond(Args x, const Params&) {
  return {lax::cond(
      np::real(x[0]) > 0, [](const Array& z) { return z * z; }, [](const Array& z) { return np::conj(z); }, x[0])};
}
Arrays associative(Args x, const Params&) {
  struct Affine {
    Array a, b;
  };
  const Affine out = lax::associative_scan(
      [](const Affine& l, const Affine& r) { return Affine{r.a * l.a, r.a * l.b + r.b}; }, Affine{x[0], x[1]});
  return {out.a, out.b};
}

}  // namespace

void add_complex_ops(OpTable& t) {
  t["real"] = unary(np::real);
  t["imag"] = unary(np::imag);
  t["conj"] = unary(np::conj);
  t["conjugate"] = unary(np::conjugate);
  t["angle"] = one([](Args x, const Params& p) { return np::angle(x[0], p.flag("deg")); });
  t["iscomplex"] = unary(np::iscomplex);
  t["isreal"] = unary(np::isreal);
  t["sort_complex"] = unary(np::sort_complex);
  t["lax.complex"] = one([](Args x, const Params&) { return lax::complex(x[0], x[1]); });
  t["lax.real"] = unary(lax::real);
  t["lax.imag"] = unary(lax::imag);
  t["lax.conj"] = unary(lax::conj);
  t["composite.rotation_scan"] = rotation_scan;
  t["composite.newton_while"] = newton_while;
  t["composite.complex_cond"] = cond;
  t["composite.complex_recurrence"] = associative;
}

}  // namespace cases
