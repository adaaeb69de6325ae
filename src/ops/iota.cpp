// iota: the indices along an axis. It has no operands.
#include "ops/parts.hpp"
#include "ops/views.hpp"

namespace cotan::ops {

using expr::Expr;
using expr::integer;
using expr::Operands;

namespace {

Types iota_type(const Primitive&, std::span<const AbstractValue>, const Params& params) {
  const Shape& shape = params.ints("shape");
  checked_bytes({params.dtype("dtype"), shape, false}, "iota");
  const std::int64_t axis = params.integer("dimension");
  if (axis < 0 || axis >= static_cast<std::int64_t>(shape.size()))
    raise<IndexError>("[iota] axis {} is out of range for shape {}; axes count from 0.", axis, describe(shape));
  return {{params.dtype("dtype"), shape, false}};
}
Arrays iota_eval(const Primitive&, std::span<const Array>, const Params& params) {
  const Shape& shape = params.ints("shape");
  const std::int64_t axis = params.integer("dimension");
  auto [out, buffer] = allocate(default_backend(), {params.dtype("dtype"), shape, false});
  const std::int64_t stride = strides_of(shape)[axis], extent = shape[axis];
  dispatch(out.dtype(), [&, &b = buffer, n = out.size()]<class T>() {
    T* y = reinterpret_cast<T*>(b->data());
    for (std::int64_t i = 0; i < n; ++i) y[i] = convert<T>(i / stride % extent);
  });
  return {out};
}

Expr iota_element(const Operands&, Is i, const Params& params) {
  return expr::cast(i[static_cast<std::size_t>(params.integer("dimension"))], params.dtype("dtype"));
}

}  // namespace

const Primitive iota_p{.name = "iota",
                       .op_class = OpClass::elementwise,
                       .type = iota_type,
                       .eval = iota_eval,
                       .not_differentiable = true,
                       .element = iota_element,
                       .rewrites = {.is_trivial = true},
                       .on_parts = [](const Primitive& self, PartsOf, const Params& params) {
                         const Array re = bind1(self, std::initializer_list<Array>{},
                                                params.with("dtype", real_dtype(params.dtype("dtype"))));
                         return PartsList{{re, zeros_like(re)}};
                       }};
const Listed iota_listed{&iota_p};

Array iota(DType dtype, const Shape& shape, int axis) {
  return bind1(iota_p, std::span<const Array>{},
               {{"dtype", dtype}, {"shape", shape}, {"dimension", std::int64_t{axis}}});
}

}  // namespace cotan::ops
