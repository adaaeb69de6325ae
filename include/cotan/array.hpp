// Array: an immutable handle to an n-dimensional array, or to a value that a transform is tracing.
#pragma once
#include <cotan/array_types.hpp>
#include <cotan/call_site.hpp>
#include <cotan/dtype.hpp>
#include <cotan/error.hpp>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <iosfwd>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

namespace cotan {

class Array;
class ArrayLike;
class ArrayList;
class Index;
class IndexUpdate;

namespace detail {
class Value;
using ValuePtr = std::shared_ptr<const Value>;

/// Raised by the compiler where something is assigned to what an index expression gives.
template <class T>
constexpr void no_assignment() {
  static_assert(!std::is_same_v<T, T>,
                "Arrays are values: a[i] and f(x) are new Arrays, and assigning to them changes nothing. "
                "Write a = a.at(i).set(x), or a = a.at(i).add(x) in place of a[i] += x.");
}
}  // namespace detail

/// An n-dimensional array of one dtype, `jax.Array`: immutable, cheap to copy, freed when the last handle goes. While a
/// transform runs a function it stands for a value that is not known; what needs elements then raises
/// ConcretizationError. Members that have a name in `cotan::numpy` are that function.
///
///     ct::Array a = np::array({{1., 2.}, {3., 4.}});
///     ct::Array b = (2 * a + 1)(ct::all, -1);          // the last column: [5, 9]
///     std::vector<float> host = b.to_vector<float>();
class Array {
 public:
  /// An empty handle; every use but assignment and destruction raises.
  Array() = default;
  Array(const Array&) = default;
  Array(Array&&) = default;
  Array& operator=(const Array&) & = default;
  Array& operator=(Array&&) & = default;
  /// A weak scalar: takes the dtype of what it meets.
  template <HostNumber E>
  Array(E value);

  /// Copies `data` (row-major) in; keeps the host's element type. As many elements as the shape has, else ShapeError.
  template <HostElement E>
  static Array from_host(std::span<const E> data, const Shape& shape, const std::source_location& where = COTAN_HERE);
  /// The same of a vector.
  template <HostElement E>
  static Array from_host(const std::vector<E>& data, const Shape& shape,
                         const std::source_location& where = COTAN_HERE);
  /// The same with one axis, as long as the vector.
  template <HostElement E>
  static Array from_host(const std::vector<E>& data);
  /// Copies the bytes of elements of `dtype` (row-major) in.
  static Array from_bytes(DType dtype, const Shape& shape, std::span<const std::byte> data);

  const Shape& shape() const;                         ///< sizes of the axes; {} of a scalar
  std::int64_t shape(int axis) const;                 ///< the size of one axis; negative ones count from the end
  int ndim() const;                                   ///< the number of axes
  std::int64_t size() const;                          ///< the number of elements
  DType dtype() const;                                ///< the type of the elements
  bool weak_type() const;                             ///< came from a C++ number: takes the dtype of what it meets
  std::size_t nbytes() const;                         ///< the bytes of the elements
  Device device() const;                              ///< where the elements are
  const AbstractValue& aval() const;                  ///< dtype, shape and weak_type together; its str() is "f32[2,3]"
  bool defined() const { return value_ != nullptr; }  ///< false of an empty handle

  /// The one element as a host scalar, converted: a.item<float>(). Waits for it. More than one element raises
  /// ShapeError, a call under a transform ConcretizationError, a complex element as a real number TypeError.
  template <HostNumber E>
  E item(std::source_location where = COTAN_HERE) const;
  /// All elements, row-major, converted to E. Waits for them.
  template <HostElement E>
  std::vector<E> to_vector(std::source_location where = COTAN_HERE) const;
  /// The one element as a condition: if (a.sum() > 0). As item.
  explicit operator bool() const;

  /// Converted to another dtype; floats to integers are cut off towards 0, complex numbers to real ones lose their
  /// imaginary part.
  Array astype(DType dtype, std::source_location where = COTAN_HERE) const;
  Array T() const;  ///< all axes reversed
  /// numpy::reshape: a.reshape({-1, 3}).
  Array reshape(const Shape& shape, std::source_location where = COTAN_HERE) const;
  /// numpy::transpose: axes in another order, reversed where none is given.
  Array transpose(const std::vector<int>& axes = {}, std::source_location where = COTAN_HERE) const;
  Array flatten() const;  ///< numpy::ravel: a vector of all elements
  /// numpy::squeeze: without axes of size 1.
  Array squeeze(const Axes& axis = {}, std::source_location where = COTAN_HERE) const;
  /// numpy::sum.
  Array sum(const Axes& axis = {}, bool keepdims = false, std::source_location where = COTAN_HERE) const;
  /// numpy::prod.
  Array prod(const Axes& axis = {}, bool keepdims = false, std::source_location where = COTAN_HERE) const;
  /// numpy::mean.
  Array mean(const Axes& axis = {}, bool keepdims = false, std::source_location where = COTAN_HERE) const;
  /// numpy::max.
  Array max(const Axes& axis = {}, bool keepdims = false, std::source_location where = COTAN_HERE) const;
  /// numpy::min.
  Array min(const Axes& axis = {}, bool keepdims = false, std::source_location where = COTAN_HERE) const;

