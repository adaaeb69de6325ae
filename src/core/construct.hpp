// Making arrays inside the library.
#pragma once
#include "core/buffer.hpp"

namespace cotan {

/// A strong scalar constant of `dtype`.
Array scalar(DType dtype, double value);
Array scalar(DType dtype, std::int64_t value);
inline Array scalar(DType dtype, int value) { return scalar(dtype, static_cast<std::int64_t>(value)); }
/// `a`, a 0-d array with an exact C++ value, as `dtype`; nullopt if it has none.
std::optional<Array> exact_scalar_as(const Array& a, DType dtype);
/// A copy of a scalar for a program to keep. Programs stay in caches, and must not keep arrays of the user's alive.
Array constant_of_program(const Array& value);
/// An array of a known shape and dtype without elements.
Array abstract_array(const AbstractValue& aval);
/// The same elements, no longer weakly typed.
Array strong(const Array& a);

}  // namespace cotan
