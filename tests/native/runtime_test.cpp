// Compiled programs at run time: the same bits whatever the threads, callable from many threads, errors that
// come through, memory that is given away.
#include <gtest/gtest.h>

#include <atomic>
#include <cotan/cotan.hpp>
#include <thread>

#include "backend/native/executable.hpp"
#include "backend/native/runtime/host_memory.hpp"
#include "core/trace.hpp"
#include "expr/lowering.hpp"
#include "support/expect_error.hpp"

namespace ct = cotan;
namespace np = cotan::numpy;
namespace lax = cotan::lax;
using ct::Array;
using ct::Arrays;

namespace {

using Function = std::function<Arrays(const Arrays&)>;

std::vector<std::byte> bytes_of(const Array& a) {
  const auto* c = ct::concrete(a);
  return {c->buffer->data(), c->buffer->data() + c->buffer->bytes()};
}
std::vector<std::vector<std::byte>> bytes_of(const Arrays& arrays) {
  std::vector<std::vector<std::byte>> out;
  for (const Array& a : arrays) out.push_back(bytes_of(a));
  return out;
}

/// Numbers of either sign and many magnitudes, so that another order of summation gives other bits.
Array noise(const ct::Shape& shape, ct::DType dtype = ct::f32) {
  std::int64_t n = 1;
  for (auto d : shape) n *= d;
  std::vector<double> v(static_cast<std::size_t>(n));
  std::uint64_t state = 12345;
  for (double& e : v) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    e = (static_cast<double>(state >> 40) / (1 << 24) - 0.5) * static_cast<double>(1 + (state >> 33 & 63));
  }
  return Array::from_host(v, shape).astype(dtype);
}

struct Threads {
  int before = ct::num_threads();
  ~Threads() { ct::set_num_threads(before); }
};

/// The same bits with one, two and three threads, and from call to call.
void expect_same_bits(const char* name, const Function& f, const Arrays& inputs, bool parallel_kernel = true) {
  SCOPED_TRACE(name);
  const Threads scope;
  const auto compiled = ct::jit(f);
  if (parallel_kernel) {
    EXPECT_NE(ct::explain(compiled, inputs).steps.find("parallel"), std::string::npos) << "too small to tell";
  }
  ct::set_num_threads(1);
  const auto want = bytes_of(compiled(inputs));
  for (const int threads : {2, 3, 2, 1}) {
    ct::set_num_threads(threads);
    for (int run = 0; run < 2; ++run) EXPECT_TRUE(bytes_of(compiled(inputs)) == want) << threads << " threads";
  }
}
Function one(Array (*f)(const Array&)) {
  return [f](const Arrays& x) { return Arrays{f(x[0])}; };
}

/// Runs f(thread) on `n` threads that start together.
void on_threads(int n, const std::function<void(int)>& f) {
  std::atomic<int> ready{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < n; ++t)
    threads.emplace_back([&, t] {
      ++ready;
      while (ready < n) std::this_thread::yield();
      try {
        f(t);
      } catch (const std::exception& error) {
        ADD_FAILURE() << "thread " << t << ": " << error.what();
      }
    });
  for (auto& thread : threads) thread.join();
}

}  // namespace

namespace {

/// Parameters of two layers, inputs and labels, and what one step of gradient descent makes of the
/// parameters.
Arrays training_state() {
  return {noise({200, 150}) / 100, noise({150}) / 100, noise({150, 10}) / 100,
          noise({10}) / 100,       noise({256, 200}),  np::abs(noise({256, 10}))};
}
Arrays training_step(const Arrays& state) {
  const auto loss = [](Arrays p, Array x, Array y) {
    const Array h = np::tanh(np::matmul(x, p[0]) + p[1]);
    const Array z = np::matmul(h, p[2]) + p[3];
    return -np::mean(np::sum(y * (z - np::logsumexp(z, 1, true)), 1));
  };
  Arrays params(state.begin(), state.begin() + 4);
  const auto [value, grads] = ct::value_and_grad(loss)(params, state[4], state[5]);
  for (std::size_t k = 0; k < params.size(); ++k) params[k] = params[k] - 0.1 * grads[k];
  params.push_back(value);
  return params;
}

}  // namespace

// Determinism -----------------------------------------------------------------------------------------

