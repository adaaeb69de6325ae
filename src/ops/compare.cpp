// Comparisons and select.
#include <cmath>
#include <cotan/numpy.hpp>

#include "expr/expr.hpp"
#include "ops/elementwise.hpp"
#include "ops/parts.hpp"

namespace cotan::ops {

namespace {

Types compare_type(const Primitive& self, std::span<const AbstractValue> x, const Params& params) {
  AbstractValue out = elementwise_type<Accepts::any>(self, x, params)[0];
  return {{DType::bool_, out.shape, false}};
}

template <auto f>
Arrays compare_eval(const Primitive& self, std::span<const Array> x, const Params& params) {
  auto [out, buffer] = allocate_like(x, result_type(self, x, params));
  dispatch(x[0].dtype(), [&, &b = buffer, n = out.size()]<class T>() { map2<f, T, bool>(x[0], x[1], b, n); });
  return {out};
}

template <auto f, expr::Expr (*scalar)(expr::Expr, expr::Expr)>
Primitive comparison(std::string_view name) {
  return {.name = name,
          .op_class = OpClass::elementwise,
          .type = compare_type,
          .eval = compare_eval<f>,
          .batch = elementwise_batch,
          .not_differentiable = true,
          .scalar = [](std::span<const expr::Expr> x, const Params&) { return scalar(x[0], x[1]); }};
}

Arrays is_finite_eval(const Primitive& self, std::span<const Array> x, const Params&) {
  auto [out, buffer] = allocate_like(x, {DType::bool_, x[0].shape(), false});
  dispatch_floating(x[0].dtype(), self.name, [&, &b = buffer, n = out.size()]<class T>() {
    const T* in = data<T>(x[0]);
    for (std::int64_t i = 0; i < n; ++i)
      reinterpret_cast<bool*>(b->data())[i] = std::isfinite(static_cast<Compute<T>>(in[i]));
  });
  return {out};
}

// select(predicate, on_true, on_false): the predicate is 0-d or of the operands' shape.
Types select_type(const Primitive& self, std::span<const AbstractValue> x, const Params&) {
  if (x[0].dtype != DType::bool_) raise<TypeError>("[select] the predicate is {}; it must be bool, use x != 0.", x[0]);
  if (x[1].dtype != x[2].dtype)
    raise<TypeError>("[select] the branches are {} and {}; give them one dtype with astype.", x[1], x[2]);
  return {{x[1].dtype, elementwise_shape(self, x), x[1].weak_type && x[2].weak_type}};
}
Arrays select_eval(const Primitive& self, std::span<const Array> x, const Params& params) {
  auto [out, buffer] = allocate_like(x, result_type(self, x, params));
  dispatch_width(out.dtype(), [&, &b = buffer, n = out.size()]<class T>() {
    const bool* p = data<bool>(x[0]);
    const T *yes = data<T>(x[1]), *no = data<T>(x[2]);
    const auto dp = step(x[0], n), dy = step(x[1], n), dn = step(x[2], n);
    T* y = reinterpret_cast<T*>(b->data());
    for (std::int64_t i = 0; i < n; ++i) y[i] = p[i * dp] ? yes[i * dy] : no[i * dn];
  });
  return {out};
}
/// Linear in the branches: the tangent where it is chosen, zero elsewhere.
Array select_true(const Partial& p) { return bind1(select_p, {p.x[0], p.t, scalar(p.t.dtype(), 0)}); }
Array select_false(const Partial& p) { return bind1(select_p, {p.x[0], scalar(p.t.dtype(), 0), p.t}); }
Arrays select_transpose(const Primitive&, std::span<const Array> ct, std::span<const LinearInput> in, const Params&) {
  const Array zero = scalar(ct[0].dtype(), 0);
  Arrays out(3);
  if (in[1].linear) out[1] = unbroadcast(bind1(select_p, {in[0].value, ct[0], zero}), in[1].aval);
  if (in[2].linear) out[2] = unbroadcast(bind1(select_p, {in[0].value, zero, ct[0]}), in[2].aval);
  return out;
}

/// Both branches are the same, or it is known which one it is.
std::optional<std::size_t> select_same_as(const OperandFacts& x) {
  if (x.first[2] == 1) return 1;
  return x.numbers[0] ? std::optional<std::size_t>(*x.numbers[0] != 0 ? 1 : 2) : std::nullopt;
}

}  // namespace

const Primitive eq_p =
    complex_by(comparison<[](auto a, auto b) { return a == b; }, expr::eq>("eq"),
               [](const Primitive&, PartsOf x, const Params&) { return real_result(parts::equal(x[0], x[1])); });
const Primitive ne_p =
    complex_by(comparison<[](auto a, auto b) { return a != b; }, expr::ne>("ne"),
               [](const Primitive&, PartsOf x, const Params&) { return real_result(~parts::equal(x[0], x[1])); });
const Primitive lt_p =
    complex_by(comparison<[](auto a, auto b) { return a < b; }, expr::lt>("lt"),
               [](const Primitive&, PartsOf x, const Params&) { return real_result(parts::less(x[0], x[1])); });
const Primitive le_p = complex_by(comparison<[](auto a, auto b) { return a <= b; }, expr::le>("le"),
                                  [](const Primitive&, PartsOf x, const Params&) {
                                    return real_result(parts::less(x[0], x[1]) | parts::equal(x[0], x[1]));
                                  });
const Primitive gt_p =
    complex_by(comparison<[](auto a, auto b) { return (a > b); }, expr::gt>("gt"),
               [](const Primitive&, PartsOf x, const Params&) { return real_result(parts::less(x[1], x[0])); });
const Primitive ge_p = complex_by(comparison<[](auto a, auto b) { return (a >= b); }, expr::ge>("ge"),
                                  [](const Primitive&, PartsOf x, const Params&) {
                                    return real_result(parts::less(x[1], x[0]) | parts::equal(x[0], x[1]));
                                  });
const Primitive is_finite_p{
    .name = "is_finite",
    .op_class = OpClass::elementwise,
    .type =
        [](const Primitive& self, std::span<const AbstractValue> x, const Params&) {
          check_dtype(self, x[0].dtype, Accepts::floating);
          return Types{{DType::bool_, x[0].shape, false}};
        },
    .eval = is_finite_eval,
    .batch = elementwise_batch,
    .not_differentiable = true,
    .scalar = [](std::span<const expr::Expr> x,
                 const Params&) { return lt(abs(x[0]), like(x[0], std::numeric_limits<double>::infinity())); }};
const Primitive select_p{
    .name = "select",
    .op_class = OpClass::elementwise,
    .type = select_type,
    .eval = select_eval,
    .partials = {nullptr, select_true, select_false},
    .transpose = select_transpose,
    .batch = elementwise_batch,
    .scalar = [](std::span<const expr::Expr> x, const Params&) { return expr::select(x[0], x[1], x[2]); },
    .keeps_halves = true,
    .rewrites = {.same_as = select_same_as, .is_cheap = true},
    .on_parts = on_each_part};
const Listed compare_listed{&eq_p, &ne_p, &lt_p, &le_p, &gt_p, &ge_p, &is_finite_p, &select_p};

Array select(const Array& predicate, const Array& on_true, const Array& on_false) {
  return bind1(select_p, {predicate, on_true, on_false});
}

}  // namespace cotan::ops
