// Weights in safetensors files: as the PyPI package writes them, as we do, and damaged.
#include <complex>

#include "io/files.hpp"
#include "support/expect_error.hpp"

namespace np = cotan::numpy;
using namespace cotan;
using test::content_of;
using test::Folder;
using test::golden_file;

namespace {

const std::map<std::string, DType> dtypes_by_name{
    {"bool", bool_},  {"int8", i8},     {"uint8", u8},      {"int16", i16},    {"uint16", u16},
    {"float16", f16}, {"int32", i32},   {"uint32", u32},    {"int64", i64},    {"uint64", u64},
    {"float32", f32}, {"float64", f64}, {"complex64", c64}, {"bfloat16", bf16}};

void expect_same(const Array& got, const Array& want) {
  EXPECT_EQ(got.dtype(), want.dtype());
  EXPECT_EQ(got.shape(), want.shape());
  EXPECT_EQ(got.to_vector<std::complex<double>>(), want.to_vector<std::complex<double>>());
}
Array counting(DType dtype, const Shape& shape) {
  std::int64_t n = 1;
  for (const std::int64_t extent : shape) n *= extent;
  return np::arange(n, i32).astype(dtype).reshape(shape);
}

/// A file with this header and `bytes` zeros behind it.
std::string file_of(const std::string& header, std::size_t bytes) {
  std::string out;
  for (unsigned i = 0; i < 8; ++i) out += static_cast<char>(header.size() >> (8 * i) & 0xff);
  return out + header + std::string(bytes, '\0');
}
std::string entry(const std::string& shape, const std::string& offsets, const std::string& dtype = "F32") {
  return R"({"dtype":")" + dtype + R"(","shape":)" + shape + R"(,"data_offsets":)" + offsets + "}";
}

}  // namespace

TEST(Safetensors, ReadsWhatThePackageWrites) {
  const Safetensors file(golden_file("all_dtypes.safetensors"));
  EXPECT_EQ(file.metadata(), (std::map<std::string, std::string>{{"format", "np"}}));
  EXPECT_EQ(file.tensors().size(), dtypes_by_name.size() + 3);
  for (const auto& [name, dtype] : dtypes_by_name) expect_same(file[name + ".weight"], counting(dtype, {2, 3}));
  EXPECT_EQ(file["scalar"].item<float>(), 7);
  EXPECT_EQ(file["scalar"].shape(), Shape{});
  EXPECT_EQ(file.at("empty").shape(), (Shape{0, 3}));
  EXPECT_EQ(file["größe/名"].item<int>(), 0);
  const TensorInfo& info = file.tensors().at("bfloat16.weight");
  EXPECT_EQ(info.dtype, "BF16");
  EXPECT_EQ(info.shape, (Shape{2, 3}));
  EXPECT_EQ(info.bytes, 12u);
  EXPECT_EQ(info.file, "all_dtypes.safetensors");
  EXPECT_EQ(file.bytes("uint8.weight").size(), 6u);
  EXPECT_TRUE(file.contains("empty"));
  EXPECT_FALSE(file.contains("full"));
}
TEST(Safetensors, WritesTheSameBytesAsThePackage) {
  const Folder folder;
  const std::string theirs = golden_file("all_dtypes.safetensors");
  save_safetensors(folder.path("w.safetensors"), load_safetensors(theirs), {{"format", "np"}});
  EXPECT_EQ(content_of(folder.path("w.safetensors")), content_of(theirs));
  EXPECT_EQ(folder.files(), 1);
}
TEST(Safetensors, OnlyTheTensorOfAnUnknownDtypeRaises) {
  const Safetensors file(golden_file("eight_bits.safetensors"));
  EXPECT_EQ(file["w"].to_vector<float>(), (std::vector<float>{1, 2}));
  EXPECT_EQ(file.bytes("scale").size(), 4u);
  EXPECT_ERROR(TypeError, file["scale"], "[load_safetensors]", "eight_bits.safetensors', tensor 'scale'",
               "no dtype F8_E4M3", "read its bytes()");
}
TEST(Safetensors, RoundTrips) {
  const Folder folder;
  save_safetensors(folder.path("none.safetensors"), {});
  EXPECT_TRUE(load_safetensors(folder.path("none.safetensors")).empty());
  const Array w = counting(f32, {3, 4});
  const auto path = folder.path("w.safetensors");
  save_safetensors(path, {{"w", w}, {"q\"\\\n\x01", counting(i64, {0, 5})}}, {{"step", "12"}, {"é", "\t"}});
  // What is open keeps what it had.
  const Safetensors before(path);
  save_safetensors(path, {{"w", w + 1}});
  expect_same(before["w"], w);
  EXPECT_EQ(before["q\"\\\n\x01"].shape(), (Shape{0, 5}));
  EXPECT_EQ(before.metadata().at("é"), "\t");
  expect_same(Safetensors(path)["w"], w + 1);
}
TEST(Safetensors, BytesOfBoolsAreZeroAndOne) {
  const Folder folder;
  std::string content = file_of(R"({"b":)" + entry("[3]", "[0,3]", "BOOL") + "}", 3);
  content.back() = '\x7f';
  EXPECT_EQ(Safetensors(folder.write("b.safetensors", content))["b"].to_vector<int>(), (std::vector<int>{0, 0, 1}));
}
TEST(Safetensors, Shards) {
  const Folder folder;
  std::map<std::string, Array> all;
  for (int i = 0; i < 7; ++i) all["layer." + std::to_string(i)] = counting(f32, {i + 1, 5}) + i;  // 20 to 140 bytes
  save_safetensors_sharded(folder.path("model"), all, 130, {{"format", "pt"}});
  const Safetensors shards(folder.path("model"));
  for (const auto& [name, array] : all) expect_same(shards[name], array);
  EXPECT_EQ(shards.tensors().size(), all.size());
  EXPECT_EQ(shards.tensors().at("layer.0").file, "model-00001-of-00005.safetensors");
  EXPECT_EQ(shards.metadata().at("format"), "pt");
  const auto index = folder.path("model") / "model.safetensors.index.json";
  EXPECT_NE(content_of(index).find("\"total_size\": 560"), std::string::npos);
  expect_same(load_safetensors(index)["layer.6"], all["layer.6"]);
  // Fewer shards over it: the index is of the new ones.
  save_safetensors_sharded(folder.path("model"), all);
  expect_same(load_safetensors(folder.path("model")).at("layer.3"), all["layer.3"]);
  EXPECT_EQ(Safetensors(folder.path("model")).tensors().at("layer.0").file, "model-00001-of-00001.safetensors");
  // A folder with one file.
  save_safetensors(folder.path("model.safetensors"), all);
  EXPECT_EQ(load_safetensors(folder.path("")).size(), all.size());
}
TEST(Safetensors, ShardsOfAnotherCheckpointRaise) {
  const Folder folder;
  save_safetensors(folder.path("a.safetensors"), {{"x", 1.0F}});
  const auto index = [&](const std::string& map) {
    return folder.write("m.safetensors.index.json", R"({"metadata": {"total_size": 4}, "weight_map": )" + map + "}");
  };
  EXPECT_EQ(load_safetensors(index(R"({"x": "a.safetensors"})")).at("x").item<float>(), 1);
  EXPECT_ERROR(IoError, Safetensors(index(R"({"y": "a.safetensors"})")),
               "tensor 'y': is not in the shard 'a.safetensors'");
  EXPECT_ERROR(IoError, Safetensors(index(R"({"x": "b.safetensors"})")), "b.safetensors': no such file");
  for (const char* away : {"../a.safetensors", "/etc/passwd", "..", "", "a\\u0000b"})
    EXPECT_ERROR(IoError, Safetensors(index(R"({"x": ")" + std::string(away) + "\"}")),
                 "tensor 'x': its shard is no name");
  EXPECT_ERROR(IoError, Safetensors(index(R"({"x": 3})")), "tensor 'x': its shard is no name");
  EXPECT_ERROR(IoError, Safetensors(index(R"({"x": "a.safetensors", "x": "a.safetensors"})")), "has 'x' twice");
  EXPECT_ERROR(IoError, Safetensors(index("[]")), "'weight_map' is missing");
  EXPECT_ERROR(IoError, Safetensors(index("{")), "is no JSON");
}

