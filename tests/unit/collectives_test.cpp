// Collectives over named axes of vmap, beside what they are by hand; under jit, in loops, differentiated.
#include <gtest/gtest.h>

#include <cotan/cotan.hpp>

namespace ct = cotan;
namespace np = cotan::numpy;
namespace lax = cotan::lax;

namespace {

using ct::Array;

void expect_close(const Array& got, const Array& want, double tol = 1e-6) {
  ASSERT_EQ(got.shape(), want.shape());
  EXPECT_EQ(got.dtype(), want.dtype());
  const auto g = got.astype(ct::f64).to_vector<double>(), w = want.astype(ct::f64).to_vector<double>();
  for (std::size_t i = 0; i < g.size(); ++i) EXPECT_NEAR(g[i], w[i], tol) << "element " << i;
}

const Array xs = np::array({{1.f, 2.f, 3.f}, {4.f, 5.f, -6.f}});

template <class F>
auto over_i(F f) {
  return ct::vmap(f, {.axis_name = "i"});
}

TEST(Collectives, SumsAndExtremes) {
  const auto f = over_i([](Array x) {
    return std::tuple{lax::psum(x, "i"), lax::pmean(x, "i"), lax::pmax(x, "i"), lax::pmin(x, "i"),
                      x / lax::psum(x, "i")};
  });
  for (const bool jitted : {false, true}) {
    const auto [sum, mean, max, min, share] = jitted ? ct::jit(f)(xs) : f(xs);
    const Array total = np::sum(xs, 0);
    const auto both = [](const Array& a) { return np::broadcast_to(a, {2, 3}); };
    expect_close(sum, both(total));
    expect_close(mean, both(total / 2));
    expect_close(max, both(np::max(xs, 0)));
    expect_close(min, both(np::min(xs, 0)));
    expect_close(share, xs / total);
  }
}

TEST(Collectives, OfWhatIsNotMapped) {
  const auto f =
      ct::vmap([](Array) { return std::tuple{lax::psum(1, "i"), lax::psum(np::ones({2}), "i"), lax::pmax(3.0, "i")}; },
               {.axis_name = "i"});
  const auto [count, twos, three] = f(xs);
  EXPECT_EQ(count.to_vector<int>(), (std::vector<int>{2, 2}));
  expect_close(twos, np::full({2, 2}, 2.f));
  expect_close(three, np::full({2}, 3.f));
  const auto no_argument = ct::vmap([](Array c) { return lax::axis_index("i") + c; },
                                    {.in_axes = ct::none, .axis_name = "i", .axis_size = 4});
  EXPECT_EQ(no_argument(np::array(10)).to_vector<int>(), (std::vector<int>{10, 11, 12, 13}));
}

TEST(Collectives, Gathered) {
  expect_close(over_i([](Array x) { return lax::all_gather(x, "i"); })(xs), np::broadcast_to(xs, {2, 2, 3}));
  expect_close(over_i([](Array x) { return lax::all_gather(x, "i", {.axis = -1}); })(xs),
               np::broadcast_to(xs.T(), {2, 3, 2}));
  expect_close(over_i([](Array x) { return lax::all_gather(x, "i", {.tiled = true}); })(xs),
               np::broadcast_to(np::ravel(xs), {2, 6}));
}

TEST(Collectives, Exchanged) {
  const Array a = np::reshape(np::arange(24.f), {2, 2, 2, 3});
  expect_close(over_i([](Array x) { return lax::all_to_all(x, "i", 0, 0); })(a), np::swapaxes(a, 0, 1));
  expect_close(over_i([](Array x) { return lax::all_to_all(x, "i", 1, 0); })(a), np::transpose(a, {2, 0, 1, 3}));
  expect_close(over_i([](Array x) { return lax::pswapaxes(x, "i", 1); })(a), np::swapaxes(a, 0, 2));
  const Array b = np::reshape(np::arange(16.f), {2, 4, 2});
  // Halves of the first axis go to each, side by side along the second.
  const Array want = np::stack({np::concatenate({b(0, ct::range(0, 2)), b(1, ct::range(0, 2))}, 1),
                                np::concatenate({b(0, ct::range(2, 4)), b(1, ct::range(2, 4))}, 1)});
  expect_close(over_i([](Array x) { return lax::all_to_all(x, "i", 0, 1, {.tiled = true}); })(b), want);
  expect_close(over_i([](Array x) { return lax::psum_scatter(x, "i"); })(b(ct::all, ct::range(0, 2))),
               np::sum(b, 0)(ct::range(0, 2)));
  expect_close(over_i([](Array x) { return lax::psum_scatter(x, "i", {.tiled = true}); })(b),
               np::reshape(np::sum(b, 0), {2, 2, 2}));
}

TEST(Collectives, Permuted) {
  const Array v = np::arange(4.f);
  expect_close(over_i([](Array x) { return lax::ppermute(x, "i", {{0, 1}, {1, 2}, {2, 3}, {3, 0}}); })(v),
               np::array({3.f, 0.f, 1.f, 2.f}));
  // Nobody sends to the first and to the last.
  expect_close(over_i([](Array x) { return lax::ppermute(x + 1, "i", {{3, 1}, {0, 2}}); })(v),
               np::array({0.f, 4.f, 1.f, 0.f}));
  expect_close(over_i([](Array x) { return lax::pshuffle(x, "i", {2, 0, 3, 1}); })(v), np::array({2.f, 0.f, 3.f, 1.f}));
  expect_close(over_i([](Array x) { return lax::pbroadcast(x, "i", 2); })(v), np::full({4}, 2.f));
}

TEST(Collectives, SeveralNames) {
  const auto f = [](Array x) {
    return std::tuple{lax::psum(x, {"i", "j"}), lax::psum(x, "j"), lax::axis_index({"i", "j"}),
                      lax::all_gather(x, {"i", "j"}), lax::pmean(x, {"j", "i"})};
  };
  const auto both = ct::vmap(ct::vmap(f, {.axis_name = "j"}), {.axis_name = "i"});
  for (const bool jitted : {false, true}) {
    const auto [all, rows, index, gathered, mean] = jitted ? ct::jit(both)(xs) : both(xs);
    expect_close(all, np::full({2, 3}, 9.f));
    expect_close(rows, np::broadcast_to(np::sum(xs, 1, true), {2, 3}));
    EXPECT_EQ(index.to_vector<int>(), (std::vector<int>{0, 1, 2, 3, 4, 5}));
    expect_close(gathered, np::broadcast_to(np::ravel(xs), {2, 3, 6}));
    expect_close(mean, np::full({2, 3}, 1.5f));
  }
  // A name again means the inner axis.
  const auto again =
      ct::vmap(ct::vmap([](Array x) { return lax::psum(x, "i"); }, {.axis_name = "i"}), {.axis_name = "i"});
  expect_close(again(xs), np::broadcast_to(np::sum(xs, 1, true), {2, 3}));
}

TEST(Collectives, UnnamedAxesBetween) {
  const Array a = np::reshape(np::arange(12.f), {2, 2, 3});
  const auto f = [](Array x) { return std::pair{lax::psum(x, "i"), lax::all_gather(x, "i", {.axis = 1})}; };
  const auto [sum, gathered] = ct::vmap(ct::vmap(f), {.in_axes = 1, .axis_name = "i"})(a);
  expect_close(sum, np::broadcast_to(np::sum(a, 1)(ct::newaxis), {2, 2, 3}));
  expect_close(gathered, np::broadcast_to(np::swapaxes(a, 1, 2)(ct::newaxis), {2, 2, 3, 2}));
}

TEST(Collectives, JitInside) {
  const auto inner = ct::jit([](Array x) { return x - lax::pmean(x, "i"); });
  const Array centered = xs - np::mean(xs, 0);
  expect_close(ct::vmap(inner, {.axis_name = "i"})(xs), centered);
  expect_close(ct::jit(ct::vmap(inner, {.axis_name = "i"}))(xs), centered);
  // Another axis of that name is another program: of another size, and a nested one.
  expect_close(ct::vmap(inner, {.in_axes = 1, .out_axes = 1, .axis_name = "i"})(xs), xs - np::mean(xs, 1, true));
  const auto index = ct::jit([](Array x) { return x * lax::axis_size("i") + lax::axis_index("i"); });
  expect_close(ct::vmap(index, {.axis_name = "i"})(np::ones({2})), np::array({2.f, 3.f}));
  expect_close(ct::vmap(index, {.axis_name = "i"})(np::ones({3})), np::array({3.f, 4.f, 5.f}));
  // Nothing that is mapped goes into the call.
  const auto of_none = ct::jit([](Array x) { return x + lax::psum(lax::axis_index("i"), "i"); });
  expect_close(ct::vmap([&](Array x) { return of_none(np::zeros({})) + x; }, {.axis_name = "i"})(np::zeros({4})),
               np::full({4}, 6.f));
}

TEST(Collectives, InLoopsAndBranches) {
  const auto mean_field = [](Array x) {
    return lax::scan([](Array c, Array) { return std::pair{np::tanh(c + lax::pmean(c, "i")), lax::psum(c, "i")}; }, x,
                     np::zeros({3}));
  };
  Array c = xs, sums = np::zeros({0});
  for (int k = 0; k < 3; ++k) c = np::tanh(c + np::mean(c, 0));
  for (const bool jitted : {false, true}) {
    const auto f = over_i(mean_field);
    const auto [last, ys] = jitted ? ct::jit(f)(xs) : f(xs);
    expect_close(last, c);
    expect_close(ys(1, 0), np::sum(xs, 0));
  }
  const auto until = over_i([](Array x) {
    return lax::while_loop([](Array v) { return lax::pmax(v, "i") < 50.0; }, [](Array v) { return v * 2.0; }, x);
  });
  expect_close(until(np::array({1.f, 10.f})), np::array({8.f, 80.f}));
  const auto branch = over_i([](Array x) {
    return lax::cond(
        lax::psum(x, "i") > 0, [](Array v) { return v + lax::psum(v, "i"); }, [](Array v) { return -v; }, x);
  });
  expect_close(branch(np::array({1.f, 10.f})), np::array({12.f, 21.f}));
  expect_close(branch(np::array({1.f, -10.f})), np::array({-1.f, 10.f}));
  // A body whose carry depends on the element although nothing that goes in does.
  const auto index = over_i([](Array) {
    return lax::fori_loop(0, 3, [](Array, Array v) { return v + lax::axis_index("i"); }, np::array(0));
  });
  EXPECT_EQ(index(np::zeros({3})).to_vector<int>(), (std::vector<int>{0, 3, 6}));
  const auto counted = over_i([](Array) {
    return lax::while_loop([](Array v) { return v < lax::axis_index("i") * 2; }, [](Array v) { return v + 1; },
                           np::array(0));
  });
  EXPECT_EQ(counted(np::zeros({3})).to_vector<int>(), (std::vector<int>{0, 2, 4}));
}

TEST(Collectives, TreesAndIntegers) {
  const auto f = over_i([](Array x) { return lax::pmean(std::map<std::string, Array>{{"a", x}, {"b", x * 2}}, "i"); });
  const auto out = f(xs);
  expect_close(out.at("b"), np::broadcast_to(np::mean(xs, 0) * 2, {2, 3}));
  const Array flags = np::array({true, false, true});
  EXPECT_EQ(over_i([](Array b) { return lax::psum(b, "i"); })(flags).to_vector<int>(), (std::vector<int>{2, 2, 2}));
  const Array z = lax::complex(np::array({1.f, 2.f}), np::array({3.f, -1.f}));
  const Array sum = ct::jit(over_i([](Array c) { return lax::psum(c, "i"); }))(z);
  expect_close(np::real(sum), np::full({2}, 3.f));
  expect_close(np::imag(sum), np::full({2}, 2.f));
}

TEST(Collectives, CustomRules) {
  const auto smooth = ct::custom_vjp([](Array x) { return lax::pmean(x, "i"); },
                                     [](Array x) { return std::pair{lax::pmean(x, "i"), ct::none}; },
                                     [](ct::None, Array g) { return 10 * lax::psum(g, "i"); });
  const auto each = over_i(ct::grad([&](Array x) { return np::sum(smooth(x)); }));
  expect_close(each(xs), np::full({2, 3}, 20.f));
  const auto all = ct::grad([&](Array x) { return np::sum(ct::vmap(smooth, {.axis_name = "i"})(x)); });
  expect_close(all(xs), np::full({2, 3}, 20.f));
  expect_close(ct::jit(all)(xs), np::full({2, 3}, 20.f));
}

}  // namespace
