// cotan_bench: all rows of workloads.json under Google Benchmark, or with --worker=PEER one peer for the
// driver.
#include <benchmark/benchmark.h>

#include <fstream>
#include <iostream>
#include <string_view>

#include "measure.hpp"
#include "worker.hpp"

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  bool quick = false;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument.starts_with("--worker=")) return bench::serve(std::string(argument.substr(9)));
    if (argument != "--quick") {
      std::cerr << "unknown argument " << argument
                << "; use --quick, --worker=PEER or Google Benchmark's own (--help).\n";
      return 1;
    }
    quick = true;
  }
  std::ifstream table(COTAN_BENCH_WORKLOADS);
  if (!table) {
    std::cerr << "cannot read " COTAN_BENCH_WORKLOADS "\n";
    return 1;
  }
  bench::register_benchmarks(nlohmann::json::parse(table), quick);
  benchmark::RunSpecifiedBenchmarks();
}
