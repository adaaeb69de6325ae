// Comparisons, logic and bits of each element.
#pragma once
#include <cotan/array.hpp>
#include <optional>
#include <string_view>

namespace cotan::numpy {

/// @name Comparison, logic, bits
/// Results are bool unless said otherwise, of the broadcast shape. What is not bool counts as true where it is not 0.
/// @{
Array equal(const ArrayLike& a, const ArrayLike& b);          ///< a == b; NaN equals nothing
Array not_equal(const ArrayLike& a, const ArrayLike& b);      ///< a != b
Array less(const ArrayLike& a, const ArrayLike& b);           ///< a < b
Array less_equal(const ArrayLike& a, const ArrayLike& b);     ///< a <= b
Array greater(const ArrayLike& a, const ArrayLike& b);        ///< a > b
Array greater_equal(const ArrayLike& a, const ArrayLike& b);  ///< a >= b
Array logical_and(const ArrayLike& a, const ArrayLike& b);    ///< both are true
Array logical_or(const ArrayLike& a, const ArrayLike& b);     ///< one is true
Array logical_xor(const ArrayLike& a, const ArrayLike& b);    ///< one of them is true, not both
Array logical_not(const ArrayLike& a);                        ///< a is false
Array bitwise_and(const ArrayLike& a, const ArrayLike& b);    ///< a & b of integers or bool, in their promoted dtype
Array bitwise_or(const ArrayLike& a, const ArrayLike& b);     ///< a | b of integers or bool, in their promoted dtype
Array bitwise_xor(const ArrayLike& a, const ArrayLike& b);    ///< a ^ b of integers or bool, in their promoted dtype
Array bitwise_not(const ArrayLike& a);                        ///< ~a of integers or bool, in the dtype of a
inline Array invert(const ArrayLike& a) { return bitwise_not(a); }          ///< the same as bitwise_not
inline Array bitwise_invert(const ArrayLike& a) { return bitwise_not(a); }  ///< the same as bitwise_not
Array bitwise_count(const ArrayLike& a);                                    ///< u8: how many bits of |a| are 1
Array left_shift(const ArrayLike& a, const ArrayLike& b);   ///< a << b of integers, in their promoted dtype
Array right_shift(const ArrayLike& a, const ArrayLike& b);  ///< a >> b of integers; signed ones keep their sign
/// The same as left_shift.
inline Array bitwise_left_shift(const ArrayLike& a, const ArrayLike& b) { return left_shift(a, b); }
/// The same as right_shift.
inline Array bitwise_right_shift(const ArrayLike& a, const ArrayLike& b) { return right_shift(a, b); }
/// u8: eight elements to a byte, along an axis or of the flattened array; what is not 0 is a 1. The first of eight is
/// the highest bit ("big") or the lowest ("little"); a last byte that is not full has zeros at its end.
Array packbits(const ArrayLike& a, std::optional<int> axis = std::nullopt, std::string_view bitorder = "big");
/// The bits of u8 as elements 0 and 1, u8, of which `count` are kept, or zeros added up to as many.
Array unpackbits(const ArrayLike& a, std::optional<int> axis = std::nullopt,
                 std::optional<std::int64_t> count = std::nullopt, std::string_view bitorder = "big");
Array isnan(const ArrayLike& a);     ///< a is NaN
Array isinf(const ArrayLike& a);     ///< a is an infinity
Array isposinf(const ArrayLike& a);  ///< a is positive infinity
Array isneginf(const ArrayLike& a);  ///< a is negative infinity
Array isfinite(const ArrayLike& a);  ///< a is neither NaN nor infinite
Array signbit(const ArrayLike& a);   ///< a is negative; also -0.0 is
/// Whether |a - b| <= atol + rtol |b| of finite ones; infinities are close to themselves, NaN where `equal_nan` says
/// so.
Array isclose(const ArrayLike& a, const ArrayLike& b, double rtol = 1e-5, double atol = 1e-8, bool equal_nan = false);
/// Whether isclose holds everywhere: a scalar, of which `.item<bool>()` is the C++ value.
Array allclose(const ArrayLike& a, const ArrayLike& b, double rtol = 1e-5, double atol = 1e-8, bool equal_nan = false);
/// Whether shapes and all elements are equal: a scalar. With `equal_nan` a NaN equals a NaN.
Array array_equal(const ArrayLike& a, const ArrayLike& b, bool equal_nan = false);
/// Whether all elements are equal after broadcasting: a scalar; false where shapes do not broadcast.
Array array_equiv(const ArrayLike& a, const ArrayLike& b);
/// Elements of `a` where `condition`, else of `b`; no gradient reaches the side that is not taken.
Array where(const ArrayLike& condition, const ArrayLike& a, const ArrayLike& b);
/// @}

}  // namespace cotan::numpy
