// Errors name the user's line, and which argument or leaf does not fit.
#include <gtest/gtest.h>

#include "support/expect_error.hpp"

namespace np = cotan::numpy;
namespace lax = cotan::lax;
using namespace cotan;

namespace {

std::string at(int line) { return std::string(" At ") + __FILE__ + ":" + std::to_string(line); }
Array m23() { return np::ones({2, 3}); }
struct Layer {
  Array w, b;
};
struct Model {
  std::vector<Layer> layers;
};
Model model() { return {{{np::ones({3, 4}), np::ones({4})}, {np::ones({5, 2}), np::ones({2})}}}; }

}  // namespace

TEST(Trials, Item22ShapeErrorsNameTheLine) {
  const Array a = m23(), v = np::ones({2});
  EXPECT_ERROR(ShapeError, a + v, "[add] shapes (2, 3) and (2,)", at(__LINE__));
  EXPECT_ERROR(ShapeError, np::matmul(a, v), "[matmul]", at(__LINE__));
  EXPECT_ERROR(ShapeError, a.reshape({4}), "[reshape]", at(__LINE__));
  EXPECT_ERROR(ShapeError, np::concatenate({a, v}), "[concatenate]", at(__LINE__));
  EXPECT_ERROR(ShapeError, np::stack({a, v}), "[stack]", at(__LINE__));
  EXPECT_ERROR(ValueError, np::concatenate({}), "[concatenate] got no arrays", at(__LINE__));
  EXPECT_ERROR(ShapeError, np::einsum("ij,jk->ik", {a, a}), "[einsum]", at(__LINE__));
  EXPECT_ERROR(IndexError, a[7], "[index]", at(__LINE__));
  EXPECT_ERROR(IndexError, a(0, 7), "[index]", at(__LINE__));
  EXPECT_ERROR(IndexError, a.at(7).set(1), "[at.set]", at(__LINE__));
  EXPECT_ERROR(IndexError, a.at(7).get(), "[index]", at(__LINE__));
  EXPECT_ERROR(IndexError, a.sum(3), "[sum]", at(__LINE__));
  EXPECT_ERROR(ShapeError, a.item<float>(), "[item]", at(__LINE__));
  Array b = a;
  EXPECT_ERROR(ShapeError, b += v, "[add]", at(__LINE__));
  EXPECT_ERROR(ShapeError, linalg::solve(a, v), "[solve]", at(__LINE__));
  EXPECT_ERROR(IndexError, fft::fft(a, {.axis = 5}), "[fft]", at(__LINE__));
  EXPECT_ERROR(TypeError, np::take(a, 1.5), "[take]", at(__LINE__));
}
TEST(Trials, Item22LinesOfTracedFunctions) {
  const int line = __LINE__ + 1;
  const auto f = [](const Array& x) { return np::sum(x + np::ones({2})); };
  EXPECT_ERROR(ShapeError, jit(f)(m23()), "[add]", at(line));
  EXPECT_ERROR(ShapeError, grad(f)(m23()), "[add]", at(line));
  EXPECT_ERROR(ShapeError, vmap(f)(np::ones({4, 2, 3})), "[add] shapes (2, 3)", at(line));
  EXPECT_ERROR(ShapeError, lax::scan([&](const Array& c, const Array& x) { return std::pair{c, f(x)}; }, 0.0, np::ones({5, 2, 3})),
               "[add]", at(line));
}
TEST(Trials, Item22NoLineWhereNoneIsKnown) {
  // A call that ended leaves no line behind: what carries none names none, and not that of a call before.
  (void)(m23() + m23());
  try {
    np::zeros({2, -3});
    FAIL();
  } catch (const ShapeError& error) {
    EXPECT_EQ(std::string(error.what()).find(" At "), std::string::npos) << error.what();
  }
}
TEST(Trials, Item22OutOfOrderTemporaries) {
  // The innermost call is named, also after one that was kept has gone before those inside it.
  auto outer = std::make_unique<ArrayLike>(m23());
  const ArrayLike inner(m23(), std::source_location::current());
  outer.reset();
  EXPECT_ERROR(ShapeError, np::zeros({-1}), "[zeros]", "trials_lines_test.cpp");
  const ArrayLike copy = inner;
  EXPECT_EQ(copy->shape(), inner->shape());
}
TEST(Trials, Item22ArgumentsHavePaths) {
  const auto forward = [](const Model& m, const Array& x) {
    Array h = x;
    for (const Layer& l : m.layers) h = np::matmul(h, l.w) + l.b;
    return np::sum(h);
  };
  const Array x = np::ones({7, 3});
  for (const auto& run : std::vector<std::function<void()>>{[&] { jit(forward)(model(), x); }, [&] { grad(forward)(model(), x); },
                                                            [&] { make_jaxpr(forward)(model(), x); }, [&] { jit(grad(forward))(model(), x); }})
    EXPECT_ERROR(ShapeError, run(), "[matmul]", "f32[5,2]", "which reads argument 0.layers[1].b (f32[2]) and argument 0.layers[1].w (f32[5,2])");
  EXPECT_ERROR(ShapeError, jit([](const Model& m, const Array& v) { return m.layers[0].w + v; })(model(), np::ones({3})),
               "which reads argument 0.layers[0].w (f32[3,4]) and argument 1 (f32[3])");
}
TEST(Trials, Item22LeavesOfTreesHavePaths) {
  Model a = model(), b = model();
  b.layers[1].b = np::ones({3});
  EXPECT_ERROR(ShapeError, tree::map([](const Array& x, const Array& y) { return x - y; }, a, b), "[subtract] shapes (2,) and (3,)",
               "in the leaf .layers[1].b.");
  EXPECT_ERROR(ShapeError, tree::stack(std::vector<Model>{a, b}), "[stack] shapes (2,) and (3,)", "the leaf .layers[1].b.");
}

