// cotan::nn: what neural networks are built of, as in jax.nn.
#pragma once
#include <cotan/array.hpp>
#include <cotan/lax.hpp>
#include <cotan/nn/initializers.hpp>
#include <optional>
#include <utility>

/// `jax.nn`.
namespace cotan::nn {

Array identity(const ArrayLike& x);        ///< x
Array relu(const ArrayLike& x);            ///< max(x, 0); the derivative at 0 is 0
Array relu6(const ArrayLike& x);           ///< min(max(x, 0), 6); the derivative at 0 and 6 is 0
Array sigmoid(const ArrayLike& x);         ///< 1 / (1 + e⁻ˣ)
Array softplus(const ArrayLike& x);        ///< log(1 + eˣ)
Array silu(const ArrayLike& x);            ///< x sigmoid(x)
Array swish(const ArrayLike& x);           ///< the same as silu
Array mish(const ArrayLike& x);            ///< x tanh(softplus(x))
Array log_sigmoid(const ArrayLike& x);     ///< log(sigmoid(x))
Array soft_sign(const ArrayLike& x);       ///< x / (|x| + 1)
Array tanh(const ArrayLike& x);            ///< hyperbolic tangent
Array hard_tanh(const ArrayLike& x);       ///< x between -1 and 1
Array hard_sigmoid(const ArrayLike& x);    ///< relu6(x + 3) / 6
Array hard_silu(const ArrayLike& x);       ///< x hard_sigmoid(x)
Array hard_swish(const ArrayLike& x);      ///< the same as hard_silu
Array sparse_plus(const ArrayLike& x);     ///< 0 up to -1, (x + 1)² / 4 up to 1, then x
Array sparse_sigmoid(const ArrayLike& x);  ///< (x + 1) / 2 between 0 and 1
Array selu(const ArrayLike& x);            ///< elu times a constant, which keeps mean and variance
Array log1mexp(const ArrayLike& x);        ///< log(1 - e⁻ˣ) of x > 0, exact everywhere
/// x where it is positive, else alpha (eˣ - 1).
Array elu(const ArrayLike& x, const ArrayLike& alpha = 1.0);
/// max(x, 0) + alpha (e^(min(x, 0) / alpha) - 1).
Array celu(const ArrayLike& x, const ArrayLike& alpha = 1.0);
/// x where it is not negative, else negative_slope x.
Array leaky_relu(const ArrayLike& x, const ArrayLike& negative_slope = 1e-2);
/// (x + √(x² + b)) / 2.
Array squareplus(const ArrayLike& x, const ArrayLike& b = 4);
/// x times the normal distribution function of x, or its approximation by tanh.
Array gelu(const ArrayLike& x, bool approximate = true);
/// The first half along an axis times the sigmoid of the second.
Array glu(const ArrayLike& x, int axis = -1);

/// eˣ by its sum over axes. Where there is a mask, `where`, others than its elements are left out and give 0.
Array softmax(const ArrayLike& x, const Axes& axis = -1, const Array& where = {});
/// The logarithm of softmax; -inf where the mask leaves out.
Array log_softmax(const ArrayLike& x, const Axes& axis = -1, const Array& where = {});
/// Of logsumexp and logmeanexp.
struct LogSumExpOptions {
  Axes axis = {};
  Array b = {};  ///< weights of the terms (not of logmeanexp); where their sum is negative the result is NaN
  bool keepdims = false;
  Array where = {};  ///< a mask: false leaves a term out
};
/// log(sum(b eˣ)) over axes, without overflow.
Array logsumexp(const ArrayLike& x, const LogSumExpOptions& options = {});
/// The logarithm of the mean of eˣ.
Array logmeanexp(const ArrayLike& x, const LogSumExpOptions& options = {});
/// Of standardize.
struct StandardizeOptions {
  Axes axis = -1;
  Array mean = {}, variance = {};  ///< by default those of x
  double epsilon = 1e-5;           ///< added to the variance
  Array where = {};                ///< a mask: what mean and variance are of
  std::string algorithm = "fast";  ///< the mean of squares less the square of the mean, or "stable"
};
/// (x - mean) / √(variance + epsilon).
Array standardize(const ArrayLike& x, const StandardizeOptions& options = {});
/// 1 at the class that x names along a new axis, else 0; all 0 where it names none. `num_classes` long.
Array one_hot(const ArrayLike& x, std::int64_t num_classes, DType dtype = f32, int axis = -1);

/// How far a query sees to the left and to the right.
struct Window {
  int left, right;
  Window(int both) : left(both), right(both) {}
  Window(int to_the_left, int to_the_right) : left(to_the_left), right(to_the_right) {}
};
/// Of dot_product_attention.
struct AttentionOptions {
  Array bias = {};                               ///< added to the scores; broadcasts to [B, N, T, S]
  Array mask = {};                               ///< bool, broadcasts likewise: false hides a key from a query
  bool is_causal = false;                        ///< query t sees the keys up to t
  std::optional<double> scale = {};              ///< of the products; by default 1 / sqrt(H)
  Array query_seq_lengths = {};                  ///< i32[B]: queries from there on give 0
  Array key_value_seq_lengths = {};              ///< i32[B]: keys from there on are hidden
  std::optional<Window> local_window_size = {};  ///< query t sees keys from t - left to t + right
  std::string implementation = "";  ///< "", "xla": what the device has. Others, such as "cudnn", raise ValueError
};
/// softmax(query keyᵀ scale + bias) value for each head. query: [B, T, N, H], key and value: [B, S, K, H], all of them
/// with or without B; N is a multiple of K, and so many heads share a key. Scores are f32 at least; halves are rounded
/// once, at the end. A query that sees no key gets the mean of all values. On the device 'webgpu' scores are never in
/// memory, forwards or backwards.
Array dot_product_attention(const ArrayLike& query, const ArrayLike& key, const ArrayLike& value,
                            const AttentionOptions& options = {});
/// The same, and the logarithm of the sum of e to the scores, [B, T, N]: JAX's return_residual. The second has no
/// derivative. Scores are computed twice.
std::pair<Array, Array> dot_product_attention_with_residual(const ArrayLike& query, const ArrayLike& key,
                                                            const ArrayLike& value,
                                                            const AttentionOptions& options = {});

/// lhs [B, M, K] times rhs [B, N, K] transposed, whose blocks along K have scales [B, M, K / block] and
/// [B, N, K / block]: f32, or what is preferred.
Array scaled_matmul(const ArrayLike& lhs, const ArrayLike& rhs, const ArrayLike& lhs_scales,
                    const ArrayLike& rhs_scales, DType preferred_element_type = f32);
/// lax::dot_general. JAX's configs, which round operands to 8 and 4 bits on some NVIDIA GPUs, are not there.
Array scaled_dot_general(const ArrayLike& lhs, const ArrayLike& rhs, const lax::DotDimensionNumbers& dimension_numbers,
                         DType preferred_element_type = f32);

}  // namespace cotan::nn
