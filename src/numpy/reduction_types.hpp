// Which dtype reductions are done in.
#pragma once
#include <cotan/array.hpp>

namespace cotan::numpy {

/// Small integers are summed in 32 bits, as counts are.
DType sum_type(DType t);
/// The dtype of means: integers become floats.
DType mean_type(DType t);
/// NaNs replaced by what a reduction ignores.
Array without_nan(const Array& a, double replacement);
/// |a|², which is real.
Array squared_size(const Array& a);

}  // namespace cotan::numpy
