// What trials of the product found on the native device; each test is named after its number in the report.
#include <gtest/gtest.h>

#include <cotan/cotan.hpp>
#include <cstdlib>

#include "backend/native/codegen/code.hpp"

namespace {

namespace ct = cotan;
namespace np = cotan::numpy;
using ct::Array;

Array waves(const ct::Shape& shape, double phase, ct::DType dtype) {
  std::int64_t n = 1;
  for (auto d : shape) n *= d;
  return np::sin(np::arange(static_cast<double>(n)) * 0.37 + phase).reshape(shape).astype(dtype);
}

/// The largest difference between the compiled program and one operation at a time.
template <class F, class... A>
double gap(const F& f, const A&... args) {
  const Array got = ct::jit(f)(args...).astype(ct::f64), want = f(args...).astype(ct::f64);
  return np::max(np::abs(got - want)).template item<double>();
}

/// Products whose 64 results the next one reads stay in registers: nothing but a place on the stack begins the program.
TEST(Trials, Item0ProductsInARow) {
  struct Sizes {
    std::int64_t m, k, n, l;
  };
  const Sizes all[] = {{8, 8, 8, 8}, {8, 2, 8, 4}, {4, 2, 16, 2}, {16, 2, 4, 2}, {32, 2, 2, 2}, {1, 8, 64, 1}};
  for (const ct::DType dtype : {ct::f16, ct::bf16, ct::f32, ct::f64, ct::i32})
    for (const Sizes& s : all) {
      const Array a = waves({s.m, s.k}, 0, dtype), b = waves({s.k, s.n}, 1, dtype), c = waves({s.n, s.l}, 2, dtype);
      const double unit = dtype == ct::bf16 ? 0x1p-5 : dtype == ct::f16 ? 0x1p-8 : dtype == ct::f32 ? 0x1p-20 : 0x1p-49;
      const auto two = [](const Array& x, const Array& y, const Array& z) { return np::matmul(np::matmul(x, y), z); };
      EXPECT_LE(gap(two, a, b, c), unit * 16) << ct::name(dtype) << s.m << "x" << s.k << "x" << s.n << "x" << s.l;
      EXPECT_FALSE(ct::explain(ct::jit(two), a, b, c).steps.empty());
      if (dtype == ct::i32) continue;
      const auto bent = [](const Array& x, const Array& y, const Array& z) {
        return np::matmul(np::maximum(np::tanh(np::matmul(x, y)) + 0.5, 0.25), z);
      };
      EXPECT_LE(gap(bent, a, b, c), unit * 16);
    }
  const Array p = waves({8, 8}, 3, ct::f64), f = waves({8, 8}, 4, ct::f64), q = waves({8, 8}, 5, ct::f64);
  const auto predict = [](const Array& F, const Array& P, const Array& Q) {
    return np::matmul(np::matmul(F, P), F.T()) + Q;
  };
  EXPECT_LE(gap(predict, f, p, q), 1e-12);
  const Array x = waves({1, 8, 1, 8}, 6, ct::f32);
  const auto attend = [](const Array& y) { return ct::nn::dot_product_attention(y, y + 0.5, y - 0.25); };
  EXPECT_LE(gap(attend, x), 1e-6);
}

/// One attention or Fourier transform in a program must not make one of what checkpoints compute twice.
TEST(Trials, Item18CheckpointsStayBesideAttention) {
  const auto layer = [](const Array& x, const Array& w) { return np::tanh(np::matmul(np::tanh(np::matmul(x, w)), w)); };
  const auto peak = [&](bool checkpointed, bool attention, bool transform) {
    const auto loss = [&](const Array& w, Array x) {
      for (int k = 0; k < 6; ++k) x = checkpointed ? ct::checkpoint(layer)(x, w) : layer(x, w);
      Array out = np::sum(x);
      if (attention) {
        const Array q = w.reshape({-1})(ct::range(0, 32)).reshape({1, 4, 1, 8});
        out = out + np::sum(ct::nn::dot_product_attention(q, q, q));
      }
      if (transform) out = out + np::sum(np::square(np::real(ct::fft::rfft(w[0]))));
      return out;
    };
    return ct::explain(ct::jit(ct::grad(loss)), np::ones({64, 64}), np::ones({2048, 64})).temporary_bytes;
  };
  const auto kept = peak(false, false, false), again = peak(true, false, false);
  ASSERT_LT(again, kept * 3 / 4);
  for (const auto& [attention, transform] : {std::pair{true, false}, {false, true}, {true, true}}) {
    EXPECT_LT(peak(true, attention, transform), again + again / 20);
    EXPECT_GE(peak(false, attention, transform), kept);
  }
}

struct Adam {
  Array m, v;
};

/// One array in two places of what is given up is given up once, and an error before the call takes nothing.
TEST(Trials, Item19DonatingOneBufferTwice) {
  const auto step = [](const Adam& state, const Array& w) {
    return std::pair{Adam{state.m * 0.9 + w, state.v * 0.99 + w * w}, w - 0.1 * state.m};
  };
  const auto jitted = ct::jit(step, {.donate = {0, 1}});
  const Array zeros = np::zeros({64}), w = np::ones({64});
  const auto [state, next] = jitted(Adam{zeros, zeros}, w);
  EXPECT_EQ(state.m.to_vector<float>(), std::vector<float>(64, 1.0f));
  EXPECT_EQ(state.v.to_vector<float>(), std::vector<float>(64, 1.0f));
  EXPECT_EQ(next.to_vector<float>(), std::vector<float>(64, 1.0f));
  EXPECT_THROW(zeros.to_vector<float>(), ct::ValueError);
  // Two handles of one array, of which one is not given up, are the same array.
  const Array x = np::ones({8}), same = x;
  const auto sum = ct::jit([](const Array& a, const Array& b) { return a + b; }, {.donate = {0}});
  EXPECT_EQ(sum(x, same).to_vector<float>(), std::vector<float>(8, 2.0f));
  // What is wrong is found before anything is taken.
  const Array y = np::ones({4}), other = np::ones({5});
  EXPECT_THROW(sum(y, other), ct::Error);
  EXPECT_EQ(y.to_vector<float>(), std::vector<float>(4, 1.0f));
}

/// Every result takes an argument's memory, however many there are, and each argument is taken once.
TEST(Trials, Item19DonatingManyLeaves) {
  using Leaves = std::vector<Array>;
  const auto step = [](const Leaves& x) {
    Leaves out;
    for (const Array& a : x) out.push_back(a * 2);
    return out;
  };
  const auto jitted = ct::jit(step, {.donate = {0}});
  Leaves x;
  for (int k = 0; k < 100; ++k) x.push_back(np::full({16 + k % 3}, 1.0 + k));
  const auto before = ct::memory_stats().live_bytes;
  x = jitted(x);
  EXPECT_EQ(ct::memory_stats().live_bytes, before);
  for (int k = 0; k < 100; ++k)
    EXPECT_EQ(x[static_cast<std::size_t>(k)][0].item<float>(), 2.0f * static_cast<float>(1 + k));
}

TEST(Trials, Item20ExplainCountsDonation) {
  const auto step = [](const Array& w, const Array& g) { return w - 0.1 * g; };
  const Array w = np::ones({1000}), g = np::ones({1000});
  const auto kept = ct::explain(ct::jit(step), w, g), given = ct::explain(ct::jit(step, {.donate = {0}}), w, g);
  EXPECT_EQ(kept.peak_bytes, 12000);
  EXPECT_EQ(kept.donated_bytes, 0);
  EXPECT_EQ(given.peak_bytes, 8000);
  EXPECT_EQ(given.donated_bytes, 4000);
  EXPECT_NE(given.text().find("4000 of them in arguments given up"), std::string::npos);
}

TEST(Trials, Item20ProfilesHaveKernelTimes) {
  const auto f = ct::jit([](const Array& a, const Array& b) { return np::sort(np::matmul(np::tanh(a), b), 0); });
  const Array a = np::ones({96, 96}), b = np::ones({96, 96});
  f(a, b);
  ct::Profile profile;
  f(a, b);
  f(a, b);
  profile.stop();
  int kernels = 0, products = 0;
  std::int64_t inside = 0, calls = 0;
  for (const ct::ProfileEvent& e : profile.events()) {
    if (e.category == "call") calls += e.duration_ns;
    if (e.category != "kernel") continue;
    EXPECT_EQ(e.track, "native");
    EXPECT_GE(e.duration_ns, 0);
    ++kernels;
    products += e.name == "dot_general";
    inside += e.duration_ns;
  }
  const ct::Explanation seen = ct::explain(f, a, b);
  EXPECT_EQ(kernels, 2 * seen.dispatches);
  EXPECT_EQ(products, 2);
  EXPECT_LE(inside, calls);
  EXPECT_NE(seen.times.find("2 profiled calls"), std::string::npos) << seen.times;
  EXPECT_NE(seen.times.find("dot_general"), std::string::npos) << seen.times;
}

/// Code that was made in a hurry and its better successor compute the same bits, and the second call asks for the
/// latter.
TEST(Trials, FirstCodeAndBetterCodeGiveTheSameBits) {
  namespace lax = cotan::lax;
  const auto filter = [](const Array& y, const Array& q) {
    const auto step = [&](const std::pair<Array, Array>& s, const Array& o) {
      const Array p = s.second + q, k = p / (p + 1.0);
      const Array x = s.first + k * (o - s.first);
      return std::pair{std::pair{x, (1.0 - k) * p}, np::exp(np::tanh(x)) + np::sum(np::sin(x * np::arange(5.0)))};
    };
    return lax::scan(step, std::pair{q * 0.0, q + 1.0}, y).second;
  };
  const auto chain = [](const Array& a, const Array& b) {
    return np::matmul(np::tanh(np::matmul(a, b)), b) + np::sum(np::exp(a));
  };
  const Array y = waves({50}, 0, ct::f64), q = np::array(0.3, ct::f64), a = waves({17, 8}, 1, ct::f32),
              b = waves({8, 8}, 2, ct::f32);
  const auto bits = [&] {
    std::vector<double> out = ct::jit(filter)(y, q).to_vector<double>();
    for (const Array& more :
         {ct::jit(chain)(a, b), ct::jit(ct::grad([&](const Array& x) { return np::sum(chain(x, b)); }))(a)})
      for (double v : more.to_vector<double>()) out.push_back(v);
    return out;
  };
  const char* before = std::getenv("COTAN_FIRST_CODE");
  const std::string kept = before ? before : "";
  std::vector<std::vector<double>> all;
  for (const char* how : {"quick", "full"}) {
    setenv("COTAN_FIRST_CODE", how, 1);
    ct::clear_caches();
    all.push_back(bits());
  }
  EXPECT_EQ(all[0], all[1]);
  setenv("COTAN_FIRST_CODE", "quick", 1);
  ct::clear_caches();
  const auto jitted = ct::jit(chain);
  const auto first = jitted(a, b).to_vector<float>();
  EXPECT_EQ(jitted(a, b).to_vector<float>(), first);
  ct::native::finish_background_compilation();
  EXPECT_EQ(jitted(a, b).to_vector<float>(), first);
  before ? setenv("COTAN_FIRST_CODE", kept.c_str(), 1) : unsetenv("COTAN_FIRST_CODE");
}

}  // namespace