TEST(Trials, Item23DebugBounds) {
  const Array table = np::ones({5, 2}), tokens = np::array({1, 7, 2});
  EXPECT_TRUE(bool(np::any(np::isnan(np::take(table, tokens, 0)))));  // as in JAX
  struct On {
    On() { debug_bounds(true); }
    ~On() { debug_bounds(false); }
  } on;
  EXPECT_ERROR(IndexError, np::take(table, tokens, 0), "[debug_bounds] gather: index 7 is outside axis 0 of f32[5,2]", at(__LINE__));
  EXPECT_ERROR(IndexError, table[tokens], "[debug_bounds] gather: index 7", at(__LINE__));
  EXPECT_ERROR(IndexError, table.at(tokens).add(1.0), "[debug_bounds] scatter_add: index 7", at(__LINE__));
  EXPECT_ERROR(IndexError, np::take(table, np::array({-6}), 0), "index -1 (negative ones were counted from the end before)");
  EXPECT_ERROR(IndexError, lax::dynamic_slice_in_dim(table, np::array(4), 2), "[debug_bounds] dynamic_slice: a window of 2 at 4 is outside axis 0");
  const int line = __LINE__ + 1;
  const auto look_up = [](const Array& t, const Array& i) { return np::sum(np::take(t, i, 0)); };
  EXPECT_ERROR(IndexError, jit(look_up)(table, tokens), "[debug_bounds] gather: index 7", at(line));
  EXPECT_ERROR(IndexError, grad(look_up)(table, tokens), "[debug_bounds] gather: index 7", at(line));
  EXPECT_ERROR(IndexError, jit(grad(look_up))(table, tokens), "[debug_bounds] scatter_add: index 7", at(line));
  const auto loop = [&](const Array& i) {
    return lax::scan([&](const Array& c, const Array& k) { return std::pair{c + look_up(table, k), none}; }, np::array(0.0), i).first;
  };
  EXPECT_ERROR(IndexError, jit(loop)(tokens), "[debug_bounds] gather: index 7", at(line));
  // What asks for it may be outside, and what is inside works.
  EXPECT_EQ(np::take(table, tokens, 0, "clip").sum().item<float>(), 6.f);
  EXPECT_EQ(np::take(table, tokens, 0, "wrap").sum().item<float>(), 6.f);
  EXPECT_EQ(table.at(tokens).get({.mode = IndexMode::fill, .fill_value = 0.0}).sum().item<float>(), 4.f);
  EXPECT_EQ(jit(look_up)(table, np::array({0, 4, -5})).item<float>(), 6.f);
}
TEST(Trials, Item23DebugBoundsIsOff) {
  EXPECT_FALSE(debug_bounds());
  EXPECT_EQ(np::ones({3})[np::array({9})].item<float>(), 1.f);
}
TEST(Trials, Item22TransformsAndLoopsNameTheirLine) {
  const Array x = np::ones({3});
  const int made = __LINE__ + 1;
  const auto gradient = grad([](Array a) { return a; });
  EXPECT_ERROR(ShapeError, gradient(x), "[grad]", at(made));
  EXPECT_ERROR(ShapeError, vmap([](Array a) { return a; })(Array(1.0)), "[vmap]", at(__LINE__));
  EXPECT_ERROR(TypeError, lax::scan([](Array c, Array) { return std::pair{np::ones({2}), c}; }, x, x), "[scan]", at(__LINE__));
  EXPECT_ERROR(TypeError, lax::while_loop([](Array) { return Array(1); }, [](Array c) { return c; }, x), "[while_loop]",
               at(__LINE__ - 1));
  EXPECT_ERROR(ValueError, jit([](Array a) { return a; }, {.donate = {4}})(x), "[jit]", at(__LINE__));
}
