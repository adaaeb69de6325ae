#include "support/expect_error.hpp"

#include <gtest/gtest.h>

namespace test::detail {

namespace {

/// "[op] what is wrong; what to do."
std::string grammar_fault(std::string_view message) {
  const std::size_t close = message.find("] ");
  if (message.empty() || message[0] != '[' || close == message.npos) return "does not open with [op]";
  if (message.find("; ") == message.npos) return "does not say what to do after a semicolon";
  if (message.back() != '.') return "does not end with a full stop";
  return "";
}

/// A failed call must leave no trace current and nothing half done behind.
bool works_on() {
  namespace np = cotan::numpy;
  const cotan::Array x = np::array({1.f, 2.f});
  const auto f = [](const cotan::Array& a) { return np::sum(a * a); };
  return f(x).item<float>() == 5.f && cotan::jit(cotan::grad(f))(x).to_vector<float>() == std::vector<float>{2.f, 4.f};
}

}  // namespace

void expect_error(const std::function<void()>& statement, const std::type_info& type, std::string_view source,
                  std::initializer_list<std::string_view> parts, const char* file, int line) {
  const testing::ScopedTrace here(file, line, std::string(source));
  try {
    statement();
    ADD_FAILURE() << "nothing was thrown";
  } catch (const std::exception& error) {
    const std::string_view message = error.what();
    EXPECT_TRUE(typeid(error) == type) << "threw another type: " << typeid(error).name();
    EXPECT_EQ(grammar_fault(message), "") << message;
    for (std::string_view part : parts)
      EXPECT_NE(message.find(part), message.npos) << "message: " << message << "\nlacks:   " << part;
  }
  EXPECT_TRUE(works_on());
}

}  // namespace test::detail
