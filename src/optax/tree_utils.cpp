// Arithmetic of lists of leaves.
#include <cmath>
#include <cotan/numpy/complex.hpp>
#include <limits>

#include "optax/core.hpp"

namespace cotan::optax {

Array power_of_count(const Hyperparameter& base, const Array& count, DType dtype) {
  const Array n = count.astype(dtype);
  return np::power(base.is_number() ? number(base.number(), dtype) : base.like(dtype), n);
}

Array bias(const Hyperparameter& decay, const Array& count, DType dtype) {
  // A decay that is an Array of doubles is not rounded first: 1 - 0.999 in f32 is wrong by 5e-5.
  DType wide = itemsize(dtype) < 4 ? f32 : dtype;
  if (!decay.is_number() && is_floating(decay.array().dtype())) wide = promote_types(wide, decay.array().dtype());
  const Array n = count.astype(wide);
  if (decay.is_number() && decay.number() >= 0) return (-np::expm1(n * std::log(decay.number()))).astype(dtype);
  return (1.0 - power_of_count(decay, count, wide)).astype(dtype);
}

namespace tree_utils {

namespace flat {

namespace {
Array whole_power(const Array& x, int order) { return order == 1 ? x : lax::integer_pow(x, order); }
/// Sums from the left, as optax does; of nothing 0.
Array total(const Arrays& parts) {
  if (parts.empty()) return np::zeros({});
  Array out = parts[0];
  for (std::size_t i = 1; i < parts.size(); ++i) out = out + parts[i];
  return out;
}
Array extreme(const Arrays& x, bool largest) {
  Array out;
  for (const Array& a : x) {
    if (a.size() == 0) continue;
    const Array m = largest ? np::max(a) : np::min(a);
    out = !out.defined() ? m : largest ? np::maximum(out, m) : np::minimum(out, m);
  }
  const double infinity = std::numeric_limits<double>::infinity();
  return out.defined() ? out : np::full({}, largest ? -infinity : infinity, f32);
}
}  // namespace

Arrays add(const Arrays& x, const Arrays& y) {
  return each([](const Array& a, const Array& b) { return a + b; }, x, y);
}
Arrays sub(const Arrays& x, const Arrays& y) {
  return each([](const Array& a, const Array& b) { return a - b; }, x, y);
}
Arrays mul(const Arrays& x, const Arrays& y) {
  return each([](const Array& a, const Array& b) { return a * b; }, x, y);
}
Arrays div(const Arrays& x, const Arrays& y) {
  return each([](const Array& a, const Array& b) { return a / b; }, x, y);
}
Arrays scale(const Hyperparameter& s, const Arrays& x) {
  return each([&](const Array& a) { return s * a; }, x);
}
Arrays add_scale(const Arrays& x, const Hyperparameter& s, const Arrays& y) {
  return each([&](const Array& a, const Array& b) { return a + s * b; }, x, y);
}
Arrays where(const Array& condition, const Arrays& x, const Arrays& y) {
  return each([&](const Array& a, const Array& b) { return np::where(condition, a, b); }, x, y);
}
Array vdot(const Arrays& x, const Arrays& y) {
  return total(each([](const Array& a, const Array& b) { return np::sum(a * b); }, x, y));
}
Array sum(const Arrays& x) {
  return total(each([](const Array& a) { return np::sum(a); }, x));
}
Array max(const Arrays& x) { return extreme(x, true); }
Array min(const Arrays& x) { return extreme(x, false); }
Array norm(const Arrays& x, double order, bool squared) {
  if (order == 2) {
    const Array square = sum(each([](const Array& a) { return a * a; }, x));
    return squared ? square : np::sqrt(square);
  }
  const Arrays sizes = each([](const Array& a) { return np::abs(a); }, x);
  if (order != 1 && !std::isinf(order))
    throw_with_line<ValueError>(fmt::format("[tree_norm] order {}; it must be 1, 2 or infinity.", order));
  const Array out = order == 1 ? sum(sizes) : max(sizes);
  return squared ? out * out : out;
}
Array allclose(const Arrays& x, const Arrays& y, double rtol, double atol, bool equal_nan) {
  Array out = np::ones({}, bool_);
  for (const Array& close :
       each([&](const Array& a, const Array& b) { return np::allclose(a, b, rtol, atol, equal_nan); }, x, y))
    out = out & close;
  return out;
}
Arrays clip(const Arrays& x, const std::optional<Hyperparameter>& low, const std::optional<Hyperparameter>& high) {
  return each(
      [&](const Array& a) {
        const Array above = low ? np::maximum(a, low->like(a)) : a;
        return high ? np::minimum(above, high->like(a)) : above;
      },
      x);
}
Arrays full_like(const Arrays& x, const Hyperparameter& value, std::optional<DType> dtype) {
  return each(
      [&](const Array& a) {
        const DType type = dtype.value_or(a.dtype());
        return np::full(a.shape(), value.like(type), type);
      },
      x);
}
Arrays cast(const Arrays& x, std::optional<DType> dtype) {
  return dtype ? each([&](const Array& a) { return a.astype(*dtype); }, x) : x;
}
Arrays cast_like(const Arrays& x, const Arrays& like) {
  return each([](const Array& a, const Array& b) { return a.astype(b.dtype()); }, x, like);
}
Arrays conj(const Arrays& x) {
  return each([](const Array& a) { return np::conj(a); }, x);
}
Arrays real(const Arrays& x) {
  return each([](const Array& a) { return np::real(a); }, x);
}
Arrays batch_shape(const Arrays& x, const Shape& shape) {
  return each(
      [&](const Array& a) {
        Shape full = shape;
        full.insert(full.end(), a.shape().begin(), a.shape().end());
        return np::broadcast_to(a, full);
      },
      x);
}
Arrays split_key(const Array& key, std::size_t leaves) {
  return np::unstack(random::split(key, static_cast<std::int64_t>(leaves)));
}
Arrays update_moment(const Arrays& updates, const Arrays& moments, const Hyperparameter& decay, int order) {
  return each([&](const Array& g, const Array& t) { return one_minus(decay) * whole_power(g, order) + decay * t; },
              updates, moments);
}
Arrays update_infinity_moment(const Arrays& updates, const Arrays& moments, const Hyperparameter& decay,
                              const Hyperparameter& eps) {
  return each([&](const Array& g, const Array& t) { return np::maximum(np::abs(g) + eps, decay * t); }, updates,
              moments);
}
Arrays bias_correction(const Arrays& moments, const Hyperparameter& decay, const Array& count) {
  return each([&](const Array& t) { return t / bias(decay, count, t.dtype()); }, moments);
}

}  // namespace flat

DType dtype_of_leaves(const Arrays& leaves, MixedDtypes handler) {
  if (leaves.empty()) return f32;
  DType out = leaves[0].dtype();
  for (const Array& a : leaves) {
    const DType d = a.dtype();
    if (d == out) continue;
    const DType promoted = promote_types(out, d);
    if (handler == MixedDtypes::none)
      throw_with_line<TypeError>(
          fmt::format("[tree_dtype] leaves are {} and {}; say which dtype is meant: promote, highest or lowest.",
                      name(out), name(d)));
    if (handler != MixedDtypes::promote && promoted != out && promoted != d)
      throw_with_line<TypeError>(
          fmt::format("[tree_dtype] neither of {} and {} holds the other; convert the leaves.", name(out), name(d)));
    out = handler == MixedDtypes::lowest ? (promoted == out ? d : out) : promoted;
  }
  return out;
}

}  // namespace tree_utils
}  // namespace cotan::optax
