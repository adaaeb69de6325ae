// The operators and member functions of Array: other spellings of cotan::numpy.
#include <cotan/numpy.hpp>

#include "ops/ops.hpp"
#include "ops/promote.hpp"

namespace cotan {

Array operator+(const ArrayLike& a, const ArrayLike& b) { return numpy::add(a, b); }
Array operator-(const ArrayLike& a, const ArrayLike& b) { return numpy::subtract(a, b); }
Array operator*(const ArrayLike& a, const ArrayLike& b) { return numpy::multiply(a, b); }
Array operator/(const ArrayLike& a, const ArrayLike& b) { return numpy::divide(a, b); }
Array operator%(const ArrayLike& a, const ArrayLike& b) { return numpy::remainder(a, b); }
Array operator-(const ArrayLike& a) { return numpy::negative(a); }
Array operator+(const ArrayLike& a) { return numpy::positive(a); }
Array operator<(const ArrayLike& a, const ArrayLike& b) { return numpy::less(a, b); }
Array operator<=(const ArrayLike& a, const ArrayLike& b) { return numpy::less_equal(a, b); }
Array operator>(const ArrayLike& a, const ArrayLike& b) { return numpy::greater(a, b); }
Array operator>=(const ArrayLike& a, const ArrayLike& b) { return numpy::greater_equal(a, b); }
Array operator==(const ArrayLike& a, const ArrayLike& b) { return numpy::equal(a, b); }
Array operator!=(const ArrayLike& a, const ArrayLike& b) { return numpy::not_equal(a, b); }
Array operator&(const ArrayLike& a, const ArrayLike& b) { return numpy::bitwise_and(a, b); }
Array operator|(const ArrayLike& a, const ArrayLike& b) { return numpy::bitwise_or(a, b); }
Array operator^(const ArrayLike& a, const ArrayLike& b) { return numpy::bitwise_xor(a, b); }
Array operator<<(const ArrayLike& a, const ArrayLike& b) { return numpy::left_shift(a, b); }
Array operator>>(const ArrayLike& a, const ArrayLike& b) { return numpy::right_shift(a, b); }
Array operator~(const ArrayLike& a) { return numpy::bitwise_not(a); }

Array& Array::operator+=(const ArrayLike& other) & { return *this = numpy::add(*this, other); }
Array& Array::operator-=(const ArrayLike& other) & { return *this = numpy::subtract(*this, other); }
Array& Array::operator*=(const ArrayLike& other) & { return *this = numpy::multiply(*this, other); }
Array& Array::operator/=(const ArrayLike& other) & { return *this = numpy::divide(*this, other); }

Array Array::astype(DType dtype, std::source_location where) const {
  const detail::CallSite site(where, this);
  aval();
  return ops::cast(*this, dtype);
}
Array Array::T() const { return numpy::transpose(*this); }
Array Array::reshape(const Shape& shape, std::source_location where) const {
  return numpy::reshape({*this, where}, shape);
}
Array Array::transpose(const std::vector<int>& axes, std::source_location where) const {
  return numpy::transpose({*this, where}, axes);
}
Array Array::flatten() const { return numpy::ravel(*this); }
Array Array::squeeze(const Axes& axis, std::source_location where) const {
  return numpy::squeeze({*this, where}, axis);
}
Array Array::sum(const Axes& axis, bool keepdims, std::source_location where) const {
  return numpy::sum({*this, where}, axis, keepdims);
}
Array Array::prod(const Axes& axis, bool keepdims, std::source_location where) const {
  return numpy::prod({*this, where}, axis, keepdims);
}
Array Array::mean(const Axes& axis, bool keepdims, std::source_location where) const {
  return numpy::mean({*this, where}, axis, keepdims);
}
Array Array::max(const Axes& axis, bool keepdims, std::source_location where) const {
  return numpy::max({*this, where}, axis, keepdims);
}
Array Array::min(const Axes& axis, bool keepdims, std::source_location where) const {
  return numpy::min({*this, where}, axis, keepdims);
}

}  // namespace cotan
