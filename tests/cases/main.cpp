// test_cases: the case table as tests; with --features, --webgpu-dtypes or --environment the generated pages of docs/
// on stdout.
#include <cstring>
#include <iostream>

#include "cases/features.hpp"
#include "cases/webgpu_dtypes.hpp"
#include "core/environment.hpp"
#include "support/run_tests.hpp"

int main(int argc, char** argv) {
  if (argc == 2 && std::strcmp(argv[1], "--features") == 0) {
    cases::print_features(std::cout);
    return 0;
  }
  if (argc == 2 && std::strcmp(argv[1], "--webgpu-dtypes") == 0) {
    cases::print_webgpu_dtypes(std::cout);
    return 0;
  }
  if (argc == 2 && std::strcmp(argv[1], "--environment") == 0) {
    std::cout << cotan::environment::page();
    return 0;
  }
  return run_tests(argc, argv);
}
