// What the compiler makes of programs, as `explain` tells it: how many kernels, how much memory, which
// passes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cotan/cotan.hpp>

namespace ct = cotan;
namespace np = cotan::numpy;
namespace lax = cotan::lax;
using ct::Array;
using ct::Arrays;
using ct::Explanation;

namespace {

template <class F, class... A>
Explanation explained(const F& f, const A&... a) {
  return ct::explain(ct::jit(f), a...);
}
/// One fused loop nest and nothing else: no routine, no temporary memory.
testing::AssertionResult is_one_kernel(const Explanation& e) {
  if (e.kernels == 1 && e.routines == 0 && e.dispatches == 1 && e.temporary_bytes == 0)
    return testing::AssertionSuccess();
  return testing::AssertionFailure() << e.text();
}
int count(const std::string& text, std::string_view part) {
  int n = 0;
  for (auto at = text.find(part); at != text.npos; at = text.find(part, at + part.size())) ++n;
  return n;
}
bool divides(const Explanation& e) { return e.steps.find("//") != e.steps.npos || e.steps.find(" % ") != e.steps.npos; }

Array matrix(std::int64_t rows, std::int64_t columns, ct::DType dtype = ct::f32) {
  return (np::arange(rows * columns, ct::f32).reshape({rows, columns}) / 100).astype(dtype);
}

}  // namespace

// Elementwise -----------------------------------------------------------------------------------------

TEST(Fusion, AnElementwiseChainIsOneKernel) {
  const auto chain = [](Array x) {
    for (int k = 0; k < 10; ++k) x = np::tanh(x * 1.5 + 0.25) - np::sin(x);
    return x;
  };
  EXPECT_TRUE(is_one_kernel(explained(chain, matrix(100, 100))));
  EXPECT_TRUE(is_one_kernel(explained(chain, matrix(100, 100, ct::bf16))));
}
TEST(Fusion, BroadcastsAndCastsAreInside) {
  const auto f = [](Array x, Array row, Array column, Array scalar) {
    return ((x + row) * column.astype(ct::f32) - scalar).astype(ct::f16);
  };
  EXPECT_TRUE(
      is_one_kernel(explained(f, matrix(60, 70), matrix(1, 70), np::arange(60, ct::i32).reshape({60, 1}), Array(2.f))));
}
TEST(Fusion, SeveralResultsOfOneShape) {
  const auto f = [](Array x, Array y) {
    const Array e = np::exp(x) + y;
    return std::tuple{e, e * x, np::sqrt(e), e > 1};
  };
  EXPECT_TRUE(is_one_kernel(explained(f, matrix(64, 64), matrix(64, 64))));
}
TEST(Fusion, IndependentSmallKernelsShareTheirLoops) {
  const auto f = [](Array a, Array b) { return std::pair{a + 1, np::sin(b)}; };
  EXPECT_TRUE(is_one_kernel(explained(f, np::ones({8}), np::ones({8}))));
  EXPECT_TRUE(is_one_kernel(explained(f, Array(1.f), Array(2.f))));
}
TEST(Fusion, UpdatesOfManyParametersAreFewSteps) {
  // Adam: three results a parameter, each parameter of its own shape.
  const auto step = [](Arrays p, Arrays g, Arrays m, Arrays v) {
    for (std::size_t k = 0; k < p.size(); ++k) {
      m[k] = 0.9 * m[k] + 0.1 * g[k];
      v[k] = 0.999 * v[k] + 0.001 * g[k] * g[k];
      p[k] = p[k] - 1e-3 * m[k] / (np::sqrt(v[k]) + 1e-8);
    }
    return std::tuple{p, m, v};
  };
  const Arrays like{np::ones({64, 32}), np::ones({32}), np::ones({32, 10}), np::ones({10})};
  const Explanation e = explained(step, like, like, like, like);
  EXPECT_LE(e.kernels, 4) << e.text();
  EXPECT_EQ(e.routines, 0);
  EXPECT_EQ(e.temporary_bytes, 0);
}

// Views -----------------------------------------------------------------------------------------------

