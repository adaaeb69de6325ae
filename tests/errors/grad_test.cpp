// Functions and arguments that grad, value_and_grad, jvp, vjp, linearize and the Jacobians refuse.
#include <gtest/gtest.h>

#include "core/primitive.hpp"
#include "support/expect_error.hpp"

namespace np = cotan::numpy;
namespace lax = cotan::lax;
using namespace cotan;

namespace {

struct Linear {
  Array w, b;
};
struct Mlp {
  std::vector<Linear> layers;
  Array scale;
  int heads = 4;
};
Array v3() { return np::array({1.f, 2.f, 3.f}); }
Array total(const Array& x) { return np::sum(x); }

}  // namespace

TEST(GradErrors, OutputIsNotAScalar) {
  EXPECT_ERROR(ShapeError, grad([](Array x) { return x * x; })(v3()),
               "[grad] the function returned f32[3], and a gradient is of one scalar",
               "reduce it with np::sum or np::mean, or use jacrev or vjp.");
  EXPECT_ERROR(ShapeError, value_and_grad([](Array x) { return x.reshape({1}); })(Array(1.f)),
               "[value_and_grad] the function returned f32[1]");
}
TEST(GradErrors, OutputIsAnInteger) {
  EXPECT_ERROR(TypeError, grad([](Array x) { return np::sum(x > 0); })(v3()),
               "[grad] the function returned i32[], which has no derivative; return a floating-point scalar.");
}
TEST(GradErrors, IntegerInputNamesThePath) {
  const Mlp m{{{v3(), v3()}, {np::arange(3), v3()}}, v3()};
  const auto f = [](const Mlp& p) { return np::sum(p.scale); };
  EXPECT_ERROR(TypeError, grad(f)(m),
               "[grad] argument 0.layers[1].w is i32[3], and only floating-point inputs can be differentiated",
               "cast it with astype(f32), or differentiate another argument.");
  EXPECT_ERROR(TypeError, jit(grad(f))(m), "[grad] argument 0.layers[1].w is i32[3]");
}
TEST(GradErrors, IntegerInputOfALaterArgument) {
  EXPECT_ERROR(TypeError, grad<1>([](Array x, Array y) { return np::sum(x * y); })(v3(), np::arange(3)),
               "[grad] argument 1 is i32[3]");
}
TEST(GradErrors, IntegerInputInContainers) {
  const std::map<std::string, std::vector<Array>> tree{{"w", {v3(), np::arange(2)}}};
  EXPECT_ERROR(TypeError,
               grad([](const std::map<std::string, std::vector<Array>>& t) { return np::sum(t.at("w")[0]); })(tree),
               "[grad] argument 0[\"w\"][1] is i32[2]");
  EXPECT_ERROR(TypeError, grad([](std::tuple<Array, Array> t) {
                 return np::sum(std::get<0>(t));
               })(std::tuple{v3(), np::ones({2}, bool_)}),
               "[grad] argument 0[1] is bool[2]");
}
TEST(GradErrors, EmptyArrayInAStruct) {
  const Mlp m{{{v3(), Array()}}, v3()};
  const auto f = [](const Mlp& p) { return np::sum(p.scale); };
  EXPECT_ERROR(ValueError, grad(f)(m), "[grad] argument 0.layers[0].b is an empty Array; assign it before the call.");
  EXPECT_ERROR(ValueError, jit(f)(m), "[jit] argument 0.layers[0].b is an empty Array");
  EXPECT_ERROR(ValueError, vmap(f)(m), "[vmap] argument 0.layers[0].b is an empty Array");
  EXPECT_ERROR(ValueError, make_jaxpr(f)(m), "[make_jaxpr] argument 0.layers[0].b is an empty Array");
  EXPECT_ERROR(ValueError, eval_shape(f)(m), "[eval_shape] argument 0.layers[0].b is an empty Array");
}
TEST(GradErrors, EmptyResult) {
  EXPECT_ERROR(ValueError, grad([](Array) { return Array(); })(v3()),
               "[grad] the function returned an empty Array; assign every output.");
  EXPECT_ERROR(ValueError, vmap([](Array) { return Array(); })(v3()),
               "[vmap] the function returned an empty Array; assign every output.");
  EXPECT_ERROR(ValueError, jit([](Array) { return Array(); })(v3()),
               "[jit] the function returned an empty Array; assign every output.");
  EXPECT_ERROR(ValueError, jvp([](Array) { return Array(); }, std::tuple{v3()}, std::tuple{v3()}),
               "[jvp] the function returned an empty Array");
}
TEST(GradErrors, JacobiansOfIntegers) {
  EXPECT_ERROR(TypeError, jacrev([](Array x) { return x > 0; })(v3()),
               "[jacrev] output 0 is bool[3], which has no derivative; return floating-point arrays.");
  EXPECT_ERROR(TypeError, jacfwd([](Array x) { return x * x; })(np::arange(3)), "[jacfwd] argument 0 is i32[3]");
}
TEST(GradErrors, MissingRules) {
  const auto type = [](const Primitive&, std::span<const AbstractValue> x, const Params&) { return Types{x[0]}; };
  const auto eval = [](const Primitive&, std::span<const Array> x, const Params&) { return Arrays{x[0]}; };
  static const Primitive mystery{.name = "mystery", .op_class = OpClass::routine, .type = type, .eval = eval};
  const auto f = [](Array x) { return np::sum(bind1(mystery, {x})); };
  EXPECT_ERROR(TransformError, grad(f)(v3()),
               "[grad] mystery has no derivative rule; wrap it in custom_jvp or custom_vjp, or stop_gradient "
               "its operands.");
  EXPECT_ERROR(TransformError, vmap(f)(np::ones({2, 3})),
               "[vmap] mystery has no batching rule; loop over the batch instead.");
  EXPECT_ERROR(TransformError, linear_transpose([](Array x) { return bind1(mystery, {x}); }, v3())(v3()),
               "[transpose] mystery has no transpose rule, so the function is not linear in its arguments");
}