TEST(SafetensorsErrors, NamesThatAreMissing) {
  const Safetensors file(golden_file("eight_bits.safetensors"));
  EXPECT_ERROR(IoError, file["v"], "[load_safetensors] '", "has no array 'v'; did you mean 'w'? it has 'scale', 'w'",
               " At " __FILE__);
  const Folder folder;
  save_safetensors(folder.path("w.safetensors"), {{"bias", 1.0F}});
  const NamedArrays all = load_safetensors(folder.path("w.safetensors"));
  EXPECT_ERROR(IoError, all["bia"], "[load_safetensors] '", "did you mean 'bias'?");
}
TEST(SafetensorsErrors, Files) {
  const Folder folder;
  EXPECT_ERROR(IoError, Safetensors(folder.path("x")), "[load_safetensors] '", "x': no such file; check the path.");
  EXPECT_ERROR(IoError, Safetensors(folder.path("")), "the folder has no model.safetensors and no");
  EXPECT_ERROR(IoError, Safetensors(folder.write("short", "abc")), "short': truncated", "this one 3");
  EXPECT_ERROR(IoError, Safetensors(folder.write("none", "")), "truncated", "this one 0");
}
TEST(SafetensorsErrors, HostileHeaders) {
  const Folder folder;
  const auto open = [&](const std::string& header, std::size_t bytes) {
    return Safetensors(folder.write("h.safetensors", file_of(header, bytes)));
  };
  const auto two = [&](const std::string& a, const std::string& b) {
    return open(R"({"a":)" + entry("[2]", a) + R"(,"b":)" + entry("[2]", b) + "}", 16);
  };
  EXPECT_EQ(two("[8,16]", "[0,8]").tensors().size(), 2u);
  EXPECT_ERROR(IoError, two("[0,8]", "[4,12]"),
               "h.safetensors', tensor 'b': it begins at byte 4, where the one before it ends at 8");
  EXPECT_ERROR(IoError, two("[0,8]", "[0,8]"), "tensor 'b': it begins at byte 0");
  EXPECT_ERROR(IoError, two("[0,8]", "[9,17]"), "tensor 'b': its bytes are 9 to 17, outside of the 16");
  EXPECT_ERROR(IoError, two("[0,8]", "[16,8]"), "tensor 'b': its bytes are 16 to 8");
  EXPECT_ERROR(IoError, two("[0,8]", "[8,12]"), "tensor 'b': F32(2,) takes 64 bits, it has 4 bytes");
  EXPECT_ERROR(IoError, two("[0,8]", "[8]"), "tensor 'b': 'data_offsets' has 1 numbers");
  EXPECT_ERROR(IoError, two("[0,8]", "[8,-16]"), "tensor 'b': data_offsets holds -16");
  EXPECT_ERROR(IoError, two("[0,8]", "[8,16.0]"), "tensor 'b': data_offsets holds 16.0");
  EXPECT_ERROR(IoError, two("[0,8]", "[8,18446744073709551624]"), "tensor 'b': data_offsets holds 1.8");
  EXPECT_ERROR(IoError, open(R"({"a":)" + entry("[2]", "[0,8]") + "}", 9), "1 bytes at the end belong to no tensor");
  EXPECT_ERROR(IoError, open(R"({"a":)" + entry("[2]", "[1,9]") + "}", 9), "tensor 'a': it begins at byte 1");
  EXPECT_ERROR(IoError, open(R"({"a":)" + entry("[4294967296,4294967296]", "[0,0]") + "}", 0), "tensor 'a': no memory");
  EXPECT_ERROR(IoError, open(R"({"a":)" + entry("[9223372036854775808]", "[0,0]") + "}", 0), "tensor 'a': shape holds");
  EXPECT_ERROR(IoError, open(R"({"a":)" + entry("[3]", "[0,1]", "F4") + "}", 1), "tensor 'a': F4(3,) takes 12 bits");
  EXPECT_ERROR(IoError, open(R"({"a":)" + entry("[1]", "[0,4]", "F33") + "}", 4),
               "tensor 'a': the dtype 'F33' is unknown");
  EXPECT_ERROR(IoError, open(R"({"a":)" + entry("[1]", "[0,4]") + R"(,"a":)" + entry("[1]", "[4,8]") + "}", 8),
               "has 'a' twice");
  EXPECT_ERROR(IoError, open(R"({"a":[]})", 0), "tensor 'a': the header has no object");
  EXPECT_ERROR(IoError, open(R"({"a":{"dtype":"F32","shape":[]}})", 4),
               "tensor 'a': the list 'data_offsets' is missing");
  EXPECT_ERROR(IoError, open(R"({"a":{"shape":[],"data_offsets":[0,4]}})", 4), "tensor 'a': 'dtype' is missing");
  EXPECT_ERROR(IoError, open(R"({"a":{"dtype":"F32","shape":[],"data_offsets":[0,4],"more":1}})", 4),
               "the key 'more' is unknown");
  EXPECT_ERROR(IoError, open(R"({"__metadata__":{"a":1}})", 0), "__metadata__ 'a' is no text");
  EXPECT_ERROR(IoError, open(R"({"__metadata__":[]})", 0), "__metadata__ is no object");
  EXPECT_ERROR(IoError, open("[]", 0), "the header is no object");
  EXPECT_ERROR(IoError, open("{", 0), "is no JSON");
  EXPECT_ERROR(IoError, open("{\"\xff\":1}", 0), "is no JSON");
  EXPECT_ERROR(IoError, open(std::string(100000, '['), 0), "more than 4 deep");
  std::string far = file_of("{}", 0);
  far[7] = '\x7f';
  EXPECT_ERROR(IoError, Safetensors(folder.write("far", far)),
               "the header takes 9151314442816847874 bytes, 2 are there");
}
TEST(SafetensorsErrors, Writing) {
  const Folder folder;
  const auto path = folder.path("w.safetensors");
  EXPECT_ERROR(TypeError, save_safetensors(path, {{"z", np::zeros({2}, c128)}}),
               "[save_safetensors] the array 'z' is c128[2]", "save real and imaginary parts");
  EXPECT_ERROR(IoError, save_safetensors(path, {{"e", Array()}}), "the array 'e' is empty");
  EXPECT_ERROR(ValueError, save_safetensors(path, {{"__metadata__", 1.0F}}), "'__metadata__' is no name");
  EXPECT_ERROR(ValueError, save_safetensors(path, {{"\xff", 1.0F}}), "is no UTF-8");
  EXPECT_ERROR(ValueError, save_safetensors_sharded(folder.path("m"), {}, 0),
               "[save_safetensors_sharded] most_bytes is 0");
  EXPECT_ERROR(IoError, save_safetensors(folder.path("no/where"), {}), "cannot be written");
  EXPECT_EQ(folder.files(), 0);
}
