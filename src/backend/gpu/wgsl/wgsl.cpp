#include "backend/gpu/wgsl/wgsl.hpp"

#include <fmt/format.h>

#include "backend/gpu/library/math_library.hpp"

namespace cotan::gpu {

namespace {

using std::string;

class Wgsl final : public Dialect {
 public:
  Wgsl() : Dialect("WGSL", "webgpu") {}

  string let(const string& name, const string& value) const override { return "let " + name + " = " + value + ";"; }
  string variable(const string& name, const string& value) const override { return "var " + name + " = " + value; }
  string variable_of(const string& type, const string& name, const string& value) const override {
    return value.empty() ? fmt::format("var {}: {}", name, type) : fmt::format("var {}: {} = {}", name, type, value);
  }
  string array(const string& type, const string& name, std::int64_t count) const override {
    return fmt::format("var {}: array<{}, {}>;", name, type, count);
  }
  string constant(const string& name, const string& value) const override {
    return fmt::format("const {} = {};", name, value);
  }

  string bitcast(const string& type, const string& x) const override { return fmt::format("bitcast<{}>({})", type, x); }
  string signed_number(std::int64_t value) const override { return fmt::format("{}i", value); }
  string vector(const string& type) const override { return fmt::format("vec4<{}>", type); }
  string make_vector(const string& type, const string& elements) const override {
    return fmt::format("vec4<{}>({})", type, elements);
  }
  string element_of_vectors(const string& array, const string& index) const override {
    return fmt::format("{}[({}) >> 2u][({}) & 3]", array, index, index);
  }
  string count_ones(const string& x) const override { return fmt::format("countOneBits({})", x); }
  string leading_zeros(const string& x) const override { return fmt::format("countLeadingZeros({})", x); }
  string highest_one(const string& x) const override { return fmt::format("firstLeadingBit({})", x); }
  string given(std::size_t number) const override {
    return fmt::format("given[{}].{}", number / 4, "xyzw"[number % 4]);
  }
  string given_at(const string& number) const override {
    return fmt::format("given[({}) >> 2u][({}) & 3u]", number, number);
  }

  string shared(const string& type, const string& name, std::int64_t count) const override {
    return count ? fmt::format("var<workgroup> {}: array<{}, {}>;\n", name, type, count)
                 : fmt::format("var<workgroup> {}: {};\n", name, type);
  }
  string barrier() const override { return "workgroupBarrier();"; }
  string memory_barrier() const override { return "storageBarrier();"; }
  string uniform_load(const string& name) const override { return fmt::format("workgroupUniformLoad(&{})", name); }
  string atomic(const string& type) const override { return fmt::format("atomic<{}>", type); }
  string atomic_load(const string& place) const override { return fmt::format("atomicLoad(&{})", place); }
  string atomic_add(const string& place, const string& x) const override {
    return fmt::format("atomicAdd(&{}, {})", place, x);
  }
  string atomic_exchange(const string& place, const string& x) const override {
    return fmt::format("atomicExchange(&{}, {})", place, x);
  }

  string shuffle(const string& x, const string& lane) const override {
    return fmt::format("subgroupShuffle({}, {})", x, lane);
  }
  string shuffle_xor(const string& x, std::uint32_t bits) const override {
    return fmt::format("subgroupShuffleXor({}, {}u)", x, bits);
  }
  string shuffle_up(const string& x, std::uint32_t distance) const override {
    return fmt::format("subgroupShuffleUp({}, {}u)", x, distance);
  }
  string ballot(const string& condition) const override { return fmt::format("subgroupBallot({}).x", condition); }

  /// The library's notation is a part of WGSL.
  string library(std::span<const std::string_view> names) const override { return math_library(names); }
  string entry(std::uint32_t threads) const override {
    return fmt::format(
        "@compute @workgroup_size({})\n"
        "fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,\n"
        "        @builtin(local_invocation_index) thread: u32) {{\n",
        threads);
  }
  string preamble(const ShaderFrame& frame) const override {
    string out = frame.subgroups ? "enable subgroups;\n" : "";
    for (int b = 0; b < frame.blocks; ++b)
      out += fmt::format("@group(0) @binding({}) var<storage, read_write> m{}: array<{}>;\n", b + 1, b,
                         frame.vectors ? "vec4<u32>" : "u32");
    return out +
           fmt::format("@group(0) @binding(0) var<uniform> given: array<vec4<u32>, {}>;\n", (frame.words + 3) / 4);
  }
};

}  // namespace

const Dialect& wgsl() {
  static const Wgsl dialect;
  return dialect;
}

}  // namespace cotan::gpu
