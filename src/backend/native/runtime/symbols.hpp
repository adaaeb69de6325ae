// What generated code calls.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

namespace cotan::native {

struct RuntimeSymbol {
  std::string_view name;
  const void* address;
};
std::vector<RuntimeSymbol> runtime_symbols();

}  // namespace cotan::native