TEST(JvpErrors, Tangents) {
  EXPECT_ERROR(ShapeError, jvp(total, std::tuple{v3()}, std::tuple{np::ones({2})}),
               "[jvp] the tangent of argument 0 has shape (2,) but the primal has shape (3,); they must be equal.");
  EXPECT_ERROR(TypeError, jvp(total, std::tuple{v3()}, std::tuple{np::ones({3}, f64)}),
               "[jvp] the tangent of argument 0 is f64 but the primal is f32; cast it with astype.");
  EXPECT_ERROR(TypeError, jvp(total, std::tuple{v3()}, std::tuple{np::arange(3)}),
               "[jvp] the tangent of argument 0 is i32 but the primal is f32");
}
TEST(JvpErrors, TangentInAStructNamesThePath) {
  const auto f = [](const Linear& l) { return np::sum(l.w) + np::sum(l.b); };
  EXPECT_ERROR(ShapeError, jvp(f, std::tuple{Linear{v3(), v3()}}, std::tuple{Linear{v3(), np::ones({2})}}),
               "[jvp] the tangent of argument 0.b has shape (2,)");
}
TEST(JvpErrors, Structure) {
  const auto f = [](const std::vector<Array>& v) { return np::sum(v[0]); };
  EXPECT_ERROR(TreeError, jvp(f, std::tuple{std::vector<Array>{v3()}}, std::tuple{std::vector<Array>{v3(), v3()}}),
               "[jvp] primals and tangents differ in structure: ([Array],) and ([Array, Array],)");
}
TEST(JvpErrors, EmptyTangent) {
  EXPECT_ERROR(ValueError, jvp(total, std::tuple{v3()}, std::tuple{Array()}),
               "[jvp] the tangent of argument 0 is an empty Array");
  EXPECT_ERROR(ValueError, jvp(total, std::tuple{Array()}, std::tuple{v3()}), "[jvp] argument 0 is an empty Array");
}
TEST(VjpErrors, Cotangents) {
  auto [y, pullback] = vjp([](Array x) { return x * x; }, v3());
  EXPECT_ERROR(ShapeError, pullback(np::ones({2})),
               "[vjp] the cotangent of output has shape (2,) but the output has shape (3,); they must be equal.");
  EXPECT_ERROR(TypeError, pullback(np::ones({3}, f64)),
               "[vjp] the cotangent of output is f64 but the output is f32; cast it with astype.");
  EXPECT_ERROR(ValueError, pullback(Array()), "[vjp] the cotangent of output is an empty Array");
  EXPECT_EQ(std::get<0>(pullback(np::ones({3}))).to_vector<float>(), (std::vector<float>{2, 4, 6}));
}
TEST(VjpErrors, CotangentStructure) {
  auto [y, pullback] = vjp([](Array x) { return std::vector<Array>{x, x}; }, v3());
  EXPECT_ERROR(TreeError, pullback(std::vector<Array>{v3()}),
               "[vjp] the cotangent has structure [Array] but the output had [Array, Array]");
}
TEST(LinearizeErrors, Tangents) {
  auto [y, push] = linearize([](Array x) { return x * x; }, v3());
  EXPECT_ERROR(ShapeError, push(np::ones({2})),
               "[linearize] the tangent of argument 0 has shape (2,) but the primal has shape (3,); they "
               "must be equal.");
  EXPECT_ERROR(TypeError, push(np::ones({3}, f64)),
               "[linearize] the tangent of argument 0 is f64 but the primal is f32; cast it with astype.");
  EXPECT_ERROR(ValueError, push(Array()), "[linearize] the tangent of argument 0 is an empty Array");
}
TEST(LinearizeErrors, Structure) {
  auto [y, push] = linearize([](const std::vector<Array>& x) { return x[0]; }, std::vector<Array>{v3()});
  EXPECT_ERROR(TreeError, push(std::vector<Array>{}),
               "[linearize] the tangents have structure ([],) but the arguments had ([Array],)");
}
TEST(LinearTransposeErrors, NotLinear) {
  EXPECT_ERROR(TransformError, linear_transpose([](Array x) { return np::sin(x); }, v3())(v3()),
               "[transpose] sin has no transpose rule, so the function is not linear in its arguments; give "
               "linear_transpose a linear one");
  EXPECT_ERROR(TransformError, linear_transpose([](Array x) { return x * x; }, v3())(v3()),
               "[transpose] mul of two linear values is not linear");
}
TEST(LinearTransposeErrors, Cotangents) {
  const auto transpose = linear_transpose([](Array x) { return 2 * x; }, v3());
  EXPECT_ERROR(ShapeError, transpose(np::ones({2})), "[linear_transpose] the cotangent of output has shape (2,)");
  EXPECT_ERROR(TreeError, transpose(std::tuple{v3(), v3()}), "[linear_transpose] got 2 cotangents for 1 outputs");
}
