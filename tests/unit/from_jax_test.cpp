// What docs/from_jax.md says of dtypes, errors and indices.
#include <gtest/gtest.h>

#include <cmath>

#include "support/expect_error.hpp"

namespace np = cotan::numpy;
namespace lax = cotan::lax;
using namespace cotan;

TEST(Trials, Item31PromotionWithU32) {
  const Array u = np::ones({2}, u32);
  for (DType narrow : {i8, i16, i32}) {
    const Array i = np::ones({2}, narrow);
    EXPECT_EQ((i + u).dtype(), i64);
    EXPECT_EQ((u * i).dtype(), i64);
    EXPECT_EQ((i / u).dtype(), f64);
  }
  EXPECT_EQ((np::ones({2}, i32) + u.astype(i32)).dtype(), i32);
  EXPECT_EQ((np::ones({2}, i32) / np::ones({2}, i32)).dtype(), f32);
  EXPECT_EQ((u + 1).dtype(), u32);  // a C++ number is weak
  EXPECT_EQ(np::array({1, 2}).dtype(), i32);
  EXPECT_EQ(np::zeros({3}).dtype(), f32);
}
TEST(Trials, Item32ErrorsWhereJaxGoesOn) {
  const Array x = np::arange(5);
  EXPECT_ERROR(IndexError, x[7], "[index]");
  EXPECT_ERROR(IndexError, x.at(7).set(1), "[at.set]");
  EXPECT_ERROR(TypeError, x.at(0).add(0.5), "[at.add]");
}
TEST(Trials, Item30GradientsOfReadsOutside) {
  const Array x = np::array({1.f, 2.f, 3.f});
  using Floats = std::vector<float>;
  const auto array_read = [](const Array& a, const Array& i) { return np::sum(a[i]); };
  for (int outside : {3, 10, -4, -10}) {
    const Array index = np::array({outside, 0});
    EXPECT_EQ(x[index].to_vector<float>(), (Floats{outside > 0 ? 3.f : 1.f, 1.f}));
    EXPECT_EQ(grad(array_read)(x, index).to_vector<float>(), (Floats{1, 0, 0}));
    EXPECT_EQ(jit(grad(array_read))(x, index).to_vector<float>(), (Floats{1, 0, 0}));
    // Forward mode is its transpose.
    EXPECT_EQ(jvp([&](const Array& a) { return array_read(a, index); }, std::tuple{x}, std::tuple{np::ones({3})})
                  .second.item<float>(),
              1.f);
    // A scalar index is a dynamic slice, which reads the nearest element, gradient and all; asking for "clip" too.
    const float nearest[] = {outside > 0 ? 0.f : 1.f, outside > 0 ? 1.f : 0.f};
    EXPECT_EQ(grad([](const Array& a, const Array& i) { return a[i]; })(x, np::array(outside)).to_vector<float>(),
              (Floats{nearest[0], 0, nearest[1]}));
    EXPECT_EQ(grad([](const Array& a, const Array& i) { return np::sum(a.at(i).get({.mode = IndexMode::clip})); })(
                  x, np::array({outside}))
                  .to_vector<float>(),
              (Floats{nearest[0], 0, nearest[1]}));
  }
  EXPECT_EQ(grad(array_read)(x, np::array({-1, 1})).to_vector<float>(), (Floats{0, 1, 1}));
}
TEST(Trials, Item23TakeOutside) {
  const Array x = np::array({1.f, 2.f, 3.f});
  EXPECT_TRUE(std::isnan(np::take(x, np::array({3})).item<float>()));
  EXPECT_EQ(np::take(np::array({1, 2}), np::array({9})).item<int>(), std::numeric_limits<int>::min());
  EXPECT_EQ(x.at(np::array({9})).set(1.f).to_vector<float>(), x.to_vector<float>());
}
TEST(Trials, Item26SvdAndEverything) {
  const Array a = np::array({{1.0, 2.0}, {3.0, 4.0}, {5.0, 6.0}});
  const auto full = linalg::svd(a), thin = linalg::svd(a, false), values = linalg::svd(a, true, false);
  EXPECT_EQ(full.u.shape(), (Shape{3, 3}));
  EXPECT_EQ(thin.u.shape(), (Shape{3, 2}));
  EXPECT_FALSE(values.u.defined() || values.vh.defined());
  EXPECT_EQ(values.s.to_vector<float>(), linalg::svdvals(a).to_vector<float>());
  // Square matrices have a derivative either way.
  EXPECT_EQ(grad([](const Array& m) { return np::sum(linalg::svd(m).s); })(np::eye(2)).shape(), (Shape{2, 2}));
  // cotan.hpp has these too.
  EXPECT_EQ(optim::minimize([](const Array& x) { return np::sum(np::square(x)); }, np::ones({2})).x.shape(),
            (Shape{2}));
  (void)dlm::FitOptions{};
}
TEST(Trials, BernoulliDrawsInTheDtypeOfItsProbability) {
  const Array key = random::key(3);
  const auto same = [](const Array& a, const Array& b) { return bool(np::all(a == b)); };
  EXPECT_TRUE(same(random::bernoulli(key, 0.3, Shape{1000}), random::uniform(key, {1000}) < 0.3f));
  EXPECT_TRUE(
      same(random::bernoulli(key, Array(0.3).astype(f64), Shape{1000}), random::uniform(key, {1000}, f64) < 0.3));
}