TEST(Views, AddNoKernelInsideAChain) {
  const Array x = matrix(48, 64);
  const auto one = [&](auto view) {
    return is_one_kernel(explained([view](Array y) { return np::exp(view(y * 2 + 1)) * 3; }, x));
  };
  EXPECT_TRUE(one([](Array y) { return y.reshape({64, 48}); }));
  EXPECT_TRUE(one([](Array y) { return y.T(); }));
  EXPECT_TRUE(one([](Array y) { return y(ct::range(3, 40, 2), ct::range(1, ct::none)); }));
  EXPECT_TRUE(one([](Array y) { return np::pad(y, {{1, 2}, {0, 3}}); }));
  EXPECT_TRUE(one([](Array y) { return lax::pad(y, 0.f, {{0, 0, 1}, {2, -1, 2}}); }));
  EXPECT_TRUE(one([](Array y) { return np::flip(y); }));
  EXPECT_TRUE(one([](Array y) { return np::broadcast_to(y, {3, 48, 64}); }));
  EXPECT_TRUE(one([](Array y) { return np::roll(y, 5, 1); }));
  EXPECT_TRUE(one([](Array y) { return np::concatenate({y, y}, 1); }));
  EXPECT_TRUE(one([](Array y) { return np::tile(y, {2, 2}); }));
  EXPECT_TRUE(one([](Array y) { return np::tril(y); }));
  EXPECT_TRUE(one([](Array y) { return np::expand_dims(y, 1); }));
}
TEST(Views, ChainsOfThemFold) {
  const Array x = matrix(48, 64);
  const Explanation there_and_back =
      explained([](Array y) { return y.reshape({4, 12, 64}).reshape({48 * 64}).reshape({48, 64}).T().T() + 1; }, x);
  EXPECT_TRUE(is_one_kernel(there_and_back));
  EXPECT_FALSE(divides(there_and_back)) << there_and_back.steps;
  const Explanation heads =
      explained([](Array y) { return np::swapaxes(y.reshape({48, 4, 16}), 0, 1).reshape({4, 48 * 16}) * 2; }, x);
  EXPECT_TRUE(is_one_kernel(heads));
  EXPECT_FALSE(divides(heads)) << heads.steps;
}
TEST(Views, OfAnInputAloneAreOneCopy) {
  EXPECT_TRUE(is_one_kernel(explained([](Array y) { return y.T(); }, matrix(30, 40))));
  const Explanation same = explained([](Array y) { return y.reshape({40, 30}).reshape({30, 40}); }, matrix(30, 40));
  EXPECT_EQ(same.dispatches, 0) << same.text();
}
TEST(Views, OperandsOfProductsAreNotCopied) {
  const auto f = [](Array a, Array b) { return np::matmul(a.T(), b(ct::range(0, 200), ct::all)); };
  const Explanation e = explained(f, matrix(200, 100), matrix(300, 80));
  EXPECT_EQ(e.routines, 1) << e.text();
  EXPECT_EQ(e.kernels, 0) << e.text();
}

// Reductions ------------------------------------------------------------------------------------------

namespace {

Array softmax(const Array& x) {
  const Array e = np::exp(x - np::max(x, -1, true));
  return e / np::sum(e, -1, true);
}
Array log_softmax(const Array& x) { return x - np::logsumexp(x, -1, true); }
Array layer_norm(const Array& x, const Array& scale, const Array& shift) {
  return (x - np::mean(x, -1, true)) * lax::rsqrt(np::var(x, -1, true) + 1e-5) * scale + shift;
}

}  // namespace

TEST(Fusion, RowsThatFitAreOneKernel) {
  for (const auto& [rows, columns] : {std::pair{64, 128}, std::pair{7, 33}, std::pair{3, 1000}, std::pair{1000, 10}}) {
    const Array x = matrix(rows, columns);
    SCOPED_TRACE(ct::describe(x.dtype(), x.shape()));
    EXPECT_TRUE(is_one_kernel(explained(softmax, x)));
    EXPECT_TRUE(is_one_kernel(explained(log_softmax, x)));
    EXPECT_TRUE(is_one_kernel(explained(layer_norm, x, np::ones({columns}), np::zeros({columns}))));
    EXPECT_TRUE(is_one_kernel(explained([](Array y) { return np::var(y, -1); }, x)));
    EXPECT_TRUE(is_one_kernel(explained([](Array y) { return np::std(y, -1, true); }, x)));
    EXPECT_TRUE(is_one_kernel(explained([](Array y) { return np::logsumexp(y, -1); }, x)));
    EXPECT_TRUE(is_one_kernel(explained([](Array y) { return np::argmax(softmax(y), -1); }, x)));
  }
}
TEST(Fusion, ColumnsToo) {
  const Array x = matrix(64, 128);
  EXPECT_TRUE(is_one_kernel(explained([](Array y) { return y - np::max(y, 0, true); }, x)));
  EXPECT_TRUE(is_one_kernel(explained([](Array y) { return np::var(y, 0); }, x)));
}
TEST(Fusion, MeanAndVarianceTogether) {
  const auto f = [](Array x) { return std::pair{np::mean(x, -1), np::var(x, -1)}; };
  EXPECT_TRUE(is_one_kernel(explained(f, matrix(64, 128))));
}
TEST(Fusion, TwoReductionsReadTheirArrayOnce) {
  const auto f = [](Array x) { return std::tuple{np::sum(x, 1), np::max(x, 1), np::sum(x * x, 1)}; };
  const Explanation e = explained(f, matrix(64, 128));
  EXPECT_TRUE(is_one_kernel(e));
  EXPECT_EQ(count(e.steps, "pass "), 0) << "one pass needs no number: " << e.steps;
}
TEST(Fusion, PrologueAndEpilogueOfAReduction) {
  const auto f = [](Array x, Array y) { return np::sqrt(np::sum(np::exp(x) * y, 1) + 1) / 2; };
  EXPECT_TRUE(is_one_kernel(explained(f, matrix(64, 128), matrix(64, 128))));
}
TEST(Fusion, AResultOfTheWholeDomainBesideAReduction) {
  const auto f = [](Array x) {
    const Array y = np::tanh(x);
    return std::pair{y, np::sum(y, 1)};
  };
  EXPECT_TRUE(is_one_kernel(explained(f, matrix(64, 128))));
}
TEST(Fusion, ALongReductionIsCutInPieces) {
  const Explanation e = explained([](Array x) { return np::sum(np::square(x)); }, np::ones({1 << 20}));
  EXPECT_EQ(e.kernels, 2) << e.text();
  EXPECT_LT(e.temporary_bytes, 1 << 16);
  EXPECT_NE(e.steps.find("pieces"), e.steps.npos) << e.steps;
}

