// .npy and .npz: round trips, files as NumPy writes them, and damaged files, which must raise and never
// crash.
#include <gtest/gtest.h>
#include <unistd.h>

#include <complex>
#include <cotan/io.hpp>
#include <cotan/numpy.hpp>
#include <cotan/transforms.hpp>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace cotan {
namespace {

namespace fs = std::filesystem;
namespace np = cotan::numpy;
using namespace std::string_literals;

constexpr DType all_dtypes[] = {DType::bool_, DType::i8,  DType::i16, DType::i32, DType::i64,
                                DType::u8,    DType::u16, DType::u32, DType::u64, DType::f16,
                                DType::bf16,  DType::f32, DType::f64, DType::c64, DType::c128};
const Shape some_shapes[] = {{}, {1}, {7}, {0}, {2, 3}, {0, 3}, {3, 0, 2}, {2, 1, 3, 1, 2}};

class IoTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ = fs::temp_directory_path() / ("cotan_io_"s + test->name() + "_" + std::to_string(::getpid()));
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  fs::path path(const std::string& name) const { return folder_ / name; }
  fs::path write(const std::string& name, std::string_view content) const {
    std::ofstream(path(name), std::ios::binary) << content;
    return path(name);
  }
  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }
  fs::path folder_;
};

std::string content_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Every element of these arrays is different where the dtype allows it.
Array sample(DType dtype, const Shape& shape) {
  std::int64_t size = 1;
  for (const auto s : shape) size *= s;
  return np::arange(size, DType::i32).reshape(shape).astype(dtype);
}

void expect_same(const Array& got, const Array& want) {
  EXPECT_EQ(got.dtype(), want.dtype());
  EXPECT_EQ(got.shape(), want.shape());
  EXPECT_EQ(got.to_vector<std::complex<double>>(), want.to_vector<std::complex<double>>());
}

/// A .npy file with this header and these elements.
std::string npy(std::string header, const std::string& elements, char version = 1) {
  header += '\n';
  std::string out = "\x93NUMPY"s + version + '\0';
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i) out += static_cast<char>(header.size() >> (8 * i) & 0xff);
  return out + header + elements;
}
std::string describe_header(const std::string& descr, const std::string& shape, bool fortran = false) {
  return "{'descr': '" + descr + "', 'fortran_order': " + (fortran ? "True" : "False") + ", 'shape': " + shape + ", }";
}

/// Runs f; it may succeed or raise IoError with a message that names the file, nothing else.
template <class F>
bool succeeds_or_raises(F&& f, const std::string& file) {
  try {
    f();
    return true;
  } catch (const IoError& e) {
    EXPECT_NE(std::string(e.what()).find(file), std::string::npos) << e.what();
    return false;
  }
}
template <class F>
void expect_io_error(F&& f, const std::string& part) {
  try {
    f();
    ADD_FAILURE() << "no error about: " << part;
  } catch (const IoError& e) {
    EXPECT_NE(std::string(e.what()).find(part), std::string::npos) << e.what();
  }
}

TEST_F(IoTest, NpyRoundTrips) {
  for (const DType dtype : all_dtypes)
    for (const Shape& shape : some_shapes) {
      const Array a = sample(dtype, shape);
      save_npy(path("a.npy"), a);
      expect_same(load_npy(path("a.npy")), a);
      EXPECT_EQ((content_of(path("a.npy")).size() - a.nbytes()) % 64, 0u);
    }
  EXPECT_EQ(files(), 1u) << "temporary files are left";
}

TEST_F(IoTest, NpyKeepsEveryBit) {
  const Array a = np::array({np::inf, -np::inf, np::nan, -0.0, 5e-324, 0.1}, f64);
  save_npy(path("a.npy"), a);
  const auto got = load_npy(path("a.npy")).to_vector<double>(), want = a.to_vector<double>();
  EXPECT_EQ(std::memcmp(got.data(), want.data(), got.size() * sizeof(double)), 0);
}

TEST_F(IoTest, SavingReplacesTheFile) {
  save_npy(path("a.npy"), np::arange(1000));
  save_npy(path("a.npy"), np::arange(3));
  expect_same(load_npy(path("a.npy")), np::arange(3));
}