TEST(Determinism, Kernels) {
  expect_same_bits("pointwise", one([](const Array& x) { return np::sin(x) * x + 1; }), {noise({1 << 20})});
  expect_same_bits("row reduction", one([](const Array& x) { return np::sum(x, 1); }), {noise({600, 2000})});
  expect_same_bits("rows of odd length", one([](const Array& x) { return np::sum(x * x, 1); }), {noise({3001, 333})});
  expect_same_bits("column reduction", one([](const Array& x) { return np::sum(x, 0); }), {noise({2000, 600})});
  expect_same_bits("middle reduction", one([](const Array& x) { return np::sum(x, 1); }), {noise({60, 100, 200})});
  expect_same_bits("cut reduction", one([](const Array& x) { return np::sum(x); }), {noise({1 << 21})});
  expect_same_bits("cut reduction, odd", one([](const Array& x) { return np::sum(x); }), {noise({1234567})});
  expect_same_bits("cut reduction to few", one([](const Array& x) { return np::sum(x, 1); }), {noise({3, 400001})});
  expect_same_bits("cut columns", one([](const Array& x) { return np::sum(x, 0); }), {noise({100003, 7})});
  expect_same_bits("transposition", one([](const Array& x) { return x.T() + 1; }), {noise({1000, 1100})});
  expect_same_bits("flip", one([](const Array& x) { return np::flip(x); }), {noise({1000, 1100})});
  expect_same_bits("f64", one([](const Array& x) { return np::sum(np::exp(x / 40)); }), {noise({1 << 20}, ct::f64)});
  expect_same_bits("f16", one([](const Array& x) { return np::mean(x, 1); }), {noise({900, 1100}, ct::f16)});
  expect_same_bits("argmax", one([](const Array& x) { return np::argmax(x, 1); }), {noise({900, 1100})});
}
TEST(Determinism, Rows) {
  expect_same_bits("softmax", one([](const Array& x) {
                     const Array e = np::exp(x - np::max(x, 1, true));
                     return e / np::sum(e, 1, true);
                   }),
                   {noise({1000, 1000})});
  expect_same_bits("layer norm", one([](const Array& x) {
                     return (x - np::mean(x, 1, true)) * lax::rsqrt(np::var(x, 1, true) + 1e-5);
                   }),
                   {noise({1000, 777})});
  expect_same_bits("softmax along columns", one([](const Array& x) {
                     const Array e = np::exp(x - np::max(x, 0, true));
                     return e / np::sum(e, 0, true);
                   }),
                   {noise({500, 1500})});
  expect_same_bits("gradient of layer norm",
                   [](const Arrays& x) {
                     const auto loss = [](Array y) {
                       return np::sum(np::sin((y - np::mean(y, 1, true)) * lax::rsqrt(np::var(y, 1, true) + 1e-5)));
                     };
                     return Arrays{ct::grad(loss)(x[0])};
                   },
                   {noise({800, 500})});
}
TEST(Determinism, Routines) {
  const auto matmul = [](const Arrays& x) { return Arrays{np::matmul(x[0], x[1])}; };
  expect_same_bits("product", matmul, {noise({320, 320}), noise({320, 320})}, false);
  expect_same_bits("product of odd sizes", matmul, {noise({301, 517}), noise({517, 203})}, false);
  expect_same_bits("product in f64", matmul, {noise({257, 300}, ct::f64), noise({300, 129}, ct::f64)}, false);
  expect_same_bits("product in bf16", matmul, {noise({257, 300}, ct::bf16), noise({300, 129}, ct::bf16)}, false);
  expect_same_bits("long contraction", matmul, {noise({20, 50000}), noise({50000, 20})}, false);
  expect_same_bits("batched product", matmul, {noise({40, 60, 70}), noise({40, 70, 50})}, false);
  expect_same_bits("product with a vector", matmul, {noise({1200, 1300}), noise({1300})}, false);
  expect_same_bits(
      "convolution", [](const Arrays& x) { return Arrays{lax::conv(x[0], x[1], {1, 1}, "SAME")}; },
      {noise({4, 16, 40, 40}), noise({32, 16, 3, 3})}, false);
  expect_same_bits(
      "gradients of a convolution",
      [](const Arrays& x) {
        const auto loss = [](Array a, Array w) { return np::sum(np::square(lax::conv(a, w, {2, 2}, "SAME"))); };
        const auto [da, dw] = ct::grad<0, 1>(loss)(x[0], x[1]);
        return Arrays{da, dw};
      },
      {noise({4, 8, 30, 30}), noise({16, 8, 3, 3})}, false);
  expect_same_bits("cumsum", one([](const Array& x) { return np::cumsum(x, 1); }), {noise({300, 3000})}, false);
  expect_same_bits("long cumsum", one([](const Array& x) { return np::cumsum(x); }), {noise({1 << 20})}, false);
  expect_same_bits("sort", one([](const Array& x) { return np::sort(x); }), {noise({200, 1000})}, false);
  expect_same_bits(
      "scatter",
      [](const Arrays& x) {
        const Array where = (np::abs(x[0]) * 50).astype(ct::i32) % 64;
        return Arrays{np::zeros({64}).at(where).add(x[0])};
      },
      {noise({100000})}, false);
}
TEST(Determinism, ATrainingStep) { expect_same_bits("training step", training_step, training_state(), false); }

