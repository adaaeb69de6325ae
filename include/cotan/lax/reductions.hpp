// cotan::lax: reductions over axes, and running ones along an axis.
#pragma once
#include <cotan/array.hpp>
#include <functional>
#include <vector>

namespace cotan::lax {

/// @name Reductions
/// Over these axes, which go. Dtypes are kept, where those of numpy widen. Of no axes nothing changes.
/// @{
Array reduce_sum(const ArrayLike& a, const std::vector<std::int64_t>& axes);   ///< sums
Array reduce_prod(const ArrayLike& a, const std::vector<std::int64_t>& axes);  ///< products
Array reduce_max(const ArrayLike& a, const std::vector<std::int64_t>& axes);   ///< the largest
Array reduce_min(const ArrayLike& a, const std::vector<std::int64_t>& axes);   ///< the smallest
Array reduce_and(const ArrayLike& a, const std::vector<std::int64_t>& axes);   ///< all bits, or whether all are true
Array reduce_or(const ArrayLike& a, const std::vector<std::int64_t>& axes);    ///< any bits, or whether any is true
Array reduce_xor(const ArrayLike& a, const std::vector<std::int64_t>& axes);  ///< whether an odd number is set, per bit
Array argmax(const ArrayLike& a, int axis, DType index_dtype = i32);  ///< where the largest is, the first of several
Array argmin(const ArrayLike& a, int axis, DType index_dtype = i32);  ///< where the smallest is, the first of several

/// Of two scalars of one dtype, one of that dtype: lax::add, np::maximum, or a function of yours.
using Combine = std::function<Array(const Array&, const Array&)>;
/// The same for several arrays that are reduced together.
using CombineLists = std::function<std::vector<Array>(const std::vector<Array>&, const std::vector<Array>&)>;
/// All elements along these axes combined by an associative function, `init` first. Sums, products, extrema and bits
/// are recognized, and are what the functions above give; any other function takes log(n) steps. Of no axes nothing
/// changes.
Array reduce(const ArrayLike& a, const ArrayLike& init, const Combine& computation,
             const std::vector<std::int64_t>& dimensions);
/// The same for several arrays of one shape.
std::vector<Array> reduce(const std::vector<Array>& operands, const std::vector<Array>& inits,
                          const CombineLists& computation, const std::vector<std::int64_t>& dimensions);
/// @}

/// @name Running reductions
/// Along an axis, which keeps its size; `reverse` starts from the end. Dtypes are kept.
/// @{
Array cumsum(const ArrayLike& a, int axis = 0, bool reverse = false);        ///< sums
Array cumprod(const ArrayLike& a, int axis = 0, bool reverse = false);       ///< products
Array cummax(const ArrayLike& a, int axis = 0, bool reverse = false);        ///< the largest so far
Array cummin(const ArrayLike& a, int axis = 0, bool reverse = false);        ///< the smallest so far
Array cumlogsumexp(const ArrayLike& a, int axis = 0, bool reverse = false);  ///< log(sum(eᵃ)) so far, without overflow
/// @}

}  // namespace cotan::lax
