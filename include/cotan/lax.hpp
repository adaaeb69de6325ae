// cotan::lax: the primitives by name, and operations NumPy has no name for. Dtypes and shapes promote here
// too.
#pragma once
#include <cotan/array.hpp>
#include <span>
#include <string>
#include <utility>
#include <vector>

/// `jax.lax`: primitives by their names, and operations that NumPy has no name for; what a comment here does not say is
/// as there. Unlike JAX's, operands of different dtypes promote and shapes broadcast. Control flow (scan, while_loop,
/// cond …) is here too, by `<cotan/control_flow.hpp>`.
///
///     ct::Array y = ct::lax::rsqrt(x), window = ct::lax::dynamic_slice(x, {i, 0}, {1, 8});
namespace cotan::lax {

/// @name Elementwise
/// Functions of floats make integers floats: f64 where they have 64 bits, else f32.
/// @{
Array rsqrt(const ArrayLike& a);                    ///< 1 / √a
Array integer_pow(const ArrayLike& a, int n);       ///< a to the power n by multiplication, in the dtype of a
Array logistic(const ArrayLike& a);                 ///< 1 / (1 + e⁻ᵃ), the sigmoid
Array erf(const ArrayLike& a);                      ///< the error function
Array erfc(const ArrayLike& a);                     ///< 1 - erf(a), exact where it is small
Array erf_inv(const ArrayLike& a);                  ///< the inverse of erf, on (-1, 1)
Array lgamma(const ArrayLike& a);                   ///< log |Γ(a)|
Array digamma(const ArrayLike& a);                  ///< the derivative of lgamma
Array polygamma(int n, const ArrayLike& a);         ///< the n-th derivative of digamma; the order is a C++ integer
Array div(const ArrayLike& a, const ArrayLike& b);  ///< a / b; of integers rounded towards 0, as in C
Array rem(const ArrayLike& a, const ArrayLike& b);  ///< the remainder of that, with the sign of a
/// min(max(a, lo), hi).
Array clamp(const ArrayLike& lo, const ArrayLike& a, const ArrayLike& hi);
/// Elements of `on_true` where the predicate is true, else of `on_false`. It must be bool, else TypeError; numpy::where
/// takes numbers too.
Array select(const ArrayLike& predicate, const ArrayLike& on_true, const ArrayLike& on_false);
Array shift_right_logical(const ArrayLike& a, const ArrayLike& b);  ///< the bits of a moved right by b, zeros come in
Array shift_right_arithmetic(const ArrayLike& a,
                             const ArrayLike& b);  ///< the bits of a moved right by b, the sign comes in
Array population_count(const ArrayLike& a);        ///< how many bits of an integer are 1, in the dtype of a
Array clz(const ArrayLike& a);                     ///< how many bits of an integer before the first 1 are 0
/// re + i im, of f32 or f64: c64 or c128.
Array complex(const ArrayLike& re, const ArrayLike& im);
Array real(const ArrayLike& a);  ///< the real part of a complex number
Array imag(const ArrayLike& a);  ///< the imaginary part of a complex number
Array conj(const ArrayLike& a);  ///< re - i im; a real number becomes complex
/// As a.astype(dtype).
Array convert_element_type(const ArrayLike& a, DType dtype);
/// The same bits as another dtype; a narrower one adds a trailing axis, a wider one takes it away.
Array bitcast_convert_type(const ArrayLike& a, DType dtype);

/// @}

/// @name Shape
/// @{
/// 0, 1, 2, … along `axis`, the same along all others: `jax.lax.broadcasted_iota`.
Array iota(DType dtype, const Shape& shape, int axis = 0, const std::source_location& where = COTAN_HERE);
/// `a` spread over `shape`: its axis i is axis dimensions[i] there, of the same size or of size 1.
Array broadcast_in_dim(const ArrayLike& a, const Shape& shape, const std::vector<std::int64_t>& dimensions);
/// Axis i of the result is axis permutation[i] of `a`.
Array transpose(const ArrayLike& a, const std::vector<std::int64_t>& permutation);
/// Elements from `start` to below `limit` in steps of `strides` (1 unless given), one number per axis.
Array slice(const ArrayLike& a, const std::vector<std::int64_t>& start, const std::vector<std::int64_t>& limit,
            const std::vector<std::int64_t>& strides = {});
/// A slice along one axis. Negative bounds count from the end.
Array slice_in_dim(const ArrayLike& a, std::int64_t start, std::int64_t limit, std::int64_t stride = 1, int axis = 0);
/// Padding of one axis: before it, after it, and between any two elements.
struct PaddingConfig {
  std::int64_t low = 0, high = 0, interior = 0;
};
/// `value`, a scalar, around and between elements: one config per axis. Low and high padding may be negative, which
/// crops.
Array pad(const ArrayLike& a, const ArrayLike& value, const std::vector<PaddingConfig>& config);
/// Reversed along these axes.
Array rev(const ArrayLike& a, const std::vector<std::int64_t>& dimensions);
/// Joined along an axis, as numpy::concatenate.
Array concatenate(const ArrayList& arrays, int dimension);
/// @}

/// @name Products
/// @{
/// Which axes of the operands are summed over in pairs, and which go along in pairs.
struct DotDimensionNumbers {
  std::vector<std::int64_t> contract_lhs, contract_rhs, batch_lhs, batch_rhs;
};
/// Sums of products. Result axes: batch, then free axes of `a`, then free axes of `b`. A batched matrix product:
/// dot_general(a, b, {.contract_lhs = {2}, .contract_rhs = {1}, .batch_lhs = {0}, .batch_rhs = {0}}).
Array dot_general(const ArrayLike& a, const ArrayLike& b, const DotDimensionNumbers& dimensions);

/// Layouts of a convolution, a letter per axis: N batch, C features; O and I the kernel's output and input
/// features; any other letters are spatial axes. Left empty: {"NCHW", "OIHW", "NCHW"} and alike.
struct ConvDimensionNumbers {
  std::string lhs = {}, rhs = {}, out = {};
};
/// Zeros put around the spatial axes: (low, high) pairs, where negative ones crop; or "VALID", none; or
/// "SAME", as many as make the result as long as lhs divided by the strides, an odd one at the end
/// ("SAME_LOWER": at the beginning).
class ConvPadding {
 public:
  /// (low, high) per spatial axis.
  using Pairs = std::vector<std::pair<std::int64_t, std::int64_t>>;
  ConvPadding(const char* name) : name_(name) {}
  ConvPadding(std::string name) : name_(std::move(name)) {}
  ConvPadding(std::initializer_list<std::pair<std::int64_t, std::int64_t>> pairs) : pairs_(pairs) {}
  ConvPadding(Pairs pairs) : pairs_(std::move(pairs)) {}
  const std::string& name() const { return name_; }  ///< empty: the pairs hold
  /// The pairs.
  const Pairs& pairs() const { return pairs_; }

