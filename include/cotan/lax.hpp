// cotan::lax: the primitives by name, and operations NumPy has no name for. Dtypes and shapes promote here
// too.
#pragma once
#include <cotan/array.hpp>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace cotan::lax {

Array rsqrt(const ArrayLike& a);
Array integer_pow(const ArrayLike& a, int n);
Array logistic(const ArrayLike& a);
Array erf(const ArrayLike& a);
Array erfc(const ArrayLike& a);
Array erf_inv(const ArrayLike& a);
Array lgamma(const ArrayLike& a);
Array digamma(const ArrayLike& a);
Array polygamma(int n, const ArrayLike& a);
/// Quotient and remainder rounded towards zero, as in C.
Array div(const ArrayLike& a, const ArrayLike& b);
Array rem(const ArrayLike& a, const ArrayLike& b);
Array clamp(const ArrayLike& lo, const ArrayLike& a, const ArrayLike& hi);
Array select(const ArrayLike& predicate, const ArrayLike& on_true, const ArrayLike& on_false);
Array shift_right_logical(const ArrayLike& a, const ArrayLike& b);
Array shift_right_arithmetic(const ArrayLike& a, const ArrayLike& b);
Array population_count(const ArrayLike& a);
Array clz(const ArrayLike& a);
Array convert_element_type(const ArrayLike& a, DType dtype);
/// The same bits as another dtype; a narrower one adds a trailing axis, a wider one takes it away.
Array bitcast_convert_type(const ArrayLike& a, DType dtype);

Array iota(DType dtype, const Shape& shape, int axis = 0, const std::source_location& where = COTAN_HERE);
Array broadcast_in_dim(const ArrayLike& a, const Shape& shape, const std::vector<std::int64_t>& dimensions);
Array transpose(const ArrayLike& a, const std::vector<std::int64_t>& permutation);
Array slice(const ArrayLike& a, const std::vector<std::int64_t>& start, const std::vector<std::int64_t>& limit,
            const std::vector<std::int64_t>& strides = {});
Array slice_in_dim(const ArrayLike& a, std::int64_t start, std::int64_t limit, std::int64_t stride = 1, int axis = 0);
struct PaddingConfig {
  std::int64_t low = 0, high = 0, interior = 0;
};
/// Low and high padding may be negative, which crops.
Array pad(const ArrayLike& a, const ArrayLike& value, const std::vector<PaddingConfig>& config);
Array rev(const ArrayLike& a, const std::vector<std::int64_t>& dimensions);
Array concatenate(const ArrayList& arrays, int dimension);

struct DotDimensionNumbers {
  std::vector<std::int64_t> contract_lhs, contract_rhs, batch_lhs, batch_rhs;
};
/// Result axes: batch, then free axes of `a`, then free axes of `b`.
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
  using Pairs = std::vector<std::pair<std::int64_t, std::int64_t>>;
  ConvPadding(const char* name) : name_(name) {}
  ConvPadding(std::string name) : name_(std::move(name)) {}
  ConvPadding(std::initializer_list<std::pair<std::int64_t, std::int64_t>> pairs) : pairs_(pairs) {}
  ConvPadding(Pairs pairs) : pairs_(std::move(pairs)) {}
  const std::string& name() const { return name_; }  ///< empty: the pairs hold
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
/// lhs[N,C,…] with rhs[O,I,…].
Array conv(const ArrayLike& lhs, const ArrayLike& rhs, const std::vector<std::int64_t>& window_strides,
           const ConvPadding& padding);
Array conv_with_general_padding(const ArrayLike& lhs, const ArrayLike& rhs,
                                const std::vector<std::int64_t>& window_strides, const ConvPadding& padding,
                                const std::vector<std::int64_t>& lhs_dilation,
                                const std::vector<std::int64_t>& rhs_dilation);
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