  /// The function of cotan::numpy of that name, with the same arguments.
  /// @{
  Array all(const Axes& axis = {}, bool keepdims = false, std::source_location where = COTAN_HERE) const;
  Array any(const Axes& axis = {}, bool keepdims = false, std::source_location where = COTAN_HERE) const;
  Array argmax(std::optional<int> axis = {}, bool keepdims = false, std::source_location where = COTAN_HERE) const;
  Array argmin(std::optional<int> axis = {}, bool keepdims = false, std::source_location where = COTAN_HERE) const;
  Array argpartition(int kth, int axis = -1, std::source_location where = COTAN_HERE) const;
  Array argsort(int axis = -1, bool descending = false, std::source_location where = COTAN_HERE) const;
  Array choose(const ArrayList& choices, std::string_view mode = "clip", std::source_location where = COTAN_HERE) const;
  Array clip(const std::optional<Array>& lo, const std::optional<Array>& hi = {},
             std::source_location where = COTAN_HERE) const;
  Array compress(const Array& condition, std::optional<int> axis = {}, std::source_location where = COTAN_HERE) const;
  Array cumprod(std::optional<int> axis = {}, std::optional<DType> dtype = {},
                std::source_location where = COTAN_HERE) const;
  Array cumsum(std::optional<int> axis = {}, std::optional<DType> dtype = {},
               std::source_location where = COTAN_HERE) const;
  Array diagonal(int offset = 0, int axis1 = 0, int axis2 = 1, std::source_location where = COTAN_HERE) const;
  Array dot(const Array& b, std::source_location where = COTAN_HERE) const;
  Array mT() const;
  std::vector<Array> nonzero(std::optional<std::int64_t> size = {}, std::source_location where = COTAN_HERE) const;
  Array ptp(const Axes& axis = {}, bool keepdims = false, std::source_location where = COTAN_HERE) const;
  Array ravel(char order = 'C', std::source_location where = COTAN_HERE) const;
  Array repeat(std::int64_t repeats, std::optional<int> axis = {}, std::source_location where = COTAN_HERE) const;
  Array round(int decimals = 0, std::source_location where = COTAN_HERE) const;
  Array searchsorted(const Array& v, std::string_view side = "left", std::source_location where = COTAN_HERE) const;
  Array sort(int axis = -1, bool descending = false, std::source_location where = COTAN_HERE) const;
  Array std(const Axes& axis = {}, bool keepdims = false, int ddof = 0, std::source_location where = COTAN_HERE) const;
  Array swapaxes(int axis1, int axis2, std::source_location where = COTAN_HERE) const;
  Array take(const Array& indices, std::optional<int> axis = {}, std::string_view mode = "fill",
             std::source_location where = COTAN_HERE) const;
  Array trace(int offset = 0, int axis1 = 0, int axis2 = 1, std::source_location where = COTAN_HERE) const;
  Array var(const Axes& axis = {}, bool keepdims = false, int ddof = 0, std::source_location where = COTAN_HERE) const;
  /// @}
  /// numpy::delete_ of one index, or of an Array of indices.
  Array delete_(const Array& places, std::optional<int> axis = {}, std::source_location where = COTAN_HERE) const;
  /// The same bits as another dtype; where its size differs the last axis is as much longer or shorter.
  Array view(DType dtype, std::source_location where = COTAN_HERE) const;
  /// The bytes of each element in reverse order.
  Array byteswap(std::source_location where = COTAN_HERE) const;

  Array block_until_ready() const;  ///< cotan::block_until_ready
  bool is_ready() const;            ///< cotan::is_ready
  void copy_to_host_async() const;  ///< cotan::copy_to_host_async
  bool is_deleted() const;          ///< its elements were donated to a jitted call
  /// cotan::device_put.
  Array to_device(std::string_view device, std::source_location where = COTAN_HERE) const;
  std::size_t itemsize() const { return cotan::itemsize(dtype()); }  ///< bytes per element
  /// The bytes of the elements, row-major. Waits for them.
  std::vector<std::byte> tobytes(std::source_location where = COTAN_HERE) const;
  /// Where the elements are in memory that the host can read, for as long as this Array is there. Waits for them.
  const void* unsafe_buffer_pointer(std::source_location where = COTAN_HERE) const;

