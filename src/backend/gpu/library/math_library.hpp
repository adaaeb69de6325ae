// The run-time library of shaders: what expr::math calls by name, and the helpers that give languages of shaders the
// special values, conversions and rounding that cotan promises. f32 only.
//
// It is written in what dialects write alike (dialect.hpp), and a notation for the rest, a small part of WGSL, which
// dialects of other languages translate: `fn f(x: f32) -> f32 { … }`, `let x = …;`, `var x = …;`, `var<private> x: u32
// = …;`, `const x = array<T, n>(…);`, `struct S { x: f32, … }`, `bitcast<T>(x)`, `countLeadingZeros(x)`, `clamp(x, low,
// high)`, vectors of two as `vec2<f32>(x, y)`, and numbers like 1.0, which are f32.
#pragma once
#include <span>
#include <string>
#include <string_view>

namespace cotan::gpu {

/// These functions and all that they use, each once and before its first use.
std::string math_library(std::span<const std::string_view> names);

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

}  // namespace cotan::gpu