// Threads of the caller -------------------------------------------------------------------------------

TEST(Concurrency, EqualProgramsAreCompiledOnce) {
  const auto f = [](std::span<const Array> x) { return Arrays{np::tanh(x[0] * 1.2345) + np::sum(x[0])}; };
  const ct::Types types{{ct::f32, {37, 41}, false}};
  std::vector<ct::JaxprPtr> programs;
  for (int t = 0; t < 4; ++t) programs.push_back(ct::trace_to_jaxpr(f, types).jaxpr);
  std::vector<const ct::native::Executable*> compiled(4);
  on_threads(4, [&](int t) {
    compiled[static_cast<std::size_t>(t)] =
        &ct::native::executable_of(programs[static_cast<std::size_t>(t)], ct::native::backend());
  });
  for (const auto* e : compiled) EXPECT_EQ(e, compiled[0]);
}
TEST(Concurrency, FirstCallsAtOnce) {
  for (int round = 0; round < 5; ++round) {
    const auto f = ct::jit([round](Array x) { return np::sort(np::sin(x) * (round + 1.5)) + np::mean(x); });
    const Array x = noise({40, 50});
    std::vector<std::vector<std::byte>> results(4);
    on_threads(4, [&](int t) { results[static_cast<std::size_t>(t)] = bytes_of(f(x)); });
    for (const auto& r : results) EXPECT_TRUE(r == results[0]);
  }
}
TEST(Concurrency, OneCompiledFunctionFromManyThreads) {
  // Large enough that every call wants the thread pool, with an arena and a routine.
  const auto f = ct::jit([](Array x) {
    const Array s = np::sort(x * 2, 0);
    return np::matmul(s, s.T()) + np::sum(s);
  });
  std::vector<Array> inputs;
  std::vector<std::vector<std::byte>> want;
  for (int t = 0; t < 4; ++t) {
    inputs.push_back(noise({150, 600}) + t);
    want.push_back(bytes_of(f(inputs.back())));
  }
  on_threads(4, [&](int t) {
    for (int k = 0; k < 8; ++k) {
      const auto which = static_cast<std::size_t>((t + k) % 4);
      EXPECT_TRUE(bytes_of(f(inputs[which])) == want[which]);
    }
  });
}
TEST(Concurrency, CompilingAndRunningAtOnce) {
  const auto g = ct::jit([](Array x) { return np::cumsum(x) * 2; });
  const Array x = noise({5000});
  const auto want = bytes_of(g(x));
  on_threads(3, [&](int t) {
    for (int k = 0; k < 6; ++k) {
      if (t == 0)
        EXPECT_TRUE(bytes_of(g(x)) == want);
      else
        EXPECT_EQ(ct::jit([=](Array y) { return np::sum(y * (10 * t + k)); })(np::ones({k + 1})).item<float>(),
                  static_cast<float>((10 * t + k) * (k + 1)));
    }
  });
}
TEST(Concurrency, ClearingCachesMeanwhile) {
  on_threads(3, [](int t) {
    for (int k = 0; k < 8; ++k) {
      if (t == 0)
        ct::clear_caches();
      else
        EXPECT_EQ(ct::jit([](Array y) { return y * 3; })(np::ones({2})).to_vector<float>()[1], 3.f);
    }
  });
}

// Errors ----------------------------------------------------------------------------------------------

