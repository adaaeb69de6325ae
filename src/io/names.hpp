// What is said where a file lacks the array that was asked for.
#pragma once
#include <cotan/io/named_arrays.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace cotan::io {

/// Raises IoError: which names there are, and which of them was probably meant.
[[noreturn]] void raise_lacking(std::string_view reader, const std::string& file, const ArrayName& name,
                                const std::vector<std::string>& names);

}  // namespace cotan::io
