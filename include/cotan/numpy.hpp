// cotan::numpy: NumPy's names over Arrays. Operands broadcast and promote as in JAX.
#pragma once
#include <cotan/array.hpp>
#include <initializer_list>
#include <limits>
#include <numbers>
#include <optional>
#include <string_view>
#include <vector>

/// `jax.numpy`, with its names, argument orders and results: what a comment here does not say is as there. Operands
/// broadcast as NumPy's do, and dtypes promote as JAX's with x64 on; C++ numbers take the dtype of what they meet.
/// Shapes that do not fit raise ShapeError, dtypes that do not fit TypeError, axes that do not exist IndexError.
///
///     namespace np = cotan::numpy;
///     ct::Array y = np::mean(np::square(x - 1), 0);
namespace cotan::numpy {

inline constexpr double pi = std::numbers::pi;                           ///< 3.14159…
inline constexpr double e = std::numbers::e;                             ///< 2.71828…
inline constexpr double inf = std::numeric_limits<double>::infinity();   ///< infinity
inline constexpr double nan = std::numeric_limits<double>::quiet_NaN();  ///< not a number

/// Nested braces of literals: array({{1, 2}, {3, 4}}). Elements keep every bit until the dtype is known.
class Nested {
 public:
  template <HostNumber T>
  Nested(T value);
  Nested(std::initializer_list<Nested> items);
  Nested(const Array& a);

