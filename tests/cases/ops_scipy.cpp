// scipy: cosine transforms, interpolation, searches; differential equations.
#include <cotan/cotan.hpp>

#include "cases/case_ops.hpp"

namespace cases {

namespace {

namespace np = cotan::numpy;
namespace sp = cotan::scipy;
using cotan::ArrayLike;

std::string norm_text(const Params& p) { return p.has("norm") ? p.text("norm") : "backward"; }

OpFunction cosines(Array (*f)(const ArrayLike&, const sp::fft::CosineOptions&)) {
  return one([f](Args x, const Params& p) {
    const std::string norm = norm_text(p);
    return f(
        x[0],
        {.n = p.has("n") ? std::optional(p.integer("n")) : std::nullopt, .axis = p.axis("axis", -1), .norm = norm});
  });
}
OpFunction cosines(Array (*f)(const ArrayLike&, const sp::fft::CosineAxesOptions&)) {
  return one([f](Args x, const Params& p) {
    const std::string norm = norm_text(p);
    return f(x[0], {.s = p.has("s") ? p.shape("s") : cotan::Shape{}, .axes = p.axes("axes"), .norm = norm});
  });
}

/// The vectors of points, the values, where.
Array on_grid(Args x, const Params& p) {
  sp::interpolate::GridOptions options{.method = p.text("method", "linear")};
  if (p.has("fill_value")) options.fill_value = p.real("fill_value");
  if (p.flag("extrapolate")) options.fill_value = std::nullopt;
  const std::size_t axes = x.size() - 2;
  const sp::interpolate::RegularGridInterpolator f(Arrays(x.begin(), x.end() - 2), x[axes], options);
  if (p.has("call_method")) return f(x[axes + 1], p.text("call_method"));
  return f(x[axes + 1]);
}

Array objective(const std::string& name, const Array& x) {
  using cotan::none, cotan::range;
  if (name == "quadratic") {
    const Array i = np::arange(x.size(), x.dtype());
    return np::sum(np::square(x - (i + 1)) * (i + 1));
  }
  if (name == "rosenbrock") {
    const Array before = x(range(none, -1));
    return np::sum(100 * np::square(x(range(1, none)) - before * before) + np::square(1 - before));
  }
  if (name == "himmelblau") return np::square(x(0) * x(0) + x(1) - 11) + np::square(x(0) + x(1) * x(1) - 7);
  return np::sum(np::log(np::cosh(x - 1)));
}
Arrays minimized(Args x, const Params& p) {
  const std::string name = p.text("objective");
  sp::optimize::MinimizeOptions o;
  if (p.has("options"))
    for (const auto& option : p["options"]) {
      if (option[0] == "maxiter") o.options.maxiter = option[1].get<int>();
      if (option[0] == "gtol") o.options.gtol = option[1].get<double>();
      if (option[0] == "norm") o.options.norm = option[1].get<int>();
      if (option[0] == "line_search_maxiter") o.options.line_search_maxiter = option[1].get<int>();
    }
  const auto r = sp::optimize::minimize([&](const Array& at) { return objective(name, at); }, x[0], o);
  const std::map<std::string, Array> results{{"x", r.x},       {"success", r.success}, {"status", r.status},
                                             {"fun", r.fun},   {"jac", r.jac},         {"hess_inv", r.hess_inv},
                                             {"nfev", r.nfev}, {"njev", r.njev},       {"nit", r.nit}};
  Arrays out;
  for (const auto& key : p["results"]) out.push_back(results.at(key.get<std::string>()));
  return out;
}

struct Pendulum {
  Array angle, speed;
};
Arrays solution(Args x, const Params& p) {
  namespace ode = cotan::experimental::ode;
  const ode::OdeintOptions o{.rtol = p.real("rtol", 1.4e-8),
                             .atol = p.real("atol", 1.4e-8),
                             .mxstep = p.has("mxstep") ? std::optional(p.integer("mxstep")) : std::nullopt,
                             .hmax = p.real("hmax", np::inf)};
  if (p.text("equation") == "decay")
    return {ode::odeint([](const Array& y, const Array& t, const Array& k) { return -k * y * (1 + 0.5 * np::sin(t)); },
                        x[0], x[1], std::tuple{x[2]}, o)};
  const auto field = [](const Pendulum& y, const Array& t, const Array& damping, const Array& forcing) {
    return Pendulum{y.speed, -damping * y.speed - np::sin(y.angle) + forcing * np::cos(t)};
  };
  const Pendulum y = ode::odeint(field, Pendulum{x[0], x[1]}, x[2], std::tuple{x[3], x[4]}, o);
  return {y.angle, y.speed};
}
Arrays solution_gradients(Args x, const Params& p) {
  const auto loss = [&](const Arrays& in) {
    Array sum = 0.0;
    for (const Array& y : solution(in, p))
      sum = sum + np::sum(y * np::cos(np::arange(y.size(), y.dtype()).reshape(y.shape())));
    return sum;
  };
  return cotan::grad(loss)(Arrays(x.begin(), x.end()));
}

}  // namespace

void add_scipy_ops(OpTable& t) {
  t["scipy.fft.dct"] = cosines(sp::fft::dct);
  t["scipy.fft.idct"] = cosines(sp::fft::idct);
  t["scipy.fft.dctn"] = cosines(sp::fft::dctn);
  t["scipy.fft.idctn"] = cosines(sp::fft::idctn);
  t["lax.fft"] = one([](Args x, const Params& p) {
    return cotan::lax::fft(x[0], std::string_view(p.text("fft_type")), p.list("fft_lengths"));
  });
  t["integrate.trapezoid"] = one([](Args x, const Params& p) {
    if (x.size() == 2) return sp::integrate::trapezoid(x[0], {.x = x[1]});
    return sp::integrate::trapezoid(x[0], p.real("dx", 1), p.axis("axis", -1));
  });
  t["ndimage.map_coordinates"] = one([](Args x, const Params& p) {
    return sp::ndimage::map_coordinates(x[0], Arrays(x.begin() + 1, x.end()), p.axis("order"),
                                        p.text("mode", "constant"), p.real("cval", 0));
  });
  t["interpolate.grid"] = one(on_grid);
  t["cluster.vq"] = [](Args x, const Params&) {
    const auto [code, distance] = sp::cluster::vq::vq(x[0], x[1]);
    return Arrays{code, distance};
  };
  t["optimize.minimize"] = minimized;
  t["ode.odeint"] = solution;
  t["ode.odeint_gradients"] = solution_gradients;
}

}  // namespace cases
