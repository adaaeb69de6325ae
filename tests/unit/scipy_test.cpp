// What the case table cannot say of scipy, ops, image, flatten_util and odeint: trees, programs, captured values.
#include <gtest/gtest.h>

#include <cotan/cotan.hpp>

namespace {

using namespace cotan;
namespace np = cotan::numpy;
using scipy::spatial::transform::Rotation;
using scipy::spatial::transform::Slerp;

int occurrences(const std::string& text, const std::string& part) {
  int n = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++n;
  return n;
}
double most(const Array& a) { return np::max(np::abs(a)).item<double>(); }

TEST(Segments, AreOneScatterAndTheirGradientOneGather) {
  const Array x = np::ones({6, 2}), ids = np::array({0, 2, 2, 1, 0, 3});
  const auto sums = [&](Array data) { return ops::segment_sum(data, ids, 4); };
  const std::string program = make_jaxpr(sums)(x).simplified().str();
  EXPECT_EQ(occurrences(program, "scatter_add"), 1) << program;
  EXPECT_EQ(occurrences(program, "gather"), 0) << program;
  const std::string backward =
      make_jaxpr([&](Array data, Array ct) { return vjp(sums, data).second(ct); })(x, np::ones({4, 2}))
          .simplified()
          .str();
  EXPECT_EQ(occurrences(backward, "gather["), 1) << backward;
  EXPECT_EQ(occurrences(backward, "scatter"), 0) << backward;
}
TEST(Segments, CountThemselves) {
  const Array ids = np::array({0, 3, 1});
  EXPECT_EQ(ops::segment_sum(np::ones({3}), ids).shape(), (Shape{4}));
  const Array g = grad([&](Array x) { return np::sum(np::square(ops::segment_sum(x, ids))); })(np::arange(3.0));
  EXPECT_EQ(g.to_vector<float>(), (std::vector<float>{0, 2, 4}));
  const Array mask = np::array({true, false, false});
  EXPECT_EQ(ops::segment_sum(mask, ids, 4).to_vector<bool>(), (std::vector<bool>{true, false, false, false}));
}

TEST(Segments, ProductsAndExtremaHaveDerivatives) {
  const Array ids = np::array({0, 1, 0, 2, 1});
  const auto products = [&](Array x) { return np::sum(ops::segment_prod(x, ids, 4)); };
  EXPECT_EQ(grad(products)(np::array({2.0, 3.0, 4.0, 5.0, 6.0})).to_vector<float>(),
            (std::vector<float>{4, 6, 2, 1, 3}));
  EXPECT_EQ(grad(products)(np::array({0.0, 3.0, 4.0, 5.0, 6.0})).to_vector<float>(),
            (std::vector<float>{4, 6, 0, 1, 3}));
  const auto largest = [&](Array x) { return np::sum(ops::segment_max(x, ids, 3)); };
  EXPECT_EQ(grad(largest)(np::array({2.0, 3.0, 2.0, 5.0, 6.0})).to_vector<float>(),
            (std::vector<float>{0.5F, 0, 0.5F, 1, 1}));
}

TEST(Rotations, AreTrees) {
  const Array q = np::array({{0.1, -0.2, 0.3, 0.9}, {0.5, 0.5, -0.5, 0.5}}), v = np::array({1.0, 2.0, 3.0});
  const Rotation r = Rotation::from_quat(q);
  const auto turned = [&](const Rotation& each) { return each.apply(v); };
  EXPECT_LT(most(jit(turned)(r) - r.apply(v)), 1e-6);
  EXPECT_LT(most(vmap(turned)(r) - r.apply(v)), 1e-6);
  const Rotation g = grad([&](const Rotation& each) { return np::sum(turned(each)); })(r);
  EXPECT_EQ(g.quat.shape(), (Shape{2, 4}));
  EXPECT_LT(most((r * r.inv()).as_quat(true) - Rotation::identity(2).quat), 1e-6);
  EXPECT_EQ(r.size(), 2);
  EXPECT_TRUE(r[1].single());
}
TEST(Rotations, HaveDerivativesWhereNothingTurns) {
  const auto there_and_back = [](Array v) { return Rotation::from_rotvec(v).as_rotvec(); };
  const Array j = jacrev(there_and_back)(np::zeros({3}, f64));
  EXPECT_LT(most(j - np::eye(3, {}, 0, f64)), 1e-12);
  EXPECT_EQ(grad([](Array q) { return Rotation(q).magnitude(); })(np::array({0.0, 0.0, 0.0, 1.0})).to_vector<float>(),
            (std::vector<float>{0, 0, 0, 0}));
}
TEST(Rotations, AtRandom) {
  const Rotation r = Rotation::random(random::key(3), 4000);
  EXPECT_LT(most(np::sum(r.quat * r.quat, -1) - 1.0), 1e-5);
  EXPECT_LT(most(np::mean(r.as_matrix(), 0)), 0.05);  // no direction is preferred
  EXPECT_TRUE(Rotation::random(random::key(3)).single());
}
TEST(Rotations, InBetween) {
  const Slerp between = Slerp::init(np::array({0.0, 2.0}), Rotation::from_euler("z", np::array({{0.0}, {90.0}}), true));
  EXPECT_NEAR(between(1.0).as_euler("xyz", true)(2).item<double>(), 45.0, 1e-4);
  EXPECT_NEAR(between(3.0).as_euler("xyz", true)(2).item<double>(), 135.0, 1e-4);  // it goes on
  EXPECT_LT(most(jit([](const Slerp& s, Array t) { return s(t).quat; })(between, 1.0) - between(1.0).quat), 1e-6);
}

TEST(Grids, AreTrees) {
  const Array x = np::array({0.0, 1.0, 3.0});
  const scipy::interpolate::RegularGridInterpolator f({x, x}, np::outer(x, x));
  const auto at = [](const scipy::interpolate::RegularGridInterpolator& each, Array p) { return each(p); };
  const Array points = np::array({{0.5, 2.0}, {5.0, 1.0}});
  const std::vector<float> values = jit(at)(f, points).to_vector<float>();
  EXPECT_FLOAT_EQ(values[0], 1.0F);
  EXPECT_TRUE(std::isnan(values[1]));
  EXPECT_LT(most(f(std::vector<Array>{x(0), x}) - f(np::stack({np::zeros({3}), x}, 1))), 1e-6);
}

TEST(Minimize, UnderJitAndVmapWithArguments) {
  const auto distance = [](Array x, Array to) { return np::sum(np::square(x - to)); };
  const auto found = [&](Array x0, Array to) { return scipy::optimize::minimize(distance, x0, std::tuple{to}).x; };
  const Array to = np::array({{1.0, 2.0}, {-3.0, 0.5}}), x0 = np::zeros({2});
  EXPECT_LT(most(jit(vmap(found, {.in_axes = {none, 0}}))(x0, to) - to), 1e-4);
  const auto loose =
      scipy::optimize::minimize([](Array x) { return np::sum(np::cosh(x)); }, np::ones({2}), {.tol = 0.5});
  EXPECT_TRUE(loose.success.item<bool>());
  EXPECT_LT(most(loose.jac), 0.5);
}

TEST(Odeint, DifferentiatesWhatIsCaptured) {
  const Array ts = np::array({0.0, 0.5, 1.0}, f64), y0 = np::array({1.0}, f64);
  const auto last = [&](Array k) {
    return experimental::ode::odeint([&](Array y, Array) { return -k * y; }, y0, ts)(-1, 0);
  };
  const Array k = np::array(0.7, f64);
  EXPECT_NEAR(last(k).item<double>(), std::exp(-0.7), 1e-7);
  EXPECT_NEAR(grad(last)(k).item<double>(), -std::exp(-0.7), 1e-6);
  EXPECT_NEAR(jit(grad(last))(k).item<double>(), -std::exp(-0.7), 1e-6);
  const Array each = vmap(last)(np::array({0.7, 1.4}, f64));
  EXPECT_NEAR(each(1).item<double>(), std::exp(-1.4), 1e-7);
}

TEST(FlattenUtil, TreesAndVectors) {
  struct Layer {
    Array w, b;
  };
  const std::map<std::string, Layer> model{{"a", {np::ones({2, 2}), np::zeros({2}, f64)}}, {"b", {np::ones({1}), 2.0}}};
  const auto [vector, unravel] = flatten_util::ravel_pytree(model);
  EXPECT_EQ(vector.aval().str(), "f64[8]");
  const auto back = unravel(vector);
  EXPECT_EQ(back.at("a").w.aval().str(), "f32[2,2]");
  EXPECT_EQ(back.at("a").b.aval().str(), "f64[2]");
  EXPECT_EQ(flatten_util::ravel_pytree(std::vector<Array>{}).first.aval().str(), "f32[0]");
  const Array g = grad([&](Array v) { return np::sum(np::square(unravel(v).at("a").w)); })(vector);
  EXPECT_EQ(np::sum(g).item<double>(), 8.0);
}

TEST(Dlpack, ThereAndBack) {
  for (DType t : {bool_, i8, u16, i64, f16, bf16, f32, c128}) {
    const Array a = np::array({{0, 1, 1}, {1, 0, 1}}).astype(t);
    const Array b = np::from_dlpack(np::to_dlpack(a));
    EXPECT_EQ(b.aval(), a.aval());
    EXPECT_TRUE(np::array_equal(a, b).item<bool>());
  }
  std::vector<float> data{9, 1, 2, 3, 4, 5, 6};
  std::int64_t shape[] = {3, 2}, strides[] = {1, 3};  // columns one after the other
  static int deleted;
  deleted = 0;
  dlpack::ManagedTensor tensor{
      {data.data(), {1, 0}, 2, {2, 32, 1}, shape, strides, 4}, nullptr, [](dlpack::ManagedTensor*) { ++deleted; }};
  EXPECT_EQ(np::from_dlpack(&tensor).to_vector<float>(), (std::vector<float>{1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(deleted, 1);
  EXPECT_EQ(np::from_dlpack(np::to_dlpack(np::zeros({0, 3}))).shape(), (Shape{0, 3}));
}

}  // namespace
