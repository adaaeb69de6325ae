// Shaders in a language that is not WGSL: who writes them has words of no language, only a dialect has.
#include <gtest/gtest.h>

#include <cotan/cotan.hpp>
#include <cstdlib>
#include <fstream>
#include <regex>

#include "backend/gpu/dialect.hpp"
#include "backend/gpu/plan.hpp"
#include "backend/gpu/target.hpp"
#include "core/trace.hpp"
#include "lowering/pipeline.hpp"

namespace {

namespace ct = cotan;
namespace np = cotan::numpy;
namespace lax = cotan::lax;
using ct::Array;
using ct::Arrays;
using std::string;

/// Words that no language has, in the manner of C++.
class Plain final : public ct::gpu::Dialect {
 public:
  Plain() : Dialect("Plain", "plain") {}
  string let(const string& name, const string& value) const override {
    return "const auto " + name + " = " + value + ";";
  }
  string variable(const string& name, const string& value) const override { return "auto " + name + " = " + value; }
  string variable_of(const string& type, const string& name, const string& value) const override {
    return type + " " + name + " = " + (value.empty() ? type + "()" : value);
  }
  string array(const string& type, const string& name, std::int64_t count) const override {
    return fmt::format("{} {}[{}] = {{}};", type, name, count);
  }
  string constant(const string& name, const string& value) const override {
    return fmt::format("constexpr i32 {} = {};", name, value);
  }
  string bitcast(const string& type, const string& x) const override { return fmt::format("bits<{}>({})", type, x); }
  string signed_number(std::int64_t value) const override { return fmt::format("i32({})", value); }
  string vector(const string& type) const override { return fmt::format("Four<{}>", type); }
  string make_vector(const string& type, const string& elements) const override {
    return fmt::format("Four<{}>({})", type, elements);
  }
  string element_of_vectors(const string& array, const string& index) const override {
    return fmt::format("element({}, {})", array, index);
  }
  string count_ones(const string& x) const override { return fmt::format("ones({})", x); }
  string leading_zeros(const string& x) const override { return fmt::format("zeros({})", x); }
  string highest_one(const string& x) const override { return fmt::format("highest({})", x); }
  string given(std::size_t number) const override { return fmt::format("given[{}]", number); }
  string given_at(const string& number) const override { return fmt::format("given[{}]", number); }
  string shared(const string& type, const string& name, std::int64_t count) const override {
    return count ? fmt::format("shared {} {}[{}];\n", type, name, count) : fmt::format("shared {} {};\n", type, name);
  }
  string barrier() const override { return "meet();"; }
  string memory_barrier() const override { return "flush();"; }
  string uniform_load(const string& name) const override { return fmt::format("agreed({})", name); }
  string atomic(const string& type) const override { return type; }
  string atomic_load(const string& place) const override { return place; }
  string atomic_add(const string& place, const string& x) const override {
    return fmt::format("add({}, {})", place, x);
  }
  string atomic_exchange(const string& place, const string& x) const override {
    return fmt::format("exchange({}, {})", place, x);
  }
  string shuffle(const string& x, const string& lane) const override { return fmt::format("ask({}, {})", x, lane); }
  string shuffle_xor(const string& x, std::uint32_t bits) const override {
    return fmt::format("ask_xor({}, {})", x, bits);
  }
  string shuffle_up(const string& x, std::uint32_t distance) const override {
    return fmt::format("ask_up({}, {})", x, distance);
  }
  string ballot(const string& condition) const override { return fmt::format("vote({})", condition); }
  string library(std::span<const std::string_view>) const override { return ""; }
  string entry(std::uint32_t threads) const override { return fmt::format("void run() {{ // {}\n", threads); }
  string preamble(const ct::gpu::ShaderFrame& frame) const override {
    return fmt::format("// {} blocks\n", frame.blocks);
  }
};

ct::gpu::Capabilities& capabilities() {
  static const Plain plain;
  static ct::gpu::Capabilities device = [] {
    ct::gpu::Capabilities out;
    out.dialect = &plain;
    out.name = "plain";
    out.workgroup_bytes = 48 << 10;
    return out;
  }();
  return device;
}
bool is_expanded(const ct::Primitive& p, std::span<const ct::AbstractValue> types, const ct::Params& params) {
  return ct::gpu::is_expanded(p, types, params, capabilities());
}

/// All shaders of a function, as the device would compile them.
string shaders_of(const ct::FlatFn& f, const ct::Types& types) {
  const auto program = ct::trace_to_jaxpr(f, types).jaxpr;
  auto lowered = ct::lowering::lower(ct::lowering::without_calls(ct::lowering::simplify(program)),
                                     ct::gpu::target_of(capabilities(), is_expanded, nullptr));
  const ct::gpu::Plan plan = ct::gpu::make_plan(std::move(lowered.program), capabilities(), {});
  string out;
  for (const auto& s : plan.shaders)
    out += ct::gpu::with_blocks(s, std::vector<int>(s.slots.size(), 0), *capabilities().dialect);
  return out;
}

/// A step that has a product, sums and a choice in it.
std::pair<Array, Array> filter_step(const Array& c, const Array& y) {
  const Array next = np::where(y > 0, np::tanh(c) + y, np::matmul(np::outer(c, c), y));
  return {next / (1.0 + np::sum(next * next)), np::max(c)};
}

struct Case {
  const char* name;
  ct::FlatFn f;
  ct::Types types;
};
std::vector<Case> cases() {
  const auto f32 = [](ct::Shape shape) { return ct::AbstractValue{ct::f32, std::move(shape), false}; };
  const auto one = [](auto f) { return [f](std::span<const Array> x) -> Arrays { return {f(x)}; }; };
  using Span = std::span<const Array>;
  return {
      {"elementwise",
       one([](Span x) { return np::where(np::isnan(x[0]), 0.0, np::sin(x[0]) * x[1]); }),
       {f32({1024, 512}), f32({512})}},
      {"halves", one([](Span x) { return (x[0].astype(ct::bf16) * 2.0).astype(ct::i8); }), {f32({100})}},
      {"transpose", one([](Span x) { return x[0].T() + 1.0; }), {f32({512, 300})}},
      {"softmax", one([](Span x) { return np::exp(x[0]) / np::sum(np::exp(x[0]), -1, true); }), {f32({300, 1000})}},
      {"argmax", one([](Span x) { return np::argmax(x[0], 0); }), {f32({3000, 10})}},
      {"matmul", one([](Span x) { return np::matmul(x[0], x[1]); }), {f32({256, 128}), f32({128, 200})}},
      {"matrix times vector", one([](Span x) { return np::matmul(x[0], x[1]); }), {f32({2048, 512}), f32({512})}},
      {"cumsum", one([](Span x) { return np::cumsum(x[0]); }), {f32({100000})}},
      {"sort", one([](Span x) { return np::sort(x[0]); }), {f32({100000})}},
      {"few to sort", one([](Span x) { return np::argsort(x[0]); }), {f32({1000})}},
      {"attention",
       one([](Span x) { return ct::nn::dot_product_attention(x[0], x[0], x[0], {.is_causal = true}); }),
       {f32({2, 60, 4, 32})}},
      {"scan", one([](Span x) { return lax::scan(filter_step, x[0], x[1]).first; }), {f32({4}), f32({50, 4})}},
      {"scan of a group",
       one([](Span x) { return lax::scan(filter_step, x[0], x[1]).first; }),
       {f32({40}), f32({50, 40})}},
      {"lanes",
       one([](Span x) {
         return ct::vmap([](Array c, Array y) { return lax::scan(filter_step, c, y).first; })(x[0], x[1]);
       }),
       {f32({64, 3}), f32({64, 20, 3})}},
      {"while",
       one([](Span x) {
         return lax::while_loop([](Array c) { return np::sum(c) < 100; }, [](Array c) { return c * 2 + 1; }, x[0]);
       }),
       {f32({7})}},
      {"branches",
       one([](Span x) {
         return lax::cond(np::sum(x[0]) > 0, [](Array a) { return np::cumsum(a); }, [](Array a) { return -a; }, x[0]);
       }),
       {f32({7})}},
  };
}

TEST(GpuDialect, NobodyElseHasWordsOfALanguage) {
  // Of WGSL, which most of it was written for.
  const std::regex words(
      R"(\b(let|var|fn)\b|vec[234]<|workgroup|storageBarrier|@|bitcast<|atomic|subgroup|array<|countOne|countLead|firstLead)");
  for (const std::uint32_t subgroup : {0u, 32u})
    for (const bool software : {false, true}) {
      capabilities().subgroups = subgroup > 0;
      capabilities().subgroup_size = subgroup;
      capabilities().software = software;
      capabilities().fused_fma = !software;
      for (const Case& c : cases()) {
        const string text = shaders_of(c.f, c.types);
        EXPECT_FALSE(text.empty()) << c.name;
        std::smatch found;
        EXPECT_FALSE(std::regex_search(text, found, words)) << c.name << " says " << found.str() << " in\n" << text;
        if (const char* folder = std::getenv("COTAN_TEST_SHADERS"))
          std::ofstream(fmt::format("{}/{} {} {}.txt", folder, c.name, subgroup, software)) << text;
      }
    }
}

}  // namespace