  /// Indexing as in NumPy: integers, `all`, `range`, `newaxis`, `ellipsis`, integer and bool Arrays. Integers outside
  /// the axis raise; elements of index Arrays that are outside it are clipped (other modes: `a.at(i).get(options)`).
  Array operator[](const Index& index) const;
  Array operator()() const { return *this; }  ///< `a` itself
  /// The same with an index per axis: a(1, ct::range(2, 5)) is NumPy's a[1, 2:5].
  /// @{
  template <class... I>
    requires(sizeof...(I) > 6)
  Array operator()(const I&... indices) const;
  Array operator()(const Index& i0) const;
  Array operator()(const Index& i0, const Index& i1) const;
  Array operator()(const Index& i0, const Index& i1, const Index& i2) const;
  Array operator()(const Index& i0, const Index& i1, const Index& i2, const Index& i3) const;
  Array operator()(const Index& i0, const Index& i1, const Index& i2, const Index& i3, const Index& i4) const;
  Array operator()(const Index& i0, const Index& i1, const Index& i2, const Index& i3, const Index& i4,
                   const Index& i5) const;
  /// @}
  /// Functional update: `a.at(1, all).set(x)` is a new array; `jax.numpy.ndarray.at`.
  template <class... I>
  IndexUpdate at(const I&... indices) const;

  Array& operator+=(const ArrayLike& other) &;  ///< the handle becomes a + other; other handles of the array do not
  Array& operator-=(const ArrayLike& other) &;  ///< the handle becomes a - other; other handles of the array do not
  Array& operator*=(const ArrayLike& other) &;  ///< the handle becomes a * other; other handles of the array do not
  Array& operator/=(const ArrayLike& other) &;  ///< the handle becomes a / other; other handles of the array do not
  /// A temporary cannot be assigned to: `a[0] = 5.0` does not compile, and says what to write.
  /// @{
  template <class T>
  void operator=(T&&) && {
    detail::no_assignment<T>();
  }
  template <class T>
  void operator+=(T&&) && {
    detail::no_assignment<T>();
  }
  template <class T>
  void operator-=(T&&) && {
    detail::no_assignment<T>();
  }
  template <class T>
  void operator*=(T&&) && {
    detail::no_assignment<T>();
  }
  template <class T>
  void operator/=(T&&) && {
    detail::no_assignment<T>();
  }
  /// @}

  explicit Array(detail::ValuePtr value) : value_(std::move(value)) {}
  /// What is behind the handle; for the library.
  const detail::ValuePtr& value() const { return value_; }

 private:
  detail::ValuePtr value_;
};

/// What public functions take: an Array or a C++ scalar, and the line of the caller for error messages. For parameters
/// only: it is a call while it lives.
class ArrayLike {
 public:
  ArrayLike(const Array& array, std::source_location where = COTAN_HERE) : array_(array), site_(where, &array_) {}
  template <HostNumber T>
  ArrayLike(T value, std::source_location where = COTAN_HERE) : array_(value), site_(where, &array_) {}
  const Array& array() const { return array_; }  ///< the array, or the number as a weak scalar
  operator const Array&() const { return array_; }
  /// Members of the array.
  const Array* operator->() const { return &array_; }

 private:
  Array array_;
  detail::CallSite site_;
};

/// The same for functions of any number of Arrays: concatenate({a, b}).
class ArrayList {
 public:
  ArrayList(std::source_location where = COTAN_HERE) : site_(where) {}
  ArrayList(std::initializer_list<Array> arrays, std::source_location where = COTAN_HERE)
      : arrays_(arrays), site_(where) {}
  ArrayList(std::vector<Array> arrays, std::source_location where = COTAN_HERE)
      : arrays_(std::move(arrays)), site_(where) {}
  operator const std::vector<Array>&() const { return arrays_; }
  /// The arrays.
  const std::vector<Array>& list() const { return arrays_; }

