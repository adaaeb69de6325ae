// Micro-benchmarks: what one eager operation, one jitted call, one trace cost, and a few kernels.
#include <benchmark/benchmark.h>

#include <cotan/cotan.hpp>

namespace ct = cotan;
namespace np = cotan::numpy;

namespace {

void eager_add(benchmark::State& state) {
  const ct::Array x = np::ones({state.range(0)});
  for (auto _ : state) benchmark::DoNotOptimize(x + x);
}
BENCHMARK(eager_add)->Arg(8)->Arg(1 << 20);

void jit_call(benchmark::State& state) {
  const auto f = ct::jit([](ct::Array x) { return x + 1.0; });
  const ct::Array x = np::ones({state.range(0)});
  for (auto _ : state) benchmark::DoNotOptimize(f(x));
}
BENCHMARK(jit_call)->Arg(8);

void trace_gradient_of_mlp(benchmark::State& state) {
  const auto loss = [](const std::vector<ct::Array>& w, const ct::Array& x) {
    ct::Array h = x;
    for (const auto& layer : w) h = np::tanh(np::matmul(h, layer));
    return np::sum(h);
  };
  const std::vector<ct::Array> w(8, np::eye(16));
  const ct::Array x = np::ones({4, 16});
  for (auto _ : state) benchmark::DoNotOptimize(ct::make_jaxpr(ct::grad(loss))(w, x));
}
BENCHMARK(trace_gradient_of_mlp);

void matmul(benchmark::State& state) {
  const ct::Array a = np::ones({state.range(0), state.range(0)});
  for (auto _ : state) benchmark::DoNotOptimize(np::matmul(a, a));
  state.counters["GFLOP/s"] =
      benchmark::Counter(2e-9 * static_cast<double>(state.range(0) * state.range(0) * state.range(0)),
                         benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK(matmul)->Arg(64)->Arg(256);

void softmax(benchmark::State& state) {
  const auto f = ct::jit([](ct::Array x) {
    const ct::Array e = np::exp(x - np::max(x, -1, true));
    return e / np::sum(e, -1, true);
  });
  const ct::Array x = ct::random::normal(ct::random::key(0), {256, 256});
  for (auto _ : state) benchmark::DoNotOptimize(f(x));
}
BENCHMARK(softmax);

}  // namespace
