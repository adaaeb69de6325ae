// Printed arrays against NumPy's strings.
#include <gtest/gtest.h>

#include <cotan/cotan.hpp>
#include <sstream>

namespace np = cotan::numpy;
using namespace cotan;

TEST(Print, Floats) {
  EXPECT_EQ(to_string(np::array({1.f, 2.f, 3.f})), "[1. 2. 3.]");
  EXPECT_EQ(to_string(np::array({0.1, 1e-8, 123456.0})), "[1.00000e-01 1.00000e-08 1.23456e+05]");
  EXPECT_EQ(to_string(np::array({1.5, np::nan, np::inf, -np::inf})), "[ 1.5  nan  inf -inf]");
  EXPECT_EQ(to_string(np::array({1e20, 1.0})), "[1.e+20 1.e+00]");
  EXPECT_EQ(to_string(np::array({-0.0, 0.0})), "[-0.  0.]");
  EXPECT_EQ(to_string(np::array({0.1, 0.2}, f64)), "[0.1 0.2]");
  EXPECT_EQ(to_string(np::array({1.0, 0.333}, f16)), "[1.    0.333]");
  EXPECT_EQ(to_string(np::array({1e-45f})), "[1.e-45]");
}
TEST(Print, IntegersAndBools) {
  EXPECT_EQ(to_string(np::array({{1, -2}, {30, 4}})), "[[ 1 -2]\n [30  4]]");
  EXPECT_EQ(to_string(np::array({true, false})), "[ True False]");
  EXPECT_EQ(to_string(np::array({255, 0}, u8)), "[255   0]");
}
TEST(Print, Scalars) {
  EXPECT_EQ(to_string(np::array(2.5)), "2.5");
  EXPECT_EQ(to_string(Array(3)), "3");
  EXPECT_EQ(to_string(Array(true)), "True");
}
TEST(Print, Empty) {
  EXPECT_EQ(to_string(np::zeros({0})), "[]");
  EXPECT_EQ(to_string(np::zeros({2, 0})), "[]");
}
TEST(Print, Nested) {
  EXPECT_EQ(to_string(np::arange(8, f64).reshape({2, 2, 2}) / 3.0),
            "[[[0.         0.33333333]\n  [0.66666667 1.        ]]\n\n [[1.33333333 1.66666667]\n  [2.       "
            "  2.33333333]]]");
}
TEST(Print, LongArraysAreElided) {
  EXPECT_EQ(to_string(np::arange(2000)), "[   0    1    2 ... 1997 1998 1999]");
  EXPECT_EQ(to_string(np::zeros({1001, 3})),
            "[[0. 0. 0.]\n [0. 0. 0.]\n [0. 0. 0.]\n ...\n [0. 0. 0.]\n [0. 0. 0.]\n [0. 0. 0.]]");
}
TEST(Print, LongLinesWrap) {
  EXPECT_EQ(to_string(np::arange(40, f32)),
            "[ 0.  1.  2.  3.  4.  5.  6.  7.  8.  9. 10. 11. 12. 13. 14. 15. 16. 17.\n"
            " 18. 19. 20. 21. 22. 23. 24. 25. 26. 27. 28. 29. 30. 31. 32. 33. 34. 35.\n 36. 37. 38. 39.]");
}
TEST(Print, Stream) {
  std::ostringstream out;
  out << np::array({1, 2});
  EXPECT_EQ(out.str(), "[1 2]");
}
TEST(Print, TracersPrintWhatTheyAre) {
  std::string inside;
  jit([&](Array x) {
    inside = to_string(x * 2);
    return x;
  })(np::ones({3}));
  EXPECT_NE(inside.find("f32[3]"), std::string::npos) << inside;
  EXPECT_NE(inside.find("jit"), std::string::npos) << inside;
  EXPECT_NE(to_string(Array()).find("empty"), std::string::npos);
  EXPECT_NE(to_string(shape_dtype({2}, f64)).find("f64[2]"), std::string::npos);
}