 private:
  std::vector<Array> arrays_;
  detail::CallSite site_;
};

/// @name Operators
/// Operands broadcast and promote; C++ numbers take the dtype of the Array.
/// @{
Array operator+(const ArrayLike& a, const ArrayLike& b);   ///< numpy::add
Array operator-(const ArrayLike& a, const ArrayLike& b);   ///< numpy::subtract
Array operator*(const ArrayLike& a, const ArrayLike& b);   ///< numpy::multiply
Array operator/(const ArrayLike& a, const ArrayLike& b);   ///< numpy::divide: of integers too it is a fraction
Array operator%(const ArrayLike& a, const ArrayLike& b);   ///< numpy::remainder
Array operator-(const ArrayLike& a);                       ///< numpy::negative
Array operator+(const ArrayLike& a);                       ///< numpy::positive
Array operator<(const ArrayLike& a, const ArrayLike& b);   ///< numpy::less
Array operator<=(const ArrayLike& a, const ArrayLike& b);  ///< numpy::less_equal
Array operator>(const ArrayLike& a, const ArrayLike& b);   ///< numpy::greater
Array operator>=(const ArrayLike& a, const ArrayLike& b);  ///< numpy::greater_equal
Array operator==(const ArrayLike& a, const ArrayLike& b);  ///< numpy::equal, element by element
Array operator!=(const ArrayLike& a, const ArrayLike& b);  ///< numpy::not_equal, element by element
Array operator&(const ArrayLike& a, const ArrayLike& b);   ///< numpy::bitwise_and
Array operator|(const ArrayLike& a, const ArrayLike& b);   ///< numpy::bitwise_or
Array operator^(const ArrayLike& a, const ArrayLike& b);   ///< numpy::bitwise_xor
Array operator<<(const ArrayLike& a, const ArrayLike& b);  ///< numpy::left_shift
Array operator>>(const ArrayLike& a, const ArrayLike& b);  ///< numpy::right_shift
Array operator~(const ArrayLike& a);                       ///< numpy::bitwise_not
/// @}

/// NumPy-like: nested brackets, long axes elided. A tracer prints as its description.
std::ostream& operator<<(std::ostream& out, const Array& a);
std::string to_string(const Array& a);  ///< what << prints
/// Whether its elements are known: not where it stands for an argument while a transform traces a function.
bool is_concrete(const Array& a);

// Indices ---------------------------------------------------------------------------------------

struct All {};                         ///< the type of all
struct NewAxis {};                     ///< the type of newaxis
struct Ellipsis {};                    ///< the type of ellipsis
inline constexpr All all{};            ///< the whole axis, Python's `:`
inline constexpr NewAxis newaxis{};    ///< a new axis of size 1, Python's `None`
inline constexpr Ellipsis ellipsis{};  ///< as many whole axes as are left, Python's `...`

/// start:stop:step as in Python; `none` leaves a bound open, negative bounds count from the end.
struct Range {
  std::optional<std::int64_t> start, stop;
  std::int64_t step = 1;
};
/// A bound of a range: an integer, or `none`.
struct Bound {
  std::optional<std::int64_t> value;
  Bound(None) {}
  template <class T>
    requires std::is_integral_v<T>
  Bound(T v) : value(static_cast<std::int64_t>(v)) {}
};
/// :stop
inline Range range(Bound stop) { return {std::nullopt, stop.value, 1}; }
/// start:stop:step, as an index: a(ct::range(1, -1)), a(ct::range(ct::none, ct::none, -1)).
inline Range range(Bound start, Bound stop, std::int64_t step = 1) { return {start.value, stop.value, step}; }

/// What may stand in an index: an integer, a bool, `all`, `range`, `newaxis`, `ellipsis`, or an Array of integers or
/// bools.
class Index {
 public:
  template <class I>
    requires(std::is_integral_v<I> && !std::is_same_v<I, bool>)
  Index(I i, std::source_location where = COTAN_HERE) : spec_(static_cast<std::int64_t>(i)), where_(where) {}
  template <class B>
    requires std::is_same_v<B, bool>
  Index(B b, std::source_location where = COTAN_HERE) : spec_(Array(b)), where_(where) {}
  Index(All, std::source_location where = COTAN_HERE) : spec_(Range{}), where_(where) {}
  Index(Range r, std::source_location where = COTAN_HERE) : spec_(r), where_(where) {}
  Index(NewAxis n, std::source_location where = COTAN_HERE) : spec_(n), where_(where) {}
  Index(Ellipsis e, std::source_location where = COTAN_HERE) : spec_(e), where_(where) {}
  Index(Array a, std::source_location where = COTAN_HERE) : spec_(std::move(a)), where_(where) {}
  /// What it is.
  using Spec = std::variant<std::int64_t, Range, NewAxis, Ellipsis, Array>;
  /// What it is.
  const Spec& spec() const { return spec_; }
  /// The line of the caller.
  const std::source_location& where() const { return where_; }