 private:
  std::string name_;
  Pairs pairs_;
};
/// Lists have one entry per spatial axis, in the order of the kernel's layout; empty ones are all 1.
struct ConvOptions {
  std::vector<std::int64_t> window_strides = {};
  ConvPadding padding = "VALID";
  std::vector<std::int64_t> lhs_dilation = {}, rhs_dilation = {};
  ConvDimensionNumbers dimension_numbers = {};
  /// Input and output features, or images and output features, are divided into groups that do not meet.
  std::int64_t feature_group_count = 1, batch_group_count = 1;
};
/// The products of `rhs`, a kernel, with the windows of `lhs`, summed over input features and window; with
/// any number of spatial axes. (The kernel is not turned round: mathematicians call this correlation.)
Array conv_general_dilated(const ArrayLike& lhs, const ArrayLike& rhs, const ConvOptions& options = {});
/// conv_general_dilated of lhs[N, C, …] with rhs[O, I, …].
Array conv(const ArrayLike& lhs, const ArrayLike& rhs, const std::vector<std::int64_t>& window_strides,
           const ConvPadding& padding);
/// The same with pairs of padding and dilations.
Array conv_with_general_padding(const ArrayLike& lhs, const ArrayLike& rhs,
                                const std::vector<std::int64_t>& window_strides, const ConvPadding& padding,
                                const std::vector<std::int64_t>& lhs_dilation,
                                const std::vector<std::int64_t>& rhs_dilation);
/// Of conv_transpose. Lists have one entry per spatial axis; empty ones are all 1.
struct ConvTransposeOptions {
  std::vector<std::int64_t> strides = {};
  /// A name means the padding of the convolution that this is the transpose of; pairs are put around lhs.
  ConvPadding padding = "SAME";
  std::vector<std::int64_t> rhs_dilation = {};
  /// Left empty: {"NHWC", "HWIO", "NHWC"} and alike.
  ConvDimensionNumbers dimension_numbers = {};
  /// Turns the kernel round and swaps its features, which makes this the gradient of a convolution.
  bool transpose_kernel = false;
  /// Pairs too mean the padding of the convolution that this is the transpose of.
  bool use_consistent_padding = false;
};
/// A convolution that makes lhs longer by the strides ("fractionally strided").
Array conv_transpose(const ArrayLike& lhs, const ArrayLike& rhs, const ConvTransposeOptions& options = {});

/// @}

/// @name Reductions
/// Over these axes, which go. Dtypes are kept, where those of numpy widen. Of no axes nothing changes.
/// @{
Array reduce_sum(const ArrayLike& a, const std::vector<std::int64_t>& axes);   ///< sums
Array reduce_prod(const ArrayLike& a, const std::vector<std::int64_t>& axes);  ///< products
Array reduce_max(const ArrayLike& a, const std::vector<std::int64_t>& axes);   ///< the largest
Array reduce_min(const ArrayLike& a, const std::vector<std::int64_t>& axes);   ///< the smallest
Array reduce_and(const ArrayLike& a, const std::vector<std::int64_t>& axes);   ///< all bits, or whether all are true
Array reduce_or(const ArrayLike& a, const std::vector<std::int64_t>& axes);    ///< any bits, or whether any is true
Array argmax(const ArrayLike& a, int axis, DType index_dtype = i32);  ///< where the largest is, the first of several
Array argmin(const ArrayLike& a, int axis, DType index_dtype = i32);  ///< where the smallest is, the first of several
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

/// @name Gather, scatter, dynamic slices
/// @{
/// What gather and scatter do with indices outside the operand: use the nearest that fits, read NaN (of integers the
/// smallest, of unsigned ones the largest) and drop writes, or anything, since there are none.
enum class GatherScatterMode { clip, fill_or_drop, promise_in_bounds };
/// Which axes of operand, indices and result belong together: XLA's dimension numbers.
struct GatherDimensionNumbers {
  std::vector<std::int64_t> offset_dims, collapsed_slice_dims, start_index_map;
  std::vector<std::int64_t> operand_batching_dims = {}, start_indices_batching_dims = {};
};
/// Windows of `slice_sizes` at the start indices along the last axis of `start_indices`. numpy::take and indexing are
/// easier.
Array gather(const ArrayLike& operand, const ArrayLike& start_indices, const GatherDimensionNumbers& dimensions,
             const std::vector<std::int64_t>& slice_sizes, GatherScatterMode mode = GatherScatterMode::fill_or_drop);
/// The same of a scatter.
struct ScatterDimensionNumbers {
  std::vector<std::int64_t> update_window_dims, inserted_window_dims, scatter_dims_to_operand_dims;
  std::vector<std::int64_t> operand_batching_dims = {}, scatter_indices_batching_dims = {};
};
/// `updates` put at the indices. Where several meet in one place, one of them stays. `a.at(i).set(x)` is easier.
Array scatter(const ArrayLike& operand, const ArrayLike& indices, const ArrayLike& updates,
              const ScatterDimensionNumbers& dimensions, GatherScatterMode mode = GatherScatterMode::fill_or_drop);
/// The same, added to what is there; all that meet in one place.
Array scatter_add(const ArrayLike& operand, const ArrayLike& indices, const ArrayLike& updates,
                  const ScatterDimensionNumbers& dimensions, GatherScatterMode mode = GatherScatterMode::fill_or_drop);
/// The same, multiplied with what is there.
Array scatter_mul(const ArrayLike& operand, const ArrayLike& indices, const ArrayLike& updates,
                  const ScatterDimensionNumbers& dimensions, GatherScatterMode mode = GatherScatterMode::fill_or_drop);
/// The same, the smallest of what is there and comes.
Array scatter_min(const ArrayLike& operand, const ArrayLike& indices, const ArrayLike& updates,
                  const ScatterDimensionNumbers& dimensions, GatherScatterMode mode = GatherScatterMode::fill_or_drop);
/// The same, the largest of what is there and comes.
Array scatter_max(const ArrayLike& operand, const ArrayLike& indices, const ArrayLike& updates,
                  const ScatterDimensionNumbers& dimensions, GatherScatterMode mode = GatherScatterMode::fill_or_drop);
/// A window of static sizes at dynamic starts, integer scalars, one per axis; negative ones count from the end, and all
/// are clamped so that the window fits.
Array dynamic_slice(const ArrayLike& a, const std::vector<Array>& start, const std::vector<std::int64_t>& sizes);
/// A window along one axis, all of the others.
Array dynamic_slice_in_dim(const ArrayLike& a, const ArrayLike& start, std::int64_t size, int axis = 0);
/// `a` with `update` in the window at `start`, which is clamped so that it fits.
Array dynamic_update_slice(const ArrayLike& a, const ArrayLike& update, const std::vector<Array>& start);
/// The same along one axis.
Array dynamic_update_slice_in_dim(const ArrayLike& a, const ArrayLike& update, const ArrayLike& start, int axis = 0);
/// @}

/// @name Sorting, and stop_gradient
/// @{
/// Sorts all operands together, along an axis, by the first `num_keys` of them; stable unless told otherwise. NaN last.
std::vector<Array> sort(const ArrayList& operands, int axis = -1, int num_keys = 1, bool is_stable = true);
/// The k largest along the last axis, and their indices.
std::pair<Array, Array> top_k(const ArrayLike& a, int k);

/// The value itself, a constant to differentiation.
Array stop_gradient(const ArrayLike& a);
/// @}

}  // namespace cotan::lax
