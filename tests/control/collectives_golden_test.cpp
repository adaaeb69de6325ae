// Collectives and their derivatives beside JAX's (tools/golden/collectives.py), jitted and not.
#include <gtest/gtest.h>

#include <cotan/cotan.hpp>

#include "control/support.hpp"

namespace ct = cotan;
namespace np = cotan::numpy;
namespace lax = cotan::lax;

namespace {

using ct::Array;
using Function = std::function<Array(Array)>;

Array mean_field(Array x) {
  const auto [last, sums] =
      lax::scan([](Array c, Array a) { return std::pair{np::tanh(c + lax::pmean(c * a, "i")), lax::psum(c, "i") * a}; },
                x, np::array({0.5, -1.0, 2.0}).astype(x.dtype()));
  return last + np::sum(sums, 0);
}

const std::map<std::string, Function>& functions() {
  static const auto scaled_back =
      ct::custom_vjp([](Array x) { return lax::pmean(x, "i") * x; },
                     [](Array x) { return std::pair{lax::pmean(x, "i") * x, std::tuple{x, lax::pmean(x, "i")}}; },
                     [](std::tuple<Array, Array> r, Array g) {
                       return 3.0 * g * std::get<1>(r) + lax::psum(g * std::get<0>(r), "i");
                     });
  static const std::map<std::string, Function> all{
      {"psum", [](Array x) { return lax::psum(x, "i"); }},
      {"pmean", [](Array x) { return x - lax::pmean(x, "i"); }},
      {"pmax", [](Array x) { return lax::pmax(x, "i"); }},
      {"pmin", [](Array x) { return lax::pmin(x, "i"); }},
      {"softmax", [](Array x) { return np::exp(x) / lax::psum(np::exp(x), "i"); }},
      {"all_gather", [](Array x) { return lax::all_gather(x, "i", {.axis = 1}); }},
      {"all_gather_tiled", [](Array x) { return lax::all_gather(x, "i", {.axis = 1, .tiled = true}); }},
      {"psum_scatter", [](Array x) { return lax::psum_scatter(x, "i", {.scatter_dimension = 1}); }},
      {"psum_scatter_tiled",
       [](Array x) { return lax::psum_scatter(x, "i", {.scatter_dimension = 1, .tiled = true}); }},
      {"all_to_all", [](Array x) { return lax::all_to_all(x, "i", 1, 0); }},
      {"all_to_all_same", [](Array x) { return lax::all_to_all(x, "i", 1, 1); }},
      {"all_to_all_tiled", [](Array x) { return lax::all_to_all(x, "i", 1, 0, {.tiled = true}); }},
      {"ppermute", [](Array x) { return x * lax::ppermute(x, "i", {{0, 2}, {1, 0}, {2, 3}, {3, 1}}); }},
      {"pshuffle", [](Array x) { return x * lax::pshuffle(x, "i", {3, 1, 0, 2}); }},
      {"pswapaxes", [](Array x) { return lax::pswapaxes(x, "i", 1); }},
      {"pbroadcast", [](Array x) { return x * lax::pbroadcast(x, "i", 2); }},
      {"axis_index", [](Array x) { return x * (lax::axis_index("i") + lax::axis_size("i")); }},
      {"scan", mean_field},
      {"cond",
       [](Array x) {
         return lax::cond(
             lax::psum(x(0, 0), "i") > 0, [](Array v) { return v * lax::psum(v, "i"); }, [](Array v) { return -v; }, x);
       }},
      {"jit_inside", ct::jit([](Array x) { return x * lax::psum(np::sin(x), "i"); })},
      {"nested",
       [](Array x) {
         return ct::vmap([](Array r) { return r * lax::psum(r, {"i", "j"}) + lax::axis_index({"i", "j"}); },
                         {.axis_name = "j"})(x);
       }},
      {"custom_vjp", scaled_back},
      {"checkpoint", ct::checkpoint([](Array x) { return np::sin(x * lax::psum(np::sin(x), "i")); })},
  };
  return all;
}

struct Numbers {
  ct::Shape shape;
  std::vector<double> values;
};
/// Numbers and not arrays, so that no test leaves a buffer behind.
const std::map<std::string, Numbers>& golden() {
  static const auto all = [] {
    std::map<std::string, Numbers> out;
    for (const auto& [name, a] : ct::load_npz(COTAN_SOURCE_DIR "/tests/golden/collectives.npz"))
      out[name] = {a.shape(), a.to_vector<double>()};
    return out;
  }();
  return all;
}

void expect_close(const Array& got, const Numbers& want, const std::string& what, double tol) {
  ASSERT_EQ(got.shape(), want.shape) << what;
  const auto g = got.to_vector<double>();
  for (std::size_t i = 0; i < g.size(); ++i)
    ASSERT_NEAR(g[i], want.values[i], tol * (1 + std::abs(want.values[i]))) << what << ", element " << i;
}

using Case = std::tuple<std::string, std::string>;  // device, function
class CollectivesGolden : public testing::TestWithParam<Case> {
 protected:
  void check(bool jitted) {
    const auto& [device, name] = GetParam();
    const control::OnDevice scope(device);
    const bool narrow = device == "webgpu";
    const double tol = narrow ? 2e-5 : 1e-12;
    const ct::DType dtype = narrow ? ct::f32 : ct::f64;
    const Function f = functions().at(name);
    const Numbers& input = golden().at("xs");
    const Array xs = Array::from_host<double>(input.values, input.shape).astype(dtype);
    const auto loss = [&](Array x) {
      const Array y = f(x);
      return np::sum(np::sin(y) * np::reshape(np::cos(np::arange(y.size()).astype(dtype)), y.shape()));
    };
    const auto compare = [&](const char* what, const auto& function) {
      const auto at = golden().find(name + "/" + what);
      if (at == golden().end()) return;
      const Array got = jitted ? ct::jit(function)(xs) : function(xs);
      expect_close(narrow ? ct::device_put(got, "native").astype(ct::f64) : got, at->second, what, tol);
    };
    const auto batched = ct::vmap(f, {.axis_name = "i"}), losses = ct::vmap(Function(loss), {.axis_name = "i"});
    compare("out", [&](Array x) { return batched(x); });
    compare("value", [&](Array x) { return losses(x); });
    compare("each", [&](Array x) { return ct::vmap(ct::grad(loss), {.axis_name = "i"})(x); });
    compare("all", [&](Array x) { return ct::grad([&](Array v) { return np::sum(losses(v)); })(x); });
    compare("tangent", [&](Array x) { return ct::jvp(batched, std::tuple{x}, std::tuple{np::cos(x)}).second; });
  }
};

std::string name_of(const testing::TestParamInfo<Case>& info) {
  return std::get<0>(info.param) + "__" + std::get<1>(info.param);
}
std::vector<std::string> names() {
  std::vector<std::string> out;
  for (const auto& [name, f] : functions()) out.push_back(name);
  return out;
}

TEST_P(CollectivesGolden, Jit) { check(true); }
TEST_P(CollectivesGolden, Eager) {
  if (std::get<0>(GetParam()) != "webgpu") check(false);
}

INSTANTIATE_TEST_SUITE_P(Devices, CollectivesGolden,
                         testing::Combine(testing::Values("reference", "native"), testing::ValuesIn(names())), name_of);
INSTANTIATE_TEST_SUITE_P(Gpu, CollectivesGolden,
                         testing::Combine(testing::Values("webgpu"), testing::Values("psum", "ppermute", "scan")),
                         name_of);

TEST(CollectivesGoldenTable, HasEveryCase) {
  for (const auto& [name, f] : functions()) EXPECT_TRUE(golden().contains(name + "/out")) << name;
}

}  // namespace
