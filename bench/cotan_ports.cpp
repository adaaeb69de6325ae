// cotan's side of what ports of JAX programs showed to be slow: special functions, large angles, integers, updates at
// indices and gradients of indexing, products of other types and of transposed operands, decompositions.
#include <map>

#include "cotan_case.hpp"

namespace bench {
namespace {

using ct::Array;
namespace lax = cotan::lax;

using Unary = Array (*)(const Array&);

/// Positive numbers up to 10 for the gamma functions, angles up to 10^15 for the others.
const std::map<std::string, Unary> special = {
    {"lgamma", [](const Array& x) { return lax::lgamma(x * 5.0 + 5.01); }},
    {"digamma", [](const Array& x) { return lax::digamma(x * 5.0 + 5.01); }},
    {"trigamma", [](const Array& x) { return lax::polygamma(1, x * 5.0 + 5.01); }},
    {"lgamma_negative", [](const Array& x) { return lax::lgamma(x * 10.0 + 0.01); }},
    {"digamma_negative", [](const Array& x) { return lax::digamma(x * 10.0 + 0.01); }},
    {"lgamma_grad",
     [](const Array& x) { return ct::grad([](const Array& a) { return np::sum(lax::lgamma(a * 5.0 + 5.01)); })(x); }},
    {"digamma_grad",
     [](const Array& x) { return ct::grad([](const Array& a) { return np::sum(lax::digamma(a * 5.0 + 5.01)); })(x); }},
    {"sin_large", [](const Array& x) { return np::sin(x * 1e15); }},
    {"cos_large", [](const Array& x) { return np::cos(x * 1e15); }},
    {"tan_large", [](const Array& x) { return np::tan(x * 1e15); }},
};

const std::map<std::string, Unary> integers = {
    {"divide", [](const Array& x) { return x / (np::abs(x % 1000) + 1); }},
    {"floor_divide", [](const Array& x) { return np::floor_divide(x, np::abs(x % 1000) + 1); }},
    {"clz", [](const Array& x) { return lax::clz(x); }},
    {"population_count", [](const Array& x) { return lax::population_count(x); }},
    {"to_i8", [](const Array& x) { return x.astype(ct::i8); }},
    {"to_i16", [](const Array& x) { return x.astype(ct::i16); }},
    {"to_f16", [](const Array& x) { return (x.astype(ct::f32) * 1e-6).astype(ct::f16); }},
};

/// A gamma variate by Marsaglia and Tsang: two loops that end when a draw is accepted.
Array gamma_variate(const Array& key, const Array& alpha) {
  struct Draw {
    Array key, x, v;
  };
  struct State {
    Array key, square, v, u;
  };
  const Array d = alpha - 1.0 / 3, c = (1.0 / 3) / np::sqrt(d);
  const auto draw = [=](const Draw& last) {
    const Array keys = ct::random::split(last.key, 2), x = ct::random::normal(keys[1], {});
    return Draw{keys[0], x, 1.0 + x * c};
  };
  const auto step = [=](const State& last) {
    const Array keys = ct::random::split(last.key, 3);
    const Draw drawn = lax::while_loop([](const Draw& s) { return s.v <= 0.0; }, draw,
                                       Draw{keys[1], np::zeros({}), np::full({}, -1.0)});
    return State{keys[0], drawn.x * drawn.x, drawn.v * drawn.v * drawn.v, ct::random::uniform(keys[2], {})};
  };
  const auto rejected = [=](const State& s) {
    return (s.u >= 1.0 - 0.0331 * s.square * s.square) &
           (np::log(s.u) >= s.square * 0.5 + d * (1.0 - s.v + np::log(s.v)));
  };
  return d * lax::while_loop(rejected, step, State{key, np::zeros({}), np::ones({}), np::full({}, 2.0)}).v;
}

template <class Map>
auto chosen(const Map& functions, const Parameters& p) {
  const auto at = functions.find(p.text("function"));
  if (at == functions.end()) throw Missing("no function " + p.text("function"));
  return at->second;
}

Array typed(const Parameters& p, const ct::Shape& shape, std::uint32_t seed) {
  const Array x = random_array(shape, seed, p.is_double());
  return p.text("dtype") == "f16" ? x.astype(ct::f16) : p.text("dtype") == "bf16" ? x.astype(ct::bf16) : x;
}

const Register all[] = {
    {"cotan", "special",
     [](const Parameters& p) { return jitted(chosen(special, p), random_array({p["n"]}, 1, p.is_double())); }},
    {"cotan", "integers",
     [](const Parameters& p) {
       return jitted(chosen(integers, p), random_indices({p["n"]}, 1, 2000000000) - 1000000000);
     }},
    {"cotan", "gamma_variates",
     [](const Parameters& p) {
       return jitted([](const Array& keys, const Array& alpha) { return ct::vmap(gamma_variate)(keys, alpha); },
                     ct::random::split(ct::random::key(0), p["n"]), random_array({p["n"]}, 1) * 0.5 + 2.5);
     }},
    {"cotan", "scatter_into",
     [](const Parameters& p) {
       const bool set = p.flag("set");
       return jitted([set](const Array& into, const Array& at,
                           const Array& updates) { return set ? into.at(at).set(updates) : into.at(at).add(updates); },
                     random_array({p["n"]}, 1), random_indices({p["indices"]}, 2, p["n"]),
                     random_array({p["indices"]}, 3));
     }},
    {"cotan", "index_grad",
     [](const Parameters& p) {
       return jitted(
           [](const Array& x, const Array& at, const Array& weights) {
             return ct::grad([&](const Array& a) { return np::sum(a(at) * weights); })(x);
           },
           random_array({p["n"]}, 1), random_indices({p["indices"]}, 2, p["n"]), random_array({p["indices"]}, 3));
     }},
    {"cotan", "at_set_grad",
     [](const Parameters& p) {
       return jitted(
           [](const Array& x, const Array& at, const Array& updates) {
             return ct::grad<0, 1>(
                 [&](const Array& a, const Array& u) { return np::sum(np::square(a.at(at).set(u))); })(x, updates);
           },
           random_array({p["n"]}, 1), random_indices({p["indices"]}, 2, p["n"]), random_array({p["indices"]}, 3));
     }},
    {"cotan", "searchsorted",
     [](const Parameters& p) {
       return jitted([](const Array& sorted, const Array& x) { return np::searchsorted(sorted, x); },
                     np::sort(random_array({p["n"]}, 1)), random_array({p["queries"]}, 2));
     }},
    {"cotan", "typed_gemm",
     [](const Parameters& p) {
       const bool left = p.flag("transpose_left"), right = p.flag("transpose_right");
       return jitted([=](const Array& a, const Array& b) { return np::matmul(left ? a.T() : a, right ? b.T() : b); },
                     typed(p, {p["n"], p["n"]}, 1), typed(p, {p["n"], p["n"]}, 2));
     }},
    {"cotan", "svd",
     [](const Parameters& p) {
       return jitted([](const Array& a) { return ct::linalg::svdvals(a); },
                     random_array({p["batch"], p["n"], p["n"]}, 1, p.is_double()));
     }},
    {"cotan", "svd_full",
     [](const Parameters& p) {
       // Of the vectors what does not depend on their signs.
       return jitted(
           [](const Array& a) {
             const auto [u, s, v] = ct::linalg::svd(a, false);
             return std::tuple{np::abs(u), s, np::abs(v)};
           },
           random_array({p["batch"], p["n"], p["n"]}, 1, p.is_double()));
     }},
    {"cotan", "eigh",
     [](const Parameters& p) {
       const Array a = random_array({p["batch"], p["n"], p["n"]}, 1, p.is_double());
       return jitted(
           [](const Array& x) {
             const auto [w, v] = ct::linalg::eigh(x);
             return std::pair{w, np::abs(v)};
           },
           a + np::swapaxes(a, 1, 2));
     }},
    {"cotan", "conv2d_transpose",
     [](const Parameters& p) {
       return jitted(
           [](const Array& x, const Array& kernel) {
             return lax::conv_general_dilated(x, kernel, {.padding = {{1, 2}, {1, 2}}, .lhs_dilation = {2, 2}});
           },
           random_array({p["batch"], p["channels"], p["size"], p["size"]}, 1),
           random_array({p["channels"], p["channels"], 3, 3}, 2) * 0.125);
     }},
};

}  // namespace
}  // namespace bench