TEST_F(IoTest, TrialsNamesThatAnNpzLacks) {
  save_npz(path("w.npz"), {{"layer1/weight", np::ones({2})}, {"layer1/bias", np::zeros({2})}, {"step", np::array(3)}});
  const NamedArrays loaded = load_npz(path("w.npz"));
  const std::string here = std::string(" At ") + __FILE__ + ":" + std::to_string(__LINE__ + 1);
  expect_io_error([&] { (void)loaded.at("layer1/weigth"); }, here);
  expect_io_error([&] { (void)loaded.at("layer1/weigth"); },
                  "w.npz' has no array 'layer1/weigth'; did you mean 'layer1/weight'? it has 'layer1/bias', "
                  "'layer1/weight', 'step'.");
  expect_io_error([&] { (void)load_npz(path("w.npz"))["Step"]; }, "did you mean 'step'?");
  expect_io_error([&] { (void)load_npz(path("w.npz")).at("x"); }, "has no array 'x'; it has 'layer1/bias'");
  // It is a map, and a pytree as such.
  NamedArrays all = loaded;
  all["step"] = Array(4.f);
  all.insert_or_assign("new", np::ones({2}));
  EXPECT_EQ(all.size(), 4u);
  EXPECT_EQ(loaded.at(std::string("step")).item<int>(), 3);
  const auto total = [](const std::map<std::string, Array>& m) { return np::sum(m.at("new") * m.at("layer1/weight")); };
  EXPECT_EQ(jit(total)(all).item<float>(), 2.f);
  all.erase("step");
  EXPECT_EQ(grad(total)(all).at("new").to_vector<float>()[0], 1.f);
  EXPECT_EQ(tree::paths(all)[0], "[\"layer1/bias\"]");
  const std::map<std::string, Array> plain = load_npz(path("w.npz"));
  EXPECT_EQ(plain.size(), 3u);
}

TEST_F(IoTest, NpzRoundTrips) {
  for (const bool compressed : {false, true}) {
    std::map<std::string, Array> arrays;
    for (const DType dtype : all_dtypes)
      for (std::size_t i = 0; i < std::size(some_shapes); ++i)
        arrays[std::string(name(dtype)) + "/" + std::to_string(i)] = sample(dtype, some_shapes[i]);
    arrays["\xce\xb1"] = np::zeros({100, 100});
    arrays[""] = np::ones({2});
    save_npz(path("a.npz"), arrays, compressed);
    const auto loaded = load_npz(path("a.npz"));
    EXPECT_EQ(loaded.size(), arrays.size());
    for (const auto& [name, a] : arrays) expect_same(loaded.at(name), a);
  }
  EXPECT_LT(fs::file_size(path("a.npz")), 40000u) << "zeros were not compressed";
  save_npz(path("empty.npz"), {});
  EXPECT_TRUE(load_npz(path("empty.npz")).empty());
  EXPECT_EQ(files(), 2u) << "temporary files are left";
}

TEST_F(IoTest, NpyReadsWhatNumPyWrites) {
  const std::string big = "\x00\x01\x00\x02\x00\x03\x00\x04\x00\x05\x00\x06"s;
  expect_same(load_npy(write("a.npy", npy(describe_header(">i2", "(2, 3)"), big))),
              np::array({{1, 2, 3}, {4, 5, 6}}, i16));
  const std::string bytes = "\x01\x02\x03\x04\x05\x06"s;
  for (const char version : {'\1', '\2', '\3'})
    expect_same(load_npy(write("a.npy", npy(describe_header("|u1", "(2, 3)", true), bytes, version))),
                np::array({{1, 3, 5}, {2, 4, 6}}, u8));
  expect_same(load_npy(write("a.npy", npy("{\"shape\":(3L,),'fortran_order':False,'descr':'|b1'}", "\x00\x01\x07"s))),
              np::array({0, 1, 1}, bool_));
  expect_same(load_npy(write("a.npy", npy(describe_header("<V2", "(1,)"), "\x80\x3f"s))), np::array({1}, bf16));
  expect_same(load_npy(write("a.npy", npy(describe_header("|V2", "()"), "\x80\x3f and more"s))), np::array(1, bf16));
}

