#include <complex>
#include <cotan/array.hpp>

#include "core/backend.hpp"
#include "core/construct.hpp"
#include "core/trace.hpp"
#include "core/typed.hpp"

namespace cotan {

const detail::Concrete* concrete(const Array& a) {
  const auto* c = dynamic_cast<const detail::Concrete*>(a.value().get());
  if (c && c->donated.load(std::memory_order_relaxed))
    raise<ValueError>(
        "[array] {} was donated to a jitted call and is gone; use the call's result, or do not donate it.", c->aval);
  return c;
}
void donate(const Array& a) {
  const auto* c = dynamic_cast<const detail::Concrete*>(a.value().get());
  if (!c || c->donated.exchange(true)) return;
  if (c->buffer.use_count() == 1) c->buffer->release();  // an output or a reshaped view may share it
}

const AbstractValue& Array::aval() const {
  if (!value_)
    raise<ValueError>("[array] this Array is empty (default-constructed or moved from); assign it before use.");
  return value_->aval;
}
const Shape& Array::shape() const { return aval().shape; }
int Array::ndim() const { return static_cast<int>(shape().size()); }
std::int64_t Array::size() const { return aval().size(); }
DType Array::dtype() const { return aval().dtype; }
bool Array::weak_type() const { return aval().weak_type; }
std::size_t Array::nbytes() const { return static_cast<std::size_t>(size()) * cotan::itemsize(dtype()); }
std::int64_t Array::shape(int axis) const {
  const int n = ndim();
  if (axis < -n || axis >= n)
    raise<IndexError>("[shape] axis {} is out of range for an array of shape {}; ask for ndim() first.", axis,
                      describe(shape()));
  return shape()[axis < 0 ? axis + n : axis];
}

namespace {

/// The elements behind `a`: its own, or those of a tracer that carries a value.
const detail::Concrete* elements(const Array& a, std::string_view op) {
  a.aval();
  Array at = a;
  while (const auto* t = tracer(at)) {
    check_not_leaked(at, op);
    Array inner = t->known_value();
    if (!inner.defined()) {
      raise<ConcretizationError>(
          "[{}] {} has no value while {} traces the function; use np::where in place of a C++ branch (or lax::cond, "
          "and lax::while_loop in place of a loop), pass what shapes depend on as a C++ number (a static "
          "argument), or keep this part outside.",
          op, t->describe(), t->trace->transform());
    }
    at = inner;
  }
  const auto* c = concrete(at);
  if (!c)
    raise<ConcretizationError>(
        "[{}] {} is abstract: it has a shape and a dtype but no elements; pass an array with values.", op, a.aval());
  return c;
}

template <class T>
Array make_scalar(const AbstractValue& aval, T value) {
  auto [array, buffer] = allocate(default_backend(), aval);
  dispatch_any(aval.dtype, [&, &b = buffer]<class E>() { *reinterpret_cast<E*>(b->data()) = convert<E>(value); });
  return array;
}

Array weak(DType dtype, ExactScalar exact) {
  AbstractValue aval{dtype, {}, true};
  auto [array, buffer] = allocate(default_backend(), aval);
  auto value = std::make_shared<detail::Concrete>(aval, buffer);
  value->exact = exact;
  Array out{detail::ValuePtr(value)};
  dispatch_any(dtype, [&, &b = buffer]<class E>() {
    auto& e = *reinterpret_cast<E*>(b->data());
    switch (exact.kind) {
      case ExactScalar::Kind::boolean:
      case ExactScalar::Kind::integer:
        e = convert<E>(exact.i);
        break;
      case ExactScalar::Kind::unsigned_integer:
        e = convert<E>(exact.u);
        break;
      case ExactScalar::Kind::real:
        e = convert<E>(exact.d);
        break;
      case ExactScalar::Kind::complex:
        e = convert<E>(std::complex<double>(exact.d, exact.imaginary));
        break;
    }
  });
  return out;
}

}  // namespace

Device Array::device() const {
  if (const auto* c = concrete(*this)) return Device(std::string(c->buffer->backend().name()));
  aval();
  return Device(std::string(default_backend().name()));
}

Array scalar(DType dtype, double value) { return make_scalar({dtype, {}, false}, value); }
Array scalar(DType dtype, std::int64_t value) { return make_scalar({dtype, {}, false}, value); }

std::optional<Array> exact_scalar_as(const Array& a, DType dtype) {
  const auto* c = concrete(a);
  if (!c || !c->exact) return std::nullopt;
  const ExactScalar e = *c->exact;
  const AbstractValue aval{dtype, {}, false};
  switch (e.kind) {
    case ExactScalar::Kind::boolean:
    case ExactScalar::Kind::integer:
      return make_scalar(aval, e.i);
    case ExactScalar::Kind::unsigned_integer:
      return make_scalar(aval, e.u);
    case ExactScalar::Kind::complex:
      return make_scalar(aval, std::complex<double>(e.d, e.imaginary));
    case ExactScalar::Kind::real:
      break;
  }
  return make_scalar(aval, e.d);
}

Array abstract_array(const AbstractValue& aval) { return Array(std::make_shared<detail::Abstract>(aval)); }

Array strong(const Array& a) {
  if (!a.weak_type()) return a;
  if (const auto* c = concrete(a))
    return Array(std::make_shared<detail::Concrete>(AbstractValue{a.dtype(), a.shape(), false}, c->buffer));
  return a.astype(a.dtype());
}

namespace detail {

Array weak_scalar(double value) {
  ExactScalar e{ExactScalar::Kind::real, {}};
  e.d = value;
  return weak(DType::f32, e);
}
Array weak_scalar(std::int64_t value) {
  ExactScalar e{ExactScalar::Kind::integer, {}};
  e.i = value;
  return weak(value == static_cast<std::int32_t>(value) ? DType::i32 : DType::i64, e);
}
Array weak_scalar(std::uint64_t value) {
  if (value <= static_cast<std::uint64_t>(INT64_MAX)) return weak_scalar(static_cast<std::int64_t>(value));
  ExactScalar e{ExactScalar::Kind::unsigned_integer, {}};
  e.u = value;
  return weak(DType::u64, e);
}
Array weak_complex(double real, double imaginary) {
  ExactScalar e{ExactScalar::Kind::complex, {}};
  e.d = real;
  e.imaginary = imaginary;
  return weak(DType::c64, e);
}
Array weak_scalar(bool value) { return make_scalar({DType::bool_, {}, false}, static_cast<std::int64_t>(value)); }

void check_host_size(std::size_t count, const Shape& shape) {
  const AbstractValue aval{DType::u8, shape, false};
  if (checked_bytes(aval, "from_host") != count)
    raise<ShapeError>("[from_host] {} elements do not fill shape {}, which needs {}; give as many as the shape holds.",
                      count, describe(shape), aval.size());
}

void copy_to_host(const Array& a, DType dtype, void* out, std::string_view op) {
  const Concrete* c = elements(a, op);
  const auto n = static_cast<std::size_t>(a.size());
  if (n == 0) return;
  if (c->aval.dtype == dtype) {
    std::memcpy(out, c->buffer->data(), n * itemsize(dtype));
    return;
  }
  if (is_complex(c->aval.dtype) && !is_complex(dtype) && dtype != DType::bool_)
    raise<TypeError>(
        "[{}] {} has complex elements, and {} has no imaginary part; ask for {}, or for the parts with "
        "np::real and np::imag.",
        op, a.aval(), dtype, c->aval.dtype == DType::c64 ? "std::complex<float>" : "std::complex<double>");
  dispatch_any(c->aval.dtype, [&]<class From>() {
    dispatch_any(dtype, [&]<class To>() {
      const auto* from = reinterpret_cast<const From*>(c->buffer->data());
      auto* to = static_cast<To*>(out);
      for (std::size_t i = 0; i < n; ++i) to[i] = convert<To>(from[i]);
    });
  });
}

}  // namespace detail

Array Array::from_bytes(DType dtype, const Shape& shape, std::span<const std::byte> bytes) {
  const AbstractValue aval{dtype, shape, false};
  if (checked_bytes(aval, "from_bytes") != bytes.size())
    raise<ShapeError>("[from_bytes] {} bytes do not fill {}, which needs {}; give as many as the shape holds.",
                      bytes.size(), aval, checked_bytes(aval, "from_bytes"));
  auto [array, buffer] = allocate(default_backend(), aval);
  if (!bytes.empty()) std::memcpy(buffer->data(), bytes.data(), bytes.size());
  return array;
}

Array::operator bool() const {
  if (size() != 1)
    raise<ShapeError>("[bool] an array of shape {} has no single truth value; use np::any or np::all.",
                      describe(shape()));
  bool out = false;
  detail::copy_to_host(*this, DType::bool_, &out, "bool");
  return out;
}

std::vector<int> Axes::resolve(int ndim, std::string_view op) const {
  std::vector<int> out;
  if (!axes_) {
    for (int i = 0; i < ndim; ++i) out.push_back(i);
    return out;
  }
  for (int axis : *axes_) {
    if (ndim == 0) raise<IndexError>("[{}] axis {} is out of range for a 0-d array; it has no axes.", op, axis);
    if (axis < -ndim || axis >= ndim)
      raise<IndexError>("[{}] axis {} is out of range for an array with {} axes; axes run from {} to {}.", op, axis,
                        ndim, -ndim, ndim - 1);
    const int a = axis < 0 ? axis + ndim : axis;
    for (int seen : out)
      if (seen == a) raise<ValueError>("[{}] axis {} is given twice; name each axis once.", op, axis);
    out.push_back(a);
  }
  return out;
}

}  // namespace cotan