Array reduce_sum(const ArrayLike& a, const std::vector<std::int64_t>& axes);
Array reduce_prod(const ArrayLike& a, const std::vector<std::int64_t>& axes);
Array reduce_max(const ArrayLike& a, const std::vector<std::int64_t>& axes);
Array reduce_min(const ArrayLike& a, const std::vector<std::int64_t>& axes);
Array reduce_and(const ArrayLike& a, const std::vector<std::int64_t>& axes);
Array reduce_or(const ArrayLike& a, const std::vector<std::int64_t>& axes);
Array argmax(const ArrayLike& a, int axis, DType index_dtype = i32);
Array argmin(const ArrayLike& a, int axis, DType index_dtype = i32);

Array cumsum(const ArrayLike& a, int axis = 0, bool reverse = false);
Array cumprod(const ArrayLike& a, int axis = 0, bool reverse = false);
Array cummax(const ArrayLike& a, int axis = 0, bool reverse = false);
Array cummin(const ArrayLike& a, int axis = 0, bool reverse = false);
Array cumlogsumexp(const ArrayLike& a, int axis = 0, bool reverse = false);

/// What gather and scatter do with indices outside the operand.
enum class GatherScatterMode { clip, fill_or_drop, promise_in_bounds };
struct GatherDimensionNumbers {
  std::vector<std::int64_t> offset_dims, collapsed_slice_dims, start_index_map;
  std::vector<std::int64_t> operand_batching_dims = {}, start_indices_batching_dims = {};
};
Array gather(const ArrayLike& operand, const ArrayLike& start_indices, const GatherDimensionNumbers& dimensions,
             const std::vector<std::int64_t>& slice_sizes, GatherScatterMode mode = GatherScatterMode::fill_or_drop);
struct ScatterDimensionNumbers {
  std::vector<std::int64_t> update_window_dims, inserted_window_dims, scatter_dims_to_operand_dims;
  std::vector<std::int64_t> operand_batching_dims = {}, scatter_indices_batching_dims = {};
};
Array scatter(const ArrayLike& operand, const ArrayLike& indices, const ArrayLike& updates,
              const ScatterDimensionNumbers& dimensions, GatherScatterMode mode = GatherScatterMode::fill_or_drop);
Array scatter_add(const ArrayLike& operand, const ArrayLike& indices, const ArrayLike& updates,
                  const ScatterDimensionNumbers& dimensions, GatherScatterMode mode = GatherScatterMode::fill_or_drop);
Array scatter_mul(const ArrayLike& operand, const ArrayLike& indices, const ArrayLike& updates,
                  const ScatterDimensionNumbers& dimensions, GatherScatterMode mode = GatherScatterMode::fill_or_drop);
Array scatter_min(const ArrayLike& operand, const ArrayLike& indices, const ArrayLike& updates,
                  const ScatterDimensionNumbers& dimensions, GatherScatterMode mode = GatherScatterMode::fill_or_drop);
Array scatter_max(const ArrayLike& operand, const ArrayLike& indices, const ArrayLike& updates,
                  const ScatterDimensionNumbers& dimensions, GatherScatterMode mode = GatherScatterMode::fill_or_drop);
/// A window of static sizes at dynamic starts; starts are clamped so that the window fits.
Array dynamic_slice(const ArrayLike& a, const std::vector<Array>& start, const std::vector<std::int64_t>& sizes);
Array dynamic_slice_in_dim(const ArrayLike& a, const ArrayLike& start, std::int64_t size, int axis = 0);
Array dynamic_update_slice(const ArrayLike& a, const ArrayLike& update, const std::vector<Array>& start);
Array dynamic_update_slice_in_dim(const ArrayLike& a, const ArrayLike& update, const ArrayLike& start, int axis = 0);

/// Sorts all operands together by the first `num_keys` of them; stable unless told otherwise.
std::vector<Array> sort(const ArrayList& operands, int axis = -1, int num_keys = 1, bool is_stable = true);
/// The k largest along the last axis, and their indices.
std::pair<Array, Array> top_k(const ArrayLike& a, int k);

Array stop_gradient(const ArrayLike& a);

}  // namespace cotan::lax
