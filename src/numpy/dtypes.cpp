// Questions about dtypes: limits, kinds, casts.
#include <bit>
#include <cmath>
#include <cotan/numpy.hpp>
#include <limits>

#include "core/construct.hpp"
#include "ops/promote.hpp"

namespace cotan::numpy {

namespace {

/// Bits of the fraction and of the exponent.
struct Layout {
  int nmant, nexp;
};
Layout layout_of(DType dtype) {
  switch (dtype) {
    case DType::f16:
      return {10, 5};
    case DType::bf16:
      return {7, 8};
    case DType::f32:
      return {23, 8};
    default:
      return {52, 11};
  }
}

}  // namespace

finfo::finfo(DType of, const std::source_location& where) : dtype(real_dtype(of)) {
  const cotan::detail::CallSite site(where);
  if (!is_inexact(of)) raise<ValueError>("[finfo] {} is no floating dtype; use iinfo.", of);
  const Layout layout = layout_of(dtype);
  bits = static_cast<int>(8 * itemsize(dtype));
  nmant = layout.nmant;
  nexp = layout.nexp;
  maxexp = 1 << (nexp - 1);
  minexp = 2 - maxexp;
  machep = -nmant;
  negep = -nmant - 1;
  eps = std::ldexp(1.0, machep);
  epsneg = std::ldexp(1.0, negep);
  max = std::ldexp(2.0 - eps, maxexp - 1);
  min = -max;
  tiny = smallest_normal = std::ldexp(1.0, minexp);
  smallest_subnormal = std::ldexp(1.0, minexp - nmant);
  precision = static_cast<int>(-std::log10(eps));
  resolution = std::pow(10.0, -precision);
}

iinfo::iinfo(DType of, const std::source_location& where) : dtype(of), bits(static_cast<int>(8 * itemsize(of))) {
  const cotan::detail::CallSite site(where);
  if (!is_integer(of)) raise<ValueError>("[iinfo] {} is no integer dtype; use finfo.", of);
  const bool is_signed = is_signed_integer(of);
  max = ~std::uint64_t{0} >> (64 - bits + (is_signed ? 1 : 0));
  min = is_signed ? -static_cast<std::int64_t>(max) - 1 : 0;
}

bool issubdtype(DType dtype, DTypeKind kind) {
  switch (kind) {
    case DTypeKind::generic:
      return true;
    case DTypeKind::number:
      return dtype != DType::bool_;
    case DTypeKind::integer:
      return is_integer(dtype);
    case DTypeKind::signedinteger:
      return is_signed_integer(dtype);
    case DTypeKind::unsignedinteger:
      return is_unsigned_integer(dtype);
    case DTypeKind::inexact:
      return is_inexact(dtype);
    case DTypeKind::floating:
      return is_floating(dtype);
    case DTypeKind::complexfloating:
      return is_complex(dtype);
  }
  return false;
}
bool issubdtype(DType dtype, DType other) { return dtype == other; }

bool isdtype(DType dtype, std::string_view kind) {
  const std::pair<std::string_view, bool> kinds[] = {{"bool", dtype == DType::bool_},
                                                     {"signed integer", is_signed_integer(dtype)},
                                                     {"unsigned integer", is_unsigned_integer(dtype)},
                                                     {"integral", is_integer(dtype)},
                                                     {"real floating", is_floating(dtype)},
                                                     {"complex floating", is_complex(dtype)},
                                                     {"numeric", dtype != DType::bool_}};
  for (const auto& [name, holds] : kinds)
    if (name == kind) return holds;
  raise<ValueError>(
      "[isdtype] there is no kind '{}'; use bool, signed integer, unsigned integer, integral, real floating, complex "
      "floating or numeric.",
      kind);
}
bool isdtype(DType dtype, DType kind) { return dtype == kind; }

namespace {

/// bool, unsigned, signed, floating, complex: a cast down this row changes the kind.
int rank(DType dtype) {
  return dtype == DType::bool_        ? 0
         : is_unsigned_integer(dtype) ? 1
         : is_signed_integer(dtype)   ? 2
         : is_floating(dtype)         ? 3
                                      : 4;
}
/// Whether every value of one dtype is one of the other.
bool holds_all(DType from, DType to) {
  if (from == to || from == DType::bool_) return true;
  if (rank(from) > rank(to)) return false;
  if (is_complex(to)) return holds_all(real_dtype(from), real_dtype(to));
  if (is_floating(to)) {
    const Layout wide = layout_of(to);
    if (is_floating(from)) return layout_of(from).nmant <= wide.nmant && layout_of(from).nexp <= wide.nexp;
    // Bits of the integer beside those of the fraction; NumPy lets 64-bit integers become doubles.
    const int bits = static_cast<int>(8 * itemsize(from)) - (is_signed_integer(from) ? 1 : 0);
    return bits <= wide.nmant + 1 || to == DType::f64;
  }
  const bool gains_sign = rank(from) < rank(to);
  return gains_sign ? itemsize(from) < itemsize(to) : itemsize(from) <= itemsize(to);
}

}  // namespace

bool can_cast(DType from, DType to, std::string_view casting) {
  if (casting == "no" || casting == "equiv") return from == to;
  if (casting == "safe") return holds_all(from, to);
  if (casting == "same_kind") return holds_all(from, to) || (rank(from) <= rank(to) && rank(from) > 0);
  if (casting == "unsafe") return true;
  raise<ValueError>("[can_cast] there is no rule '{}'; use no, equiv, safe, same_kind or unsafe.", casting);
}

DType result_type(std::initializer_list<Typed> operands) {
  if (operands.size() == 0) raise<ValueError>("[result_type] got no operands; give at least one.");
  Arrays stand_ins;
  for (const Typed& each : operands) stand_ins.push_back(abstract_array({each.dtype(), {}, each.weak()}));
  return result_type(std::span<const Array>(stand_ins)).dtype;
}

std::int64_t size(const ArrayLike& a, const Axes& axis) {
  std::int64_t n = 1;
  for (int i : axis.resolve(a->ndim(), "size")) n *= a->shape()[i];
  return n;
}

}  // namespace cotan::numpy
