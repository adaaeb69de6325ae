// Arrays from literals, from the host, and from nothing but a shape.
#pragma once
#include <cotan/array.hpp>
#include <initializer_list>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace cotan::numpy {

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
/// 0 in the shape and the dtype of `a`, unless others are given.
Array zeros_like(const ArrayLike& a, std::optional<DType> dtype = std::nullopt,
                 const std::optional<Shape>& shape = std::nullopt);
/// 1 in the shape and the dtype of `a`, unless others are given.
Array ones_like(const ArrayLike& a, std::optional<DType> dtype = std::nullopt,
                const std::optional<Shape>& shape = std::nullopt);
/// `value` in the shape and the dtype of `a`, unless others are given.
Array full_like(const ArrayLike& a, const ArrayLike& value, std::optional<DType> dtype = std::nullopt,
                const std::optional<Shape>& shape = std::nullopt);
/// Zeros, as empty.
Array empty_like(const ArrayLike& a, std::optional<DType> dtype = std::nullopt,
                 const std::optional<Shape>& shape = std::nullopt);
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
/// they broadcast, and the numbers are along a new axis, at `axis` of the result. An integer dtype rounds down.
Array linspace(const ArrayLike& start, const ArrayLike& stop, std::int64_t num = 50, bool endpoint = true,
               DType dtype = f32, int axis = 0);
/// The same with the distance of neighbours: `jnp.linspace(…, retstep=True)`. NaN where there are no neighbours.
std::pair<Array, Array> linspace_with_step(const ArrayLike& start, const ArrayLike& stop, std::int64_t num = 50,
                                           bool endpoint = true, DType dtype = f32, int axis = 0);
/// `base` to the power of linspace(start, stop, num, endpoint).
Array logspace(const ArrayLike& start, const ArrayLike& stop, std::int64_t num = 50, bool endpoint = true,
               const ArrayLike& base = 10.0, DType dtype = f32, int axis = 0);
/// `num` numbers from start to stop with equal quotients; both bounds have one sign.
Array geomspace(const ArrayLike& start, const ArrayLike& stop, std::int64_t num = 50, bool endpoint = true,
                DType dtype = f32, int axis = 0);
/// [n, m]: 1 on and below the k-th diagonal, 0 above.
Array tri(std::int64_t n, std::optional<std::int64_t> m = std::nullopt, int k = 0, DType dtype = f32,
          const std::source_location& where = COTAN_HERE);
Array tril(const ArrayLike& a, int k = 0);  ///< 0 above the k-th diagonal of the last two axes
Array triu(const ArrayLike& a, int k = 0);  ///< 0 below the k-th diagonal of the last two axes
/// A vector on the k-th diagonal of a matrix, or the diagonal of a matrix.
Array diag(const ArrayLike& a, int k = 0);
/// A matrix with all elements of `a` on its k-th diagonal.
Array diagflat(const ArrayLike& a, int k = 0);
/// The diagonal of two axes, which go; it is the last axis of the result. offset > 0 is above the main diagonal.
Array diagonal(const ArrayLike& a, int offset = 0, int axis1 = 0, int axis2 = 1);
/// Each vector spread over the grid of all: "xy" has shape [len(y), len(x), …], "ij" [len(x), len(y), …]. `sparse`:
/// only along its own axis, with size 1 along the others.
std::vector<Array> meshgrid(const ArrayList& xs, std::string_view indexing = "xy", bool sparse = false);
/// Copies elements of `dtype` out of bytes: `count` of them, or all, from byte `offset` on.
Array frombuffer(std::span<const std::byte> buffer, DType dtype = f32, std::int64_t count = -1, std::int64_t offset = 0,
                 const std::source_location& where = COTAN_HERE);
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