TEST(NativeErrors, ResultsThatCannotFit) {
  const std::int64_t large = std::int64_t{1} << 40;
  EXPECT_ERROR(OutOfMemoryError, ct::jit([=](Array x) { return np::broadcast_to(x, {large, 16}); })(Array(1.f)),
               "[jit] the device 'native' has no room for f32[1099511627776,16] (70368744177664 bytes)",
               "work in smaller pieces.");
  EXPECT_ERROR(OutOfMemoryError,
               ct::jit([=](Array x) { return np::sum(np::broadcast_to(x, {large, 16})); })(Array(1.f)),
               "has no room for");
  EXPECT_ERROR(OutOfMemoryError,
               ct::jit([=](Array x) { return np::sort(np::broadcast_to(x, {large, 16}))(0, 0); })(Array(1.f)),
               "has no room for");
  const std::int64_t huge = std::int64_t{1} << 61;
  EXPECT_ERROR(OutOfMemoryError, ct::jit([=](Array x) { return np::broadcast_to(x, {huge, 16}); })(Array(1.f)),
               "more bytes than can be addressed");
}
TEST(NativeErrors, ResultsThatFitOnlyAlone) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer needs memory of its own for every block";
#endif
  // Linux would promise both and end the process when they are filled: it must not come to that.
  const auto most = static_cast<std::int64_t>(ct::native::physical_memory() / sizeof(float) * 6 / 10);
  const auto f =
      ct::jit([=](Array x) { return std::pair{np::broadcast_to(x, {most}), np::broadcast_to(x + 1, {most})}; });
  const auto before = ct::memory_stats();
  EXPECT_ERROR(OutOfMemoryError, f(Array(1.f)), "[allocate] the device 'native' has no room for",
               "free arrays or work in smaller pieces.");
  EXPECT_LT(ct::memory_stats().live_bytes, before.live_bytes + 1000) << "the one that fitted is freed";
}

namespace {

ct::Types same_type(const ct::Primitive&, std::span<const ct::AbstractValue> x, const ct::Params&) { return {x[0]}; }
Arrays refuse(const ct::Primitive&, std::span<const Array>, const ct::Params&) {
  throw ct::ValueError("[refuse] this routine always fails; do not call it.");
}
ct::expr::Expr cannot_lower(std::span<const ct::expr::Expr>, const ct::Params&) {
  throw std::runtime_error("this operation has no instructions");
}
/// A routine that fails when it runs, and an elementwise operation that fails when it is compiled.
const ct::Primitive failing_routine{
    .name = "refuse", .op_class = ct::OpClass::routine, .type = same_type, .eval = refuse};
const ct::Primitive failing_lowering{.name = "cannot_lower",
                                     .op_class = ct::OpClass::elementwise,
                                     .type = same_type,
                                     .eval = refuse,
                                     .scalar = cannot_lower};

}  // namespace

TEST(NativeErrors, OfARoutineComeThrough) {
  const auto f = ct::jit([](Array x) { return np::sort(ct::bind1(failing_routine, {np::sort(x) * 2}) + 1); });
  const Array x = np::ones({1000});
  EXPECT_ERROR(ValueError, f(x), "[refuse] this routine always fails; do not call it.");
  const auto before = ct::memory_stats();
  EXPECT_ERROR(ValueError, f(x), "[refuse] this routine always fails; do not call it.");
  EXPECT_EQ(ct::memory_stats().live_bytes, before.live_bytes) << "the arena and the results are freed";
}
TEST(NativeErrors, OfTheCompilerHoldTheProgram) {
  const auto f = ct::jit([](Array x) { return ct::bind1(failing_lowering, {x + 1}); });
  try {
    f(np::ones({3}));
    FAIL() << "nothing was thrown";
  } catch (const ct::CompileError& error) {
    const std::string text = error.what();
    for (const char* part : {"[jit] this program could not be compiled", "this operation has no instructions", "lambda",
                             "add", "cannot_lower", "f32[3]"})
      EXPECT_NE(text.find(part), text.npos) << part << " is not in\n" << text;
  }
  // The next program is not affected.
  EXPECT_EQ(ct::jit([](Array x) { return x + 1; })(np::ones({3})).to_vector<float>()[2], 2.f);
}
TEST(NativeErrors, NansAreTracedToTheirPrimitive) {
  struct On {
    On() { ct::debug_nans(true); }
    ~On() { ct::debug_nans(false); }
  } on;
  const auto f = ct::jit([](Array x) { return np::sum(np::log(x - 2) * 3); });
  EXPECT_ERROR(NanError, f(np::ones({4})), "[debug_nans] log made a NaN in its result f32[4]");
  EXPECT_ERROR(NanError, ct::jit(ct::grad([](Array x) { return np::sum(np::sqrt(x) * 0); }))(np::zeros({4})),
               "[debug_nans]", "made a NaN");
  EXPECT_EQ(f(np::full({4}, 3.f)).item<float>(), 0.f);
}

