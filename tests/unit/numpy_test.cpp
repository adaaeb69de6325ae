// numpy outside of the case table: dtypes, errors that name `size`, functions of several results, members of Array.
#include <cotan/cotan.hpp>

#include "support/expect_error.hpp"

namespace np = cotan::numpy;
using namespace cotan;

namespace {

Array v6() { return np::array({3, 1, 2, 1, 3, 1}); }
std::vector<int> ints(const Array& a) { return a.to_vector<int>(); }

}  // namespace

TEST(NumpyDtypes, Limits) {
  EXPECT_EQ(np::finfo(f32).eps, 0x1p-23);
  EXPECT_EQ(np::finfo(f32).max, std::numeric_limits<float>::max());
  EXPECT_EQ(np::finfo(f64).smallest_subnormal, std::numeric_limits<double>::denorm_min());
  EXPECT_EQ(np::finfo(f16).max, 65504.0);
  EXPECT_EQ(np::finfo(bf16).bits, 16);
  EXPECT_EQ(np::iinfo(i8).min, -128);
  EXPECT_EQ(np::iinfo(u64).max, std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(np::iinfo(i64).min, std::numeric_limits<std::int64_t>::min());
  EXPECT_ERROR(ValueError, np::finfo(i32), "[finfo] i32 is no floating dtype");
  EXPECT_ERROR(ValueError, np::iinfo(f32), "[iinfo] f32 is no integer dtype");
}
TEST(NumpyDtypes, Kinds) {
  EXPECT_TRUE(np::issubdtype(bf16, np::floating));
  EXPECT_TRUE(np::issubdtype(i8, np::signedinteger));
  EXPECT_FALSE(np::issubdtype(bool_, np::number));
  EXPECT_TRUE(np::isdtype(u8, "integral"));
  EXPECT_FALSE(np::isdtype(f32, "complex floating"));
  EXPECT_ERROR(ValueError, np::isdtype(f32, "float"), "[isdtype] there is no kind 'float'");
}
TEST(NumpyDtypes, Casts) {
  EXPECT_TRUE(np::can_cast(i16, f32));
  EXPECT_FALSE(np::can_cast(i32, f32));
  EXPECT_TRUE(np::can_cast(i64, f64));
  EXPECT_FALSE(np::can_cast(u8, i8));
  EXPECT_TRUE(np::can_cast(u8, i16));
  EXPECT_TRUE(np::can_cast(f64, f32, "same_kind"));
  EXPECT_FALSE(np::can_cast(i32, u32, "same_kind"));
  EXPECT_TRUE(np::can_cast(f32, i8, "unsafe"));
  EXPECT_ERROR(ValueError, np::can_cast(f32, i8, "maybe"), "[can_cast] there is no rule 'maybe'");
  EXPECT_EQ(np::result_type({i8, u8}), i16);
  EXPECT_EQ(np::result_type({np::zeros({2}, f16), 1.0}), f16);
}
TEST(NumpySizes, NeedValuesOrSize) {
  EXPECT_ERROR(ConcretizationError, jit([](Array x) { return np::nonzero(x)[0]; })(v6()), "[nonzero]", "`size`");
  EXPECT_ERROR(ConcretizationError, jit([](Array x) { return np::union1d(x, x); })(v6()), "[union1d]", "`size`");
  EXPECT_ERROR(ConcretizationError, jit([](Array x) { return np::bincount(x); })(v6()), "[bincount]", "give `length`");
  EXPECT_ERROR(ConcretizationError, jit([](Array x) { return np::repeat(x, x); })(v6()), "[repeat]",
               "total_repeat_length");
  EXPECT_ERROR(ConcretizationError, jit([](Array x) { return np::trim_zeros(x); })(v6()), "[trim_zeros]");
  EXPECT_EQ(ints(jit([](Array x) { return np::unique(x, {.size = 3}); })(v6())), (std::vector{1, 2, 3}));
  EXPECT_ERROR(ValueError, np::nonzero(v6(), {.size = -1}), "[nonzero] size -1 is negative");
}
TEST(NumpyOptions, Errors) {
  const Array x = np::ones({2, 3}), mask = np::ones({2, 3}, bool_);
  EXPECT_ERROR(ValueError, np::max(x, {.where = mask}), "[max] a mask may leave nothing", "give `initial`");
  EXPECT_ERROR(TypeError, np::sum(x, {.where = x}), "[sum] `where` is f32[2,3]; it must be bool");
  EXPECT_ERROR(ShapeError, np::sum(x, {.where = np::ones({2, 2, 3}, bool_)}), "[sum] `where`", "does not broadcast");
  EXPECT_ERROR(ValueError, np::var(x, {.ddof = 1, .correction = 1}), "[var] both ddof and correction");
  EXPECT_ERROR(ValueError, np::quantile(x, 0.5, {.method = "cubic"}), "[quantile] there is no method 'cubic'");
  EXPECT_ERROR(ValueError, np::matmul(x, x.T(), {.precision = "low"}), "[matmul] there is no precision 'low'");
  EXPECT_ERROR(IndexError, np::delete_(x, 7), "[delete] index 7 is out of range");
  EXPECT_ERROR(ValueError, np::block({{x, x}, x}), "[block] lists are 1 and 0 levels deep");
  EXPECT_ERROR(ValueError, np::reshape(x, {6}, 'A'), "[reshape] order 'A' is unknown");
  EXPECT_ERROR(ValueError, np::vectorize([](Array a) { return a; }, {.signature = "n->n"})(x),
               "[vectorize] the signature");
}
TEST(NumpyOptions, OlderCallsMeanTheSame) {
  const Array x = np::array({{1., 2., 3.}, {4., 5., 6.}});
  EXPECT_EQ(np::sum(x, {0, 1}).item<float>(), 21);
  EXPECT_EQ(np::sum(x, {}).item<float>(), 21);
  EXPECT_EQ(np::sum(x, 0).shape(), Shape{3});
  EXPECT_EQ(np::max(x, -1, true).shape(), (Shape{2, 1}));
  EXPECT_EQ(np::median(x, std::nullopt).item<float>(), 3.5f);
  EXPECT_EQ(np::roll(x, 1, std::nullopt).shape(), x.shape());
}
TEST(NumpyPaths, Einsum) {
  const Array a = np::ones({2, 30}), b = np::ones({30, 40}), c = np::ones({40, 3});
  const np::EinsumPath path = np::einsum_path("ij,jk,kl->il", {a, b, c});
  EXPECT_EQ(path.contractions.size(), 2u);
  EXPECT_EQ(path.multiplications, 2 * 30 * 40 + 2 * 40 * 3);
  EXPECT_EQ(path.from_the_left, path.multiplications);
}
TEST(NumpyMembers, AreTheFunctions) {
  const Array x = np::array({{3., 1., 2.}, {0., 5., 4.}});
  EXPECT_EQ(ints(x.argsort()), (std::vector{1, 2, 0, 0, 2, 1}));
  EXPECT_EQ(x.sort()(0, 0).item<int>(), 1);
  EXPECT_EQ(x.mT().shape(), (Shape{3, 2}));
  EXPECT_EQ(x.take(np::array({5}))(0).item<int>(), 4);
  EXPECT_EQ(x.clip(1, 4).max().item<int>(), 4);
  EXPECT_EQ(x.nonzero().size(), 2u);
  EXPECT_EQ(x.itemsize(), 4u);
  EXPECT_EQ(x.tobytes().size(), 24u);
  EXPECT_FALSE(x.is_deleted());
  EXPECT_EQ(*static_cast<const float*>(x.unsafe_buffer_pointer()), 3.0f);
  EXPECT_EQ(x.std().item<float>(), np::std(x).item<float>());
  EXPECT_EQ(x.delete_(np::array({0}), 0).shape(), (Shape{1, 3}));
}
TEST(NumpyTree, Folds) {
  const std::vector<Array> t{np::array({1., 2.}), np::array({3., 4.}), np::array({5., 6.})};
  const auto add = [](Array a, Array b) { return a + b; };
  EXPECT_EQ(tree::reduce(add, t)(0).item<int>(), 9);
  EXPECT_EQ(tree::reduce_associative(add, t)(1).item<int>(), 12);
  EXPECT_TRUE(tree::all(std::pair{Array(true), Array(1)}));
  EXPECT_EQ(tree::leaves_with_path(t)[1].first, "[1]");
  EXPECT_EQ(tree::broadcast(0.5, t)[2].item<float>(), 0.5f);
}
TEST(NumpyBuffers, FromBuffer) {
  const std::vector<float> host{1, 2, 3};
  const Array a = np::frombuffer(std::as_bytes(std::span(host)), f32, 2, 4);
  EXPECT_EQ(ints(a), (std::vector{2, 3}));
  EXPECT_ERROR(ValueError, np::frombuffer(std::as_bytes(std::span(host)), f64),
               "[frombuffer] 12 bytes are no whole number");
}
