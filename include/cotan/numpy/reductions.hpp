// Reductions over axes, and running ones.
#pragma once
#include <cotan/array.hpp>
#include <optional>
#include <type_traits>

namespace cotan::numpy {

/// @name Reductions
/// `axis` is an axis, a list `{0, 1}`, or none for all; negative ones count from the end. With `keepdims` reduced axes
/// stay as axes of size 1. The forms with options take them by name: sum(x, {.axis = 0, .initial = 1, .where = mask}).
/// `where` is bool, broadcasts to the array and says which elements take part; `initial` is a scalar that takes part
/// too; `dtype` is that of the computation and of the result.
/// @{
/// Of sum, prod, nansum and nanprod.
struct ReductionOptions {
  Axes axis = {};
  std::optional<DType> dtype = {};
  bool keepdims = false;
  std::optional<Array> initial = {};
  std::optional<Array> where = {};
  bool promote_integers = true;  ///< small integers are summed in 32 bits
};
/// Of max, min, nanmax and nanmin. Where there is a mask, `initial` says what the maximum of nothing is.
struct ExtremumOptions {
  Axes axis = {};
  bool keepdims = false;
  std::optional<Array> initial = {};
  std::optional<Array> where = {};
};
/// Of mean and nanmean.
struct MeanOptions {
  Axes axis = {};
  std::optional<DType> dtype = {};
  bool keepdims = false;
  std::optional<Array> where = {};
};
/// Of var, std, nanvar and nanstd.
struct VarianceOptions {
  Axes axis = {};
  std::optional<DType> dtype = {};
  int ddof = 0;
  bool keepdims = false;
  std::optional<Array> where = {};
  std::optional<Array> mean = {};         ///< where it is known, with axes of size 1 where they are reduced
  std::optional<double> correction = {};  ///< what is taken from n in place of ddof; need not be whole
};
/// Of all and any.
struct TruthOptions {
  Axes axis = {};
  bool keepdims = false;
  std::optional<Array> where = {};
};
/// Sums. bool, i8 and i16 are summed in i32, u8 and u16 in u32; other dtypes are kept. Of nothing 0.
Array sum(const ArrayLike& a, const Axes& axis = {}, bool keepdims = false);
/// The same with options.
template <class Options = ReductionOptions>
Array sum(const ArrayLike& a, const std::type_identity_t<Options>& options);
/// Products, in the dtypes of sum. Of nothing 1.
Array prod(const ArrayLike& a, const Axes& axis = {}, bool keepdims = false);
/// The same with options.
template <class Options = ReductionOptions>
Array prod(const ArrayLike& a, const std::type_identity_t<Options>& options);
/// Means: f64 of 64-bit integers, f32 of other integers and bool; halves are summed in f32 and rounded once.
Array mean(const ArrayLike& a, const Axes& axis = {}, bool keepdims = false);
/// The same with options.
template <class Options = MeanOptions>
Array mean(const ArrayLike& a, const std::type_identity_t<Options>& options);
/// Variances: the mean of squared distances from the mean, divided by n - `ddof`; NaN where that is not positive.
/// Dtypes as of mean.
Array var(const ArrayLike& a, const Axes& axis = {}, bool keepdims = false, int ddof = 0);
/// The same with options.
template <class Options = VarianceOptions>
Array var(const ArrayLike& a, const std::type_identity_t<Options>& options);
/// Standard deviations: the roots of var.
Array std(const ArrayLike& a, const Axes& axis = {}, bool keepdims = false, int ddof = 0);
/// The same with options.
template <class Options = VarianceOptions>
Array std(const ArrayLike& a, const std::type_identity_t<Options>& options);
/// The largest elements. An axis without elements raises ShapeError.
Array max(const ArrayLike& a, const Axes& axis = {}, bool keepdims = false);
/// The same with options.
template <class Options = ExtremumOptions>
Array max(const ArrayLike& a, const std::type_identity_t<Options>& options);
/// The smallest elements. An axis without elements raises ShapeError.
Array min(const ArrayLike& a, const Axes& axis = {}, bool keepdims = false);
/// The same with options.
template <class Options = ExtremumOptions>
Array min(const ArrayLike& a, const std::type_identity_t<Options>& options);
/// The same as max.
Array amax(const ArrayLike& a, const Axes& axis = {}, bool keepdims = false);
/// The same with options.
template <class Options = ExtremumOptions>
Array amax(const ArrayLike& a, const std::type_identity_t<Options>& options);
/// The same as min.
Array amin(const ArrayLike& a, const Axes& axis = {}, bool keepdims = false);
/// The same with options.
template <class Options = ExtremumOptions>
Array amin(const ArrayLike& a, const std::type_identity_t<Options>& options);
/// max - min.
Array ptp(const ArrayLike& a, const Axes& axis = {}, bool keepdims = false);
/// Whether all elements are true: bool.
Array all(const ArrayLike& a, const Axes& axis = {}, bool keepdims = false);
/// The same with options.
template <class Options = TruthOptions>
Array all(const ArrayLike& a, const std::type_identity_t<Options>& options);
/// Whether any element is true: bool.
Array any(const ArrayLike& a, const Axes& axis = {}, bool keepdims = false);
/// The same with options.
template <class Options = TruthOptions>
Array any(const ArrayLike& a, const std::type_identity_t<Options>& options);
/// How many elements are not 0: i32.
Array count_nonzero(const ArrayLike& a, const Axes& axis = {}, bool keepdims = false);
/// As sum, but NaN counts as 0.
Array nansum(const ArrayLike& a, const Axes& axis = {}, bool keepdims = false);
/// The same with options.
template <class Options = ReductionOptions>
Array nansum(const ArrayLike& a, const std::type_identity_t<Options>& options);
/// As prod, but NaN counts as 1.
Array nanprod(const ArrayLike& a, const Axes& axis = {}, bool keepdims = false);
/// The same with options.
template <class Options = ReductionOptions>
Array nanprod(const ArrayLike& a, const std::type_identity_t<Options>& options);
/// The mean of what is not NaN; NaN of nothing.
Array nanmean(const ArrayLike& a, const Axes& axis = {}, bool keepdims = false);
/// The same with options.
template <class Options = MeanOptions>
Array nanmean(const ArrayLike& a, const std::type_identity_t<Options>& options);
/// The variance of what is not NaN.
Array nanvar(const ArrayLike& a, const Axes& axis = {}, bool keepdims = false, int ddof = 0);
/// The same with options.
template <class Options = VarianceOptions>
Array nanvar(const ArrayLike& a, const std::type_identity_t<Options>& options);
/// The roots of nanvar.
Array nanstd(const ArrayLike& a, const Axes& axis = {}, bool keepdims = false, int ddof = 0);
/// The same with options.
template <class Options = VarianceOptions>
Array nanstd(const ArrayLike& a, const std::type_identity_t<Options>& options);
/// The largest that is not NaN; NaN where all are.
Array nanmax(const ArrayLike& a, const Axes& axis = {}, bool keepdims = false);
/// The same with options.
template <class Options = ExtremumOptions>
Array nanmax(const ArrayLike& a, const std::type_identity_t<Options>& options);
/// The smallest that is not NaN; NaN where all are.
Array nanmin(const ArrayLike& a, const Axes& axis = {}, bool keepdims = false);
/// The same with options.
template <class Options = ExtremumOptions>
Array nanmin(const ArrayLike& a, const std::type_identity_t<Options>& options);
/// i32: where the largest element is along an axis, or in the flattened array; the first of several. NaN is the
/// largest.
Array argmax(const ArrayLike& a, std::optional<int> axis = std::nullopt, bool keepdims = false);
/// i32: where the smallest element is, as argmax.
Array argmin(const ArrayLike& a, std::optional<int> axis = std::nullopt, bool keepdims = false);
/// As argmax, but NaN is passed over; -1 where there is nothing else.
Array nanargmax(const ArrayLike& a, std::optional<int> axis = std::nullopt, bool keepdims = false);
/// As argmin, but NaN is passed over; -1 where there is nothing else.
Array nanargmin(const ArrayLike& a, std::optional<int> axis = std::nullopt, bool keepdims = false);
/// log(sum(eᵃ)) without overflow; dtypes as of mean. `jax.scipy.special.logsumexp`.
Array logsumexp(const ArrayLike& a, const Axes& axis = {}, bool keepdims = false);
/// @}

/// @name Running reductions
/// @{
/// Running sums along an axis, or of the flattened array. The dtype is kept unless one is given; bool counts as i32.
Array cumsum(const ArrayLike& a, std::optional<int> axis = std::nullopt, std::optional<DType> dtype = std::nullopt);
/// Running products, as cumsum.
Array cumprod(const ArrayLike& a, std::optional<int> axis = std::nullopt, std::optional<DType> dtype = std::nullopt);
/// As cumsum, but NaN counts as 0.
Array nancumsum(const ArrayLike& a, std::optional<int> axis = std::nullopt, std::optional<DType> dtype = std::nullopt);
/// As cumprod, but NaN counts as 1.
Array nancumprod(const ArrayLike& a, std::optional<int> axis = std::nullopt, std::optional<DType> dtype = std::nullopt);
/// Of cumulative_sum and cumulative_prod.
struct CumulativeOptions {
  std::optional<int> axis = {};     ///< may be left out for vectors alone
  std::optional<DType> dtype = {};  ///< by default as of sum
  bool include_initial = false;     ///< a 0, or a 1 of products, comes first
};
/// Running sums in the dtypes of sum.
Array cumulative_sum(const ArrayLike& a, const CumulativeOptions& options = {});
/// Running products; the dtype is kept.
Array cumulative_prod(const ArrayLike& a, const CumulativeOptions& options = {});
/// @}

}  // namespace cotan::numpy
