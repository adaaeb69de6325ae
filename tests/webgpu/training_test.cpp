// What a training step is made of, in as few dispatches as it takes: losses, norms and optimizers of many arrays, sums
// by key, split products. Values are held against the device "reference".
#include <gtest/gtest.h>

#include <cotan/cotan.hpp>
#include <cotan/optax.hpp>

#include "webgpu/support.hpp"

namespace {

namespace ct = cotan;
namespace np = cotan::numpy;
namespace optax = cotan::optax;
using ct::Array;
using ct::Arrays;

class WebGpuTraining : public webgpu_tests::OnWebGpu {};

Array numbers(const ct::Shape& shape, double step = 0.37) {
  std::int64_t n = 1;
  for (auto d : shape) n *= d;
  return np::sin(np::arange(n, ct::f32) * step).reshape(shape);
}

template <class F>
void expect_as_reference(const F& f, const Arrays& inputs, double tolerance) {
  const auto on = [&](const char* device) {
    ct::default_device(device);
    Arrays there;
    for (const Array& a : inputs) there.push_back(ct::device_put(a, device));
    const Arrays out = ct::jit(f)(there);
    std::vector<double> all;
    for (const Array& a : out)
      for (double x : a.template to_vector<double>()) all.push_back(x);
    ct::default_device("webgpu");
    return all;
  };
  const auto got = on("webgpu"), want = on("reference");
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t i = 0; i < got.size(); ++i)
    ASSERT_NEAR(got[i], want[i], tolerance * (1 + std::abs(want[i]))) << "element " << i;
}

template <class F>
ct::Explanation explained(const F& f, const Arrays& inputs) {
  return ct::explain(ct::jit(f), inputs);
}

TEST_F(WebGpuTraining, TheGradientOfACrossEntropyIsWrittenOnce) {
  const auto f = [](const Arrays& x) {
    const auto loss = [&](const Array& scores) {
      return np::mean(optax::softmax_cross_entropy_with_integer_labels(scores, x[1]));
    };
    return Arrays{ct::grad(loss)(x[0])};
  };
  const Array labels = (np::arange(40, ct::i32) * 7) % 301;
  const Arrays inputs{numbers({40, 301}), labels};
  expect_as_reference(f, inputs, 1e-6);
  EXPECT_EQ(explained(f, {numbers({512, 50257}), (np::arange(512, ct::i32) * 97) % 50257}).dispatches, 1);
}

TEST_F(WebGpuTraining, NormsOfManyGradientsTakeFewDispatches) {
  const auto f = [](const Arrays& x) { return Arrays{optax::global_norm(x)}; };
  Arrays inputs;
  for (int k = 0; k < 12; ++k) inputs.push_back(numbers({130, 120}, 0.1 + 0.03 * k));
  for (int k = 0; k < 12; ++k) inputs.push_back(numbers({77}, 0.1 + 0.03 * k));
  expect_as_reference(f, inputs, 1e-6);
  const ct::Explanation e = explained(f, inputs);
  EXPECT_LE(e.dispatches, 5) << e.steps;
}

TEST_F(WebGpuTraining, AdamWChangesAllVectorsOfASizeInOneDispatch) {
  const auto optimizer = optax::adamw({.learning_rate = 1e-3});
  Arrays params;
  for (int k = 0; k < 26; ++k) params.push_back(numbers({768}, 0.1 + 0.03 * k));
  const auto f = [&](const Arrays& p) {
    const Arrays gradients = ct::tree::map([](const Array& a) { return np::cos(a); }, p);
    return optax::apply_updates(p, optimizer.update(gradients, optimizer.init(p), p).first);
  };
  expect_as_reference(f, params, 1e-6);
  const ct::Explanation e = explained(f, params);
  EXPECT_LE(e.dispatches, 3) << e.steps;
}

