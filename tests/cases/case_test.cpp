// Registers one gtest per case and check, named Check.op/dtype/shapes/params#tag:
// test_cases --gtest_filter='Vjp.lax.erf/*'
#include <gtest/gtest.h>

#include <algorithm>

#include "cases/case_checks.hpp"

namespace {

using namespace cases;

class CaseTest : public testing::Test {
 public:
  CaseTest(const Check& check, const Case& c) : check_(check), case_(c) {}
  void TestBody() override { check_.run(case_); }

 private:
  const Check& check_;
  const Case& case_;
};

class Goldens : public testing::Environment {
  void SetUp() override { load_goldens(); }
  void TearDown() override { drop_goldens(); }
};

const bool registered = [] {
  static const std::vector<Case> table = load_table();
  for (const Check& check : all_checks())
    for (const Case& c : table) {
      if (!check.applies(c)) continue;
      std::string name = c.id;
      std::replace(name.begin(), name.end(), ':', '/');  // ':' separates filters
      testing::RegisterTest(check.name, name.c_str(), nullptr, nullptr, __FILE__, __LINE__,
                            [&check, &c]() -> testing::Test* { return new CaseTest(check, c); });
    }
  testing::AddGlobalTestEnvironment(new Goldens);  // gtest owns it
  return true;
}();

}  // namespace
