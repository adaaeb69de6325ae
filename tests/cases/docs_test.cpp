// Generated pages are as the case table has it.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "cases/features.hpp"
#include "cases/webgpu_dtypes.hpp"
#include "core/environment.hpp"

namespace {

void expect_page(const char* file, void (*print)(std::ostream&)) {
  std::ostringstream generated;
  print(generated);
  std::ifstream in(std::string(COTAN_SOURCE_DIR "/docs/") + file);
  const std::string committed{std::istreambuf_iterator<char>(in), {}};
  EXPECT_TRUE(generated.str() == committed) << "docs/" << file << " is out of date; run make docs.";
}

TEST(Docs, FeaturesAreUpToDate) { expect_page("features.md", cases::print_features); }
TEST(Docs, EnvironmentIsUpToDate) {
  expect_page("environment.md", [](std::ostream& out) { out << cotan::environment::page(); });
}
TEST(Docs, WebGpuDtypesAreUpToDate) { expect_page("webgpu_dtypes.md", cases::print_webgpu_dtypes); }

}  // namespace