// Products --------------------------------------------------------------------------------------------

TEST(Products, AnMlpIsARoutineAndAKernelPerLayer) {
  const auto mlp = [](Array x, Arrays w, Arrays b) {
    for (std::size_t k = 0; k < w.size(); ++k) x = np::maximum(np::matmul(x, w[k]) + b[k], 0);
    return x;
  };
  const Arrays w{np::ones({64, 96}), np::ones({96, 80}), np::ones({80, 48})};
  const Arrays b{np::ones({96}), np::ones({80}), np::ones({48})};
  const Explanation e = explained(mlp, np::ones({128, 64}), w, b);
  EXPECT_EQ(e.routines, 3) << e.text();
  EXPECT_LE(e.kernels, 3) << e.text();
  EXPECT_NE(e.steps.find("routine dot_general"), e.steps.npos) << e.steps;
}
TEST(Products, AreComputedTransposedWhereThatIsAskedFor) {
  const auto f = [](Array a, Array b) { return np::matmul(a, b).T(); };
  const Explanation e = explained(f, np::ones({80, 90}), np::ones({90, 70}));
  EXPECT_EQ(e.routines, 1) << e.text();
  EXPECT_EQ(e.kernels, 0) << e.text();
}
TEST(Products, SmallOnesAreLoops) {
  const auto f = [](Array a, Array b, Array c) { return np::tanh(np::matmul(a, b) + c); };
  EXPECT_TRUE(is_one_kernel(explained(f, np::ones({4, 4}), np::ones({4, 4}), np::ones({4, 4}))));
  EXPECT_TRUE(is_one_kernel(explained(f, np::ones({100, 4, 4}), np::ones({100, 4, 4}), np::ones({4}))));
}
TEST(Products, WithVectorsAreLoops) {
  const auto f = [](Array a, Array x) { return np::exp(np::matmul(a, x)); };
  EXPECT_EQ(explained(f, np::ones({100, 100}), np::ones({100})).routines, 0);
}

// Memory ----------------------------------------------------------------------------------------------

TEST(Memory, TemporariesShareTheArena) {
  // Sorts are routines, so what is between them is in memory; only two such arrays live at a time.
  const auto f = [](Array x) {
    for (int k = 0; k < 6; ++k) x = np::sort(x * 1.01 + k);
    return x;
  };
  const Explanation e = explained(f, np::ones({1 << 14}));
  EXPECT_EQ(e.routines, 6) << e.text();
  EXPECT_LE(e.temporary_bytes, 2 * 4 * (1 << 14)) << e.text();
  EXPECT_EQ(e.argument_bytes, 4 << 14);
  EXPECT_EQ(e.result_bytes, 4 << 14);
  EXPECT_EQ(e.peak_bytes, e.argument_bytes + e.result_bytes + e.temporary_bytes);
}
TEST(Memory, AKernelOverwritesWhatItReadsLast) {
  // sort -> kernel -> sort: the kernel's result takes the place of its operand.
  const auto f = [](Array x) { return np::sort(np::exp(np::sort(x))); };
  EXPECT_LE(explained(f, np::ones({1 << 14})).temporary_bytes, 4 << 14);
}
TEST(Memory, NothingIsKeptOfAChainOfReductions) {
  const auto f = [](Array x) {
    for (int k = 0; k < 4; ++k) x = softmax(x * 2);
    return x;
  };
  const Explanation e = explained(f, matrix(256, 512));
  EXPECT_LE(e.temporary_bytes, 2 * 4 * 256 * 512) << e.text();
}
TEST(Memory, GradientsOfDeepChainsReuseTheirs) {
  const auto loss = [](Array x) {
    for (int k = 0; k < 12; ++k) x = np::sort(x) * 1.1;
    return np::sum(x);
  };
  const Explanation e = explained(ct::grad(loss), np::linspace(0, 1, 4096));
  EXPECT_GT(e.temporary_bytes, 0);
  EXPECT_LT(e.temporary_bytes, 60 * 4 * 4096) << e.text();
}

