// Special functions against numbers of 18 digits by mpmath, where JAX's own are less exact, and inside transforms.
#include <gtest/gtest.h>

#include <cmath>
#include <cotan/cotan.hpp>

namespace {

using namespace cotan;
namespace np = cotan::numpy;
namespace sp = cotan::scipy::special;
namespace st = cotan::scipy::stats;

Array of(double x) { return np::array({x}, f64)[0]; }

struct Known {
  const char* name;
  Array value;
  double expected, relative = 2e-14;
};

TEST(Special, AgainstManyDigits) {
  const Known known[] = {
      {"betaln(3.5, 12)", sp::betaln(of(3.5), 12.0), -7.83363304289465356},
      {"betaln(0.25, 1e6)", sp::betaln(of(0.25), 1e6), -2.16585502104298326},
      {"log_ndtr(-20.5)", sp::log_ndtr(of(-20.5)), -214.0667289632638},
      {"log_ndtr(-60)", sp::log_ndtr(of(-60)), -1805.01356068056714},
      {"erfcx(-16.5)", sp::erfcx(of(-16.5)), 3.44907544186385575e118},
      {"expi(40)", sp::expi(of(40)), 6039718263611241.58},
      {"hyp2f1(1/2, 1/2, 3/2, 0.95)", sp::hyp2f1(of(0.5), 0.5, 1.5, 0.95), 1.38023115426996601},
      {"hyp2f1(1, 2, 3/2, -3)", sp::hyp2f1(of(1), 2.0, 1.5, -3.0), 0.172521624768809147},
      {"hyp1f1(1/2, 3/2, -30)", sp::hyp1f1(of(0.5), 1.5, -30.0), 0.16180215937964007},
      {"hyp1f1(2, 7/2, -700)", sp::hyp1f1(of(2), 3.5, -700.0), 7.64211653239564814e-6},
      // exp(-488), whose argument is rounded.
      {"gammainc(66, 1/64)", sp::gammainc(of(66), 0.015625), 1.12088993407587358e-212, 2e-13},
      {"gammaincc(1e4, 10300)", sp::gammaincc(of(1e4), 10300.0), 0.00147049489638568128},
      {"gammainc(0, 2)", sp::gammainc(of(0), 2.0), 1},
      {"zeta(30, 12.5)", sp::zeta(of(30), 12.5), 1.37769536291937223e-33},
      {"zeta(3, -2.5)", sp::zeta(of(3), -2.5), 0.0541020258208637015},
      {"owens_t(2, 1/2)", sp::owens_t(of(2), 0.5), 0.00862507798552150713},
      {"expn(2, 0)", sp::expn(2, of(0)), 1},
      {"expn(1, 1e3)", sp::expn(1, of(1e3)), 0},
      {"exp1(inf)", sp::exp1(of(np::inf)), 0},
      {"bernoulli(12)", sp::bernoulli(12, f64)[12], -0.253113553113553114},
  };
  for (const Known& k : known)
    EXPECT_NEAR(k.value.item<double>(), k.expected, k.relative * std::abs(k.expected)) << k.name;
}

TEST(Special, LimitsAtInfinity) {
  EXPECT_EQ(sp::expi(of(np::inf)).item<double>(), np::inf);
  EXPECT_EQ(sp::expi(of(0)).item<double>(), -np::inf);
  EXPECT_EQ(sp::zeta(of(2), np::inf).item<double>(), 0);
  EXPECT_TRUE(std::isnan(st::uniform::cdf(of(np::nan)).item<double>()));
}

double density(double a, double x) { return std::exp((a - 1) * std::log(x) - x - std::lgamma(a)); }

TEST(Special, SecondDerivatives) {
  const auto p = [](Array x) { return sp::gammainc(2.5, x); };
  const double x = 1.75, slope = density(2.5, x);
  EXPECT_NEAR(jit(grad(p))(of(x)).item<double>(), slope, 1e-13);
  EXPECT_NEAR(grad(grad(p))(of(x)).item<double>(), slope * (1.5 / x - 1), 1e-13);
  EXPECT_NEAR(hessian([](Array z) { return st::norm::logpdf(z, 1.0, 2.0); })(of(0.3)).item<double>(), -0.25, 1e-14);
}

TEST(Special, InsideScansAndVmap) {
  const auto total = [](Array xs) {
    return lax::scan([](Array sum, Array x) { return std::pair{sum + sp::gammaincc(2.5, x), none}; }, of(0), xs).first;
  };
  const Array xs = np::array({0.5, 1.75, 9.0}, f64), slopes = jit(grad(total))(xs);
  const Array mapped = vmap(grad([](Array x) { return sp::gammaincc(2.5, x); }))(xs);
  const std::vector<double> at = xs.to_vector<double>();
  for (int i = 0; i < 3; ++i) {
    const double expected = -density(2.5, at[static_cast<std::size_t>(i)]);
    EXPECT_NEAR(slopes[i].item<double>(), expected, 1e-13);
    EXPECT_NEAR(mapped[i].item<double>(), expected, 1e-13);
  }
}

TEST(Special, ElementsDoNotDependOnTheirNeighbours) {
  const Array a = np::array({0.5, 3.0, 40.0}, f64), x = np::array({0.1, 9.0, 41.0}, f64), all = sp::gammainc(a, x);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(all[i].item<double>(), sp::gammainc(a[i], x[i]).item<double>());
}

TEST(Stats, AnEstimateIsATree) {
  const Array samples = np::array({0.5, 1.0, 2.5, 4.0}, f64);
  const st::gaussian_kde kde(samples, 0.5);
  const auto at = [](st::gaussian_kde k, Array x) { return np::sum(k(x)); };
  EXPECT_NEAR(jit(at)(kde, np::array({1.0}, f64)).item<double>(), kde(np::array({1.0}, f64))[0].item<double>(), 1e-14);
  const Array wide = np::linspace(-20.0, 20.0, 4001, true, f64);
  EXPECT_NEAR(np::trapezoid(kde(wide), 0.01).item<double>(), 1, 1e-9);
  const Array drawn = kde.resample(random::key(1), {5});
  EXPECT_EQ(drawn.shape(), (Shape{1, 5}));
}

}  // namespace
