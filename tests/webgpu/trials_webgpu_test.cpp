// What trials of the product met on the device 'webgpu' (issue 15), by the numbers of its items.
#include <bit>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <functional>

#include "backend/webgpu/device.hpp"
#include "webgpu/support.hpp"

namespace {

namespace ct = cotan;
namespace np = cotan::numpy;
namespace lax = cotan::lax;
namespace la = cotan::linalg;
using ct::Array;

class WebGpuTrials : public webgpu_tests::OnWebGpu {
 protected:
  /// The device takes its limits when it starts: this test once more in a process of its own, with `setting`. Whether
  /// this is that process.
  static bool runs_with(const char* variable, const char* value) {
    if (const char* set = std::getenv(variable); set && std::string(set) == value) return true;
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    const std::string program = std::filesystem::read_symlink("/proc/self/exe").string();
    const std::string command = std::string(variable) + "=" + value + " GTEST_TOTAL_SHARDS=1 GTEST_SHARD_INDEX=0 '" +
                                program + "' --gtest_brief=1 --gtest_filter=" + test->test_suite_name() + "." +
                                test->name();
    EXPECT_EQ(std::system(command.c_str()), 0) << command;
    return false;
  }
  static Array on_native(const std::function<Array()>& f) {
    ct::default_device("native");
    const Array out = f();
    ct::default_device("webgpu");
    return out;
  }
  static void expect_close(const Array& a, const Array& b, double tolerance) {
    ASSERT_EQ(a.shape(), b.shape());
    const auto x = a.to_vector<float>(), y = b.to_vector<float>();
    for (std::size_t k = 0; k < x.size(); ++k) ASSERT_NEAR(x[k], y[k], tolerance * std::max(1.0f, std::abs(y[k]))) << k;
  }
};

Array ramp(std::initializer_list<std::int64_t> shape) {
  std::int64_t n = 1;
  for (auto d : shape) n *= d;
  std::vector<float> v(static_cast<std::size_t>(n));
  for (std::size_t k = 0; k < v.size(); ++k) v[k] = static_cast<float>((k * 37 + 11) % 101) / 101.0f - 0.5f;
  return Array::from_host(v, ct::Shape(shape));
}

/// Five temporaries of 0.75 MiB each that live at the same time, where 1 MiB can be bound.
TEST_F(WebGpuTrials, Item21TemporariesInSeveralArenas) {
  if (!runs_with("COTAN_WEBGPU_BINDING_BYTES", "1048576")) return;
  const auto f = [](Array a, Array b) {
    std::vector<Array> parts;
    for (int k = 0; k < 5; ++k) parts.push_back(np::matmul(a, b + static_cast<float>(k)));  // routines: in memory
    // Loops and small steps name arenas as wholes.
    Array sum = lax::scan([](Array c, Array row) { return std::pair{0.5f * c + row, np::sum(c * row)}; },
                          np::zeros({384}), parts[0])
                    .second;
    for (int k = 4; k > 0; k -= 3)
      sum =
          sum + np::sum(np::matmul(parts[static_cast<std::size_t>(k)], parts[static_cast<std::size_t>(k - 1)].T()), 1);
    return sum;
  };
  const Array a = ramp({512, 64}), b = ramp({64, 384});
  const ct::Explanation e = ct::explain(ct::jit(f), a, b);
  EXPECT_GT(e.temporary_bytes, 3 << 20);
  expect_close(ct::jit(f)(a, b), on_native([&] { return ct::jit(f)(a, b); }), 2e-3);
  EXPECT_LE(ct::webgpu::device()->capabilities().block_bytes(), 1u << 20);
}

TEST_F(WebGpuTrials, Item21ArraysThatCannotBeBoundSaySo) {
  if (!runs_with("COTAN_WEBGPU_BINDING_BYTES", "1048576")) return;
  const auto message = [](const std::function<void()>& f) -> std::string {
    try {
      f();
    } catch (const ct::OutOfMemoryError& e) {
      return e.what();
    }
    return "no error";
  };
  const Array a = ramp({600, 8});
  // A temporary of 1.44 MB that is no result and no argument.
  const auto f = ct::jit([](Array x) { return np::sum(np::matmul(np::tanh(np::matmul(x, x.T())), x), 0); });
  EXPECT_NE(message([&] { (void)f(a); }).find("f32[600,600]"), std::string::npos) << message([&] { (void)f(a); });
  EXPECT_NE(message([&] { (void)f(a); }).find("work in smaller pieces"), std::string::npos);
  EXPECT_NE(message([&] { ct::block_until_ready(np::sin(ramp({600, 600}))); }).find("work in smaller pieces"),
            std::string::npos);
  // The device goes on.
  expect_close(np::sum(a, 0), on_native([&] { return np::sum(a, 0); }), 1e-5);
}

TEST_F(WebGpuTrials, SamplersSayWhichDtypeIsMissing) {
  namespace r = ct::random;
  const auto message = [](const std::function<Array()>& f) -> std::string {
    try {
      (void)f().to_vector<float>();
    } catch (const ct::TypeError& e) {
      return e.what();
    }
    return "no error";
  };
  const Array key = r::key(0);
  for (const std::string& said :
       {message([&] { return r::normal(key, {3}, ct::f64); }), message([&] { return r::uniform(key, {}, ct::f64); }),
        message([&] { return ct::jit([](Array k) { return r::normal(k, {3}, ct::f64); })(key); })}) {
    EXPECT_NE(said.find("has no f64"), said.npos) << said;
    EXPECT_NE(said.find("f32"), said.npos) << said;
    EXPECT_NE(said.find("'native'"), said.npos) << said;
    EXPECT_EQ(said.find("u64"), said.npos) << said;
  }
  const std::string bits = message([&] { return r::bits(key, {3}, ct::u64); });
  EXPECT_NE(bits.find("[random.bits] the key is on the device 'webgpu', which has no u64; draw u32"), bits.npos)
      << bits;
  EXPECT_EQ(r::normal(key, {3}).shape(), (ct::Shape{3}));
}

TEST_F(WebGpuTrials, Item21NumbersOfCppNeedNo64Bits) {
  namespace r = ct::random;
  const auto key = [] { return r::key(7); };
  const auto same = [&](const char* what, const std::function<Array()>& f) {
    SCOPED_TRACE(what);
    const Array expected = on_native(f);
    EXPECT_EQ(f().to_vector<std::int64_t>(), expected.to_vector<std::int64_t>());
    EXPECT_EQ(ct::jit([&](Array zero) { return f() + zero.astype(expected.dtype()); })(np::zeros({}))
                  .to_vector<std::int64_t>(),
              expected.to_vector<std::int64_t>());
  };
  same("randint", [&] { return r::randint(key(), {40}, 0, 10); });
  same("randint of bytes", [&] { return r::randint(key(), {40}, 0, 255, ct::u8); });
  same("randint of large u32", [&] { return r::randint(key(), {40}, 5, 3000000000u, ct::u32); });
  same("randint with array bounds", [&] { return r::randint(key(), {3}, np::array({1, 20, 300}), 1000); });
  same("round to tens", [&] { return np::round(np::array({15, 25, -15, -25, 14, 99, 2147483647, -2147483647}), -1); });
  same("round to thousands", [&] { return np::round(np::array({1500, 2500, -500, -1500, 499, 501}), -3); });
  same("round of bytes", [&] { return np::round(np::array({127, -128, 95, 50, -50, 51}).astype(ct::i8), -2); });
  same("fori_loop", [&] { return lax::fori_loop(0, 5, [](Array i, Array c) { return c + i; }, np::array(3)); });
  const auto range = [] { return np::arange(0.0, 1.0, 0.1); };
  EXPECT_EQ(range().to_vector<float>(), on_native(range).to_vector<float>());
  EXPECT_EQ(ct::jit([&](Array z) { return range() + z; })(np::zeros({})).to_vector<float>(),
            on_native(range).to_vector<float>());
}

TEST_F(WebGpuTrials, Item21HessiansOfLinearAlgebra) {
  const std::vector<float> x{2.0f, 0.3f, 0.1f, 0.3f, 1.5f, 0.2f, 0.1f, 0.2f, 1.0f};
  const auto check = [&](const char* what, auto f) {
    SCOPED_TRACE(what);
    const auto hessian = [&] {
      return ct::jit(ct::hessian([&](Array a) { return f(a + a.T()); }))(Array::from_host(x, {3, 3}));
    };
    expect_close(hessian(), on_native(hessian), 2e-4);
  };
  check("cholesky", [](Array a) { return np::sum(la::cholesky(a)); });
  check("solve", [](Array a) { return np::sum(la::solve(a, np::ones({3}))); });
  check("eigh", [](Array a) { return np::sum(la::eigh(a).eigenvalues * np::array({1.0f, 2.0f, 4.0f})); });
  check("slogdet", [](Array a) { return la::slogdet(a).logabsdet; });
  check("svd", [](Array a) { return np::sum(la::svd(a).s * np::array({1.0f, 2.0f, 4.0f})); });
}

struct Filter {
  Array x, p;
};

/// Several loops of a filter, a smoother and their derivatives in one program ask for more of a group's memory than
/// there is, each with matrices of its own that it keeps close: with no more than every WebGPU has.
TEST_F(WebGpuTrials, Item21SmootherWithDerivativesInTheLeastGroupMemory) {
  if (!runs_with("COTAN_WEBGPU_MINIMUM_LIMITS", "1")) return;
  constexpr std::int64_t m = 12, n = 40;
  const auto objective = [&](Array f) {
    const Array y = ramp({n, 2});
    const Array h = ramp({2, m}), q = np::eye(m) * 0.1, r = np::eye(2), g = np::eye(m) * 0.9 + 0.05f * f;
    const auto forward = [&](Filter s, Array o) {
      const Array x = np::matmul(g, s.x), p = np::matmul(np::matmul(g, s.p), g.T()) + q;
      const Array v = o - np::matmul(h, x), c = np::matmul(np::matmul(h, p), h.T()) + r;
      const Array k = np::matmul(np::matmul(p, h.T()), la::inv(c));
      const Filter next{x + np::matmul(k, v), p - np::matmul(np::matmul(k, h), p)};
      return std::pair{next, std::tuple{next.x, next.p, v}};
    };
    const auto [last, kept] = lax::scan(forward, Filter{np::zeros({m}), np::eye(m)}, y);
    const auto backward = [&](Filter s, std::tuple<Array, Array> at) {
      const auto& [x, p] = at;
      const Array ahead = np::matmul(np::matmul(g, p), g.T()) + q,
                  gain = np::matmul(np::matmul(p, g.T()), la::inv(ahead));
      const Filter next{x + np::matmul(gain, s.x - np::matmul(g, x)),
                        p + np::matmul(np::matmul(gain, s.p - ahead), gain.T())};
      return std::pair{next, np::sum(next.x * next.x) + np::trace(next.p)};
    };
    const auto [first, sums] = lax::scan(backward, Filter{last.x, last.p},
                                         std::tuple{std::get<0>(kept), std::get<1>(kept)}, {.reverse = true});
    return np::sum(sums) + np::sum(std::get<2>(kept) * std::get<2>(kept)) + np::sum(first.x);
  };
  const auto both = [&] {
    const Array at = 0.1f * ramp({m, m});
    const auto [value, gradient] = ct::jit(ct::value_and_grad(objective))(at);
    return np::concatenate({np::reshape(value, {1}), np::reshape(gradient, {m * m})});
  };
  const Array expected = on_native(both);
  expect_close(both(), expected, 2e-3);
}

// The slow spots --------------------------------------------------------------------------------------

Array cross_entropy(const Array& logits, const Array& labels) {
  const Array shifted = logits - lax::stop_gradient(np::max(logits, -1, true));
  const Array log_softmax = shifted - np::log(np::sum(np::exp(shifted), -1, true));
  return -np::mean(np::take_along_axis(log_softmax, np::expand_dims(labels, -1), -1));
}
Array labels_of(std::int64_t n, std::int64_t classes) {
  std::vector<std::int32_t> v(static_cast<std::size_t>(n));
  for (std::size_t k = 0; k < v.size(); ++k)
    v[k] = static_cast<std::int32_t>((k * 7919 + 3) % static_cast<std::size_t>(classes));
  return Array::from_host(v, {n});
}

/// No more than with a comparison by hand, on both devices.
TEST_F(WebGpuTrials, SlowSpotCrossEntropyByTakeAlongAxis) {
  const auto by_hand = [](Array logits, Array labels) {
    const Array shifted = logits - lax::stop_gradient(np::max(logits, -1, true));
    const Array log_softmax = shifted - np::log(np::sum(np::exp(shifted), -1, true));
    const Array classes = np::arange(logits.shape()[1]);
    return -np::mean(np::sum(np::where(np::expand_dims(labels, -1) == classes, log_softmax, 0.0f), -1));
  };
  Array gradients[2];
  for (const char* device : {"native", "webgpu"}) {
    SCOPED_TRACE(device);
    ct::default_device(device);
    const Array logits = 8.0f * ramp({256, 1000}), labels = labels_of(256, 1000);
    const auto f = ct::jit(ct::value_and_grad(cross_entropy));
    const ct::Explanation own = ct::explain(f, logits, labels),
                          other = ct::explain(ct::jit(ct::value_and_grad(by_hand)), logits, labels);
    EXPECT_LE(own.kernels, other.kernels) << own.steps << other.steps;
    EXPECT_LE(own.dispatches, other.dispatches) << own.steps << other.steps;
    EXPECT_LE(own.temporary_bytes, other.temporary_bytes + 4 * 256);  // whether a label is outside, per row
    EXPECT_LT(own.temporary_bytes, 4 * 256 * 1000 / 2) << own.steps;  // nothing of the size of the logits
    EXPECT_EQ(own.routines, 0);
    const auto [value, gradient] = f(logits, labels);
    const auto [value_by_hand, gradient_by_hand] = ct::jit(ct::value_and_grad(by_hand))(logits, labels);
    EXPECT_NEAR(value.item<float>(), value_by_hand.item<float>(), 1e-5);
    expect_close(gradient, gradient_by_hand, 1e-6);
    gradients[std::string(device) == "webgpu"] = gradient;
  }
  expect_close(gradients[1], gradients[0], 1e-6);
}

/// Labels outside the classes, negative ones, several per row, other axes: against sums by hand.
TEST_F(WebGpuTrials, SlowSpotGradientsOfFewReads) {
  for (const char* device : {"native", "webgpu"}) {
    SCOPED_TRACE(device);
    ct::default_device(device);
    const Array x = ramp({3, 4, 5});
    const auto gradient = [&](const Array& indices, int axis) {
      const auto f = [&](Array a) {
        const Array taken = np::take_along_axis(a, indices, axis);
        return np::sum(np::where(np::isnan(taken), 0.0f, taken) *
                       ramp({taken.shape()[0], taken.shape()[1], taken.shape()[2]}));
      };
      return ct::grad(f)(x).to_vector<float>();
    };
    const std::vector<std::int32_t> positions{0, 4, -1, 7, 2, 2, 3, -9, 1, 1, 0, 3};
    const auto expected = [&](std::int64_t count) {  // along the last axis
      std::vector<float> out(60, 0.0f);
      const auto weights = ramp({3, 4, count}).to_vector<float>();
      for (std::int64_t row = 0; row < 12; ++row)
        for (std::int64_t k = 0; k < count; ++k) {
          std::int64_t at = positions[static_cast<std::size_t>(count == 1 ? row : (row + k) % 12)];
          if (at < 0) at += 5;
          if (at >= 0 && at < 5)
            out[static_cast<std::size_t>(row * 5 + at)] += weights[static_cast<std::size_t>(row * count + k)];
        }
      return out;
    };
    EXPECT_EQ(gradient(Array::from_host(positions, {3, 4, 1}), 2), expected(1));
    std::vector<std::int32_t> three;
    for (std::size_t row = 0; row < 12; ++row)
      for (std::size_t k = 0; k < 3; ++k) three.push_back(positions[(row + k) % 12]);
    const auto several = gradient(Array::from_host(three, {3, 4, 3}), 2), wanted = expected(3);
    for (std::size_t k = 0; k < several.size(); ++k) EXPECT_NEAR(several[k], wanted[k], 1e-6) << k;
  }
}

/// What an optimizer does to every parameter is a dispatch for each size of them.
struct Leaf {
  Array p, m, v;
};
std::vector<Leaf> adamw(const std::vector<Leaf>& leaves, const std::vector<Array>& gradients, const Array& step) {
  std::vector<Leaf> out;
  const Array c1 = 1.0f - np::power(0.9f, step), c2 = 1.0f - np::power(0.999f, step);
  for (std::size_t k = 0; k < leaves.size(); ++k) {
    const Array &g = gradients[k], m = 0.9f * leaves[k].m + 0.1f * g, v = 0.999f * leaves[k].v + 0.001f * g * g;
    out.push_back({leaves[k].p - 1e-3f * ((m / c1) / (np::sqrt(v / c2) + 1e-8f) + 0.01f * leaves[k].p), m, v});
  }
  return out;
}
TEST_F(WebGpuTrials, SlowSpotAdamWOverManyLeaves) {
  const std::vector<ct::Shape> shapes{{64, 96}, {96}, {96, 64}, {64}, {2048}};
  constexpr std::size_t layers = 12;
  const auto make = [&] {
    std::pair<std::vector<Leaf>, std::vector<Array>> out;
    for (std::size_t k = 0; k < layers * shapes.size(); ++k) {
      const ct::Shape& shape = shapes[k % shapes.size()];
      const Array x = np::reshape(shape.size() == 2 ? ramp({shape[0] * shape[1]}) : ramp({shape[0]}), shape) +
                      0.01f * static_cast<float>(k);
      out.first.push_back({x + 0.0f, 0.1f * x, x * x});
      out.second.push_back(0.5f - x);
    }
    return out;
  };
  const auto step = ct::jit(adamw, {.donate = {0}});
  const auto plain = ct::jit(adamw);
  auto [leaves, gradients] = make();
  const Array one = np::array(3.0f);
  const ct::Explanation e = ct::explain(plain, leaves, gradients, one);
  EXPECT_LE(e.dispatches, 6) << e.steps;
  const std::vector<Leaf> expected = plain(leaves, gradients, one);
  // Each leaf by itself gives the same, but for what a driver's compiler makes of another shader: NVIDIA's fuses
  // products and sums as it likes.
  const auto close = [](const Array& a, const Array& b) {
    return np::max(np::abs(a - b) - 2e-6f * np::abs(b)).item<float>() <= 1e-9f;
  };
  for (std::size_t k = 0; k < leaves.size(); ++k) {
    const std::vector<Leaf> alone = plain(std::vector<Leaf>{leaves[k]}, std::vector<Array>{gradients[k]}, one);
    ASSERT_TRUE(close(alone[0].p, expected[k].p)) << k;
    ASSERT_TRUE(close(alone[0].v, expected[k].v)) << k;
  }
  // In place, where the caller gives them up: memory stays what it was.
  const auto used = [] { return ct::webgpu::device()->counts().used_bytes; };
  const auto before = used();
  std::vector<Leaf> next = step(std::move(leaves), gradients, one);
  EXPECT_EQ(used(), before);
  for (std::size_t k = 0; k < next.size(); ++k) {
    ASSERT_EQ(next[k].p.to_vector<float>(), expected[k].p.to_vector<float>()) << k;
    ASSERT_EQ(next[k].m.to_vector<float>(), expected[k].m.to_vector<float>()) << k;
  }
}

/// The gradients of the parts of a split are put side by side, not padded and added.
TEST_F(WebGpuTrials, SlowSpotGradientOfSplit) {
  for (const char* device : {"native", "webgpu"}) {
    SCOPED_TRACE(device);
    ct::default_device(device);
    const auto attend = [](Array q, Array k, Array v) {
      return np::sum(np::matmul(np::tanh(np::matmul(q, k.T())), v));
    };
    const auto f = [&](Array x) {
      const std::vector<Array> parts = np::split(x, 3, 1);
      return attend(parts[0], parts[1], parts[2]);
    };
    const Array x = ramp({64, 96});
    const std::string program = ct::make_jaxpr(ct::grad(f))(x).simplified().str();
    EXPECT_EQ(program.find(" pad"), std::string::npos) << program;
    EXPECT_NE(program.find("concatenate"), std::string::npos) << program;
    const std::vector<Array> parts = np::split(x, 3, 1);
    const auto apart = ct::jit(ct::grad<0, 1, 2>(attend));
    const ct::Explanation e = ct::explain(ct::jit(ct::grad(f)), x),
                          of_parts = ct::explain(apart, parts[0], parts[1], parts[2]);
    EXPECT_LE(e.kernels, of_parts.kernels + 1) << e.steps << of_parts.steps;
    const auto [dq, dk, dv] = apart(parts[0], parts[1], parts[2]);
    expect_close(ct::jit(ct::grad(f))(x), np::concatenate({dq, dk, dv}, 1), 1e-5);
  }
}

TEST_F(WebGpuTrials, SlowSpotEmbeddingGradient) {
  constexpr std::int64_t vocabulary = 3000, width = 48, tokens = 700;
  const auto make = [](std::int64_t spread) {
    std::vector<std::int32_t> v(tokens);
    for (std::size_t k = 0; k < tokens; ++k)
      v[k] = static_cast<std::int32_t>(k * k * 31 % static_cast<std::size_t>(spread)) - 1;
    return v;
  };
  for (const std::int64_t spread :
       {std::int64_t{3002}, std::int64_t{5}, std::int64_t{1}}) {  // outside too; many alike; all the last one
    const Array table = ramp({vocabulary, width}), w = ramp({tokens, width}),
                t = Array::from_host(make(spread), {tokens});
    const auto gradient = ct::jit(ct::grad([](Array e, Array at, Array weights) {
      const Array rows = np::take(e, at, 0);
      return np::sum(np::where(np::isnan(rows), 0.0f, rows) * weights);
    }));
    const ct::Explanation e = ct::explain(gradient, table, t, w);
    EXPECT_LE(e.dispatches, 4) << e.steps;
    EXPECT_LT(e.temporary_bytes, 4 * vocabulary * width / 2) << e.steps;  // nothing of the size of the table
    // Added up in the order of the tokens.
    std::vector<float> expected(vocabulary * width, 0.0f);
    const auto weights = w.to_vector<float>();
    const auto at = make(spread);
    for (std::size_t k = 0; k < tokens; ++k) {
      const std::int64_t row = at[k] < 0 ? at[k] + vocabulary : at[k];
      for (std::size_t c = 0; row < vocabulary && c < width; ++c)
        expected[static_cast<std::size_t>(row) * width + c] += weights[k * width + c];
    }
    EXPECT_EQ(gradient(table, t, w).to_vector<float>(), expected);
  }
}

/// Rounding to halves is a function without branches: programs of halves are no larger than twice those of floats.
TEST_F(WebGpuTrials, Item24HalvesAreShort) {
  const auto f = [](Array x) { return np::tanh(x * 2.0 + 1.0) * x + np::sin(x); };
  const auto size = [&](ct::DType dtype) { return ct::explain(ct::jit(f), ramp({64}).astype(dtype)).wgsl; };
  const std::string halves = size(ct::f16);
  const std::size_t at = halves.find("fn cotan_round_f16");
  ASSERT_NE(at, std::string::npos);
  EXPECT_EQ(halves.substr(at, halves.find("\n}", at) - at).find("if ("), std::string::npos);
  // Against the host's rounding, at every half, between two of them, at their ties and beyond.
  std::vector<float> x;
  for (std::uint32_t bits = 0; bits < 0x47810000u; bits += 0x0ff1u) x.push_back(std::bit_cast<float>(bits));
  for (std::uint32_t bits = 0x33000000u - 4; bits < 0x33000004u; ++bits) x.push_back(std::bit_cast<float>(bits));
  for (std::uint32_t bits = 0x33000000u; bits < 0x47800000u; bits += 0x1000u) x.push_back(-std::bit_cast<float>(bits));
  for (float special : {65519.996f, 65520.0f, 65504.0f, 1e30f, std::numeric_limits<float>::infinity(), 0.0f, -0.0f})
    x.push_back(special);
  std::vector<float> expected;
  for (float v : x) expected.push_back(static_cast<float>(ct::float16(v)));
  EXPECT_EQ(Array::from_host(x).astype(ct::f16).astype(ct::f32).to_vector<float>(), expected);
}

/// Third trial: carries take two places in turn, and a temporary lives in the place of the next one. In every other
/// step the threads of a dispatch with several kernels did not wait for each other, since that place had another name.
TEST_F(WebGpuTrials, GradientsOfScansWithNormalizedRows) {
  struct Layer {
    Array scale, weights;
  };
  const auto step = [](Array x, Layer l) {
    const Array centred = x - np::mean(x, -1, true);
    const Array normal = centred / np::sqrt(np::mean(np::square(centred), -1, true) + 1e-5);
    return std::pair{x + np::matmul(normal * l.scale, l.weights), ct::none};
  };
  const auto gradient =
      ct::jit(ct::grad<0, 1>([&](Array x, Layer l) { return np::sum(np::square(lax::scan(step, x, l).first)); }));
  for (const std::int64_t steps : {2, 3}) {
    const auto run = [&] {
      const auto [x, l] = gradient(ramp({4, 32, 64}), Layer{ramp({steps, 64}) + 1.0f, 0.3f * ramp({steps, 64, 64})});
      return np::concatenate({x.reshape({-1}), l.scale.reshape({-1}), l.weights.reshape({-1})});
    };
    expect_close(run(), on_native(run), 2e-4);
  }
}

}  // namespace