// What is shown ---------------------------------------------------------------------------------------

TEST(Explain, SaysWhatRuns) {
  const auto f = [](Array x, Array w) { return np::tanh(np::matmul(x, w)); };
  const Explanation e = explained(f, np::ones({64, 64}), np::ones({64, 64}));
  EXPECT_EQ(e.device, "native");
  EXPECT_EQ(e.kernels, 1);
  EXPECT_EQ(e.routines, 1);
  EXPECT_EQ(e.dispatches, 2);
  EXPECT_EQ(e.loops, 0);
  const std::string text = e.text();
  for (const char* part : {"device native", "1 kernel", "1 routine", "routine dot_general", "kernel tanh", "bytes"})
    EXPECT_NE(text.find(part), text.npos) << part << " is not in\n" << text;
  EXPECT_NE(e.llvm_ir.find("define"), e.llvm_ir.npos);
  EXPECT_NE(e.assembly.find("cotan_program"), e.assembly.npos);
}
TEST(Explain, ShowsEveryPassThatChangedSomething) {
  const Explanation e = explained([](Array x) { return ct::jit([](Array y) { return y * 2; })(x) + 1; }, np::ones({8}));
  std::vector<std::string> names;
  for (const auto& [name, printed] : e.passes) {
    names.push_back(name);
    EXPECT_FALSE(printed.empty()) << name;
  }
  EXPECT_EQ(names, (std::vector<std::string>{"traced", "inline jit", "fuse", "plan memory"}));
  EXPECT_NE(e.text().find("inline jit"), std::string::npos) << e.text();
}
TEST(Explain, HasARowForEveryPass) {
  const Explanation e =
      explained([](Array x) { return np::cumsum(ct::jit([](Array y) { return y * y; })(x)) + 1; }, np::ones({8}));
  ASSERT_FALSE(e.pipeline.empty());
  EXPECT_EQ(e.pipeline.front().name, "inline jit");
  EXPECT_EQ(e.pipeline.front().difference, "-1 jit");
  EXPECT_EQ(e.pipeline.back().name, "plan memory");
  std::size_t changed = 0;
  for (std::size_t k = 0; k < e.pipeline.size(); ++k) {
    const ct::PassRow& row = e.pipeline[k];
    EXPECT_FALSE(row.name.empty() || row.purpose.empty());
    EXPECT_GE(row.microseconds, 0) << row.name;
    EXPECT_TRUE(row.changed || row.difference.empty()) << row.name;
    if (k) {
      EXPECT_EQ(row.equations_before, e.pipeline[k - 1].equations_after) << row.name;
    }
    changed += row.changed;
  }
  EXPECT_LT(changed, e.pipeline.size());
}
TEST(Explain, TellsWhichPassRemovedAnEquation) {
  const Explanation e =
      explained([](Array a, Array b) { return np::matmul(a, b).T(); }, np::ones({32, 16}), np::ones({16, 24}));
  const auto removes_it = [](const ct::PassRow& row) {
    return row.difference.find("-1 transpose") != row.difference.npos;
  };
  const auto row = std::find_if(e.pipeline.begin(), e.pipeline.end(), removes_it);
  ASSERT_NE(row, e.pipeline.end()) << e.text();
  EXPECT_EQ(row->name, "transposed products");
  const auto after =
      std::find_if(e.passes.begin(), e.passes.end(), [&](const auto& pass) { return pass.first == row->name; });
  ASSERT_NE(after, e.passes.end());
  EXPECT_EQ(after->second.find("transpose"), std::string::npos) << after->second;
  EXPECT_NE(std::prev(after)->second.find("transpose"), std::string::npos) << std::prev(after)->second;
}
TEST(Explain, SchedulesAreDescribed) {
  EXPECT_NE(explained([](Array x) { return x + 1; }, np::ones({1 << 20})).steps.find("parallel"), std::string::npos);
  EXPECT_NE(explained([](Array x) { return x + 1; }, np::ones({8})).steps.find("serial"), std::string::npos);
  EXPECT_NE(explained([](Array x) { return x.T() + 1; }, np::ones({512, 512})).steps.find("tiles"), std::string::npos);
}
TEST(Explain, LongExpressionsAreCut) {
  // As a tree it has 2^60 nodes.
  const auto f = [](Array x) {
    for (int k = 0; k < 60; ++k) x = x + x * x;
    return x;
  };
  EXPECT_LT(explained(f, np::ones({8})).text().size(), 20000u);
}