TEST_F(WebGpuTraining, GradientsOfEmbeddingsByRunsOfKeys) {
  // Keys that are missing, repeated, outside; tables that are much longer than the text, and shorter.
  for (const std::int64_t rows : {5, 300, 5000}) {
    const auto f = [](const Arrays& x) {
      const auto loss = [&](const Array& table) { return np::sum(table(x[1]) * x[2]); };
      return Arrays{ct::grad(loss)(x[0])};
    };
    const Array keys = (np::arange(200, ct::i32) * 13 % 71 * 3) % static_cast<std::int32_t>(rows);
    expect_as_reference(f, {numbers({rows, 24}), keys, numbers({200, 24}, 0.11)}, 1e-5);
  }
}

TEST_F(WebGpuTraining, SumsOfWhatZerosPadAreCutInManyPieces) {
  const auto f = [](const Arrays& x) {
    const auto loss = [&](const Array& positions) { return np::sum(np::sin(positions(ct::range(0, 512)) * x[1])); };
    return Arrays{np::sum(np::square(ct::grad(loss)(x[0])))};
  };
  const Arrays inputs{numbers({1024, 96}), numbers({512, 96}, 0.2)};
  expect_as_reference(f, inputs, 1e-5);
  const std::string steps = explained(f, inputs).steps;
  EXPECT_EQ(steps.find(": 2 groups"), std::string::npos) << steps;
}

TEST_F(WebGpuTraining, RowsOfWholeVectors) {
  // What lies between the rows is what was there before: numbers that are none.
  const auto nothing = ct::jit([](const Array& x) { return np::sort(np::log(-1.0 - x * x).reshape({-1})); });
  for (const bool dirty : {false, true}) {
    if (dirty) ct::block_until_ready(nothing(numbers({200, 1100})));
    const auto f = [](const Arrays& x) {
      const Array y = np::sin(x[0]) * 2.0;  // read along its rows and across them
      return Arrays{np::matmul(y, x[1]), np::matmul(y.T(), x[2]), np::sum(y, 0)};
    };
    for (const std::int64_t n : {1029, 1030, 1031})
      expect_as_reference(f, {numbers({96, n}), numbers({n, 72}, 0.2), numbers({96, 80}, 0.3)}, 1e-4);
  }
}

TEST_F(WebGpuTraining, AReaderAddsUpTheProductsParts) {
  setenv("COTAN_WEBGPU_MATMUL", "32x32x16,4x4,prefetch,splits=3", 1);
  ct::clear_caches();
  const auto once = [](const Arrays& x) { return Arrays{np::tanh(np::matmul(x[0], x[1]) * 0.1 + x[2])}; };
  const Arrays inputs{numbers({96, 120}), numbers({120, 100}, 0.2), numbers({100}, 0.3)};
  EXPECT_EQ(explained(once, inputs).steps.find("matmul parts"), std::string::npos);
  EXPECT_EQ(explained(once, inputs).dispatches, 2);
  expect_as_reference(once, inputs, 1e-5);
  // Rows that are read in several passes, and columns.
  const auto rows = [](const Arrays& x) { return Arrays{ct::nn::softmax(np::matmul(x[0], x[1]) + x[2])}; };
  EXPECT_EQ(explained(rows, inputs).dispatches, 2);
  expect_as_reference(rows, inputs, 1e-5);
  const auto columns = [](const Arrays& x) { return Arrays{np::sum(np::matmul(x[0], x[1]), 0) + x[2]}; };
  expect_as_reference(columns, inputs, 1e-5);
  // Several readers, or a result of the program: the parts are added up once.
  const auto twice = [](const Arrays& x) {
    const Array y = np::matmul(x[0], x[1]);
    return Arrays{np::sum(y, 0), np::sum(np::tanh(y), 1), y};
  };
  EXPECT_NE(explained(twice, inputs).steps.find("matmul parts"), std::string::npos);
  expect_as_reference(twice, inputs, 1e-5);
  unsetenv("COTAN_WEBGPU_MATMUL");
  ct::clear_caches();
}

}  // namespace
