// Compiled objects on disk, so that the second start of a program compiles nothing: in the folder that COTAN_CACHE_DIR
// names, else in the user's own; not where it is "off". A file that is damaged, or that another CPU, LLVM or cotan
// wrote, is as good as none.
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace cotan::native {

/// The content of an object file for this source and this machine, or nothing.
std::optional<std::string> read_cached_object(std::string_view source, std::string_view machine);
/// Best effort: a full or read-only disk is no error.
void write_cached_object(std::string_view source, std::string_view machine, std::string_view object);

}  // namespace cotan::native