 private:
  Spec spec_;
  std::source_location where_;
};

namespace detail {
Array get_index(const Array& a, std::vector<Index> indices);
}

/// What happens to indices in Arrays that are outside; by default reads clip and writes drop. (C++ integers outside
/// raise, since they are known.) What clips reads another element, `fill` reads NaN, dropped writes are lost, all of it
/// silently as in JAX: debug_bounds(true) raises instead. No gradient reaches what an index outside read.
enum class IndexMode { standard, clip, drop, fill, promise_in_bounds };
/// Of reads and writes by `at`: a.at(i).get({.mode = ct::IndexMode::fill}).
struct IndexOptions {
  IndexMode mode = IndexMode::standard;
  std::optional<double> fill_value = std::nullopt;  ///< for reads with IndexMode::fill; by default NaN, the
                                                    ///< smallest signed or largest unsigned integer
};

#define COTAN_UPDATED [[nodiscard("Arrays are values: at(i).set(x) gives a new Array; assign it")]]
/// `a.at(i)`: reads and functional writes at an index, as `jax.numpy.ndarray.at`. Values broadcast to what the index
/// selects and are cast to the dtype of the array; fractions do not go into integers, which raises TypeError. Of
/// elements that are selected twice, set keeps one, and the others take in both.
class IndexUpdate {
 public:
  IndexUpdate(Array a, std::vector<Index> indices) : array_(std::move(a)), indices_(std::move(indices)) {}
  /// What the index selects, as a(i), with options.
  Array get(IndexOptions options = {}, std::source_location where = COTAN_HERE) const;
  /// Those elements replaced by x.
  COTAN_UPDATED Array set(const ArrayLike& x, IndexOptions options = {}) const;
  /// x added to them.
  COTAN_UPDATED Array add(const ArrayLike& x, IndexOptions options = {}) const;
  /// x subtracted from them.
  COTAN_UPDATED Array subtract(const ArrayLike& x, IndexOptions options = {}) const;
  /// Them multiplied by x.
  COTAN_UPDATED Array multiply(const ArrayLike& x, IndexOptions options = {}) const;
  /// Them divided by x; of integers TypeError.
  COTAN_UPDATED Array divide(const ArrayLike& x, IndexOptions options = {}) const;
  /// The smaller of them and x.
  COTAN_UPDATED Array min(const ArrayLike& x, IndexOptions options = {}) const;
  /// The larger of them and x.
  COTAN_UPDATED Array max(const ArrayLike& x, IndexOptions options = {}) const;
  /// They to the power x.
  COTAN_UPDATED Array power(const ArrayLike& x, IndexOptions options = {}) const;
  /// f of them, an elementwise function; as often as an element is selected.
  COTAN_UPDATED Array apply(const std::function<Array(const Array&)>& f, IndexOptions options = {},
                            std::source_location where = COTAN_HERE) const;

  /// `a.at(i) = x` does not compile, and says what to write.
  /// @{
  template <class T>
  void operator=(T&&) && {
    detail::no_assignment<T>();
  }
  template <class T>
  void operator+=(T&&) && {
    detail::no_assignment<T>();
  }
  /// @}

 private:
  Array array_;
  std::vector<Index> indices_;
};
#undef COTAN_UPDATED

template <class... I>
  requires(sizeof...(I) > 6)
Array Array::operator()(const I&... indices) const {
  return detail::get_index(*this, {Index(indices, {})...});
}
template <class... I>
IndexUpdate Array::at(const I&... indices) const {
  return IndexUpdate(*this, {Index(indices, {})...});
}
inline Array Array::operator[](const Index& index) const { return detail::get_index(*this, {index}); }
inline Array Array::operator()(const Index& i0) const { return detail::get_index(*this, {i0}); }
inline Array Array::operator()(const Index& i0, const Index& i1) const { return detail::get_index(*this, {i0, i1}); }
inline Array Array::operator()(const Index& i0, const Index& i1, const Index& i2) const {
  return detail::get_index(*this, {i0, i1, i2});
}
inline Array Array::operator()(const Index& i0, const Index& i1, const Index& i2, const Index& i3) const {
  return detail::get_index(*this, {i0, i1, i2, i3});
}
inline Array Array::operator()(const Index& i0, const Index& i1, const Index& i2, const Index& i3,
                               const Index& i4) const {
  return detail::get_index(*this, {i0, i1, i2, i3, i4});
}
inline Array Array::operator()(const Index& i0, const Index& i1, const Index& i2, const Index& i3, const Index& i4,
                               const Index& i5) const {
  return detail::get_index(*this, {i0, i1, i2, i3, i4, i5});
}

}  // namespace cotan

#include <cotan/array_elements.hpp>  // IWYU pragma: export
