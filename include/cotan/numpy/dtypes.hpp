// Questions about dtypes, and about arrays as NumPy asks them.
#pragma once
#include <cotan/array.hpp>
#include <initializer_list>
#include <string_view>
#include <vector>

namespace cotan::numpy {

/// @name Dtypes
/// @{
/// What a floating dtype can hold. Another dtype raises ValueError.
struct finfo {
  explicit finfo(DType dtype, const std::source_location& where = COTAN_HERE);
  DType dtype;
  int bits, nmant, nexp, minexp, maxexp, machep, negep, precision;
  double eps, epsneg, max, min, tiny, smallest_normal, smallest_subnormal, resolution;
};
/// What an integer dtype can hold. Another dtype raises ValueError.
struct iinfo {
  explicit iinfo(DType dtype, const std::source_location& where = COTAN_HERE);
  DType dtype;
  int bits;
  std::int64_t min;
  std::uint64_t max;
};
/// NumPy's tree of dtypes, of which ours are the leaves.
enum class DTypeKind { generic, number, integer, signedinteger, unsignedinteger, inexact, floating, complexfloating };
inline constexpr DTypeKind generic = DTypeKind::generic;                  ///< all dtypes
inline constexpr DTypeKind number = DTypeKind::number;                    ///< all but bool
inline constexpr DTypeKind integer = DTypeKind::integer;                  ///< signed and unsigned
inline constexpr DTypeKind signedinteger = DTypeKind::signedinteger;      ///< i8 to i64
inline constexpr DTypeKind unsignedinteger = DTypeKind::unsignedinteger;  ///< u8 to u64
inline constexpr DTypeKind inexact = DTypeKind::inexact;                  ///< floats and complex numbers
inline constexpr DTypeKind floating = DTypeKind::floating;                ///< f16, bf16, f32, f64
inline constexpr DTypeKind complexfloating = DTypeKind::complexfloating;  ///< complex numbers
bool issubdtype(DType dtype, DTypeKind kind);                             ///< whether a dtype is below that node
bool issubdtype(DType dtype, DType other);                                ///< whether they are equal
/// Whether a dtype is of a kind: "bool", "signed integer", "unsigned integer", "integral", "real floating", "complex
/// floating" or "numeric".
bool isdtype(DType dtype, std::string_view kind);
bool isdtype(DType dtype, DType kind);  ///< whether they are equal
/// Whether a cast is allowed: "no" and "equiv" none, "safe" where nothing is lost, "same_kind" also to fewer bits,
/// "unsafe" all.
bool can_cast(DType from, DType to, std::string_view casting = "safe");
using cotan::promote_types;
/// An Array, a number or a dtype, for result_type.
class Typed {
 public:
  Typed(const Array& a) : dtype_(a.dtype()), weak_(a.weak_type()) {}
  Typed(DType dtype) : dtype_(dtype) {}
  template <class T>
    requires std::is_arithmetic_v<T>
  Typed(T value) : Typed(Array(value)) {}
  /// Its dtype.
  DType dtype() const { return dtype_; }
  /// Whether that gives way to others.
  bool weak() const { return weak_; }

 private:
  DType dtype_;
  bool weak_ = false;
};
/// The dtype that an operation on these computes in: result_type({a, 1.0, ct::f16}).
DType result_type(std::initializer_list<Typed> operands);
/// @}

/// @name Arrays
/// @{
/// Array::astype.
inline Array astype(const ArrayLike& a, DType dtype) { return a->astype(dtype, {}); }
inline Shape shape(const ArrayLike& a) { return a->shape(); }        ///< Array::shape
inline int ndim(const ArrayLike& a) { return a->ndim(); }            ///< Array::ndim
inline std::int64_t size(const ArrayLike& a) { return a->size(); }   ///< Array::size
std::int64_t size(const ArrayLike& a, const Axes& axis);             ///< the product of the sizes of axes
inline bool isscalar(const ArrayLike& a) { return a->ndim() == 0; }  ///< a number, or an Array without axes
/// @}

}  // namespace cotan::numpy
