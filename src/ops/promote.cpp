#include "ops/promote.hpp"

#include <algorithm>
#include <complex>

#include "core/construct.hpp"
#include "core/trace.hpp"
#include "ops/ops.hpp"

namespace cotan::numpy {

namespace {

// A node of the lattice is a strong dtype, or a weak integer or float: those of C++ scalars.
struct Node {
  DType dtype;
  bool weak;
};

Node join(Node a, Node b) {
  if (a.weak && b.weak) return {promote_types(a.dtype, b.dtype), true};
  if (!a.weak && !b.weak) {
    // No integer holds u64 and a signed type; what does is any float, so the result stays weak.
    const bool to_float = !is_inexact(a.dtype) && !is_inexact(b.dtype) && is_floating(promote_types(a.dtype, b.dtype));
    return {promote_types(a.dtype, b.dtype), to_float};
  }
  const Node &weak = a.weak ? a : b, &strong = a.weak ? b : a;
  if (is_complex(weak.dtype)) return is_inexact(strong.dtype) ? Node{complex_dtype(strong.dtype), false} : weak;
  if (is_inexact(strong.dtype)) return strong;
  if (is_floating(weak.dtype)) return {DType::f32, true};
  return strong.dtype == DType::bool_ ? weak : strong;
}

void check_defined(const Array& a) { a.aval(); }

/// A weak scalar whose C++ value is known, in another weak dtype.
std::optional<Array> weak_constant(const Array& a, DType dtype) {
  const auto* c = concrete(a);
  if (!c || !c->exact || (dtype != DType::f32 && dtype != DType::c64)) return std::nullopt;
  if (dtype == DType::c64) {
    const auto value = exact_scalar_as(a, DType::c128)->item<std::complex<double>>();
    return cotan::detail::weak_complex(value.real(), value.imag());
  }
  switch (c->exact->kind) {
    case ExactScalar::Kind::boolean:
    case ExactScalar::Kind::integer:
      return cotan::detail::weak_scalar(static_cast<double>(c->exact->i));
    case ExactScalar::Kind::unsigned_integer:
      return cotan::detail::weak_scalar(static_cast<double>(c->exact->u));
    case ExactScalar::Kind::complex:
    case ExactScalar::Kind::real:
      break;
  }
  return a;
}

}  // namespace

ResultType result_type(const Array& a) { return {a.dtype(), a.weak_type()}; }
ResultType result_type(std::span<const Array> args) {
  internal_check(!args.empty(), "result_type of no operands");
  Node at{args[0].dtype(), args[0].weak_type()};
  for (const Array& a : args.subspan(1)) at = join(at, {a.dtype(), a.weak_type()});
  return {at.dtype, at.weak};
}
ResultType inexact_result_type(std::span<const Array> args) {
  ResultType t = result_type(args);
  // As JAX does: 64-bit integers become f64, all others f32. A weak one holds only what it was made from.
  if (!is_inexact(t.dtype)) t.dtype = itemsize(t.dtype) == 8 && !t.weak ? DType::f64 : DType::f32;
  return t;
}
ResultType numeric_result_type(std::span<const Array> args) {
  ResultType t = result_type(args);
  if (t.dtype == DType::bool_) t.dtype = DType::i32;
  return t;
}

Array cast_to(const Array& a, ResultType type) {
  if (a.dtype() == type.dtype && a.weak_type() == type.weak) return a;
  if (!type.weak) return ops::cast(a, type.dtype);
  if (auto constant = weak_constant(a, type.dtype)) return *constant;
  return bind1(ops::convert_element_type_p, {a}, {{"new_dtype", type.dtype}, {"weak_type", true}});
}
Array on_float(const Primitive& p, const Array& a, const Params& params) {
  return bind1(p, {cast_to(a, inexact_result_type({&a, 1}))}, params);
}
Array to_inexact(const Array& a) { return cast_to(a, inexact_result_type({&a, 1})); }
Arrays cast_all(std::span<const Array> args, ResultType type) {
  Arrays out;
  out.reserve(args.size());
  const bool evaluating = is_eval_trace(current_trace());
  for (const Array& a : args) {
    // Beside a strong operand a weak tracer of the right dtype needs no equation: the result is strong
    // anyway. The same goes for a number that is used at once.
    const bool as_is = args.size() > 1 && !type.weak && a.dtype() == type.dtype && (evaluating || !concrete(a));
    out.push_back(as_is ? a : cast_to(a, type));
  }
  return out;
}

Shape broadcast_shapes(std::string_view op, std::span<const Shape> shapes) {
  Shape out;
  for (const Shape& s : shapes) {
    if (s.size() > out.size()) out.insert(out.begin(), s.size() - out.size(), 1);
    const std::size_t offset = out.size() - s.size();
    for (std::size_t i = 0; i < s.size(); ++i) {
      auto& d = out[i + offset];
      if (d == 1)
        d = s[i];
      else if (s[i] != 1 && s[i] != d) {
        std::string list;
        for (const Shape& each : shapes)
          list += (list.empty() ? "" : &each == &shapes.back() ? " and " : ", ") + describe(each);
        raise<ShapeError>("[{}] shapes {} do not broadcast; aligned from the end, each axis must be equal or 1.", op,
                          list);
      }
    }
  }
  return out;
}
Shape broadcast_shapes(std::string_view op, std::span<const Array> args) {
  bool same = true;
  for (const Array& a : args) same &= a.shape() == args[0].shape();
  if (same && !args.empty()) return args[0].shape();
  std::vector<Shape> shapes;
  for (const Array& a : args) shapes.push_back(a.shape());
  return broadcast_shapes(op, shapes);
}
Arrays broadcast_operands(std::string_view op, Arrays args) {
  const Shape shape = broadcast_shapes(op, args);
  for (Array& a : args)
    if (a.ndim() != 0) a = ops::broadcast_to(a, shape);
  return args;
}

namespace {

/// Elementwise primitives take operands of one shape, and 0-d ones beside them.
bool need_no_broadcast(std::span<const Array> args) {
  const Shape* shape = nullptr;
  for (const Array& a : args) {
    if (a.ndim() == 0) continue;
    if (shape && *shape != a.shape()) return false;
    shape = &a.shape();
  }
  return true;
}

template <auto type_of>
Arrays promote_with(std::string_view op, std::initializer_list<Array> args) {
  const std::span<const Array> operands(args.begin(), args.size());
  for (const Array& a : operands) check_defined(a);
  if (need_no_broadcast(operands)) return cast_all(operands, type_of(operands));
  broadcast_shapes(op, operands);  // raise before any equation is made
  return broadcast_operands(op, cast_all(operands, type_of(operands)));
}

}  // namespace

Arrays promote(std::string_view op, std::initializer_list<Array> args) {
  return promote_with<[](std::span<const Array> x) { return result_type(x); }>(op, args);
}
Arrays promote_inexact(std::string_view op, std::initializer_list<Array> args) {
  return promote_with<[](std::span<const Array> x) { return inexact_result_type(x); }>(op, args);
}
Arrays promote_numeric(std::string_view op, std::initializer_list<Array> args) {
  return promote_with<[](std::span<const Array> x) { return numeric_result_type(x); }>(op, args);
}

int resolve_axis(int axis, int ndim, std::string_view op) { return Axes(axis).resolve(ndim, op)[0]; }

void check_real(std::string_view op, const Array& a) {
  if (is_complex(a.dtype()))
    raise<TypeError>("[{}] is not defined for complex numbers, and got {}; take np::real, np::imag or np::abs first.",
                     op, a.aval());
}

}  // namespace cotan::numpy