// Donation --------------------------------------------------------------------------------------------

namespace {
const std::byte* address_of(const Array& a) { return ct::concrete(a)->buffer->data(); }
}  // namespace

TEST(Donation, ReusesTheBuffer) {
  const auto step = ct::jit([](Array x, Array g) { return x - 0.1 * g; }, {.donate = {0}});
  const Array g = np::ones({1000});
  Array x = np::ones({1000});
  x = step(x, g);
  const std::byte* const place = address_of(x);
  const auto before = ct::memory_stats();
  for (int k = 0; k < 5; ++k) x = step(x, g);
  EXPECT_EQ(address_of(x), place);
  EXPECT_EQ(ct::memory_stats().allocations, before.allocations) << "nothing new is needed";
  EXPECT_NEAR(x.to_vector<float>()[0], 0.4, 1e-6);
}
TEST(Donation, DonatedArgumentsAreGone) {
  const auto f = ct::jit([](Array x) { return x * 2; }, {.donate = {0}});
  const Array x = np::ones({100});
  const Array alias = x;
  EXPECT_EQ(f(x).to_vector<float>()[0], 2.f);
  EXPECT_ERROR(ValueError, x + 1,
               "was donated to a jitted call and is gone; use the call's result, or do not donate it.");
  EXPECT_ERROR(ValueError, alias.to_vector<float>(), "was donated");
}
TEST(Donation, MemoryThatIsSharedIsNotOverwritten) {
  const auto f = ct::jit([](Array x, Array y) { return x * 2 + y; }, {.donate = {0}});
  const Array x = np::ones({100});
  const Array result = f(x, x);
  EXPECT_EQ(result.to_vector<float>(), std::vector<float>(100, 3.f));
  const auto reversed = [](Array a, Array b) { return a * 2 + np::flip(b); };
  const Array y = np::arange(1000, ct::f32);
  const auto want = reversed(y, y).to_vector<float>();
  EXPECT_EQ(ct::jit(reversed, {.donate = {0}})(y, y).to_vector<float>(), want) << "passed twice, donated once";
}
TEST(Donation, ElementsReadLaterAreNotOverwritten) {
  // The result could take the argument's place, but reads it in another order.
  const Array want = np::arange(1000, ct::f32);
  const auto reversed = [](Array x) { return np::flip(x) + x; };
  EXPECT_EQ(ct::jit(reversed, {.donate = {0}})(np::arange(1000, ct::f32)).to_vector<float>(),
            reversed(want).to_vector<float>());
  const auto centred = [](Array x) { return x - np::mean(x); };
  EXPECT_EQ(ct::jit(centred, {.donate = {0}})(np::arange(1000, ct::f32)).to_vector<float>(),
            centred(want).to_vector<float>());
  const auto through_routines = [](Array x) { return np::sort(-x) + np::cumsum(x) + x; };
  EXPECT_EQ(ct::jit(through_routines, {.donate = {0}})(np::arange(1000, ct::f32)).to_vector<float>(),
            through_routines(want).to_vector<float>());
}
TEST(Donation, SumsOfRowsAreWrittenOverWhatTheyAreAddedTo) {
  // All results are of the rows' sums, and each reads what another one's memory held.
  const auto f = [](Array a, Array b, Array x) {
    const Array s = np::sum(x, 1);
    return std::tuple{s + b, s * a, a - b + s};
  };
  for (const std::int64_t rows : {1, 2, 8, 64, 1000})
    for (const std::int64_t terms : {3, 40, 700}) {
      const auto a = [&] { return np::arange(rows, ct::f32) + 1.0; };
      const auto b = [&] { return np::arange(rows, ct::f32) * 10.0; };
      const Array x = np::arange(rows * terms, ct::f32).reshape({rows, terms});
      const auto [want0, want1, want2] = ct::jit(f)(a(), b(), x);
      const auto donating = ct::jit(f, {.donate = {0, 1}});
      const auto [got0, got1, got2] = donating(a(), b(), x);
      EXPECT_TRUE(np::array_equal(got0, want0) && np::array_equal(got1, want1) && np::array_equal(got2, want2))
          << rows << " x " << terms;
      EXPECT_EQ(ct::explain(donating, a(), b(), x).donated_bytes, 2 * rows * 4) << rows << " x " << terms;
    }
  // The other way round: what is added up is read in all rows.
  const auto column = [](Array x) { return np::sum(x * x.reshape({x.size(), 1}), 1) + x; };
  const Array x = np::arange(50, ct::f32);
  EXPECT_TRUE(np::array_equal(ct::jit(column, {.donate = {0}})(np::arange(50, ct::f32)), ct::jit(column)(x)));
}
TEST(Donation, ChangesNoResult) {
  const auto want = bytes_of(ct::jit(training_step)(training_state()));
  EXPECT_TRUE(bytes_of(ct::jit(training_step, {.donate = {0}})(training_state())) == want);
}
TEST(Donation, AnArgumentThatIsReturned) {
  const auto f = ct::jit([](Array x) { return std::pair{x, x + 1}; }, {.donate = {0}});
  const auto [same, more] = f(np::ones({10}));
  EXPECT_EQ(same.to_vector<float>(), std::vector<float>(10, 1.f));
  EXPECT_EQ(more.to_vector<float>(), std::vector<float>(10, 2.f));
}
TEST(Donation, OneBufferForOneResult) {
  const auto f = ct::jit([](Array x) { return std::pair{x + 1, x + 2}; }, {.donate = {0}});
  const auto [a, b] = f(np::ones({10}));
  EXPECT_NE(address_of(a), address_of(b));
  EXPECT_EQ(a.to_vector<float>()[0], 2.f);
  EXPECT_EQ(b.to_vector<float>()[0], 3.f);
}

