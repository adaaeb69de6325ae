// cotan::numpy: NumPy's names over Arrays. Operands broadcast and promote as in JAX.
#pragma once
#include <cotan/array.hpp>
#include <initializer_list>
#include <limits>
#include <numbers>
#include <optional>
#include <string_view>
#include <vector>

namespace cotan::numpy {

inline constexpr double pi = std::numbers::pi;
inline constexpr double e = std::numbers::e;
inline constexpr double inf = std::numeric_limits<double>::infinity();
inline constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// Nested braces of literals: array({{1, 2}, {3, 4}}). Elements keep every bit until the dtype is known.
class Nested {
 public:
  template <class T>
    requires std::is_arithmetic_v<T>
  Nested(T value);
  Nested(std::initializer_list<Nested> items);
  Nested(const Array& a);

 private:
  friend struct NestedReader;
  enum class Kind { boolean, integer, real, list, array } kind_;
  double real_ = 0;
  std::int64_t integer_ = 0;
  std::vector<Nested> items_;
  Array array_;
};

// Creation --------------------------------------------------------------------------------------

/// From nested braces: f32 or i32 or bool unless a dtype is given. array({0.1, 0.2}, f64) is exact.
Array array(std::initializer_list<Nested> items, std::optional<DType> dtype = std::nullopt,
            const std::source_location& where = COTAN_HERE);
Array array(const Nested& nested, std::optional<DType> dtype = std::nullopt,
            const std::source_location& where = COTAN_HERE);
template <HostElement T>
Array array(const std::vector<T>& values, std::optional<DType> dtype = std::nullopt) {
  Array a = Array::from_host(values);
  return dtype ? a.astype(*dtype, {}) : a;
}
Array asarray(const ArrayLike& a, std::optional<DType> dtype = std::nullopt);
Array zeros(const Shape& shape, DType dtype = f32, const std::source_location& where = COTAN_HERE);
Array ones(const Shape& shape, DType dtype = f32, const std::source_location& where = COTAN_HERE);
Array full(const Shape& shape, const ArrayLike& value, std::optional<DType> dtype = std::nullopt);
Array zeros_like(const ArrayLike& a, std::optional<DType> dtype = std::nullopt);
Array ones_like(const ArrayLike& a, std::optional<DType> dtype = std::nullopt);
Array full_like(const ArrayLike& a, const ArrayLike& value, std::optional<DType> dtype = std::nullopt);
Array empty(const Shape& shape, DType dtype = f32, const std::source_location& where = COTAN_HERE);
Array eye(std::int64_t n, std::optional<std::int64_t> m = std::nullopt, int k = 0, DType dtype = f32,
          const std::source_location& where = COTAN_HERE);
Array identity(std::int64_t n, DType dtype = f32, const std::source_location& where = COTAN_HERE);
namespace detail {
Array integer_range(std::int64_t start, std::int64_t stop, std::int64_t step, DType dtype);
Array real_range(double start, double stop, double step, DType dtype);
}  // namespace detail
/// start, start + step, … below stop. Of integers i32, of floats f32 unless a dtype is given.
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
Array linspace(const ArrayLike& start, const ArrayLike& stop, std::int64_t num = 50, bool endpoint = true,
               DType dtype = f32);
Array logspace(const ArrayLike& start, const ArrayLike& stop, std::int64_t num = 50, bool endpoint = true,
               double base = 10, DType dtype = f32);
Array geomspace(const ArrayLike& start, const ArrayLike& stop, std::int64_t num = 50, bool endpoint = true,
                DType dtype = f32);
Array tri(std::int64_t n, std::optional<std::int64_t> m = std::nullopt, int k = 0, DType dtype = f32,
          const std::source_location& where = COTAN_HERE);
Array tril(const ArrayLike& a, int k = 0);
Array triu(const ArrayLike& a, int k = 0);
/// A vector on the k-th diagonal of a matrix, or the diagonal of a matrix.
Array diag(const ArrayLike& a, int k = 0);
Array diagonal(const ArrayLike& a, int offset = 0, int axis1 = 0, int axis2 = 1);
std::vector<Array> meshgrid(const ArrayList& xs, std::string_view indexing = "xy");

// Elementwise arithmetic --------------------------------------------------------------------------

Array add(const ArrayLike& a, const ArrayLike& b);
Array subtract(const ArrayLike& a, const ArrayLike& b);
Array multiply(const ArrayLike& a, const ArrayLike& b);
/// True division: integers become floats.
Array divide(const ArrayLike& a, const ArrayLike& b);
Array true_divide(const ArrayLike& a, const ArrayLike& b);
Array floor_divide(const ArrayLike& a, const ArrayLike& b);
/// Python's modulo: the sign of the divisor.
Array mod(const ArrayLike& a, const ArrayLike& b);
Array remainder(const ArrayLike& a, const ArrayLike& b);
/// C's modulo: the sign of the dividend.
Array fmod(const ArrayLike& a, const ArrayLike& b);
Array power(const ArrayLike& a, const ArrayLike& b);
Array negative(const ArrayLike& a);
Array positive(const ArrayLike& a);
Array reciprocal(const ArrayLike& a);
Array abs(const ArrayLike& a);
Array absolute(const ArrayLike& a);
Array fabs(const ArrayLike& a);
Array sign(const ArrayLike& a);
Array maximum(const ArrayLike& a, const ArrayLike& b);
Array minimum(const ArrayLike& a, const ArrayLike& b);
/// As maximum and minimum, but a number wins over a NaN.
Array fmax(const ArrayLike& a, const ArrayLike& b);
Array fmin(const ArrayLike& a, const ArrayLike& b);
Array square(const ArrayLike& a);
Array sqrt(const ArrayLike& a);
Array cbrt(const ArrayLike& a);
Array hypot(const ArrayLike& a, const ArrayLike& b);
Array copysign(const ArrayLike& a, const ArrayLike& b);
Array nextafter(const ArrayLike& a, const ArrayLike& b);
Array heaviside(const ArrayLike& a, const ArrayLike& b);
Array ldexp(const ArrayLike& a, const ArrayLike& b);
Array clip(const ArrayLike& a, const ArrayLike& lo, const ArrayLike& hi);
Array logaddexp(const ArrayLike& a, const ArrayLike& b);
Array logaddexp2(const ArrayLike& a, const ArrayLike& b);
Array gcd(const ArrayLike& a, const ArrayLike& b);
Array lcm(const ArrayLike& a, const ArrayLike& b);
Array nan_to_num(const ArrayLike& a, double nan = 0.0, std::optional<double> posinf = std::nullopt,
                 std::optional<double> neginf = std::nullopt);

// Exponentials, trigonometry, rounding ------------------------------------------------------------

Array exp(const ArrayLike& a);
Array exp2(const ArrayLike& a);
Array expm1(const ArrayLike& a);
Array log(const ArrayLike& a);
Array log2(const ArrayLike& a);
Array log10(const ArrayLike& a);
Array log1p(const ArrayLike& a);
Array sin(const ArrayLike& a);
Array cos(const ArrayLike& a);
Array tan(const ArrayLike& a);
Array arcsin(const ArrayLike& a);
Array arccos(const ArrayLike& a);
Array arctan(const ArrayLike& a);
Array arctan2(const ArrayLike& y, const ArrayLike& x);
Array sinh(const ArrayLike& a);
Array cosh(const ArrayLike& a);
Array tanh(const ArrayLike& a);
Array arcsinh(const ArrayLike& a);
Array arccosh(const ArrayLike& a);
Array arctanh(const ArrayLike& a);
Array sinc(const ArrayLike& a);
Array deg2rad(const ArrayLike& a);
Array rad2deg(const ArrayLike& a);
Array floor(const ArrayLike& a);
Array ceil(const ArrayLike& a);
Array trunc(const ArrayLike& a);
Array rint(const ArrayLike& a);
/// Half to even, at `decimals` digits.
Array round(const ArrayLike& a, int decimals = 0);

// Comparison, logic, bits -------------------------------------------------------------------------

Array equal(const ArrayLike& a, const ArrayLike& b);
Array not_equal(const ArrayLike& a, const ArrayLike& b);
Array less(const ArrayLike& a, const ArrayLike& b);
Array less_equal(const ArrayLike& a, const ArrayLike& b);
Array greater(const ArrayLike& a, const ArrayLike& b);
Array greater_equal(const ArrayLike& a, const ArrayLike& b);
Array logical_and(const ArrayLike& a, const ArrayLike& b);
Array logical_or(const ArrayLike& a, const ArrayLike& b);
Array logical_xor(const ArrayLike& a, const ArrayLike& b);
Array logical_not(const ArrayLike& a);
Array bitwise_and(const ArrayLike& a, const ArrayLike& b);
Array bitwise_or(const ArrayLike& a, const ArrayLike& b);
Array bitwise_xor(const ArrayLike& a, const ArrayLike& b);
Array bitwise_not(const ArrayLike& a);
Array bitwise_count(const ArrayLike& a);
Array left_shift(const ArrayLike& a, const ArrayLike& b);
Array right_shift(const ArrayLike& a, const ArrayLike& b);
Array isnan(const ArrayLike& a);
Array isinf(const ArrayLike& a);
Array isfinite(const ArrayLike& a);
Array signbit(const ArrayLike& a);
Array isclose(const ArrayLike& a, const ArrayLike& b, double rtol = 1e-5, double atol = 1e-8, bool equal_nan = false);
Array allclose(const ArrayLike& a, const ArrayLike& b, double rtol = 1e-5, double atol = 1e-8, bool equal_nan = false);
Array array_equal(const ArrayLike& a, const ArrayLike& b);
/// Elements of `a` where `condition`, else of `b`; no gradient reaches the side that is not taken.
Array where(const ArrayLike& condition, const ArrayLike& a, const ArrayLike& b);

// Reductions --------------------------------------------------------------------------------------

Array sum(const ArrayLike& a, const Axes& axis = {}, bool keepdims = false);
Array prod(const ArrayLike& a, const Axes& axis = {}, bool keepdims = false);
Array mean(const ArrayLike& a, const Axes& axis = {}, bool keepdims = false);
Array var(const ArrayLike& a, const Axes& axis = {}, bool keepdims = false, int ddof = 0);
Array std(const ArrayLike& a, const Axes& axis = {}, bool keepdims = false, int ddof = 0);
Array max(const ArrayLike& a, const Axes& axis = {}, bool keepdims = false);
Array min(const ArrayLike& a, const Axes& axis = {}, bool keepdims = false);
Array amax(const ArrayLike& a, const Axes& axis = {}, bool keepdims = false);
Array amin(const ArrayLike& a, const Axes& axis = {}, bool keepdims = false);
Array ptp(const ArrayLike& a, const Axes& axis = {}, bool keepdims = false);
Array all(const ArrayLike& a, const Axes& axis = {}, bool keepdims = false);
Array any(const ArrayLike& a, const Axes& axis = {}, bool keepdims = false);
Array count_nonzero(const ArrayLike& a, const Axes& axis = {}, bool keepdims = false);
Array nansum(const ArrayLike& a, const Axes& axis = {}, bool keepdims = false);
Array nanmean(const ArrayLike& a, const Axes& axis = {}, bool keepdims = false);
Array nanmax(const ArrayLike& a, const Axes& axis = {}, bool keepdims = false);
Array nanmin(const ArrayLike& a, const Axes& axis = {}, bool keepdims = false);
/// Index of the first extremum along an axis, or of the flattened array.
Array argmax(const ArrayLike& a, std::optional<int> axis = std::nullopt, bool keepdims = false);
Array argmin(const ArrayLike& a, std::optional<int> axis = std::nullopt, bool keepdims = false);
Array logsumexp(const ArrayLike& a, const Axes& axis = {}, bool keepdims = false);
Array median(const ArrayLike& a, std::optional<int> axis = std::nullopt, bool keepdims = false);
Array quantile(const ArrayLike& a, const ArrayLike& q, std::optional<int> axis = std::nullopt, bool keepdims = false);
Array average(const ArrayLike& a, std::optional<int> axis = std::nullopt,
              const std::optional<Array>& weights = std::nullopt);
Array cumsum(const ArrayLike& a, std::optional<int> axis = std::nullopt);
Array cumprod(const ArrayLike& a, std::optional<int> axis = std::nullopt);
Array diff(const ArrayLike& a, int n = 1, int axis = -1);
Array trapezoid(const ArrayLike& y, double dx = 1.0, int axis = -1);

// Shape and movement --------------------------------------------------------------------------------

/// One size may be -1.
Array reshape(const ArrayLike& a, const Shape& shape);
Array ravel(const ArrayLike& a);
Array transpose(const ArrayLike& a, const std::vector<int>& axes = {});
Array permute_dims(const ArrayLike& a, const std::vector<int>& axes);
Array matrix_transpose(const ArrayLike& a);
Array swapaxes(const ArrayLike& a, int axis1, int axis2);
Array moveaxis(const ArrayLike& a, const Axes& source, const Axes& destination);
Array expand_dims(const ArrayLike& a, const Axes& axis);
Array squeeze(const ArrayLike& a, const Axes& axis = {});
Array broadcast_to(const ArrayLike& a, const Shape& shape);
std::vector<Array> broadcast_arrays(const ArrayList& arrays);
Array concatenate(const ArrayList& arrays, int axis = 0);
Array stack(const ArrayList& arrays, int axis = 0);
Array hstack(const ArrayList& arrays);
Array vstack(const ArrayList& arrays);
Array column_stack(const ArrayList& arrays);
/// Equal parts.
std::vector<Array> split(const ArrayLike& a, int sections, int axis = 0);
/// At the given indices; {2} is one index, not two parts.
std::vector<Array> split(const ArrayLike& a, const std::vector<std::int64_t>& indices, int axis = 0);
std::vector<Array> split(const ArrayLike& a, std::initializer_list<std::int64_t> indices, int axis = 0);
std::vector<Array> unstack(const ArrayLike& a, int axis = 0);
Array flip(const ArrayLike& a, const Axes& axis = {});
Array fliplr(const ArrayLike& a);
Array flipud(const ArrayLike& a);
Array rot90(const ArrayLike& a, int k = 1, int axis1 = 0, int axis2 = 1);
Array roll(const ArrayLike& a, std::int64_t shift, std::optional<int> axis = std::nullopt);
Array tile(const ArrayLike& a, const std::vector<std::int64_t>& reps);
Array repeat(const ArrayLike& a, std::int64_t repeats, std::optional<int> axis = std::nullopt);
/// Widths per axis (before, after); modes "constant", "edge", "reflect", "symmetric", "wrap".
Array pad(const ArrayLike& a, const std::vector<std::pair<std::int64_t, std::int64_t>>& width,
          std::string_view mode = "constant", const ArrayLike& value = 0);
Array atleast_1d(const ArrayLike& a);
Array atleast_2d(const ArrayLike& a);

// Products --------------------------------------------------------------------------------------------

Array matmul(const ArrayLike& a, const ArrayLike& b);
Array dot(const ArrayLike& a, const ArrayLike& b);
Array vdot(const ArrayLike& a, const ArrayLike& b);
Array inner(const ArrayLike& a, const ArrayLike& b);
Array outer(const ArrayLike& a, const ArrayLike& b);
Array kron(const ArrayLike& a, const ArrayLike& b);
Array cross(const ArrayLike& a, const ArrayLike& b);
Array trace(const ArrayLike& a, int offset = 0, int axis1 = 0, int axis2 = 1);
Array tensordot(const ArrayLike& a, const ArrayLike& b, int axes = 2);
Array tensordot(const ArrayLike& a, const ArrayLike& b, const std::vector<int>& axes_a, const std::vector<int>& axes_b);
/// einsum("bij,bjk->bik", {a, b}); the output may be left out, '...' broadcasts.
Array einsum(std::string_view subscripts, const ArrayList& operands);
/// Of two vectors: c[k] = sum_j a[k - j] v[j]; mode "full", "same" or "valid" says where they overlap.
Array convolve(const ArrayLike& a, const ArrayLike& v, std::string_view mode = "full");
/// c[k] = sum_j a[k + j] v[j].
Array correlate(const ArrayLike& a, const ArrayLike& v, std::string_view mode = "valid");
Array polyval(const ArrayLike& p, const ArrayLike& x);
Array vander(const ArrayLike& x, std::optional<int> n = std::nullopt);
Array cov(const ArrayLike& m);

// Sorting, searching, indexing --------------------------------------------------------------------------

Array sort(const ArrayLike& a, int axis = -1, bool descending = false);
Array argsort(const ArrayLike& a, int axis = -1, bool descending = false);
Array lexsort(const ArrayList& keys, int axis = -1);
/// Positions where elements of `v` go into the sorted `a`; side "left" or "right".
Array searchsorted(const ArrayLike& a, const ArrayLike& v, std::string_view side = "left");
Array digitize(const ArrayLike& x, const ArrayLike& bins, bool right = false);
Array bincount(const ArrayLike& x, std::int64_t length);
Array interp(const ArrayLike& x, const ArrayLike& xp, const ArrayLike& fp);
/// Elements along an axis, or of the flattened array. Negative indices count from the end. An index outside the axis
/// reads NaN (of integers the smallest, of unsigned ones the largest), silently, as in JAX: a token that is not in an
/// embedding's table makes a NaN, which debug_bounds(true) or COTAN_DEBUG_BOUNDS=1 traces to its line. The modes "clip"
/// (the nearest element; negative ones are the first) and "wrap" allow it.
Array take(const ArrayLike& a, const ArrayLike& indices, std::optional<int> axis = std::nullopt,
           std::string_view mode = "fill");
/// Elements at an index per element; outside the axis NaN, as take.
Array take_along_axis(const ArrayLike& a, const ArrayLike& indices, int axis);
Array choose(const ArrayLike& index, const ArrayList& choices);
/// Indices of the elements that are not zero, one array per axis; needs values, so not under jit.
std::vector<Array> nonzero(const ArrayLike& a);
Array unique(const ArrayLike& a);

template <class T>
  requires std::is_arithmetic_v<T>
Nested::Nested(T value)
    : kind_(std::is_same_v<T, bool>       ? Kind::boolean
            : std::is_floating_point_v<T> ? Kind::real
                                          : Kind::integer),
      real_(static_cast<double>(value)),
      integer_(static_cast<std::int64_t>(value)) {}

}  // namespace cotan::numpy
