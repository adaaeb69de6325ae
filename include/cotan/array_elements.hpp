// Elements from the host to an Array and back: the templates that array.hpp declares. Include that one,
// which ends with this.
#pragma once

namespace cotan {

namespace detail {
Array weak_scalar(double value);
Array weak_scalar(std::int64_t value);
Array weak_scalar(std::uint64_t value);
Array weak_scalar(bool value);
Array weak_complex(double real, double imaginary);
/// Copies elements to `out` converted to `dtype`; raises on tracers.
void copy_to_host(const Array& a, DType dtype, void* out, std::string_view op);
void check_host_size(std::size_t elements, const Shape& shape);
}  // namespace detail

template <HostNumber E>
Array::Array(E value) {
  if constexpr (HostComplex<E>)
    *this = detail::weak_complex(value.real(), value.imag());
  else if constexpr (std::is_same_v<E, bool>)
    *this = detail::weak_scalar(value);
  else if constexpr (std::is_floating_point_v<E>)
    *this = detail::weak_scalar(static_cast<double>(value));
  else if constexpr (std::is_unsigned_v<E>)
    *this = detail::weak_scalar(static_cast<std::uint64_t>(value));
  else
    *this = detail::weak_scalar(static_cast<std::int64_t>(value));
}

template <HostElement E>
Array Array::from_host(std::span<const E> data, const Shape& shape, const std::source_location& where) {
  const detail::CallSite site(where);
  if constexpr (std::is_same_v<E, long double>) {
    return from_host(std::vector<double>(data.begin(), data.end()), shape, {});
  } else {
    detail::check_host_size(data.size(), shape);
    return from_bytes(dtype_of<E>(), shape, std::as_bytes(data));
  }
}
template <HostElement E>
Array Array::from_host(const std::vector<E>& data, const Shape& shape, const std::source_location& where) {
  const detail::CallSite site(where);
  if constexpr (std::is_same_v<E, bool>) {
    std::vector<std::uint8_t> bytes(data.begin(), data.end());
    detail::check_host_size(bytes.size(), shape);
    return from_bytes(DType::bool_, shape, std::as_bytes(std::span(bytes)));
  } else {
    return from_host(std::span<const E>(data), shape, {});
  }
}
template <HostElement E>
Array Array::from_host(const std::vector<E>& data) {
  return from_host(data, {static_cast<std::int64_t>(data.size())}, {});
}

template <HostNumber E>
E Array::item(std::source_location where) const {
  const detail::CallSite site(where, this);
  if (defined() && size() != 1)
    throw ShapeError("[item] the array has " + std::to_string(size()) + " elements, shape " + describe(shape()) +
                     "; index it down to one element or use to_vector()." + detail::call_note());
  std::conditional_t<std::is_same_v<E, long double>, double, E> out{};
  detail::copy_to_host(*this, dtype_of<E>(), &out, "item");
  return out;
}
template <HostElement E>
std::vector<E> Array::to_vector(std::source_location where) const {
  const detail::CallSite site(where, this);
  // vector<bool> has no data() and long double no dtype: both go through another element type.
  using Raw = std::conditional_t<std::is_same_v<E, bool>, std::uint8_t,
                                 std::conditional_t<std::is_same_v<E, long double>, double, E>>;
  std::vector<Raw> raw(static_cast<std::size_t>(defined() ? size() : 0));
  detail::copy_to_host(*this, dtype_of<E>(), raw.data(), "to_vector");
  if constexpr (std::is_same_v<Raw, E>)
    return raw;
  else
    return std::vector<E>(raw.begin(), raw.end());
}

}  // namespace cotan
