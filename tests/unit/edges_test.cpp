// Values, first and second derivatives at zeros of both signs, infinities, NaN, ties and ends of domains, against JAX
// (tests/golden/edges.npz, by tools/golden/edges.py). Where cotan differs on purpose is listed here, and nowhere else.
#include <gtest/gtest.h>

#include <cmath>
#include <cotan/cotan.hpp>
#include <map>
#include <numbers>

namespace np = cotan::numpy;
namespace lax = cotan::lax;
using namespace cotan;

namespace {

using Unary = std::function<Array(const Array&)>;
using Binary = std::function<Array(const Array&, const Array&)>;

Array pair(const Array& x, double other) { return np::stack({x, np::full_like(x, other)}, -1); }
Array constant(const Array& x, double value) { return np::full_like(x, value); }

#define FUNCTION(name) {#name, [](const Array& x) { return np::name(x); }}
#define LAX_FUNCTION(name) {"lax." #name, [](const Array& x) { return lax::name(x); }}
const std::map<std::string, Unary> unary{
    FUNCTION(exp),
    FUNCTION(exp2),
    FUNCTION(expm1),
    FUNCTION(log),
    FUNCTION(log2),
    FUNCTION(log10),
    FUNCTION(log1p),
    FUNCTION(sin),
    FUNCTION(cos),
    FUNCTION(tan),
    FUNCTION(arcsin),
    FUNCTION(arccos),
    FUNCTION(arctan),
    FUNCTION(sinh),
    FUNCTION(cosh),
    FUNCTION(tanh),
    FUNCTION(arcsinh),
    FUNCTION(arccosh),
    FUNCTION(arctanh),
    FUNCTION(sinc),
    FUNCTION(deg2rad),
    FUNCTION(rad2deg),
    FUNCTION(floor),
    FUNCTION(ceil),
    FUNCTION(trunc),
    FUNCTION(rint),
    FUNCTION(abs),
    FUNCTION(sign),
    FUNCTION(square),
    FUNCTION(sqrt),
    FUNCTION(cbrt),
    FUNCTION(reciprocal),
    FUNCTION(negative),
    FUNCTION(nan_to_num),
    LAX_FUNCTION(rsqrt),
    LAX_FUNCTION(logistic),
    LAX_FUNCTION(erf),
    LAX_FUNCTION(erfc),
    LAX_FUNCTION(erf_inv),
    LAX_FUNCTION(lgamma),
    LAX_FUNCTION(digamma),
    {"integer_pow_3", [](const Array& x) { return lax::integer_pow(x, 3); }},
    {"integer_pow_-2", [](const Array& x) { return lax::integer_pow(x, -2); }},
    {"integer_pow_1", [](const Array& x) { return lax::integer_pow(x, 1); }},
    {"integer_pow_0", [](const Array& x) { return lax::integer_pow(x, 0); }},
    {"power_2", [](const Array& x) { return np::power(x, 2.0); }},
    {"power_0", [](const Array& x) { return np::power(x, constant(x, 0)); }},
    {"power_half", [](const Array& x) { return np::power(x, constant(x, 0.5)); }},
    {"power_of_0", [](const Array& x) { return np::power(constant(x, 0), x); }},
    {"power_of_2", [](const Array& x) { return np::power(constant(x, 2), x); }},
    {"ldexp_3", [](const Array& x) { return np::ldexp(x, 3); }},
    {"softplus", [](const Array& x) { return np::logaddexp(x, 0.0); }},
    {"log_sigmoid", [](const Array& x) { return -np::logaddexp(-x, 0.0); }},
    {"relu", [](const Array& x) { return np::maximum(x, 0.0); }},
    {"clip", [](const Array& x) { return np::clip(x, -1.0, 1.0); }},
    {"clamp", [](const Array& x) { return lax::clamp(-1.0, x, 1.0); }},
    {"where_sqrt", [](const Array& x) { return np::where(x > 0, np::sqrt(np::where(x > 0, x, 1.0)), 0.0); }},
    {"norm", [](const Array& x) { return linalg::norm(pair(x, 0), none, -1); }},
    {"norm_with_1", [](const Array& x) { return linalg::norm(pair(x, 1), none, -1); }},
    {"norm_ord_1", [](const Array& x) { return linalg::norm(pair(x, 1), 1, -1); }},
    {"norm_ord_inf", [](const Array& x) { return linalg::norm(pair(x, 1), np::inf, -1); }},
    {"logsumexp", [](const Array& x) { return np::logsumexp(pair(x, 0), -1); }},
    {"logsumexp_with_inf", [](const Array& x) { return np::logsumexp(pair(x, -np::inf), -1); }},
    {"max", [](const Array& x) { return np::max(pair(x, 1), -1); }},
    {"min", [](const Array& x) { return np::min(pair(x, 1), -1); }},
    {"prod", [](const Array& x) { return np::prod(pair(x, 0), -1); }},
    {"var", [](const Array& x) { return np::var(pair(x, 1), -1); }},
    {"std", [](const Array& x) { return np::std(pair(x, 1), -1); }},
    {"nansum", [](const Array& x) { return np::nansum(pair(x, 1), -1); }},
};
#undef FUNCTION
#define FUNCTION(name) {#name, [](const Array& x, const Array& y) { return np::name(x, y); }}
const std::map<std::string, Binary> binary{
    FUNCTION(add),          FUNCTION(subtract),  FUNCTION(multiply),  FUNCTION(divide),   FUNCTION(power),
    FUNCTION(floor_divide), FUNCTION(remainder), FUNCTION(fmod),      FUNCTION(maximum),  FUNCTION(minimum),
    FUNCTION(fmax),         FUNCTION(fmin),      FUNCTION(hypot),     FUNCTION(copysign), FUNCTION(heaviside),
    FUNCTION(arctan2),      FUNCTION(logaddexp), FUNCTION(logaddexp2)};

constexpr double inf = np::inf, nan = np::nan, pi = np::pi;

/// Shares of a sum of powers: by the limit where something is infinite, half and half where both are alike.
double log_sum(const std::string& d, double x, double y, double rate) {
  const double distance = x == y ? 0 : x - y, share = 1 / (1 + std::exp(-rate * distance));
  if (d == "d0") return share;
  if (d == "d1") return 1 - share;
  const double second = std::isinf(x) || std::isinf(y) ? 0 : rate * share * (1 - share);
  return d[1] == d[2] ? second : -second;
}
/// The derivatives as they are; zero at the origin, as abs has it, and the limit where one operand is infinite.
double hypotenuse(const std::string& d, double x, double y) {
  const double h = std::hypot(x, y), along = x / h, across = y / h;
  if (h == 0) return 0;
  if (d == "d0") return std::isinf(y) ? 0 : std::isinf(x) ? std::copysign(1, x) : along;
  if (d == "d1") return std::isinf(x) ? 0 : std::isinf(y) ? std::copysign(1, y) : across;
  return std::isinf(h) ? 0 : d == "d00" ? across * across / h : d == "d11" ? along * along / h : -along * across / h;
}
/// Where cotan's choice is another than JAX's: docs/from_jax.md, "Derivatives at kinks, and at infinity". Where JAX has
/// an artefact of how it computes, not a choice, the derivative itself stands here.
std::optional<double> ours(const std::string& key, double x, double y) {
  const std::string name = key.substr(0, key.find('/')), d = key.substr(key.find('/') + 1);
  if (d == "value") return std::nullopt;
  const bool numbers = !std::isnan(x) && !std::isnan(y);
  if ((name == "abs" || name == "norm_ord_1" || name == "copysign") && d == "d0") {
    if (x == 0) return 0;
    if (std::isnan(x)) return nan;
  }
  if (name == "hypot" && numbers) return std::isinf(x) && std::isinf(y) ? nan : hypotenuse(d, x, y);
  if (name == "logaddexp" && numbers) return log_sum(d, x, y, 1);
  if (name == "logaddexp2" && numbers) return log_sum(d, x, y, std::numbers::ln2);
  if (name == "ldexp_3" && d == "d0" && (x == 0 || std::isinf(x))) return 8;
  if (name == "power" && d != "d1" && d != "d11" && x == 0 && (y == 0 || (y == 1 && d == "d00"))) return 0;
  if (name == "power_0" && x == 0) return 0;
  if (name == "divide" && std::isinf(x) && std::isfinite(y) && y > 1e100)
    return d == "d1" ? -x : d == "d11" ? std::optional(x) : std::nullopt;
  if (name == "sinc" && x != 0 && std::abs(x) < 1e-100) return d == "d0" ? -pi * pi * x / 3 : -pi * pi / 3;
  // Beyond their domains, and at its ends.
  if ((name == "lax.digamma" && d == "d0") || (name == "lax.lgamma" && d == "d00")) {
    if (x == inf) return 0;
    if (x < -1e100) return nan;
  }
  if (name == "lax.digamma" && x == inf) return 0;
  if (name == "arctanh" && d == "d00" && std::abs(x) == 1) return x * inf;
  if (name == "arctanh" && d == "d00" && std::isinf(x)) return nan;
  if (name == "arccosh" && x <= -1) return nan;
  if (name == "arccosh" && x == inf) return 0;
  return std::nullopt;
}

bool same(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  if (std::isinf(a) || std::isinf(b)) return a == b;
  return std::abs(a - b) <= 1e-13 + 1e-10 * std::abs(b);
}
class Edges : public testing::Test {
 protected:
  void compare(const std::string& key, const Array& got, const Array& x, const Array& y = {}) {
    const auto want = golden_.at(key).to_vector<double>(), have = got.to_vector<double>();
    const auto at = x.to_vector<double>(),
               second = y.defined() ? y.to_vector<double>() : std::vector<double>(at.size());
    ASSERT_EQ(want.size(), have.size()) << key;
    for (std::size_t i = 0; i < want.size(); ++i) {
      const double expected = ours(key, at[i], second[i]).value_or(want[i]);
      EXPECT_TRUE(same(have[i], expected))
          << key << " at " << at[i] << (y.defined() ? ", " + std::to_string(second[i]) : "") << ": " << have[i]
          << ", not " << expected;
    }
  }
  const std::map<std::string, Array> golden_ = load_npz(std::string(COTAN_SOURCE_DIR) + "/tests/golden/edges.npz");
};

}  // namespace

