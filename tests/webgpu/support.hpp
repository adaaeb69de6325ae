// Tests on the device 'webgpu'.
#pragma once
#include <gtest/gtest.h>

#include <cotan/cotan.hpp>

namespace webgpu_tests {

/// Makes it the default device for a test; where it is missing the test fails.
class OnWebGpu : public testing::Test {
 protected:
  void SetUp() override { cotan::default_device("webgpu"); }
  void TearDown() override { cotan::default_device("native"); }
};

}  // namespace webgpu_tests
