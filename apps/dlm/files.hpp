// Writing results: "-" is standard output; what cannot be written is found out before the work begins.
#pragma once
#include <string>
#include <string_view>

namespace apps {

/// Throws InputError where the path cannot be written.
void check_writable(const std::string& path);
void write_file(const std::string& path, std::string_view text);

}  // namespace apps
