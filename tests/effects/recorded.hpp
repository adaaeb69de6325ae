// What effects leave behind, in order; and tests on every device.
#pragma once
#include <gtest/gtest.h>

#include <mutex>

#include "support/expect_error.hpp"

namespace test_effects {

/// Words, in the order in which they came.
class Log {
 public:
  /// A word and a number, once the program comes by.
  void note(const std::string& word, const cotan::Array& value) {
    cotan::debug::callback([this, word](const cotan::Array& v) { add(word, v); }, value);
  }
  void add(const std::string& word, const cotan::Array& value) {
    std::string numbers;
    for (const double v : value.to_vector<double>()) numbers += (numbers.empty() ? "" : ",") + text(v);
    const std::scoped_lock lock(mutex_);
    words_ += word + numbers + " ";
  }
  /// All of them; then there are none.
  std::string taken() {
    const std::scoped_lock lock(mutex_);
    return std::exchange(words_, {});
  }

 private:
  static std::string text(double v) {
    std::string out = std::to_string(v);
    out.erase(out.find_last_not_of('0') + 1);
    if (out.back() == '.') out.pop_back();
    return out == "-0" ? "0" : out;
  }
  std::mutex mutex_;
  std::string words_;
};

inline cotan::Array number(float v) { return cotan::numpy::array(v, cotan::f32); }

/// With a device as the default one.
class OnDevice : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override { cotan::default_device(GetParam()); }
  void TearDown() override { cotan::default_device(before_.name()); }

 private:
  cotan::Device before_ = cotan::default_device();
};

}  // namespace test_effects

#define EFFECTS_ON_DEVICES(name)                                                       \
  class name : public test_effects::OnDevice {};                                       \
  INSTANTIATE_TEST_SUITE_P(On, name, testing::Values("native", "reference", "webgpu"), \
                           [](const auto& i) { return std::string(i.param); });
