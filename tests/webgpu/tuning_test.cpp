// Tiles found by trying: what is found is kept, what is damaged is ignored, and without either the rules decide.
#include "backend/gpu/tuning.hpp"

#include <gtest/gtest.h>

#include <cotan/cotan.hpp>
#include <filesystem>
#include <fstream>

#include "backend/gpu/routines/matmul_table.hpp"
#include "backend/webgpu/device.hpp"
#include "webgpu/support.hpp"

namespace {

namespace ct = cotan;
namespace np = cotan::numpy;
namespace fs = std::filesystem;
using ct::Array;
using namespace ct::gpu;

MatmulProblem problem(std::int64_t m, std::int64_t n, std::int64_t k) {
  MatmulProblem p;
  p.rows = m, p.columns = n, p.depth = k;
  p.left = {0, {}, {}, {{m}, {k}}, {{k}, {1}}};
  p.right = {1, {}, {}, {{n}, {1}}, {{k}, {n}}};
  p.result = 2;
  return p;
}

class WebGpuTuning : public webgpu_tests::OnWebGpu {
 protected:
  void SetUp() override {
    if (const char* before = std::getenv("COTAN_CACHE_DIR")) before_ = before;
    folder_ = fs::temp_directory_path() / ("cotan_tuning_" + std::to_string(getpid()));
    fs::remove_all(folder_);
    setenv("COTAN_CACHE_DIR", folder_.c_str(), 1);
    OnWebGpu::SetUp();
    forget_tiles();
  }
  void TearDown() override {
    ct::autotune(false);
    set_tile_timer({});
    OnWebGpu::TearDown();
    before_ ? setenv("COTAN_CACHE_DIR", before_->c_str(), 1) : unsetenv("COTAN_CACHE_DIR");
    forget_tiles();
    fs::remove_all(folder_);
  }
  static const Capabilities& here() { return ct::webgpu::device()->capabilities(); }
  static MatmulTile by_rules(const MatmulProblem& p) { return candidate_tiles(p, here()).front(); }
  fs::path folder_;
  std::optional<std::string> before_;
};

TEST_F(WebGpuTuning, ClassesAreFactorsOfTwo) {
  EXPECT_EQ(class_of(problem(1024, 1024, 1024)), class_of(problem(2047, 1500, 1024)));
  EXPECT_NE(class_of(problem(1024, 1024, 1024)), class_of(problem(1023, 1024, 1024)));
  MatmulProblem half = problem(1024, 1024, 1024);
  half.dtype = ct::f16;
  EXPECT_NE(class_of(half), class_of(problem(1024, 1024, 1024)));
  MatmulProblem transposed = problem(1024, 1024, 1024);
  transposed.left = {0, {}, {}, {{1024}, {1}}, {{1024}, {1024}}};
  EXPECT_NE(class_of(transposed), class_of(problem(1024, 1024, 1024)));
}

TEST_F(WebGpuTuning, TheFastestIsKeptAndFoundByTheNextProcess) {
  const MatmulProblem p = problem(200, 200, 200);
  const auto tiles = candidate_tiles(p, here());
  ASSERT_GT(tiles.size(), 2u);
  const MatmulTile wanted = tiles[std::min<std::size_t>(tiles.size(), 16) - 1];
  EXPECT_EQ(choose_tile(p, here()), by_rules(p)) << "nothing is saved yet";
  int tried = 0;
  set_tile_timer([&](const MatmulProblem&, const MatmulTile& t) {
    ++tried;
    if (t == tiles[1]) throw ct::OutOfMemoryError("no room");
    return t == wanted ? 0.001 : 0.002;
  });
  tune_if_wanted(p, here(), {});
  EXPECT_EQ(tried, 0) << "only where it was asked for";
  ct::autotune(true);
  tune_if_wanted(p, here(), {});
  const int once = tried;
  EXPECT_GT(once, 1);
  EXPECT_EQ(choose_tile(p, here()), wanted);
  EXPECT_EQ(choose_tile(problem(150, 190, 129), here()), wanted) << "of the same class";
  forget_tiles();  // as a new process
  tune_if_wanted(p, here(), {});
  EXPECT_EQ(tried, once) << "it is in the file";
  EXPECT_EQ(choose_tile(p, here()), wanted);
}

TEST_F(WebGpuTuning, DamagedFilesAreAsGoodAsNone) {
  const MatmulProblem p = problem(200, 200, 200);
  const MatmulTile good = candidate_tiles(p, here()).back();
  const fs::path file = tile_file(here());
  fs::create_directories(file.parent_path());
  const std::string line = class_of(p) + " = ";
  for (const std::string& text :
       {std::string("\x01\x02\x03"), std::string(), "cotan matmul tiles 0\n" + line + to_string(good),
        "cotan matmul tiles 1\n" + line + "128x\n", "cotan matmul tiles 1\n" + line + "1x1x1,1x1\n",
        "cotan matmul tiles 1\n" + line.substr(0, 7)}) {
    std::ofstream(file) << text;
    forget_tiles();
    EXPECT_EQ(choose_tile(p, here()), by_rules(p)) << text;
  }
  std::ofstream(file) << "cotan matmul tiles 1\nnonsense\n" << line << to_string(good) << "\n";
  forget_tiles();
  EXPECT_EQ(choose_tile(p, here()), good) << "good lines among bad ones count";
}

TEST_F(WebGpuTuning, WhatTwoProcessesFindIsKeptTogether) {
  TileTable one(folder_ / "t.txt"), other(folder_ / "t.txt");
  one.add("a", MatmulTile{.rows = 64});
  other.add("b", MatmulTile{.rows = 32});
  const TileTable next(folder_ / "t.txt");
  EXPECT_EQ(next.find("a")->rows, 64);
  EXPECT_EQ(next.find("b")->rows, 32);
}

/// On the device, by its own times: whatever is found, the product is right, and the file names it.
TEST_F(WebGpuTuning, TunesAProgramOnTheDevice) {
  const Array x = np::sin(np::arange(96 * 80, ct::f32)).reshape({96, 80});
  const Array y = np::cos(np::arange(80 * 72, ct::f32)).reshape({80, 72});
  const std::vector<float> expected =
      np::matmul(ct::device_put(x, "native"), ct::device_put(y, "native")).to_vector<float>();
  ct::autotune(true);
  testing::internal::CaptureStderr();
  const std::vector<float> got = ct::jit([](Array a, Array b) { return np::matmul(a, b); })(x, y).to_vector<float>();
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("tuning a product of f32 96 x 72 x 80"), std::string::npos) << said;
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t k = 0; k < got.size(); ++k) ASSERT_NEAR(got[k], expected[k], 1e-4) << k;
  std::ifstream file(tile_file(here()));
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  EXPECT_NE(text.find("f32 nn m7 n7 k7 b1 = "), std::string::npos) << text;
  std::cout << said << text;
}

TEST_F(WebGpuTuning, WithoutAFolderItIsKeptInMemory) {
  setenv("COTAN_CACHE_DIR", "off", 1);
  forget_tiles();
  const MatmulProblem p = problem(300, 300, 300);
  const MatmulTile wanted = candidate_tiles(p, here()).back();
  tile_table(here()).add(class_of(p), wanted);
  EXPECT_EQ(choose_tile(p, here()), wanted);
  forget_tiles();
  EXPECT_EQ(choose_tile(p, here()), by_rules(p));
}

}  // namespace
