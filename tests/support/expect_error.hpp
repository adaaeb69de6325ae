// EXPECT_ERROR(ShapeError, statement, "part", …): the statement throws exactly that type, and its message has
// every part and keeps to the grammar "[op] what is wrong; what to do."; the library works on afterwards.
#pragma once
#include <cotan/cotan.hpp>
#include <functional>
#include <initializer_list>
#include <string_view>
#include <typeinfo>

namespace test {

namespace detail {
void expect_error(const std::function<void()>& statement, const std::type_info& type, std::string_view source,
                  std::initializer_list<std::string_view> parts, const char* file, int line);
}  // namespace detail

}  // namespace test

#define EXPECT_ERROR(Type, statement, ...)                                                                         \
  test::detail::expect_error([&] { (void)(statement); }, typeid(cotan::Type), #statement, {__VA_ARGS__}, __FILE__, \
                             __LINE__)
