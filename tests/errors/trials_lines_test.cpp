// Errors name the user's line, and which argument or leaf does not fit. An argument of a macro that takes several lines
// is on another line for clang (the last) than for g++: where that matters it is short, or a lambda before the macro.
#include <gtest/gtest.h>

#include "support/expect_error.hpp"

namespace np = cotan::numpy;
namespace lax = cotan::lax;
using namespace cotan;

namespace {

std::string line_of(int line) { return std::string(__FILE__) + ":" + std::to_string(line); }
std::string at(int line) { return " At " + line_of(line); }
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
  EXPECT_ERROR(ShapeError,
               lax::scan([&](const Array& c, const Array& x) { return std::pair{c, f(x)}; }, 0.0, np::ones({5, 2, 3})),
               "[add]", at(line));
}
TEST(Trials, Item22NoLineWhereNoneIsKnown) {
  // A call that ended leaves no line behind: what carries none names none, and not that of a call before.
  (void)(m23() + m23());
  try {
    np::zeros({2, -3}, f32, {});
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
  EXPECT_ERROR(ShapeError, np::zeros({-1}, f32, {}), "[zeros]", "trials_lines_test.cpp");
  const ArrayLike copy = inner;
  EXPECT_EQ(copy->shape(), inner->shape());
}
TEST(Trials, Item22ArgumentsHavePaths) {
  const auto forward = [](const Model& m, const Array& x) {
    Array h = x;
    for (const Layer& l : m.layers) {
      h = np::matmul(h, l.w);
      h = h + l.b;
    }
    return np::sum(h);
  };
  const Array x = np::ones({7, 3});
  for (const auto& run : std::vector<std::function<void()>>{
           [&] { jit(forward)(model(), x); }, [&] { grad(forward)(model(), x); },
           [&] { make_jaxpr(forward)(model(), x); }, [&] { jit(grad(forward))(model(), x); }})
    EXPECT_ERROR(ShapeError, run(), "[matmul]", "which reads argument 0.layers[1].w (f32[5,2]), inside the call at");
  EXPECT_ERROR(ShapeError,
               jit([](const Model& m, const Array& v) { return m.layers[0].w + v; })(model(), np::ones({3})),
               "which reads argument 0.layers[0].w (f32[3,4]) and argument 1 (f32[3])");
}
TEST(Trials, Item22LeavesOfTreesHavePaths) {
  Model a = model(), b = model();
  b.layers[1].b = np::ones({3});
  EXPECT_ERROR(ShapeError, tree::map([](const Array& x, const Array& y) { return x - y; }, a, b),
               "[subtract] shapes (2,) and (3,)", "in the leaf .layers[1].b.");
  EXPECT_ERROR(ShapeError, tree::stack(std::vector<Model>{a, b}), "[stack] shapes (2,) and (3,)",
               "the leaf .layers[1].b.");
}

TEST(Trials, Item23DebugBounds) {
  const Array table = np::ones({5, 2}), tokens = np::array({1, 7, 2});
  EXPECT_TRUE(bool(np::any(np::isnan(np::take(table, tokens, 0)))));  // as in JAX
  struct On {
    On() { debug_bounds(true); }
    ~On() { debug_bounds(false); }
  } on;
  EXPECT_ERROR(IndexError, np::take(table, tokens, 0), "gather: index 7 is outside axis 0 of f32[5,2]", at(__LINE__));
  EXPECT_ERROR(IndexError, table[tokens], "[debug_bounds] gather: index 7", at(__LINE__));
  EXPECT_ERROR(IndexError, table.at(tokens).add(1.0), "[debug_bounds] scatter_add: index 7", at(__LINE__));
  EXPECT_ERROR(IndexError, np::take(table, np::array({-6}), 0),
               "index -1 (negative ones were counted from the end before)");
  EXPECT_ERROR(IndexError, lax::dynamic_slice_in_dim(table, np::array(4), 2),
               "[debug_bounds] dynamic_slice: a window of 2 at 4 is outside axis 0");
  const int line = __LINE__ + 1;
  const auto look_up = [](const Array& t, const Array& i) { return np::sum(np::take(t, i, 0)); };
  EXPECT_ERROR(IndexError, jit(look_up)(table, tokens), "[debug_bounds] gather: index 7", at(line));
  EXPECT_ERROR(IndexError, grad(look_up)(table, tokens), "[debug_bounds] gather: index 7", at(line));
  EXPECT_ERROR(IndexError, jit(grad(look_up))(table, tokens), "[debug_bounds] scatter_add: index 7", at(line));
  const auto loop = [&](const Array& i) {
    return lax::scan([&](const Array& c, const Array& k) { return std::pair{c + look_up(table, k), none}; },
                     np::array(0.0), i)
        .first;
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
  EXPECT_ERROR(ShapeError, gradient(x), "[grad]", at(__LINE__) + " (transformed at " + line_of(made) + ")");
  EXPECT_ERROR(ShapeError, vmap([](Array a) { return a; })(Array(1.0)), "[vmap]", at(__LINE__));
  const auto shorter = [](Array c, Array) { return std::pair{np::ones({2}), c}; };
  EXPECT_ERROR(TypeError, lax::scan(shorter, x, x), "[scan]", at(__LINE__));
  const auto number = [](Array) { return Array(1); };
  EXPECT_ERROR(TypeError, lax::while_loop(number, [](Array c) { return c; }, x), "[while_loop]", at(__LINE__));
  EXPECT_ERROR(ValueError, jit([](Array a) { return a; }, {.donate = {4}})(x), "[jit]", at(__LINE__));
}

// The third trial: lines of calls, of what has no Array among its arguments, and of linear functions.

TEST(Trials, JittedCallsNameTheLineOfTheCall) {
  const int made = __LINE__ + 2, inside = __LINE__ + 1;
  const auto add = [](const Array& a, const Array& b) { return a + b; };
  const auto [f, g] = std::pair(jit(add), jit(vmap(add)));
  // An operation inside: its own line, that of the call, and where the function was made.
  const std::string transformed = " (transformed at " + line_of(made) + ").", within = "inside the call at ";
  EXPECT_ERROR(ShapeError, f(m23(), np::ones({2})), "[add]", at(inside), within + line_of(__LINE__) + transformed);
  EXPECT_ERROR(ShapeError, jit(add)(m23(), np::ones({2})), at(inside), within + line_of(__LINE__) + ".");
  // Nothing inside is at fault: the call's.
  EXPECT_ERROR(ShapeError, g(m23(), np::ones({5, 2})), "[vmap]", at(__LINE__) + transformed);
  EXPECT_ERROR(ValueError, f(Array(), Array()), "[jit]", at(__LINE__));
  // Calls that the standard library makes have no line; where the function was made is said as such.
  const std::function<Array(Array, Array)> hidden = g;
  try {
    hidden(m23(), np::ones({5, 2}));
    FAIL();
  } catch (const ShapeError& e) {
    const std::string message = e.what();
    EXPECT_NE(message.find(" In a call of the function transformed at " + line_of(made) + "."), message.npos)
        << message;
    EXPECT_EQ(message.find("include/c++"), message.npos) << message;
  }
}
TEST(Trials, CallsOfTransformsTakeAnyNumberOfArguments) {
  const auto sum = jit([](const auto&... x) { return (Array(0.f) + ... + x); });
  const Array a = np::ones({2});
  EXPECT_EQ(sum().item<float>(), 0.f);
  EXPECT_EQ(sum(a, a, a, a, a, a, a, a).to_vector<float>()[0], 8.f);
  EXPECT_EQ(sum(a, a, a, a, a, a, a, a, a, a).to_vector<float>()[0], 10.f);
  EXPECT_ERROR(ShapeError, sum(a, a, a, a, a, a, a, np::ones({3})), "[add]", "inside the call at " + line_of(__LINE__));
  // A function of exactly two arguments, whose body does not compile with one: nobody asks for that.
  const auto second = jit([](const auto&... x) { return std::get<1>(std::tuple{x...}); });
  EXPECT_EQ(second(a, a + 1).to_vector<float>()[0], 2.f);
}
TEST(Trials, LinesWithoutArrays) {
  EXPECT_ERROR(ShapeError, np::zeros({-1}), "[zeros] shape (-1,) has a negative size", at(__LINE__));
  EXPECT_ERROR(ShapeError, np::ones({2, -1}), "[ones]", at(__LINE__));
  EXPECT_ERROR(ShapeError, np::empty({-1}), "[empty]", at(__LINE__));
  EXPECT_ERROR(ShapeError, np::full({-1}, 2.0), "[full]", at(__LINE__));
  EXPECT_ERROR(ShapeError, np::eye(-1), "[eye]", at(__LINE__));
  EXPECT_ERROR(ShapeError, np::tri(-1), "[tri]", at(__LINE__));
  EXPECT_ERROR(ValueError, np::arange(0, 5, 0), "[arange]", at(__LINE__));
  EXPECT_ERROR(ShapeError, lax::iota(f32, {-1}), at(__LINE__));
  EXPECT_ERROR(ShapeError, shape_dtype({-1}), "[shape_dtype]", at(__LINE__));
  EXPECT_ERROR(ShapeError, Array::from_host(std::vector<float>(3), {2}), "[from_host]", at(__LINE__));
  EXPECT_ERROR(OutOfMemoryError, np::zeros({std::int64_t{1} << 62, 8}), "[zeros]", at(__LINE__));
  const int ragged = __LINE__ + 1;
  EXPECT_ERROR(ShapeError, np::array({{1, 2}, {3}}), "[array] ragged nesting", at(ragged));
  EXPECT_ERROR(DeviceError, device_put(np::ones({2}), "tpu"), "there is no device 'tpu'", at(__LINE__));
  EXPECT_ERROR(DeviceError, default_device("tpu"), "there is no device 'tpu'", at(__LINE__));
  EXPECT_ERROR(IoError, load_npy("/nowhere/a.npy"), "no such file", at(__LINE__));
  EXPECT_ERROR(IoError, load_npz("/nowhere/a.npz"), "no such file", at(__LINE__));
}
TEST(Trials, LinesOfLinearFunctions) {
  const int made = __LINE__ + 1;
  const auto pair = vjp([](const Array& x) { return x * x; }, np::ones({3}));
  const std::string transformed = " (transformed at " + line_of(made) + ")";
  EXPECT_ERROR(ShapeError, pair.second(np::ones({2})), "[vjp] the cotangent of output has", at(__LINE__) + transformed);
  EXPECT_ERROR(ValueError, vjp([](const Array& x) { return x; }, Array()), "[vjp]", at(__LINE__));
  const auto [y, push] = linearize([](const Array& a, const Array& b) { return a * b; }, np::ones({3}), np::ones({3}));
  const auto& pushforward = push;
  EXPECT_ERROR(ShapeError, pushforward(np::ones({3}), np::ones({2})), "[linearize]", at(__LINE__));
  const auto back = linear_transpose([](const Array& x) { return 2.0 * x; }, np::ones({3}));
  EXPECT_ERROR(ShapeError, back(np::ones({2})), "[linear_transpose]", at(__LINE__));
  const auto lists = vjp([](const Array& x) { return std::vector<Array>{x, x}; }, np::ones({3}));
  const int line = __LINE__ + 1;
  const auto one_short = [&] { return lists.second(std::vector<Array>(1, np::ones({3}))); };
  EXPECT_ERROR(TreeError, one_short(),
               "[vjp] the cotangent has structure [Array] but the output had [Array, Array]; they must be alike.",
               at(line));
}
TEST(Trials, LinesOfTrees) {
  const Model a = model();
  Model b = model();
  b.layers.pop_back();
  const auto add = [](const Array& x, const Array& y) { return x + y; };
  EXPECT_ERROR(TreeError, tree::map(add, a, b), "[tree::map] the trees differ", at(__LINE__));
  EXPECT_ERROR(TreeError, tree::stack(std::vector<Model>{a, b}), "[tree::stack]", at(__LINE__));
  EXPECT_ERROR(ShapeError, tree::unstack(a), "[tree::unstack]", at(__LINE__));
  const std::vector<std::vector<Array>> ragged{{np::ones({1})}, {}};
  EXPECT_ERROR(TreeError, tree::transpose(ragged), "[tree::transpose]", at(__LINE__));
  // The function's own line, where it is at fault.
  const int inside = __LINE__ + 1;
  const auto multiply = [](const Array& x) { return np::matmul(x, np::ones({9, 9})); };
  EXPECT_ERROR(ShapeError, tree::map(multiply, a), "[matmul]", at(inside), "in the leaf .layers[0].w");
}
TEST(Trials, StructuresAreReadable) {
  EXPECT_EQ(tree::outline(model()), "{layers: [{w: Array, b: Array}, {w: Array, b: Array}]}");
  EXPECT_EQ(tree::outline(std::tuple{Array(1.f), 2, std::string("s"), true, none}), "(Array, 2, \"s\", true, none)");
  EXPECT_EQ(tree::outline(std::tuple{Array(1.f)}), "(Array,)");
  EXPECT_EQ(tree::outline(std::map<std::string, std::optional<Array>>{{"a", Array(1.f)}, {"b", std::nullopt}}),
            "{\"a\": Array, \"b\": none}");
  EXPECT_EQ(tree::outline(std::vector<Layer>(12)), "[12 times {w: Array, b: Array}]");
  Model a = model(), b = model();
  b.layers.pop_back();
  EXPECT_EQ(tree::difference(a, b), " They differ at .layers: a list of 2 and a list of 1.");
  EXPECT_EQ(tree::difference(std::map<std::string, Array>{{"a", {}}}, std::map<std::string, Array>{{"b", {}}}),
            " The one has [\"a\"] where the other has [\"b\"].");
  EXPECT_EQ(tree::difference(a, a), "");
  EXPECT_ERROR(TreeError, lax::while_loop([](const Model&) { return Array(true); }, [&](const Model&) { return b; }, a),
               "[while_loop] the carry has structure {layers: [{w: Array, b: Array}, {w: Array, b: Array}]}",
               "They differ at .layers: a list of 2 and a list of 1.");
  std::map<std::string, Array> many;
  for (int i = 0; i < 1000; ++i) many["layer" + std::to_string(i)] = Array(1.f);
  EXPECT_LT(tree::outline(many).size(), 320u);
}
TEST(Trials, DebugNansGoesInsideLoops) {
  struct On {
    On() { debug_nans(true); }
    ~On() { debug_nans(false); }
  } on;
  const int line = __LINE__ + 1;
  const auto root = [](const Array& x) { return np::sqrt(x); };
  const auto loop = [&](const Array& xs) {
    return lax::scan([&](const Array& c, const Array& x) { return std::pair{c + root(x), none}; }, Array(0.f), xs)
        .first;
  };
  const Array xs = np::array({4.f, 1.f, -1.f, 9.f});
  EXPECT_ERROR(NanError, loop(xs), "[debug_nans] sqrt made a NaN in its result f32[]; its operands had none.", at(line),
               "in step 2 (counted from 0) of the loop");
  const int call = __LINE__ + 1;
  const auto jitted = [&] { return jit(loop)(xs); };
  EXPECT_ERROR(NanError, jitted(), "[debug_nans] sqrt made a NaN", at(line), "in step 2", "call at " + line_of(call));
  EXPECT_ERROR(NanError, grad(loop)(xs), "[debug_nans]", at(line), "in step 2");
  EXPECT_ERROR(NanError, vmap(loop)(np::stack({xs, xs})), "[debug_nans] sqrt", at(line), "in step 2");
  const auto down = [&](const Array& x) {
    return lax::while_loop([](const Array& c) { return c > -2.f; },
                           [&](const Array& c) { return c - 1.f + 0.f * root(c); }, x);
  };
  EXPECT_ERROR(NanError, down(Array(1.f)), "[debug_nans] sqrt made a NaN", at(line), "in step 2");
  EXPECT_ERROR(NanError, jit(down)(Array(1.f)), "[debug_nans] sqrt made a NaN", at(line), "in step 2");
  const auto either = [&](const Array& x) { return lax::cond(x < 0.f, root, [](const Array& v) { return v; }, x); };
  EXPECT_ERROR(NanError, jit(either)(Array(-1.f)), "[debug_nans] sqrt made a NaN", at(line));
  EXPECT_EQ(jit(either)(Array(3.f)).item<float>(), 3.f);
  EXPECT_ERROR(NanError, lax::associative_scan([&](const Array& a, const Array& b) { return a + root(b); }, xs),
               "[debug_nans] sqrt", at(line));
  EXPECT_EQ(loop(np::array({4.f, 1.f})).item<float>(), 3.f);
}
