// cotan::lax: reductions over windows that move over an array; pooling.
#pragma once
#include <cotan/array.hpp>
#include <cotan/lax/padding.hpp>
#include <cotan/lax/reductions.hpp>
#include <vector>

namespace cotan::lax {

/// @name Windows
/// @{
/// Lists have one entry per axis; empty ones are all 1.
struct WindowOptions {
  std::vector<std::int64_t> window_strides = {};
  ConvPadding padding = "VALID";
  /// How far apart elements are before windows move over them, and the elements that one window meets.
  std::vector<std::int64_t> base_dilation = {}, window_dilation = {};
};
/// The elements that each window meets, combined by an associative function, `init` first; padding takes no part. Sums
/// and extrema are one pass over the array, forwards and backwards; the derivative of an extremum flows to one element,
/// the first of several in the window.
///
///     lax::reduce_window(images, -np::inf, lax::max, {1, 2, 2, 1}, {.window_strides = {1, 2, 2, 1}});   // pooling
Array reduce_window(const ArrayLike& a, const ArrayLike& init, const Combine& computation,
                    const std::vector<std::int64_t>& window_dimensions, const WindowOptions& options = {});
/// The same for several arrays of one shape.
std::vector<Array> reduce_window(const std::vector<Array>& operands, const std::vector<Array>& inits,
                                 const CombineLists& computation, const std::vector<std::int64_t>& window_dimensions,
                                 const WindowOptions& options = {});
/// @}

}  // namespace cotan::lax
