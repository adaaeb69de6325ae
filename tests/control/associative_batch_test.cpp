// Batches of derivatives of associative scans, which differ in constants, in elements, in cotangents or in all of them,
// against one lane after the other.
#include <gtest/gtest.h>

#include <cmath>
#include <cotan/cotan.hpp>

namespace {

namespace ct = cotan;
namespace np = cotan::numpy;
namespace lax = cotan::lax;
using ct::Array;

struct Map {
  Array a, b;  ///< x -> a x + b
};

Array waves(const ct::Shape& shape, double shift) {
  std::int64_t size = 1;
  for (auto n : shape) size *= n;
  return 0.6 * np::sin(1.7 * np::arange(size, ct::f64) + shift).reshape(shape);
}

/// A running composition of maps whose factors are scaled by a constant that the function captures.
Map running(const Array& scale, const Map& maps, bool reverse) {
  const auto combine = [&](const Map& x, const Map& y) { return Map{x.a * y.a * scale, y.a * scale * x.b + y.b}; };
  return lax::associative_scan(combine, maps, {.reverse = reverse});
}

void expect_equal(const Array& got, const Array& want, const char* what) {
  ASSERT_EQ(got.shape(), want.shape()) << what;
  const auto g = got.to_vector<double>(), w = want.to_vector<double>();
  for (std::size_t i = 0; i < g.size(); ++i)
    ASSERT_NEAR(g[i], w[i], 1e-12 * std::max(1.0, std::abs(w[i]))) << what << ", element " << i;
}

class AssociativeBatch : public testing::TestWithParam<std::tuple<bool, bool>> {
 protected:
  static constexpr std::int64_t n = 23, lanes = 4, m = 3;
  bool reverse() const { return std::get<0>(GetParam()); }
  template <class F>
  auto called(F f) const {
    return [f, jit = std::get<1>(GetParam())](const auto&... x) { return jit ? ct::jit(f)(x...) : f(x...); };
  }
};

TEST_P(AssociativeBatch, Gradients) {
  const auto loss = [back = reverse()](const Array& scale, const Array& a, const Array& b) {
    const Map r = running(scale, {a, b}, back);
    return np::sum(r.a * r.a) + np::sum(np::sin(r.b));
  };
  const auto gradients = ct::grad<0, 1, 2>(loss);
  const Array scales = 1.0 + 0.1 * waves({lanes}, 0.3), as = waves({lanes, n, m}, 0.1), bs = waves({lanes, n, m}, 0.7);
  // Which of the three have lanes.
  for (int which = 1; which < 8; ++which) {
    const auto axis = [&](int k) { return which >> k & 1 ? ct::MappedAxes(0) : ct::MappedAxes(ct::none); };
    const auto one = [&](const Array& x, int k, std::int64_t lane) { return x[which >> k & 1 ? lane : 0]; };
    const auto f = ct::vmap(gradients, {.in_axes = {axis(0), axis(1), axis(2)}});
    const auto pick = [&](const Array& x, int k) { return which >> k & 1 ? x : x[0]; };
    const auto [ds, da, db] = called(f)(pick(scales, 0), pick(as, 1), pick(bs, 2));
    for (std::int64_t lane = 0; lane < lanes; ++lane) {
      const auto [s, a, b] = gradients(one(scales, 0, lane), one(as, 1, lane), one(bs, 2, lane));
      expect_equal(ds[lane], s, "constant");
      expect_equal(da[lane], a, "factors");
      expect_equal(db[lane], b, "shifts");
    }
  }
}

TEST_P(AssociativeBatch, Jacobians) {
  const auto f = [back = reverse()](const Array& x) {
    const Map r = running(x[0], {np::sin(x), np::cos(x)}, back);
    return r.b * r.a;
  };
  const Array x = waves({n}, 0.2);
  const Array forward = called(ct::jacfwd(f))(x), backward = called(ct::jacrev(f))(x);
  expect_equal(backward, forward, "jacobian");
  for (std::int64_t k : {0, 5, 22}) {
    const auto row = ct::grad([&](const Array& x) { return f(x)[k]; })(x);
    expect_equal(backward[k], row, "row of it");
  }
}

TEST_P(AssociativeBatch, GradientsOfBatchesOfGradients) {
  const auto slope = [back = reverse()](const Array& a, const Array& b) {
    return ct::grad([&](const Array& a) { return np::sum(np::sin(running(np::sum(b) * 0.1, {a, b}, back).b)); })(a);
  };
  const auto loss = [&](const Array& as, const Array& bs) { return np::sum(np::power(ct::vmap(slope)(as, bs), 2.0)); };
  const Array as = waves({lanes, 7}, 0.1), bs = waves({lanes, 7}, 0.7);
  const Array got = called(ct::grad(loss))(as, bs);
  for (std::int64_t lane = 0; lane < lanes; ++lane) {
    const auto alone = [&](const Array& a) { return np::sum(np::power(slope(a, bs[lane]), 2.0)); };
    expect_equal(got[lane], ct::grad(alone)(as[lane]), "second derivative");
  }
}

INSTANTIATE_TEST_SUITE_P(All, AssociativeBatch, testing::Combine(testing::Bool(), testing::Bool()), [](const auto& i) {
  return std::string(std::get<0>(i.param) ? "backwards" : "forwards") + (std::get<1>(i.param) ? "_jit" : "_eager");
});

}  // namespace
