// lax: reductions over axes and over windows with any associative function. Sums, products, extrema and bits are
// recognized and become primitives; any other function combines neighbours, halving their number until one is left.
#include <algorithm>
#include <complex>
#include <cotan/lax.hpp>
#include <limits>

#include "core/typed.hpp"
#include "lax/neutral.hpp"
#include "lax/options.hpp"
#include "lax/scalar_program.hpp"
#include "ops/ops.hpp"
#include "ops/promote.hpp"
#include "ops/window.hpp"
#include "transforms/calls.hpp"

namespace cotan::lax {

Array neutral(Neutral which, DType dtype) {
  if (which == Neutral::zero) return scalar(dtype, 0);
  if (which == Neutral::one) return scalar(dtype, 1);
  if (which == Neutral::all_bits) return scalar(dtype, dtype == DType::bool_ ? 1 : -1);
  const bool lowest = which == Neutral::least;
  if (is_inexact(dtype)) return scalar(dtype, lowest ? -numpy::inf : numpy::inf);
  return dispatch(dtype, [&]<class T>() {
    if constexpr (std::is_integral_v<T>)
      return scalar(dtype,
                    static_cast<std::int64_t>(lowest ? std::numeric_limits<T>::min() : std::numeric_limits<T>::max()));
    else
      return scalar(dtype, 0);
  });
}

namespace {

/// An operation with a neutral element, and what it comes to over axes and over windows (if there is one for those).
struct Monoid {
  const Primitive* operation;
  Neutral neutral;
  const Primitive *over_axes, *over_windows = nullptr;
};
constexpr Monoid monoids[] = {
    {&ops::add_p, Neutral::zero, &ops::reduce_sum_p, &ops::reduce_window_sum_p},
    {&ops::mul_p, Neutral::one, &ops::reduce_prod_p},
    {&ops::max_p, Neutral::least, &ops::reduce_max_p, &ops::reduce_window_max_p},
    {&ops::min_p, Neutral::largest, &ops::reduce_min_p, &ops::reduce_window_min_p},
    {&ops::and_p, Neutral::all_bits, &ops::reduce_and_p},
    {&ops::or_p, Neutral::zero, &ops::reduce_or_p},
    {&ops::xor_p, Neutral::zero, &ops::reduce_xor_p},
};
const Monoid* monoid_of(const ScalarProgram& f) {
  const auto* at =
      std::find_if(std::begin(monoids), std::end(monoids), [&](const Monoid& m) { return m.operation == f.single(); });
  return at == std::end(monoids) ? nullptr : at;
}

bool is_neutral(const Array& init, const Monoid& m) {
  if (!concrete(init)) return false;
  const Array want = neutral(m.neutral, init.dtype());
  if (is_complex(init.dtype())) return init.item<std::complex<double>>() == want.item<std::complex<double>>();
  return is_floating(init.dtype()) ? init.item<double>() == want.item<double>()
                                   : init.item<std::int64_t>() == want.item<std::int64_t>();
}

/// Operands of one shape and a first value for each, a scalar of its dtype.
struct Operands {
  Arrays arrays, inits;
  std::vector<DType> dtypes;
};
Operands checked(std::string_view op, std::span<const Array> arrays, std::span<const Array> inits) {
  if (arrays.empty() || arrays.size() != inits.size())
    raise<ValueError>("[{}] got {} operands and {} first values; give at least one operand, and a value for each.", op,
                      arrays.size(), inits.size());
  Operands out{{arrays.begin(), arrays.end()}, {inits.begin(), inits.end()}, {}};
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    Array& init = out.inits[i];
    const AbstractValue& a = arrays[i].aval();
    if (a.shape != arrays[0].shape())
      raise<ShapeError>("[{}] operands are {} and {}; they must have one shape.", op, arrays[0].aval(), a);
    const bool fits = is_complex(init.dtype())    ? is_complex(a.dtype)
                      : is_floating(init.dtype()) ? is_inexact(a.dtype)
                                                  : true;
    if (init.weak_type() && fits) init = ops::cast(init, a.dtype);
    if (init.ndim() != 0 || init.dtype() != a.dtype)
      raise<TypeError>("[{}] the first value for {} is {}; it must be a scalar of that dtype.", op, a, init.aval());
    out.arrays[i] = strong(arrays[i]);
    out.dtypes.push_back(a.dtype);
  }
  return out;
}

ScalarProgram program_of(std::string_view op, const CombineLists& f, const std::vector<DType>& dtypes) {
  std::vector<DType> pairs = dtypes;
  pairs.insert(pairs.end(), dtypes.begin(), dtypes.end());
  const auto n = static_cast<std::ptrdiff_t>(dtypes.size());
  return ScalarProgram(
      op, [&](std::span<const Array> in) { return f({in.begin(), in.begin() + n}, {in.begin() + n, in.end()}); }, pairs,
      dtypes);
}
CombineLists of_lists(const Combine& f) {
  return [f](const Arrays& a, const Arrays& b) { return Arrays{f(a[0], b[0])}; };
}

/// Slices along axis 0 combined in their order, of which only those where `valid`, if it is there, take part.
struct Combined {
  Arrays values;
  Array valid;
};
Combined combine_slices(const ScalarProgram& f, Arrays values, Array valid) {
  const auto part = [](const Array& a, std::int64_t from, std::int64_t to) {
    return ops::slice_axis(a, 0, from, to, 2);
  };
  while (values[0].shape()[0] > 1) {
    const std::int64_t n = values[0].shape()[0], even = n - n % 2;
    Arrays first, second;
    for (const Array& a : values) first.push_back(part(a, 0, even));
    for (const Array& a : values) second.push_back(part(a, 1, even));
    Arrays next = f(concat(first, second));
    Array still;
    if (valid.defined()) {
      const Array left = part(valid, 0, even), right = part(valid, 1, even);
      for (std::size_t k = 0; k < next.size(); ++k)
        next[k] = ops::select(right, ops::select(left, next[k], second[k]), first[k]);
      still = left | right;
    }
    const auto with_last = [&](const Array& joined, const Array& all) {
      if (even == n) return joined;
      const Array parts[] = {joined, ops::slice_axis(all, 0, even, n)};
      return ops::concatenate(parts, 0);
    };
    for (std::size_t k = 0; k < next.size(); ++k) values[k] = with_last(next[k], values[k]);
    if (valid.defined()) valid = with_last(still, valid);
  }
  const Shape rest(values[0].shape().begin() + 1, values[0].shape().end());
  for (Array& a : values) a = ops::reshape(a, rest);
  return {std::move(values), valid.defined() ? ops::reshape(valid, rest) : valid};
}

/// All slices along axis 0, and the first value before them.
Arrays combine_all(const ScalarProgram& f, const Operands& x, Arrays slices, const Array& valid) {
  const Shape shape(slices[0].shape().begin() + 1, slices[0].shape().end());
  Arrays first;
  for (const Array& init : x.inits) first.push_back(ops::full(shape, init));
  if (slices[0].shape()[0] == 0) return first;
  const Combined c = combine_slices(f, std::move(slices), valid);
  Arrays out = f(concat(first, c.values));
  if (c.valid.defined())
    for (std::size_t k = 0; k < out.size(); ++k) out[k] = ops::select(c.valid, out[k], first[k]);
  return out;
}

/// `axes` in front, as one.
Array slices_along(const Array& a, const Ints& axes) {
  Ints order = axes;
  Shape shape = {1};
  for (auto axis : axes) shape[0] *= a.shape()[axis];
  for (std::int64_t i = 0; i < a.ndim(); ++i)
    if (std::find(axes.begin(), axes.end(), i) == axes.end()) {
      order.push_back(i);
      shape.push_back(a.shape()[i]);
    }
  return ops::reshape(ops::transpose(a, order), shape);
}

Arrays started(const ScalarProgram& f, const Monoid& m, const Array& init, const Array& reduced) {
  if (is_neutral(init, m)) return {reduced};
  return f(Arrays{ops::full(reduced.shape(), init), reduced});
}

Arrays reduce_lists(const Operands& x, const CombineLists& computation, const std::vector<std::int64_t>& dimensions) {
  std::vector<int> list(dimensions.begin(), dimensions.end());
  list = Axes(list).resolve(x.arrays[0].ndim(), "reduce");
  std::sort(list.begin(), list.end());
  const Ints axes(list.begin(), list.end());
  if (axes.empty()) return x.arrays;  // as compiled JAX has it, the first value too
  const ScalarProgram f = program_of("reduce", computation, x.dtypes);
  if (const Monoid* m = monoid_of(f)) {
    return started(f, *m, x.inits[0], bind1(*m->over_axes, {x.arrays[0]}, {{"axes", axes}}));
  }
  Arrays slices;
  for (const Array& a : x.arrays) slices.push_back(slices_along(a, axes));
  return combine_all(f, x, std::move(slices), {});
}

Ints one_per_axis(const char* what, const std::vector<std::int64_t>& list, const Array& a, bool may_lack = true) {
  if (may_lack && list.empty()) return Ints(static_cast<std::size_t>(a.ndim()), 1);
  if (static_cast<int>(list.size()) != a.ndim())
    raise<ShapeError>("[reduce_window] {} {} for {}; give one per axis.", what, describe(list), a.aval());
  if (std::any_of(list.begin(), list.end(), [](auto n) { return n < 1 || n > too_long; }))
    raise<ValueError>("[reduce_window] {} {} are not all positive; give positive ones.", what, describe(list));
  return list;
}
ops::WindowParams window_params(const Array& a, const std::vector<std::int64_t>& dimensions,
                                const WindowOptions& options) {
  ops::WindowParams w;
  w.dimensions = one_per_axis("window dimensions", dimensions, a, false);
  w.strides = one_per_axis("window strides", options.window_strides, a);
  w.base_dilation = one_per_axis("base dilations", options.base_dilation, a);
  w.window_dilation = one_per_axis("window dilations", options.window_dilation, a);
  const ConvPadding& padding = options.padding;
  const auto pairs = padding.name().empty() ? padding.pairs()
                                            : padding_by_name("reduce_window", padding.name(), a.shape(), w.dimensions,
                                                              w.strides, w.window_dilation);
  if (static_cast<int>(pairs.size()) != a.ndim())
    raise<ShapeError>("[reduce_window] {} pairs of padding for {}; give one per axis.", pairs.size(), a.aval());
  for (const auto& [low, high] : pairs) {
    w.padding_low.push_back(low);
    w.padding_high.push_back(high);
  }
  for (std::size_t i = 0; i < pairs.size(); ++i)
    if (dilated(a.shape()[i], w.base_dilation[i]) >= too_long ||
        dilated(w.dimensions[i], w.window_dilation[i]) >= too_long ||
        std::max(std::abs(w.padding_low[i]), std::abs(w.padding_high[i])) >= too_long)
      raise<ValueError>("[reduce_window] axis {} of {} with its padding and dilations is too long; make them smaller.",
                        i, a.aval());
  checked_bytes({a.dtype(), w.places(a.shape()), false}, "reduce_window");
  return w;
}
bool meets_padding(const ops::WindowParams& w) {
  const auto any = [](const Ints& list, std::int64_t above) {
    return std::any_of(list.begin(), list.end(), [&](auto n) { return n > above; });
  };
  return any(w.padding_low, 0) || any(w.padding_high, 0) || any(w.base_dilation, 1);
}

Arrays reduce_window_lists(const Operands& x, const CombineLists& computation,
                           const std::vector<std::int64_t>& dimensions, const WindowOptions& options) {
  const ops::WindowParams w = window_params(x.arrays[0], dimensions, options);
  const ScalarProgram f = program_of("reduce_window", computation, x.dtypes);
  Ints taps;
  for (std::size_t i = 0; i < w.dimensions.size(); ++i)
    taps.push_back(static_cast<std::int64_t>(w.dimensions.size() + i));
  if (const Monoid* m = monoid_of(f)) {
    const Array &a = x.arrays[0], none = neutral(m->neutral, a.dtype());
    const bool all = taps.empty();
    const Array sum = all               ? a
                      : m->over_windows ? bind1(*m->over_windows, {a}, w.params())
                                        : bind1(*m->over_axes, {ops::window_patches(a, none, w)}, {{"axes", taps}});
    return started(f, *m, x.inits[0], sum);
  }
  Arrays slices;
  for (const Array& a : x.arrays) slices.push_back(slices_along(ops::window_patches(a, scalar(a.dtype(), 0), w), taps));
  Array valid;
  if (meets_padding(w)) {
    const Array all = ops::full(x.arrays[0].shape(), scalar(DType::bool_, 1));
    valid = slices_along(ops::window_patches(all, scalar(DType::bool_, 0), w), taps);
  }
  return combine_all(f, x, std::move(slices), valid);
}

}  // namespace

Array reduce(const ArrayLike& a, const ArrayLike& init, const Combine& computation,
             const std::vector<std::int64_t>& dimensions) {
  return reduce_lists(checked("reduce", Arrays{a}, Arrays{init}), of_lists(computation), dimensions)[0];
}
std::vector<Array> reduce(const std::vector<Array>& operands, const std::vector<Array>& inits,
                          const CombineLists& computation, const std::vector<std::int64_t>& dimensions) {
  return reduce_lists(checked("reduce", operands, inits), computation, dimensions);
}

Array reduce_window(const ArrayLike& a, const ArrayLike& init, const Combine& computation,
                    const std::vector<std::int64_t>& window_dimensions, const WindowOptions& options) {
  return reduce_window_lists(checked("reduce_window", Arrays{a}, Arrays{init}), of_lists(computation),
                             window_dimensions, options)[0];
}
std::vector<Array> reduce_window(const std::vector<Array>& operands, const std::vector<Array>& inits,
                                 const CombineLists& computation, const std::vector<std::int64_t>& window_dimensions,
                                 const WindowOptions& options) {
  return reduce_window_lists(checked("reduce_window", operands, inits), computation, window_dimensions, options);
}

}  // namespace cotan::lax
