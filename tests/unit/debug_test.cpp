// Looking inside: memory counters, NaN checks; and one function called from many threads.
#include <gtest/gtest.h>

#include <atomic>
#include <cotan/cotan.hpp>
#include <thread>

namespace np = cotan::numpy;
using namespace cotan;

TEST(MemoryStats, CountsBuffersAndBytes) {
  const MemoryStats before = memory_stats();
  {
    const Array a = np::ones({1000});
    EXPECT_EQ(memory_stats().live_buffers, before.live_buffers + 1);
    EXPECT_EQ(memory_stats().live_bytes, before.live_bytes + 4000);
    EXPECT_GT(memory_stats().allocations, before.allocations);
  }
  EXPECT_EQ(memory_stats().live_buffers, before.live_buffers);
  EXPECT_EQ(memory_stats().live_bytes, before.live_bytes);
}
TEST(MemoryStats, Peak) {
  reset_peak_bytes();
  const auto start = memory_stats().peak_bytes;
  {
    const Array a = np::ones({1 << 18});
  }
  EXPECT_GE(memory_stats().peak_bytes, start + (1 << 20));
  reset_peak_bytes();
  EXPECT_EQ(memory_stats().peak_bytes, memory_stats().live_bytes);
}
TEST(MemoryStats, JitFreesWhatIsNoLongerRead) {
  const Array x = np::ones({1 << 18});  // 1 MiB
  const auto f = jit([](Array y) {
    for (int i = 0; i < 50; ++i) y = y * 1.01;
    return y;
  });
  f(x);
  reset_peak_bytes();
  const auto live = memory_stats().live_bytes;
  f(x);
  EXPECT_LE(memory_stats().peak_bytes - live, 3 << 20);
}
TEST(MemoryStats, CheckpointKeepsLess) {
  const Array x = np::ones({1 << 13});
  const auto deep = [](Array y) {
    for (int i = 0; i < 40; ++i) y = y * y;
    return y;
  };
  const auto peak = [&](auto f) {
    reset_peak_bytes();
    const auto live = memory_stats().live_bytes;
    grad([&](Array y) { return np::sum(f(f(f(y)))); })(x);
    return memory_stats().peak_bytes - live;
  };
  EXPECT_LT(peak(checkpoint(deep)) * 2, peak(deep));
}

TEST(DebugNans, SwitchesOnAndOff) {
  debug_nans(true);
  EXPECT_TRUE(debug_nans());
  EXPECT_THROW(np::log(Array(-1.f)), NanError);
  EXPECT_THROW(grad([](Array x) { return np::sqrt(x) * 0.0; })(Array(0.f)), NanError);
  EXPECT_NO_THROW(np::log(Array(1.f)));
  EXPECT_NO_THROW(np::log(Array(0.f)));  // -inf is not NaN
  debug_nans(false);
  EXPECT_NO_THROW(np::log(Array(-1.f)));
}

namespace {

/// Runs f(thread) on four threads at once; the first exception fails the test.
template <class F>
void on_four_threads(F f) {
  std::atomic<int> ready{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      ++ready;
      while (ready < 4) std::this_thread::yield();
      try {
        f(t);
      } catch (const std::exception& error) {
        ADD_FAILURE() << "thread " << t << ": " << error.what();
      }
    });
  for (auto& thread : threads) thread.join();
}

}  // namespace

TEST(Threads, OneJittedFunction) {
  const auto f = jit(value_and_grad([](Array x) { return np::sum(np::tanh(x) * x); }));
  const Array x = np::linspace(0, 1, 16);
  const auto want = f(x).second.to_vector<float>();
  on_four_threads([&](int t) {
    for (int i = 0; i < 20; ++i) {
      EXPECT_EQ(f(x).second.to_vector<float>(), want);
      f(np::ones({t + 1 + i % 3}));  // misses, some of them at once
    }
  });
}
TEST(Threads, TracingDifferentFunctions) {
  on_four_threads([](int t) {
    for (int i = 1; i < 10; ++i) {
      const auto f = [=](Array x) {
        for (int k = 0; k < i; ++k) x = x * (t + 1.0);
        return np::sum(x);
      };
      const float want = static_cast<float>(std::pow(t + 1.0, i));
      EXPECT_EQ(jit(grad(f))(np::ones({2})).to_vector<float>()[0], want);
      EXPECT_EQ(grad(jit(f))(np::ones({2})).to_vector<float>()[0], want);
      EXPECT_EQ(vmap(grad(f))(np::ones({3, 2})).shape(), (Shape{3, 2}));
    }
  });
}
TEST(Threads, ErrorsStayOnTheirThread) {
  on_four_threads([](int t) {
    for (int i = 0; i < 10; ++i) {
      if (t % 2)
        EXPECT_THROW(jit([](Array x) { return x.reshape({7}); })(np::ones({3})), ShapeError);
      else
        EXPECT_EQ(np::sum(jit([](Array x) { return x * 2; })(np::ones({3}))).item<float>(), 6.f);
    }
  });
}
TEST(Threads, LogAndCounters) {
  std::atomic<int> lines{0};
  log_compiles([&](const std::string&) { ++lines; });
  on_four_threads([](int) {
    for (int i = 0; i < 5; ++i) {
      jit([](Array x) { return x + 1; })(np::ones({2}));
      memory_stats();
      reset_peak_bytes();
    }
  });
  log_compiles({});
  EXPECT_EQ(lines, 20);
}
