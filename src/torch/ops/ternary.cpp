// Elementwise functions of three: where, clamp, lerp, addcmul.
#include <fmt/format.h>

#include <cotan/lax.hpp>

#include "torch/ops/families.hpp"

namespace cotan::torch {

using namespace detail;

Tensor where(const Input& condition, const Operand& a, const Operand& b) {
  static const auto op =
      define("where", {.saves = Saves::first}, [](const Array& c, const Array& x, const Array& y, DType t) {
        return numpy::where(c, x.astype(t), y.astype(t));
      });
  if (condition->dtype() != DType::bool_ && condition->dtype() != DType::u8)
    throw_with_line<TypeError>(fmt::format("[where] the condition is {}; it must be bool.", name(condition->dtype())));
  const DType t = result_type(a, b);
  return op(*condition, as_tensor(a, t, *condition), as_tensor(b, t, *condition), t);
}

namespace {

using Maybe = std::optional<Array>;

Array cut(const Array& a, const Maybe& low, const Maybe& high) {
  Array out = low ? numpy::maximum(a, *low) : a;
  return high ? numpy::minimum(out, *high) : out;
}
/// Between two numbers: only what is strictly between them has a gradient.
Array between_numbers(const Array& a, const Maybe& low, const Maybe& high) {
  if (!is_inexact(a.dtype())) return cut(a, low, high);
  Array inside = low ? a > *low : a < *high;
  if (low && high) inside = inside & (a < *high);
  return numpy::where(inside, a, lax::stop_gradient(cut(a, low, high)));
}
/// Between tensors: an element at an end shares the gradient with it; of ends in the wrong order the upper one counts.
Array between_tensors(const Array& a, const Maybe& low, const Maybe& high) {
  if (!is_inexact(a.dtype())) return cut(a, low, high);
  Arrays args{a};
  if (low) args.push_back(*low);
  if (high) args.push_back(*high);
  const std::size_t n = args.size();
  const bool has_low = low.has_value(), has_high = high.has_value();
  const auto value = [=](std::span<const Array> in) {
    return cut(in[0], has_low ? Maybe(in[1]) : Maybe(), has_high ? Maybe(in[n - 1]) : Maybe());
  };
  const auto rule = [=](std::span<const Array> in) {
    const Array& x = in[0];
    Array out;  // of the tangents
    const auto add = [&](const Array& part) { out = out.defined() ? out + part : part; };
    Array outside = numpy::zeros(x.shape(), DType::bool_), tied = outside;
    if (has_low) {
      const Array below = x < in[1], at_end = x == in[1],
                  ordered = has_high ? in[1] < in[n - 1] : numpy::ones({}, DType::bool_);
      add(numpy::where(ordered & below, in[n + 1], numpy::where(ordered & at_end, 0.5 * in[n + 1], 0.0)));
      outside = outside | below;
      tied = tied | at_end;
    }
    if (has_high) {
      const Array& end = in[n - 1];
      Array above = x > end;
      const Array at_end = x == end;
      if (has_low) above = above | (end < in[1]);
      add(numpy::where(above, in[2 * n - 1], numpy::where(at_end, 0.5 * in[2 * n - 1], 0.0)));
      outside = outside | above;
      tied = tied | at_end;
    }
    add(numpy::where(outside, 0.0, numpy::where(tied, 0.5 * in[n], in[n])));
    return Arrays{value(in.first(n)), out};
  };
  return flat::custom_jvp([=](std::span<const Array> in) { return Arrays{value(in)}; }, rule, args, "clamp")[0];
}
template <Array (*f)(const Array&, const Maybe&, const Maybe&)>
Array in_type(const Array& a, const Maybe& low, const Maybe& high, DType t) {
  const auto cast = [&](const Maybe& end) { return end ? Maybe(end->astype(t)) : end; };
  return f(a.astype(t), cast(low), cast(high));
}

}  // namespace

Tensor clamp(const Input& x, const Bound& min, const Bound& max) {
  static const auto tensors =
      define("clamp", {.saves = Saves::operands}, [](const Array& a, const Maybe& low, const Maybe& high, DType t) {
        return in_type<between_tensors>(a, low, high, t);
      });
  static const auto numbers =
      define("clamp", {.saves = Saves::operands}, [](const Array& a, const Maybe& low, const Maybe& high, DType t) {
        return in_type<between_numbers>(a, low, high, t);
      });
  if (!min && !max) throw_with_line<ValueError>("[clamp] needs a lower end, an upper end, or both.");
  const Operand self(*x, std::source_location{});
  std::vector<const Operand*> all{&self};
  if (min) all.push_back(&*min);
  if (max) all.push_back(&*max);
  const DType t = result_type(all);
  const Tensor low = min ? as_tensor(*min, t, *x) : Tensor(), high = max ? as_tensor(*max, t, *x) : Tensor();
  const bool of_numbers = (!min || min->is_number()) && (!max || max->is_number());
  return of_numbers ? numbers(*x, low, high, t) : tensors(*x, low, high, t);
}
Tensor clip(const Input& x, const Bound& min, const Bound& max) { return clamp(x, min, max); }
Tensor clamp_min(const Input& x, const Bound& min) { return clamp(x, min); }
Tensor clamp_max(const Input& x, const Bound& max) { return clamp(x, {}, max); }

Tensor lerp(const Input& start, const Input& end, const Operand& weight) {
  static const auto op =
      define("lerp", {.saves = Saves::operands}, [](const Array& a, const Array& b, const Array& weights) {
        // From the nearer end, so that weights of 0 and 1 give the ends.
        const Array w = weights.astype(a.dtype()), span = b - a;
        return numpy::where(numpy::abs(w) < 0.5, a + w * span, b - span * (1 - w));
      });
  return op(*start, *end, as_tensor(weight, start->dtype(), *start));
}

namespace {

DType type_of_three(const Tensor& x, const Tensor& a, const Tensor& b) {
  const Operand one(x, {}), two(a, {}), three(b, {});
  const Operand* const all[] = {&one, &two, &three};
  return result_type(all);
}

}  // namespace

Tensor addcmul(const Input& x, const Input& a, const Input& b, double value) {
  static const auto op = define("addcmul", {.saves = Saves::operands},
                                [](const Array& v, const Array& c, const Array& d, Number n, DType t) {
                                  return v.astype(t) + n.array.astype(t) * (c.astype(t) * d.astype(t));
                                });
  return op(*x, *a, *b, value, type_of_three(*x, *a, *b));
}
Tensor addcdiv(const Input& x, const Input& a, const Input& b, double value) {
  static const auto op = define("addcdiv", {.saves = Saves::operands},
                                [](const Array& v, const Array& c, const Array& d, Number n, DType t) {
                                  return v.astype(t) + n.array.astype(t) * (c.astype(t) / d.astype(t));
                                });
  return op(*x, *a, *b, value, floating_type(type_of_three(*x, *a, *b)));
}

}  // namespace cotan::torch
