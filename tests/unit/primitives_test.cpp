// The list of primitives, and rules that are attached to them from elsewhere.
#include <gtest/gtest.h>

#include <algorithm>

#include "core/rules.hpp"
#include "expansions/expansions.hpp"
#include "ops/ops.hpp"

using namespace cotan;

namespace {

const Primitive* named(std::string_view name) {
  for (const Primitive* p : ops::all_primitives())
    if (p->name == name) return p;
  return nullptr;
}

struct Number {
  int value;
};
const RuleFor<Number> of_two{{&ops::add_p, &ops::mul_p}, {2}};

}  // namespace

TEST(Primitives, AreListedOnceByName) {
  const auto all = ops::all_primitives();
  EXPECT_TRUE(std::is_sorted(all.begin(), all.end(), [](auto* a, auto* b) { return a->name < b->name; }));
  EXPECT_EQ(std::adjacent_find(all.begin(), all.end(), [](auto* a, auto* b) { return a->name == b->name; }), all.end());
}

TEST(Primitives, NeedNoDeclarationToBeListed) {
  for (const char* name : {"erfc", "argmax", "exp", "reshape", "cholesky"}) {
    const Primitive* p = named(name);
    ASSERT_NE(p, nullptr) << name;
    EXPECT_TRUE(p->type && p->eval) << name;
  }
}

TEST(Primitives, HaveRulesFromOtherFiles) {
  ASSERT_NE(RuleFor<Number>::find(ops::mul_p), nullptr);
  EXPECT_EQ(RuleFor<Number>::find(ops::mul_p)->value, 2);
  EXPECT_EQ(RuleFor<Number>::find(ops::sub_p), nullptr);
  EXPECT_TRUE(has_expansion(ops::cholesky_p));
  EXPECT_TRUE(has_expansion(ops::attention_p)) << "made of other operations";
  EXPECT_FALSE(has_expansion(ops::add_p));
}
