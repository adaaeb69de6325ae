// The run-time library in WGSL: what expr::math calls by name, and the helpers that give WGSL the special
// values, conversions and rounding that cotan promises. f32 only.
#pragma once
#include <span>
#include <string>
#include <string_view>

namespace cotan::webgpu {

/// These functions and all that they use, each once and before its first use.
std::string wgsl_library(std::span<const std::string_view> names);

/// One declaration: a function, or the module variables and constants that functions share.
struct LibraryEntry {
  std::string_view name;
  std::string_view uses;  ///< names, separated by spaces
  std::string_view text;
};
/// Special values, conversions, integers, exact arithmetic.
std::span<const LibraryEntry> library_basics();
std::span<const LibraryEntry> library_trigonometry();
std::span<const LibraryEntry> library_gamma();

}  // namespace cotan::webgpu
