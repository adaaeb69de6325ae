// Window functions.
#pragma once
#include <cotan/array.hpp>

namespace cotan::numpy {

/// @name Windows
/// Vectors of M weights, symmetric around the largest, 1.
/// @{
Array bartlett(std::int64_t M, DType dtype = f32, const std::source_location& where = COTAN_HERE);  ///< a triangle
Array blackman(std::int64_t M, DType dtype = f32, const std::source_location& where = COTAN_HERE);  ///< two cosines
Array hamming(std::int64_t M, DType dtype = f32, const std::source_location& where = COTAN_HERE);  ///< 0.08 at the ends
Array hanning(std::int64_t M, DType dtype = f32, const std::source_location& where = COTAN_HERE);  ///< 0 at the ends
/// i0(beta · √(1 - t²)) / i0(beta), t from -1 to 1.
Array kaiser(std::int64_t M, const ArrayLike& beta, DType dtype = f32);
/// @}

}  // namespace cotan::numpy