TEST_F(IoTest, NpyErrors) {
  const auto load = [&](const std::string& content) {
    return [this, content] { load_npy(write("bad.npy", content)); };
  };
  expect_io_error([&] { load_npy(path("none.npy")); }, "none.npy': no such file");
  expect_io_error([&] { load_npy(folder_); }, "not a regular file");
  expect_io_error([&] { save_npy(path("no/such/folder.npy"), 1); }, "cannot be written");
  expect_io_error([&] { save_npy(folder_, 1); }, "is a directory");
  expect_io_error(load(""), "not a .npy file");
  expect_io_error(load(npy(describe_header("|O", "(1,)"), "x")), "Python objects");
  expect_io_error(load(npy(describe_header("<U3", "(1,)"), "x")), "strings");
  expect_io_error(load(npy(describe_header("<f16", "(1,)"), "x")), "no dtype");
  expect_io_error(load(npy("{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': (1,)}", "1234")), "structured");
  expect_io_error(load(npy(describe_header("<f4", "(2,)"), "1234")), "truncated");
  expect_io_error(load(npy(describe_header("<f4", "(1000000000000, 1000000000000)"), "1234")), "header is corrupt");
  expect_io_error(load(npy(describe_header("<f4", "(0, 1000000000000, 1000000000000)"), "")), "header is corrupt");
  expect_io_error(load(npy(describe_header("<f4", "(99999999999999999999,)"), "")), "too large");
  expect_io_error(load(npy(describe_header("<f4", "(-1,)"), "")), "a size is missing");
  expect_io_error(load(npy("{'descr': '<f4', 'shape': (1,)}", "1234")), "is missing");
  expect_io_error(load(npy(describe_header("<f4", "()"), "1234", 9)), "version 9");
  expect_io_error([&] { save_npz(path("a.npz"), {{"a", Array()}}); }, "default-constructed");
}

TEST_F(IoTest, DamagedNpyNeverCrashes) {
  save_npy(path("good.npy"), sample(f32, {2, 3}));
  const std::string good = content_of(path("good.npy"));
  for (std::size_t n = 0; n < good.size(); ++n)
    EXPECT_FALSE(succeeds_or_raises([&] { load_npy(write("bad.npy", good.substr(0, n))); }, "bad.npy"))
        << n << " bytes";
  for (std::size_t i = 0; i < good.size(); ++i)
    for (const int flip : {0x01, 0x10, 0x80, 0xff}) {
      std::string bad = good;
      bad[i] = static_cast<char>(bad[i] ^ flip);
      succeeds_or_raises([&] { load_npy(write("bad.npy", bad)); }, "bad.npy");
    }
}

TEST_F(IoTest, DamagedNpzNeverCrashes) {
  for (const bool compressed : {false, true}) {
    save_npz(path("good.npz"), {{"a", sample(f64, {5})}, {"b", sample(i32, {2, 2})}}, compressed);
    const std::string good = content_of(path("good.npz"));
    for (std::size_t n = 0; n < good.size(); ++n)
      EXPECT_FALSE(succeeds_or_raises([&] { load_npz(write("bad.npz", good.substr(0, n))); }, "bad.npz"))
          << n << " bytes";
    for (std::size_t i = 0; i < good.size(); ++i)
      for (const int flip : {0x01, 0xff}) {
        std::string bad = good;
        bad[i] = static_cast<char>(bad[i] ^ flip);
        succeeds_or_raises([&] { load_npz(write("bad.npz", bad)); }, "bad.npz");
      }
  }
}

TEST_F(IoTest, NpzChecksums) {
  save_npz(path("good.npz"), {{"a", sample(u8, {64})}});
  std::string bad = content_of(path("good.npz"));
  bad[bad.find("\x10\x11\x12\x13")] = 'x';
  expect_io_error([&] { load_npz(write("bad.npz", bad)); }, "member 'a.npy': corrupt: its checksum");
  expect_io_error([&] { load_npz(write("text.npz", std::string(1000, 'x'))); }, "not an .npz file");
}

}  // namespace
}  // namespace cotan