 private:
  friend struct NestedReader;
  enum class Kind { boolean, integer, real, complex, list, array } kind_;
  double real_ = 0, imaginary_ = 0;
  std::int64_t integer_ = 0;
  std::vector<Nested> items_;
  Array array_;
};

/// @name Creation
/// Dtypes are f32, or i32 of integers, unless one is given. Sizes that are negative or too large raise.
/// @{
/// From nested braces: f32 or i32 or bool, or c64 of std::complex, unless a dtype is given. array({0.1, 0.2}, f64) is
/// exact.
Array array(std::initializer_list<Nested> items, std::optional<DType> dtype = std::nullopt,
            const std::source_location& where = COTAN_HERE);
/// The same of one element, which may be an Array or a number.
Array array(const Nested& nested, std::optional<DType> dtype = std::nullopt,
            const std::source_location& where = COTAN_HERE);
/// From a vector of the host, shape [n]: of its element type unless a dtype is given.
template <HostElement T>
Array array(const std::vector<T>& values, std::optional<DType> dtype = std::nullopt) {
  Array a = Array::from_host(values);
  return dtype ? a.astype(*dtype, {}) : a;
}
/// `a` itself, or cast to `dtype`.
Array asarray(const ArrayLike& a, std::optional<DType> dtype = std::nullopt);
/// All 0.
Array zeros(const Shape& shape, DType dtype = f32, const std::source_location& where = COTAN_HERE);
/// All 1.
Array ones(const Shape& shape, DType dtype = f32, const std::source_location& where = COTAN_HERE);
/// All `value`, which broadcasts to `shape`; of its dtype unless one is given.
Array full(const Shape& shape, const ArrayLike& value, std::optional<DType> dtype = std::nullopt);
/// 0 in the shape of `a`, and in its dtype unless one is given.
Array zeros_like(const ArrayLike& a, std::optional<DType> dtype = std::nullopt);
/// 1 in the shape of `a`, and in its dtype unless one is given.
Array ones_like(const ArrayLike& a, std::optional<DType> dtype = std::nullopt);
/// `value` in the shape of `a`, and in its dtype unless one is given.
Array full_like(const ArrayLike& a, const ArrayLike& value, std::optional<DType> dtype = std::nullopt);
/// Zeros: nothing is ever left without a value.
Array empty(const Shape& shape, DType dtype = f32, const std::source_location& where = COTAN_HERE);
/// [n, m]: 1 on the k-th diagonal, 0 elsewhere; `m` is `n` unless given, k > 0 is above the main diagonal.
Array eye(std::int64_t n, std::optional<std::int64_t> m = std::nullopt, int k = 0, DType dtype = f32,
          const std::source_location& where = COTAN_HERE);
/// The identity matrix, [n, n].
Array identity(std::int64_t n, DType dtype = f32, const std::source_location& where = COTAN_HERE);
namespace detail {
Array integer_range(std::int64_t start, std::int64_t stop, std::int64_t step, DType dtype);
Array real_range(double start, double stop, double step, DType dtype);
}  // namespace detail
/// 0, 1, … below stop: arange(5), arange(5, f64). Of integers i32, of floats f32 unless a dtype is given.
template <class Stop>
  requires std::is_arithmetic_v<Stop>
Array arange(Stop stop, DType dtype = std::is_integral_v<Stop> ? i32 : f32,
             const std::source_location& where = COTAN_HERE) {
  const cotan::detail::CallSite site(where);
  if constexpr (std::is_integral_v<Stop>)
    return detail::integer_range(0, static_cast<std::int64_t>(stop), 1, dtype);
  else
    return detail::real_range(0, static_cast<double>(stop), 1, dtype);
}
/// start, start + step, … below stop, or above it where the step is negative. A step of 0 raises ValueError.
template <class Start, class Stop, class Step = int>
  requires(std::is_arithmetic_v<Start> && std::is_arithmetic_v<Stop> && std::is_arithmetic_v<Step>)
Array arange(Start start, Stop stop, Step step = 1,
             DType dtype = std::is_integral_v<Start> && std::is_integral_v<Stop> && std::is_integral_v<Step> ? i32
                                                                                                             : f32,
             const std::source_location& where = COTAN_HERE) {
  const cotan::detail::CallSite site(where);
  if constexpr (std::is_integral_v<Start> && std::is_integral_v<Stop> && std::is_integral_v<Step>)
    return detail::integer_range(static_cast<std::int64_t>(start), static_cast<std::int64_t>(stop),
                                 static_cast<std::int64_t>(step), dtype);
  else
    return detail::real_range(static_cast<double>(start), static_cast<double>(stop), static_cast<double>(step), dtype);
}
/// `num` numbers from start to stop, evenly apart; without `endpoint` stop is left out. Where the bounds are arrays
/// they broadcast, and the numbers are along a new first axis. An integer dtype rounds down.
Array linspace(const ArrayLike& start, const ArrayLike& stop, std::int64_t num = 50, bool endpoint = true,
               DType dtype = f32);
/// `base` to the power of linspace(start, stop, num, endpoint).
Array logspace(const ArrayLike& start, const ArrayLike& stop, std::int64_t num = 50, bool endpoint = true,
               double base = 10, DType dtype = f32);
/// `num` numbers from start to stop with equal quotients; both bounds have one sign.
Array geomspace(const ArrayLike& start, const ArrayLike& stop, std::int64_t num = 50, bool endpoint = true,
                DType dtype = f32);
/// [n, m]: 1 on and below the k-th diagonal, 0 above.
Array tri(std::int64_t n, std::optional<std::int64_t> m = std::nullopt, int k = 0, DType dtype = f32,
          const std::source_location& where = COTAN_HERE);
Array tril(const ArrayLike& a, int k = 0);  ///< 0 above the k-th diagonal of the last two axes
Array triu(const ArrayLike& a, int k = 0);  ///< 0 below the k-th diagonal of the last two axes
/// A vector on the k-th diagonal of a matrix, or the diagonal of a matrix.
Array diag(const ArrayLike& a, int k = 0);
/// The diagonal of two axes, which go; it is the last axis of the result. offset > 0 is above the main diagonal.
Array diagonal(const ArrayLike& a, int offset = 0, int axis1 = 0, int axis2 = 1);
/// Each vector spread over the grid of all: "xy" has shape [len(y), len(x), …], "ij" [len(x), len(y), …].
std::vector<Array> meshgrid(const ArrayList& xs, std::string_view indexing = "xy");
/// @}

/// @name Elementwise arithmetic
/// Of two operands the result has their promoted dtype and broadcast shape; of one operand its own, unless said
/// otherwise. Where "integers become floats", 64-bit ones become f64 and others f32.
/// @{
Array add(const ArrayLike& a, const ArrayLike& b);       ///< a + b
Array subtract(const ArrayLike& a, const ArrayLike& b);  ///< a - b
Array multiply(const ArrayLike& a, const ArrayLike& b);  ///< a * b
/// True division: integers become floats.
Array divide(const ArrayLike& a, const ArrayLike& b);
Array true_divide(const ArrayLike& a, const ArrayLike& b);   ///< the same as divide
Array floor_divide(const ArrayLike& a, const ArrayLike& b);  ///< a / b rounded down
/// Python's modulo: the sign of the divisor.
Array mod(const ArrayLike& a, const ArrayLike& b);
Array remainder(const ArrayLike& a, const ArrayLike& b);  ///< the same as mod
/// C's modulo: the sign of the dividend.
Array fmod(const ArrayLike& a, const ArrayLike& b);
/// a to the power b. A C++ integer as `b` multiplies `a` with itself, exactly, and has the right derivative at 0; a
/// negative one of integers raises TypeError.
Array power(const ArrayLike& a, const ArrayLike& b);
Array negative(const ArrayLike& a);                       ///< -a
Array positive(const ArrayLike& a);                       ///< a
Array reciprocal(const ArrayLike& a);                     ///< 1 / a; integers become floats
Array abs(const ArrayLike& a);                            ///< |a|
Array absolute(const ArrayLike& a);                       ///< the same as abs
Array fabs(const ArrayLike& a);                           ///< |a|; integers become floats
Array sign(const ArrayLike& a);                           ///< -1, 0 or 1
Array maximum(const ArrayLike& a, const ArrayLike& b);    ///< the larger; NaN where one is NaN
Array minimum(const ArrayLike& a, const ArrayLike& b);    ///< the smaller; NaN where one is NaN
Array fmax(const ArrayLike& a, const ArrayLike& b);       ///< the larger; a number wins over a NaN
Array fmin(const ArrayLike& a, const ArrayLike& b);       ///< the smaller; a number wins over a NaN
Array square(const ArrayLike& a);                         ///< a * a; bool counts as i32
Array sqrt(const ArrayLike& a);                           ///< √a; integers become floats
Array cbrt(const ArrayLike& a);                           ///< the cube root; integers become floats
Array hypot(const ArrayLike& a, const ArrayLike& b);      ///< √(a² + b²) without overflow; integers become floats
Array copysign(const ArrayLike& a, const ArrayLike& b);   ///< |a| with the sign of b; integers become floats
Array nextafter(const ArrayLike& a, const ArrayLike& b);  ///< the next number of the dtype from a towards b
Array heaviside(const ArrayLike& a, const ArrayLike& b);  ///< 0 where a < 0, 1 where a > 0, b where a is 0
/// a · 2ᵇ; `b` holds integers, else TypeError. Integers in `a` become floats.
Array ldexp(const ArrayLike& a, const ArrayLike& b);
/// min(max(a, lo), hi).
Array clip(const ArrayLike& a, const ArrayLike& lo, const ArrayLike& hi);
Array logaddexp(const ArrayLike& a, const ArrayLike& b);   ///< log(eᵃ + eᵇ) without overflow; integers become floats
Array logaddexp2(const ArrayLike& a, const ArrayLike& b);  ///< log₂(2ᵃ + 2ᵇ) without overflow; integers become floats
Array gcd(const ArrayLike& a, const ArrayLike& b);         ///< the greatest common divisor of integers
Array lcm(const ArrayLike& a, const ArrayLike& b);         ///< the least common multiple of integers
/// NaN replaced by `nan`, infinities by `posinf` and `neginf`: by default the largest numbers of the dtype.
Array nan_to_num(const ArrayLike& a, double nan = 0.0, std::optional<double> posinf = std::nullopt,
                 std::optional<double> neginf = std::nullopt);
/// @}

/// @name Exponentials, trigonometry, rounding
/// Integers become floats, f64 where they have 64 bits and else f32, unless said otherwise. Angles are in radians.
/// @{
Array exp(const ArrayLike& a);                          ///< eᵃ
Array exp2(const ArrayLike& a);                         ///< 2ᵃ
Array expm1(const ArrayLike& a);                        ///< eᵃ - 1, exact near 0
Array log(const ArrayLike& a);                          ///< the natural logarithm
Array log2(const ArrayLike& a);                         ///< the logarithm to base 2
Array log10(const ArrayLike& a);                        ///< the logarithm to base 10
Array log1p(const ArrayLike& a);                        ///< log(1 + a), exact near 0
Array sin(const ArrayLike& a);                          ///< sine
Array cos(const ArrayLike& a);                          ///< cosine
Array tan(const ArrayLike& a);                          ///< tangent
Array arcsin(const ArrayLike& a);                       ///< inverse sine, in [-π/2, π/2]
Array arccos(const ArrayLike& a);                       ///< inverse cosine, in [0, π]
Array arctan(const ArrayLike& a);                       ///< inverse tangent, in [-π/2, π/2]
Array arctan2(const ArrayLike& y, const ArrayLike& x);  ///< the angle of the point (x, y), in [-π, π]
Array sinh(const ArrayLike& a);                         ///< hyperbolic sine
Array cosh(const ArrayLike& a);                         ///< hyperbolic cosine
Array tanh(const ArrayLike& a);                         ///< hyperbolic tangent
Array arcsinh(const ArrayLike& a);                      ///< inverse hyperbolic sine
Array arccosh(const ArrayLike& a);                      ///< inverse hyperbolic cosine
Array arctanh(const ArrayLike& a);                      ///< inverse hyperbolic tangent
Array sinc(const ArrayLike& a);                         ///< sin(πa) / (πa); 1 at 0
Array deg2rad(const ArrayLike& a);                      ///< degrees to radians
Array rad2deg(const ArrayLike& a);                      ///< radians to degrees
Array floor(const ArrayLike& a);                        ///< rounded down; integers stay as they are
Array ceil(const ArrayLike& a);                         ///< rounded up; integers stay as they are
Array trunc(const ArrayLike& a);                        ///< rounded towards 0; integers stay as they are
Array rint(const ArrayLike& a);                         ///< the nearest whole number, half to even
/// Half to even, at `decimals` digits after the point, or before it where negative. Dtypes are kept.
Array round(const ArrayLike& a, int decimals = 0);
/// @}

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
Array bitwise_count(const ArrayLike& a);                      ///< u8: how many bits of |a| are 1
Array left_shift(const ArrayLike& a, const ArrayLike& b);     ///< a << b of integers, in their promoted dtype
Array right_shift(const ArrayLike& a, const ArrayLike& b);    ///< a >> b of integers; signed ones keep their sign
Array isnan(const ArrayLike& a);                              ///< a is NaN
Array isinf(const ArrayLike& a);                              ///< a is an infinity
Array isfinite(const ArrayLike& a);                           ///< a is neither NaN nor infinite
Array signbit(const ArrayLike& a);                            ///< a is negative; also -0.0 is
/// Whether |a - b| <= atol + rtol |b| of finite ones; infinities are close to themselves, NaN where `equal_nan` says
/// so.
Array isclose(const ArrayLike& a, const ArrayLike& b, double rtol = 1e-5, double atol = 1e-8, bool equal_nan = false);
/// Whether isclose holds everywhere: a scalar, of which `.item<bool>()` is the C++ value.
Array allclose(const ArrayLike& a, const ArrayLike& b, double rtol = 1e-5, double atol = 1e-8, bool equal_nan = false);
/// Whether shapes and all elements are equal: a scalar.
Array array_equal(const ArrayLike& a, const ArrayLike& b);
/// Elements of `a` where `condition`, else of `b`; no gradient reaches the side that is not taken.
Array where(const ArrayLike& condition, const ArrayLike& a, const ArrayLike& b);
/// @}

/// @name Reductions
/// `axis` is an axis, a list `{0, 1}`, or none for all; negative ones count from the end. With `keepdims` reduced axes
/// stay as axes of size 1.
/// @{
/// Sums. bool, i8 and i16 are summed in i32, u8 and u16 in u32; other dtypes are kept. Of nothing 0.
Array sum(const ArrayLike& a, const Axes& axis = {}, bool keepdims = false);
/// Products, in the dtypes of sum. Of nothing 1.
Array prod(const ArrayLike& a, const Axes& axis = {}, bool keepdims = false);
/// Means: f64 of 64-bit integers, f32 of other integers and bool; halves are summed in f32 and rounded once.
Array mean(const ArrayLike& a, const Axes& axis = {}, bool keepdims = false);
/// Variances: the mean of squared distances from the mean, divided by n - `ddof`; NaN where that is not positive.
/// Dtypes as of mean.
Array var(const ArrayLike& a, const Axes& axis = {}, bool keepdims = false, int ddof = 0);
/// Standard deviations: the roots of var.
Array std(const ArrayLike& a, const Axes& axis = {}, bool keepdims = false, int ddof = 0);
/// The largest elements. An axis without elements raises ShapeError.
Array max(const ArrayLike& a, const Axes& axis = {}, bool keepdims = false);
/// The smallest elements. An axis without elements raises ShapeError.
Array min(const ArrayLike& a, const Axes& axis = {}, bool keepdims = false);
/// The same as max.
Array amax(const ArrayLike& a, const Axes& axis = {}, bool keepdims = false);
/// The same as min.
Array amin(const ArrayLike& a, const Axes& axis = {}, bool keepdims = false);
/// max - min.
Array ptp(const ArrayLike& a, const Axes& axis = {}, bool keepdims = false);
/// Whether all elements are true: bool.
Array all(const ArrayLike& a, const Axes& axis = {}, bool keepdims = false);
/// Whether any element is true: bool.
Array any(const ArrayLike& a, const Axes& axis = {}, bool keepdims = false);
/// How many elements are not 0: i32.
Array count_nonzero(const ArrayLike& a, const Axes& axis = {}, bool keepdims = false);
/// As sum, but NaN counts as 0.
Array nansum(const ArrayLike& a, const Axes& axis = {}, bool keepdims = false);
/// The mean of what is not NaN; NaN of nothing.
Array nanmean(const ArrayLike& a, const Axes& axis = {}, bool keepdims = false);
/// The largest that is not NaN; NaN where all are.
Array nanmax(const ArrayLike& a, const Axes& axis = {}, bool keepdims = false);
/// The smallest that is not NaN; NaN where all are.
Array nanmin(const ArrayLike& a, const Axes& axis = {}, bool keepdims = false);
/// i32: where the largest element is along an axis, or in the flattened array; the first of several. NaN is the
/// largest.
Array argmax(const ArrayLike& a, std::optional<int> axis = std::nullopt, bool keepdims = false);
/// i32: where the smallest element is, as argmax.
Array argmin(const ArrayLike& a, std::optional<int> axis = std::nullopt, bool keepdims = false);
/// log(sum(eᵃ)) without overflow; dtypes as of mean. `jax.scipy.special.logsumexp`.
Array logsumexp(const ArrayLike& a, const Axes& axis = {}, bool keepdims = false);
/// The middle element of each line, or the mean of the two in the middle; NaN where there is one. Integers become
/// floats.
Array median(const ArrayLike& a, std::optional<int> axis = std::nullopt, bool keepdims = false);
/// The quantiles `q` in [0, 1], a scalar or a vector, by linear interpolation; those of a vector are along a new first
/// axis. Lines with a NaN are NaN.
Array quantile(const ArrayLike& a, const ArrayLike& q, std::optional<int> axis = std::nullopt, bool keepdims = false);
/// The mean, or sum(a · weights) / sum(weights): weights as `a`, or one per index of `axis`.
Array average(const ArrayLike& a, std::optional<int> axis = std::nullopt,
              const std::optional<Array>& weights = std::nullopt);
/// Running sums along an axis, or of the flattened array. The dtype is kept; bool counts as i32.
Array cumsum(const ArrayLike& a, std::optional<int> axis = std::nullopt);
/// Running products, as cumsum.
Array cumprod(const ArrayLike& a, std::optional<int> axis = std::nullopt);
/// Differences of neighbours along an axis, `n` times: each time it is shorter by one. Of bool: whether they differ.
Array diff(const ArrayLike& a, int n = 1, int axis = -1);
/// The integral of points `dx` apart along an axis, by the trapezoidal rule. `jnp.trapezoid` without x.
Array trapezoid(const ArrayLike& y, double dx = 1.0, int axis = -1);
/// @}

/// @name Shape and movement
/// Elements keep their dtype; where arrays are joined they are promoted to one.
/// @{
/// The same elements, row-major, in another shape, of which one size may be -1: reshape(a, {-1, 3}).
Array reshape(const ArrayLike& a, const Shape& shape);
Array ravel(const ArrayLike& a);  ///< the elements as a vector, row-major
/// Axes in another order; reversed where none is given. Axis i of the result is axis axes[i] of `a`.
Array transpose(const ArrayLike& a, const std::vector<int>& axes = {});
/// The same as transpose with all axes given.
Array permute_dims(const ArrayLike& a, const std::vector<int>& axes);
Array matrix_transpose(const ArrayLike& a);  ///< the last two axes exchanged
/// Two axes exchanged.
Array swapaxes(const ArrayLike& a, int axis1, int axis2);
/// Axes `source` moved to the places `destination`; the others keep their order.
Array moveaxis(const ArrayLike& a, const Axes& source, const Axes& destination);
/// New axes of size 1, at these places of the result.
Array expand_dims(const ArrayLike& a, const Axes& axis);
/// Axes of size 1 taken away: those given, or all. Another size raises ShapeError.
Array squeeze(const ArrayLike& a, const Axes& axis = {});
/// `a` repeated along new and size-1 axes, as operators do it.
Array broadcast_to(const ArrayLike& a, const Shape& shape);
/// All arrays in the shape they broadcast to.
std::vector<Array> broadcast_arrays(const ArrayList& arrays);
/// Joined along an axis that they have: concatenate({a, b}, 1).
Array concatenate(const ArrayList& arrays, int axis = 0);
/// Joined along a new axis; all have one shape.
Array stack(const ArrayList& arrays, int axis = 0);
/// Joined along axis 1, or axis 0 of vectors.
Array hstack(const ArrayList& arrays);
/// Joined along axis 0; vectors are rows.
Array vstack(const ArrayList& arrays);
/// Joined along axis 1; vectors are columns.
Array column_stack(const ArrayList& arrays);
/// Equal parts along an axis, which they must divide.
std::vector<Array> split(const ArrayLike& a, int sections, int axis = 0);
/// Parts that begin at the given indices: split(a, {2, 5}) is a[:2], a[2:5], a[5:]. {2} is one index, not two parts.
std::vector<Array> split(const ArrayLike& a, const std::vector<std::int64_t>& indices, int axis = 0);
/// The same for indices in braces.
std::vector<Array> split(const ArrayLike& a, std::initializer_list<std::int64_t> indices, int axis = 0);
/// The slices along an axis, without that axis.
std::vector<Array> unstack(const ArrayLike& a, int axis = 0);
/// Reversed along an axis, several, or all.
Array flip(const ArrayLike& a, const Axes& axis = {});
Array fliplr(const ArrayLike& a);  ///< reversed along axis 1
Array flipud(const ArrayLike& a);  ///< reversed along axis 0
/// Turned by k · 90° from axis1 towards axis2.
Array rot90(const ArrayLike& a, int k = 1, int axis1 = 0, int axis2 = 1);
/// Elements moved on by `shift` along an axis, or in the flattened array; what leaves at the end comes in at the start.
Array roll(const ArrayLike& a, std::int64_t shift, std::optional<int> axis = std::nullopt);
/// `a` side by side, reps[i] times along axis i of the longer of both shapes.
Array tile(const ArrayLike& a, const std::vector<std::int64_t>& reps);
/// Each element `repeats` times along an axis, or in the flattened array. One number for all elements.
Array repeat(const ArrayLike& a, std::int64_t repeats, std::optional<int> axis = std::nullopt);
/// Widths per axis (before, after), or one pair for all; modes "constant" (`value`), "edge", "reflect", "symmetric",
/// "wrap". Negative widths raise; lax::pad crops.
Array pad(const ArrayLike& a, const std::vector<std::pair<std::int64_t, std::int64_t>>& width,
          std::string_view mode = "constant", const ArrayLike& value = 0);
Array atleast_1d(const ArrayLike& a);  ///< a, or of a scalar shape [1]
Array atleast_2d(const ArrayLike& a);  ///< a, or of fewer axes shape [1, n]
/// @}

/// @name Products
/// Operands are promoted to one dtype; integers stay integers.
/// @{
/// The matrix product of the last two axes; axes before them broadcast. A vector is a row on the left and a column on
/// the right: [n] · [n, k] is [k]. Scalars raise ShapeError; use multiply.
Array matmul(const ArrayLike& a, const ArrayLike& b);
/// Of the last axis of `a` and the last but one of `b`, where other axes do not broadcast but follow one another; of
/// vectors the inner product, with scalars multiply.
Array dot(const ArrayLike& a, const ArrayLike& b);
/// The inner product of all elements; a scalar.
Array vdot(const ArrayLike& a, const ArrayLike& b);
/// Of the last axes of both; other axes follow one another.
Array inner(const ArrayLike& a, const ArrayLike& b);
/// [n, m]: the products of every element of `a` with every one of `b`, both flattened.
Array outer(const ArrayLike& a, const ArrayLike& b);
/// The Kronecker product: each element of `a` times all of `b`.
Array kron(const ArrayLike& a, const ArrayLike& b);
/// The cross product along the last axes, of size 2 or 3; of two of size 2 its third component.
Array cross(const ArrayLike& a, const ArrayLike& b);
/// The sum of a diagonal, as diagonal and sum.
Array trace(const ArrayLike& a, int offset = 0, int axis1 = 0, int axis2 = 1);
/// Of the last `axes` axes of `a` with the first of `b`.
Array tensordot(const ArrayLike& a, const ArrayLike& b, int axes = 2);
/// Of the axes `axes_a` of `a` with the axes `axes_b` of `b`, one by one; the others follow one another.
Array tensordot(const ArrayLike& a, const ArrayLike& b, const std::vector<int>& axes_a, const std::vector<int>& axes_b);
/// Einstein's sums: einsum("bij,bjk->bik", {a, b}). The output may be left out, '...' broadcasts.
Array einsum(std::string_view subscripts, const ArrayList& operands);
/// Of two vectors: c[k] = sum_j a[k - j] v[j]; mode "full", "same" or "valid" says where they overlap. Integers become
/// floats, here and in correlate.
Array convolve(const ArrayLike& a, const ArrayLike& v, std::string_view mode = "full");
/// Of two vectors: c[k] = sum_j a[k + j] v[j].
Array correlate(const ArrayLike& a, const ArrayLike& v, std::string_view mode = "valid");
/// The polynomial with coefficients `p`, the highest power first, at `x`. `p` may have further axes, which broadcast
/// with x.
Array polyval(const ArrayLike& p, const ArrayLike& x);
/// [len(x), n]: decreasing powers of `x` in columns, the last one 1; `n` is len(x) unless given.
Array vander(const ArrayLike& x, std::optional<int> n = std::nullopt);
/// Covariances of variables in rows, observations in columns: divided by n - 1. A vector is one variable.
Array cov(const ArrayLike& m);
/// @}

/// @name Sorting, searching, indexing
/// @{
/// Sorted along an axis; NaN last, or first where descending.
Array sort(const ArrayLike& a, int axis = -1, bool descending = false);
/// i32: the indices that sort; equal elements keep their order, also where descending.
Array argsort(const ArrayLike& a, int axis = -1, bool descending = false);
/// i32: the indices that sort by the last key, where that is equal by the one before, and so on.
Array lexsort(const ArrayList& keys, int axis = -1);
/// Positions where elements of `v` go into the sorted vector `a`: before equal ones (side "left") or after them
/// ("right"). i32, or i64 for more than 2³⁰ elements.
Array searchsorted(const ArrayLike& a, const ArrayLike& v, std::string_view side = "left");
/// The number of the bin that each element is in, of `bins` that rise or fall; `right`: bins include their upper edge.
Array digitize(const ArrayLike& x, const ArrayLike& bins, bool right = false);
/// i32[length]: how often each integer below `length` is in `x`; negative ones count as 0, larger ones not at all.
/// JAX's `length` is optional and a keyword.
Array bincount(const ArrayLike& x, std::int64_t length);
/// The line through the points (xp, fp) at `x`: vectors, `xp` rising. Outside it is the first or the last of `fp`.
Array interp(const ArrayLike& x, const ArrayLike& xp, const ArrayLike& fp);
/// Elements along an axis, or of the flattened array. Negative indices count from the end. An index outside the axis
/// reads NaN (of integers the smallest, of unsigned ones the largest), silently, as in JAX: a token that is not in an
/// embedding's table makes a NaN, which debug_bounds(true) or COTAN_DEBUG_BOUNDS=1 traces to its line. The modes "clip"
/// (the nearest element; negative ones are the first) and "wrap" allow it.
Array take(const ArrayLike& a, const ArrayLike& indices, std::optional<int> axis = std::nullopt,
           std::string_view mode = "fill");
/// Elements at an index per element; outside the axis NaN, as take.
Array take_along_axis(const ArrayLike& a, const ArrayLike& indices, int axis);
/// choices[index], element by element: all broadcast, the index is clipped to the choices there are. JAX's mode "clip".
Array choose(const ArrayLike& index, const ArrayList& choices);
/// Indices of the elements that are not zero, one array per axis; needs values, so not under jit. There is no `size`.
std::vector<Array> nonzero(const ArrayLike& a);
/// The different elements, sorted, as a vector; needs values, so not under jit.
Array unique(const ArrayLike& a);
/// @}

template <HostNumber T>
Nested::Nested(T value)
    : kind_(HostComplex<T>                ? Kind::complex
            : std::is_same_v<T, bool>     ? Kind::boolean
            : std::is_floating_point_v<T> ? Kind::real
                                          : Kind::integer) {
  if constexpr (HostComplex<T>) {
    real_ = value.real();
    imaginary_ = value.imag();
  } else {
    real_ = static_cast<double>(value);
    integer_ = static_cast<std::int64_t>(value);
  }
}

}  // namespace cotan::numpy