// Arguments and results -------------------------------------------------------------------------------

TEST(Calls, ResultsThatAreArgumentsAreNotCopied) {
  const Array x = np::ones({10});
  const auto [same, more] = ct::jit([](Array y) { return std::pair{y, y + 1}; })(x);
  EXPECT_EQ(address_of(same), address_of(x));
}
TEST(Calls, ManyArgumentsAndResults) {
  Arrays x;
  for (int k = 0; k < 100; ++k) x.push_back(np::full({k % 7}, k));
  const Arrays y = ct::jit([](Arrays in) {
    for (Array& a : in) a = a + 1;
    return in;
  })(x);
  ASSERT_EQ(y.size(), x.size());
  for (int k = 0; k < 100; ++k) EXPECT_EQ(np::sum(y[static_cast<std::size_t>(k)]).item<int>(), k % 7 * (k + 1));
}
TEST(Calls, LongRowsOnTheStack) {
  // Values that later passes read again are kept a row at a time; many long rows must not overflow a stack.
  const auto f = [](Array x) {
    Array out = np::zeros_like(x);
    for (int k = 1; k <= 24; ++k) {
      const Array e = np::exp(np::sin(x * k));
      out = out + e / np::sum(e, -1, true);
    }
    return out;
  };
  const Array x = noise({3, 60000}, ct::f64) / 100;
  const Array got = ct::jit(f)(x), want = f(x);
  EXPECT_LT(np::max(np::abs(got - want)).item<double>(), 1e-12);
  std::thread([&] { EXPECT_LT(np::max(np::abs(ct::jit(f)(x) - want)).item<double>(), 1e-12); }).join();
}
TEST(Calls, NothingToDo) {
  EXPECT_EQ(ct::jit([](Array x) { return x; })(np::ones({0})).size(), 0);
  EXPECT_EQ(ct::jit([](Array x) { return np::sum(x, 0); })(np::ones({0, 3})).to_vector<float>(),
            std::vector<float>(3, 0.f));
  EXPECT_EQ(ct::jit([](Array) { return np::ones({2}); })(np::ones({5})).to_vector<float>(), std::vector<float>(2, 1.f));
  EXPECT_EQ(ct::jit([](Arrays) { return Arrays{}; })(Arrays{}).size(), 0u);
}
