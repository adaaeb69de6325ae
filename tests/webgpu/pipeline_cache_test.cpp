// Pipelines on disk: a second start finds what the first one compiled, and no file or folder can do harm.
#include "backend/webgpu/pipeline_cache.hpp"

#include <gtest/gtest.h>

#include <cotan/cotan.hpp>
#include <filesystem>
#include <fstream>

#include "backend/webgpu/device.hpp"
#include "core/disk_store.hpp"
#include "webgpu/support.hpp"

namespace {

namespace ct = cotan;
namespace np = cotan::numpy;
namespace lax = cotan::lax;
namespace fs = std::filesystem;
using ct::Array;
using ct::webgpu::pipeline_cache_counts;

/// A folder of its own, which a new device uses.
class WebGpuPipelineCache : public webgpu_tests::OnWebGpu {
 protected:
  void SetUp() override {
    if (const char* before = std::getenv("COTAN_CACHE_DIR")) before_ = before;
    folder_ = fs::temp_directory_path() / ("cotan_pipelines_" + std::to_string(getpid()));
    fs::remove_all(folder_);
    OnWebGpu::SetUp();
    start_in(folder_);
  }
  void TearDown() override {
    OnWebGpu::TearDown();
    before_ ? setenv("COTAN_CACHE_DIR", before_->c_str(), 1) : unsetenv("COTAN_CACHE_DIR");
    ct::webgpu::device()->lose();
    fs::remove_all(folder_);
  }
  /// A new device, as another process would have it.
  static void start_in(const fs::path& folder) {
    setenv("COTAN_CACHE_DIR", folder.c_str(), 1);
    ct::webgpu::device()->lose();
    ct::webgpu::device();
  }
  std::vector<fs::path> files() const {
    std::vector<fs::path> out;
    if (fs::exists(folder_ / "pipelines"))
      for (const auto& entry : fs::directory_iterator(folder_ / "pipelines")) out.push_back(entry.path());
    return out;
  }
  static std::vector<float> compute() {
    return ct::jit([](Array x) { return np::tanh(x) * 0.375 + np::sum(x); })(np::arange(100, ct::f32))
        .to_vector<float>();
  }
  /// A gradient step with all kinds of shaders: products in tiles, normalised rows, attention, loops, sums over tokens.
  static std::vector<float> train() {
    struct Layer {
      Array scale, mix, out;
    };
    const auto table = [](ct::Shape s) { return np::sin(np::arange(s[0] * s[1], ct::f32)).reshape(s) * 0.2; };
    const auto block = [](Array x, Layer l) {
      const Array centred = x - np::mean(x, -1, true);
      const Array h = np::matmul(centred / np::sqrt(np::mean(np::square(centred), -1, true) + 1e-5) * l.scale, l.mix);
      const Array heads = h.reshape({2, 32, 4, 16});
      const Array seen = ct::nn::dot_product_attention(heads, heads, heads, {.is_causal = true}).reshape(x.shape());
      return std::pair{x + np::matmul(np::tanh(seen), l.out), ct::none};
    };
    const auto loss = [&](Array words, Layer l, Array tokens) {
      const Array logits = np::matmul(lax::scan(block, words[tokens], l).first, words.T());
      return np::mean(np::logsumexp(logits, -1));
    };
    const Layer layers{np::ones({2, 64}), table({2 * 64, 64}).reshape({2, 64, 64}),
                       table({2 * 64, 64}).reshape({2, 64, 64})};
    const Array tokens = (np::arange(64) * 7 % 50).reshape({2, 32});
    return ct::jit(ct::grad(loss))(table({50, 64}), layers, tokens).to_vector<float>();
  }
  fs::path folder_;
  std::optional<std::string> before_;
};

TEST_F(WebGpuPipelineCache, ANewDeviceFindsWhatAnotherCompiled) {
  const auto expected = compute();
  const auto first = pipeline_cache_counts();
  EXPECT_GT(files().size(), 0u);
  start_in(folder_);
  EXPECT_EQ(compute(), expected);
  const auto second = pipeline_cache_counts();
  EXPECT_GT(second.found, first.found);
  EXPECT_EQ(second.stored, first.stored) << "nothing is compiled again";
}

/// Neither labels, nor places in memory, nor the order of threads are in the keys: nothing is missed.
TEST_F(WebGpuPipelineCache, AnotherProcessFindsWhatThisCompiled) {
  const auto start = pipeline_cache_counts();
  const std::uint64_t pipelines = ct::webgpu::device()->counts().pipelines;
  (void)compute();
  (void)train();
  const auto here = pipeline_cache_counts();
  const std::uint64_t made = ct::webgpu::device()->counts().pipelines - pipelines;
  ASSERT_GT(made, 8u);
  EXPECT_EQ(here.found, start.found);
  const auto before = files().size();
  const fs::path counts = folder_ / "counts";
  const std::string command = "env -u GTEST_TOTAL_SHARDS -u GTEST_SHARD_INDEX COTAN_TEST_COUNTS=" + counts.string() +
                              " " + fs::read_symlink("/proc/self/exe").string() + " --gtest_also_run_disabled_tests" +
                              " --gtest_filter=WebGpuPipelineCacheStart.DISABLED_Child >/dev/null";
  ASSERT_EQ(std::system(command.c_str()), 0);
  std::uint64_t pipelines_there = 0, found = 0, missed = 1, stored = 1;
  std::ifstream(counts) >> pipelines_there >> found >> missed >> stored;
  EXPECT_EQ(pipelines_there, made);
  EXPECT_GE(found, made);
  EXPECT_EQ(missed, 0u);
  EXPECT_EQ(stored, 0u);
  EXPECT_EQ(files().size(), before);
}
class WebGpuPipelineCacheStart : public WebGpuPipelineCache {
  void SetUp() override { OnWebGpu::SetUp(); }
  void TearDown() override { OnWebGpu::TearDown(); }
};
/// Run by the test above, in a process of its own.
TEST_F(WebGpuPipelineCacheStart, DISABLED_Child) {
  (void)compute();
  (void)train();
  const auto counts = pipeline_cache_counts();
  std::ofstream(std::getenv("COTAN_TEST_COUNTS")) << ct::webgpu::device()->counts().pipelines << ' ' << counts.found
                                                  << ' ' << counts.missed << ' ' << counts.stored;
}

TEST_F(WebGpuPipelineCache, DamagedFilesAreReplaced) {
  const auto expected = compute();
  const auto all = files();
  ASSERT_GT(all.size(), 0u);
  std::vector<std::uintmax_t> sizes;
  for (std::size_t k = 0; k < all.size(); ++k) {
    sizes.push_back(fs::file_size(all[k]));
    if (k % 2 == 0) {
      fs::resize_file(all[k], sizes[k] / 2);
    } else {
      std::fstream file(all[k], std::ios::in | std::ios::out | std::ios::binary);
      file.seekp(45);
      file.write("?????", 5);
    }
  }
  start_in(folder_);
  EXPECT_EQ(compute(), expected);
  for (std::size_t k = 0; k < all.size(); k += 2) EXPECT_NE(fs::file_size(all[k]), sizes[k] / 2) << all[k];
  const auto before = pipeline_cache_counts();
  start_in(folder_);
  EXPECT_EQ(compute(), expected);
  EXPECT_EQ(pipeline_cache_counts().stored, before.stored) << "the new ones are good";
}

TEST_F(WebGpuPipelineCache, AFolderThatCannotBeWrittenIsOneWarning) {
  fs::create_directories(folder_);
  std::ofstream(folder_ / "file") << "no folder";
  testing::internal::CaptureStderr();
  for (int k = 0; k < 2; ++k) {
    start_in(folder_ / "file");
    EXPECT_EQ(compute().size(), 100u);
  }
  const std::string said = testing::internal::GetCapturedStderr();
  const auto first = said.find("cannot be kept in");
  EXPECT_NE(first, std::string::npos) << said;
  EXPECT_EQ(said.find("cannot be kept in", first + 1), std::string::npos) << said;
}

TEST_F(WebGpuPipelineCache, OffKeepsNothing) {
  start_in("off");
  const auto before = pipeline_cache_counts();
  (void)compute();
  const auto after = pipeline_cache_counts();
  EXPECT_EQ(after.found + after.missed + after.stored, before.found + before.missed + before.stored);
  EXPECT_FALSE(fs::exists("off"));
}

TEST_F(WebGpuPipelineCache, TheLeastRecentlyUsedGoFirst) {
  ct::DiskStore store(folder_, ".test", 4000);
  const auto key = [](int k) { return "key " + std::to_string(k); };
  const std::string value(900, 'v');
  for (int k = 0; k < 4; ++k) {
    EXPECT_TRUE(store.store(key(k), value));
    for (const auto& f : fs::directory_iterator(folder_))  // a day apart
      fs::last_write_time(f, fs::last_write_time(f) - std::chrono::hours(24));
  }
  EXPECT_TRUE(store.load(key(0)));  // used now
  EXPECT_TRUE(store.store(key(4), value));
  EXPECT_TRUE(store.load(key(0)));
  EXPECT_TRUE(store.load(key(4)));
  EXPECT_FALSE(store.load(key(1)));
  std::uintmax_t bytes = 0;
  for (const auto& f : fs::directory_iterator(folder_)) bytes += fs::file_size(f);
  EXPECT_LE(bytes, 4000u);
}

}  // namespace