TEST_F(Edges, OfOneArgument) {
  const Array x = golden_.at("points");
  for (const auto& [name, f] : unary) {
    const auto first = grad([&f = f](const Array& a) { return np::sum(f(a)); });
    compare(name + "/value", f(x), x);
    compare(name + "/d0", first(x), x);
    compare(name + "/d00", grad([&](const Array& a) { return np::sum(first(a)); })(x), x);
  }
}

/// All of them as one compiled program.
TEST_F(Edges, Compiled) {
  const Array x = golden_.at("points"), left = golden_.at("left"), right = golden_.at("right");
  const auto first = [](const auto& f, const auto&... a) {
    return grad([&](const auto&... b) { return np::sum(f(b...)); })(a...);
  };
  const Arrays out = jit([&](const Array& a, const Array& b, const Array& c) {
    Arrays all;
    for (const auto& [name, f] : unary) all.insert(all.end(), {f(a), first(f, a)});
    for (const auto& [name, f] : binary) all.insert(all.end(), {f(b, c), first(f, b, c)});
    return all;
  })(x, left, right);
  std::size_t k = 0;
  for (const auto& [name, f] : unary) {
    compare(name + "/value", out[k++], x);
    compare(name + "/d0", out[k++], x);
  }
  for (const auto& [name, f] : binary) {
    compare(name + "/value", out[k++], left, right);
    compare(name + "/d0", out[k++], left, right);
  }
}

TEST_F(Edges, OfTwoArguments) {
  const Array x = golden_.at("left"), y = golden_.at("right");
  for (const auto& [name, f] : binary) {
    compare(name + "/value", f(x, y), x, y);
    const auto total = [&f = f](const Array& a, const Array& b) { return np::sum(f(a, b)); };
    const auto dx = [&](const Array& a, const Array& b) { return grad<0>(total)(a, b); };
    const auto dy = [&](const Array& a, const Array& b) { return grad<1>(total)(a, b); };
    const auto sum = [](const auto& g) { return [g](const Array& a, const Array& b) { return np::sum(g(a, b)); }; };
    compare(name + "/d0", dx(x, y), x, y);
    compare(name + "/d1", dy(x, y), x, y);
    compare(name + "/d00", grad<0>(sum(dx))(x, y), x, y);
    compare(name + "/d01", grad<1>(sum(dx))(x, y), x, y);
    compare(name + "/d10", grad<0>(sum(dy))(x, y), x, y);
    compare(name + "/d11", grad<1>(sum(dy))(x, y), x, y);
  }
}
