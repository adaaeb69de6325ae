// conv_general_dilated: out[n, o, y] = sum over i, k of lhs[n, i, y * stride + k * rhs_dilation - low] *
// rhs[o, i, k], where lhs is spread by lhs_dilation and zero outside; any number of spatial axes, any layout.
#include "ops/conv.hpp"

#include <algorithm>
#include <numeric>

#include "expr/lowering.hpp"
#include "ops/parts.hpp"
#include "ops/strided.hpp"

namespace cotan::ops {

ConvParams::ConvParams(const Params& p)
    : lhs_spec(p.ints("lhs_spec")),
      rhs_spec(p.ints("rhs_spec")),
      out_spec(p.ints("out_spec")),
      window_strides(p.ints("window_strides")),
      padding_low(p.ints("padding_low")),
      padding_high(p.ints("padding_high")),
      lhs_dilation(p.ints("lhs_dilation")),
      rhs_dilation(p.ints("rhs_dilation")),
      feature_group_count(p.integer("feature_group_count")),
      batch_group_count(p.integer("batch_group_count")) {}

Params ConvParams::params() const {
  return {{"lhs_spec", lhs_spec},
          {"rhs_spec", rhs_spec},
          {"out_spec", out_spec},
          {"window_strides", window_strides},
          {"padding_low", padding_low},
          {"padding_high", padding_high},
          {"lhs_dilation", lhs_dilation},
          {"rhs_dilation", rhs_dilation},
          {"feature_group_count", feature_group_count},
          {"batch_group_count", batch_group_count}};
}

namespace {

/// `sizes` (a shape, or strides) in the order of a spec: batch, feature, spatial….
Ints in_order(const Ints& sizes, const Ints& spec) {
  Ints out;
  for (auto axis : spec) out.push_back(sizes[axis]);
  return out;
}
Ints spatial(const Ints& sizes, const Ints& spec) {
  const Ints ordered = in_order(sizes, spec);
  return Ints(ordered.begin() + 2, ordered.end());
}
/// The size of an axis once zeros stand between its elements.
std::int64_t dilated(std::int64_t size, std::int64_t dilation) { return size == 0 ? 0 : (size - 1) * dilation + 1; }

// Types -----------------------------------------------------------------------------------------

void check_operands(const Primitive& self, const AbstractValue& lhs, const AbstractValue& rhs) {
  if (lhs.ndim() != rhs.ndim() || lhs.ndim() < 2)
    raise<ShapeError>(
        "[conv_general_dilated] operands are {} and {}; both need two axes for batch and features and the "
        "same number of spatial ones.",
        lhs, rhs);
  if (lhs.dtype != rhs.dtype)
    raise<TypeError>("[conv_general_dilated] operands are {} and {}; give them one dtype with astype.", lhs, rhs);
  check_dtype(self, lhs.dtype, Accepts::any);
}

void check_params(const ConvParams& c, std::size_t ndim) {
  Ints axes(ndim);
  std::iota(axes.begin(), axes.end(), 0);
  for (const Ints* spec : {&c.lhs_spec, &c.rhs_spec, &c.out_spec})
    if (spec->size() != ndim || !std::is_permutation(spec->begin(), spec->end(), axes.begin()))
      raise<ShapeError>("[conv_general_dilated] {} is not a permutation of {} axes; name each axis once.",
                        describe(*spec), ndim);
  const auto check_list = [&](const Ints& list, const char* what, bool positive) {
    if (list.size() != ndim - 2)
      raise<ShapeError>("[conv_general_dilated] {} {} for {} spatial axes; give one per axis.", what, describe(list),
                        ndim - 2);
    if (positive && std::any_of(list.begin(), list.end(), [](auto n) { return n < 1; }))
      raise<ValueError>("[conv_general_dilated] {} {} are not all positive; give positive ones.", what, describe(list));
  };
  check_list(c.window_strides, "window strides", true);
  check_list(c.padding_low, "low padding", false);
  check_list(c.padding_high, "high padding", false);
  check_list(c.lhs_dilation, "lhs dilations", true);
  check_list(c.rhs_dilation, "rhs dilations", true);
}

void check_groups(const ConvParams& c, const AbstractValue& lhs, const AbstractValue& rhs) {
  const std::int64_t features = c.feature_group_count, batches = c.batch_group_count;
  if (features < 1 || batches < 1 || (features > 1 && batches > 1))
    raise<ValueError>(
        "[conv_general_dilated] feature_group_count is {} and batch_group_count {}; both must be positive, "
        "and one of them 1.",
        features, batches);
  const std::int64_t in = lhs.shape[c.lhs_spec[1]], batch = lhs.shape[c.lhs_spec[0]];
  const std::int64_t kernel_in = rhs.shape[c.rhs_spec[1]], out = rhs.shape[c.rhs_spec[0]];
  if (in % features != 0 || in / features != kernel_in)
    raise<ShapeError>(
        "[conv_general_dilated] lhs {} has {} features in {} groups but the kernel {} takes {}; the kernel's "
        "input features must be those of one group.",
        lhs, in, features, rhs, kernel_in);
  if (batch % batches != 0)
    raise<ShapeError>(
        "[conv_general_dilated] batch size {} of {} is not a multiple of batch_group_count {}; each group "
        "needs as many.",
        batch, lhs, batches);
  if (out % c.groups() != 0)
    raise<ShapeError>(
        "[conv_general_dilated] the kernel {} has {} output features, which is not a multiple of the {} "
        "groups; each group needs as many.",
        rhs, out, c.groups());
}

/// The result's size along spatial axis `i`.
std::int64_t out_size(const ConvParams& c, std::size_t i, const AbstractValue& lhs, std::int64_t size,
                      const AbstractValue& rhs, std::int64_t window) {
  if (window == 0)
    raise<ShapeError>("[conv_general_dilated] the kernel {} has size 0 along spatial axis {}; it must not.", rhs, i);
  // Far below what int64 holds, so that the transpose rules' sums of these cannot overflow either.
  constexpr std::int64_t longest = std::int64_t{1} << 60;
  const std::int64_t low = c.padding_low[i], high = c.padding_high[i];
  if (element_count({size, c.lhs_dilation[i]}) > longest || element_count({window, c.rhs_dilation[i]}) > longest ||
      c.window_strides[i] > longest || std::max(low, high) > longest || std::min(low, high) < -longest)
    raise<OutOfMemoryError>(
        "[conv_general_dilated] strides, dilations or padding make spatial axis {} of {} and {} longer than "
        "can be addressed; use smaller ones.",
        i, lhs, rhs);
  const std::int64_t padded = dilated(size, c.lhs_dilation[i]) + low + high;
  if (padded < 0)
    raise<ShapeError>(
        "[conv_general_dilated] padding {} and {} leaves a negative size on spatial axis {} of {}; crop "
        "less.",
        low, high, i, lhs);
  const std::int64_t room = padded - dilated(window, c.rhs_dilation[i]);
  return room < 0 ? 0 : room / c.window_strides[i] + 1;
}

Types conv_type(const Primitive& self, std::span<const AbstractValue> x, const Params& params) {
  const ConvParams c(params);
  const AbstractValue &lhs = x[0], &rhs = x[1];
  check_operands(self, lhs, rhs);
  check_params(c, lhs.shape.size());
  check_groups(c, lhs, rhs);
  const Ints sizes = spatial(lhs.shape, c.lhs_spec), window = spatial(rhs.shape, c.rhs_spec);
  Shape shape(lhs.shape.size());
  shape[c.out_spec[0]] = lhs.shape[c.lhs_spec[0]] / c.batch_group_count;
  shape[c.out_spec[1]] = rhs.shape[c.rhs_spec[0]];
  for (std::size_t i = 0; i < sizes.size(); ++i)
    shape[c.out_spec[2 + i]] = out_size(c, i, lhs, sizes[i], rhs, window[i]);
  return {{lhs.dtype, shape, lhs.weak_type && rhs.weak_type}};
}

// Reference evaluation --------------------------------------------------------------------------

/// Calls f(index) for every index of `shape`, in row-major order.
template <class F>
void for_each_index(const Shape& shape, F&& f) {
  if (product(shape) == 0) return;
  Shape index(shape.size(), 0);
  while (true) {
    f(index);
    std::size_t axis = shape.size();
    while (axis > 0 && ++index[axis - 1] == shape[axis - 1]) index[--axis] = 0;
    if (axis == 0) return;
  }
}

/// An element of the kernel, and the element of lhs that it meets.
struct Tap {
  std::int64_t lhs, rhs;
};

/// The taps that meet an element of lhs, and no padding, where the window stands for output position `at`.
std::vector<Tap> taps_at(const ConvParams& c, const Shape& at, const Shape& lhs_shape, const Shape& window) {
  const Shape sizes = spatial(lhs_shape, c.lhs_spec);
  const Ints lhs_strides = spatial(strides_of(lhs_shape), c.lhs_spec);
  std::vector<Tap> taps;
  std::int64_t rhs = -1;
  for_each_index(window, [&](const Shape& k) {
    ++rhs;
    std::int64_t lhs = 0;
    for (std::size_t i = 0; i < k.size(); ++i) {
      const std::int64_t spread = at[i] * c.window_strides[i] + k[i] * c.rhs_dilation[i] - c.padding_low[i];
      const std::int64_t position = spread / c.lhs_dilation[i];
      if (spread < 0 || spread % c.lhs_dilation[i] != 0 || position >= sizes[i]) return;
      lhs += position * lhs_strides[i];
    }
    taps.push_back({lhs, rhs});
  });
  return taps;
}

Arrays conv_eval(const Primitive& self, std::span<const Array> x, const Params& params) {
  const ConvParams c(params);
  auto [out, buffer] = allocate_like(x, result_type(self, x, params));
  const Shape &lhs_shape = x[0].shape(), &rhs_shape = x[1].shape();
  // The kernel dense in the order of its spec: output feature, input feature, taps.
  const Shape kernel_shape = in_order(rhs_shape, c.rhs_spec);
  const Array kernel = gather_strided(x[1], kernel_shape, 0, in_order(strides_of(rhs_shape), c.rhs_spec));
  const Shape window = spatial(rhs_shape, c.rhs_spec), out_shape = out.shape();
  const Ints lhs_strides = in_order(strides_of(lhs_shape), c.lhs_spec),
             out_strides = in_order(strides_of(out_shape), c.out_spec);
  const std::int64_t batch = out_shape[c.out_spec[0]], features = kernel_shape[0], inner = kernel_shape[1],
                     in_group = features / c.groups(), volume = product(window);
  // From one group to the next, lhs moves on by a group's features or by a group's images.
  const std::int64_t lhs_group =
      c.batch_group_count > 1 ? batch * lhs_strides[0] : (c.feature_group_count > 1 ? inner * lhs_strides[1] : 0);
  dispatch(out.dtype(), [&, &buf = buffer]<class T>() {
    using A = Accumulator<T>;
    T* y = reinterpret_cast<T*>(buf->data());
    for_each_index(spatial(out_shape, c.out_spec), [&](const Shape& at) {
      const std::vector<Tap> taps = taps_at(c, at, lhs_shape, window);
      std::int64_t place = 0;
      for (std::size_t i = 0; i < at.size(); ++i) place += at[i] * out_strides[2 + i];
      for (std::int64_t n = 0; n < batch; ++n)
        for (std::int64_t o = 0; o < features; ++o) {
          const T* image = data<T>(x[0]) + n * lhs_strides[0] + o / in_group * lhs_group;
          const T* weights = data<T>(kernel) + o * inner * volume;
          A sum = 0;
          for (std::int64_t i = 0; i < inner; ++i)
            for (const Tap& tap : taps)
              sum +=
                  static_cast<A>(image[i * lhs_strides[1] + tap.lhs]) * static_cast<A>(weights[i * volume + tap.rhs]);
          y[place + n * out_strides[0] + o * out_strides[1]] = static_cast<T>(sum);
        }
    });
  });
  return {out};
}

// Axes within axes ------------------------------------------------------------------------------
// Groups and mapped axes live inside the batch and feature axes: the group varies slowest.

/// Axis `dim` becomes part of `axis` (counted without `dim`), just inside the `groups` that divide it.
Array merge_axis(const Array& x, int dim, std::int64_t axis, std::int64_t groups = 1) {
  const int at = static_cast<int>(axis);
  Shape merged = erase_axes(x.shape(), {dim});
  Array y = move_axis(x, dim, at);
  if (groups > 1) {
    Shape split = y.shape();
    split[axis + 1] = groups;
    split.insert(split.begin() + axis + 2, merged[axis] / groups);
    y = move_axis(reshape(y, split), at + 1, at);
  }
  merged[axis] *= x.shape()[dim];
  return reshape(y, merged);
}
/// The reverse: takes an axis of `size` out of `axis`, and leaves it just before that.
Array split_axis(const Array& x, std::int64_t axis, std::int64_t size, std::int64_t groups = 1) {
  const int at = static_cast<int>(axis);
  Shape apart = x.shape();
  apart[axis] = size;
  apart.insert(apart.begin() + axis + 1, x.shape()[axis] / size);
  if (groups == 1) return reshape(x, apart);
  Shape split = apart;
  split[axis + 1] /= groups;
  split.insert(split.begin() + axis, groups);
  return reshape(move_axis(reshape(x, split), at + 1, at), apart);
}
/// The groups that divide axis `from` divide axis `to` instead.
Array move_groups(const Array& x, std::int64_t from, std::int64_t to, std::int64_t groups) {
  return groups == 1 ? x : merge_axis(split_axis(x, from, groups), static_cast<int>(from), to);
}

// Transposes ------------------------------------------------------------------------------------
// Without spatial axes these are a matrix product's, with m images, j input and k output features, and g
// groups. By features: lhs [m, gj], rhs [j, gk], out [m, gk]; by batch: lhs [gm, j], rhs [j, gk], out [m,
// gk].

Ints with_features_first(Ints spec) {
  std::swap(spec[0], spec[1]);
  return spec;
}

/// [m, gk] with [k, gj] is [m, gj]: the result's cotangent, spread by the strides, with the kernel turned
/// round. Groups of the batch become groups of features and are moved back afterwards.
Array lhs_cotangent(const Array& ct, const Array& rhs, const AbstractValue& lhs, const ConvParams& c) {
  ConvParams t = c;
  t.lhs_spec = c.out_spec;
  t.rhs_spec = with_features_first(c.rhs_spec);
  t.out_spec = c.lhs_spec;
  t.window_strides = c.lhs_dilation;
  t.lhs_dilation = c.window_strides;
  t.feature_group_count = c.groups();
  t.batch_group_count = 1;
  const Ints sizes = spatial(lhs.shape, c.lhs_spec), window = spatial(rhs.shape(), c.rhs_spec),
             places = spatial(ct.shape(), c.out_spec);
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const std::int64_t reach = dilated(window[i], c.rhs_dilation[i]) - 1;
    t.padding_low[i] = reach - c.padding_low[i];
    t.padding_high[i] =
        dilated(sizes[i], c.lhs_dilation[i]) + reach - dilated(places[i], c.window_strides[i]) - t.padding_low[i];
  }
  const Array turned = rev(rhs, Ints(c.rhs_spec.begin() + 2, c.rhs_spec.end()));
  const Array y = conv_general_dilated(ct, move_groups(turned, c.rhs_spec[0], c.rhs_spec[1], c.groups()), t);
  return move_groups(y, c.lhs_spec[1], c.lhs_spec[0], c.batch_group_count);
}

/// [gj, m] with [m, gk] is [j, gk]: the cotangent is the window, groups of features become groups of the
/// batch and the other way round.
Array rhs_cotangent(const Array& ct, const Array& lhs, const AbstractValue& rhs, const ConvParams& c) {
  ConvParams t = c;
  t.lhs_spec = with_features_first(c.lhs_spec);
  t.rhs_spec = with_features_first(c.out_spec);
  t.out_spec = with_features_first(c.rhs_spec);
  t.window_strides = c.rhs_dilation;
  t.rhs_dilation = c.window_strides;
  std::swap(t.feature_group_count, t.batch_group_count);
  const Ints sizes = spatial(lhs.shape(), c.lhs_spec), window = spatial(rhs.shape, c.rhs_spec),
             places = spatial(ct.shape(), c.out_spec);
  for (std::size_t i = 0; i < sizes.size(); ++i)
    t.padding_high[i] = dilated(places[i], c.window_strides[i]) + dilated(window[i], c.rhs_dilation[i]) - 1 -
                        dilated(sizes[i], c.lhs_dilation[i]) - c.padding_low[i];
  return conv_general_dilated(lhs, ct, t);
}

Arrays conv_transpose(const Primitive&, std::span<const Array> ct, std::span<const LinearInput> in,
                      const Params& params) {
  const ConvParams c(params);
  Arrays out(2);
  if (ct[0].size() == 0) return out;  // zero; and as a window it would have no taps
  if (in[0].linear) out[0] = lhs_cotangent(ct[0], in[1].value, in[0].aval, c);
  if (in[1].linear) out[1] = rhs_cotangent(ct[0], in[0].value, in[1].aval, c);
  return out;
}

// Batching --------------------------------------------------------------------------------------

BatchResult conv_batch(const Primitive& self, std::span<const Array> x, std::span<const int> dims, std::int64_t size,
                       const Params& params) {
  ConvParams c(params);
  if (size == 0) {  // no number of groups could express this
    Types unbatched;
    for (std::size_t i = 0; i < 2; ++i) {
      unbatched.push_back(x[i].aval());
      if (dims[i] != not_batched) unbatched[i].shape = erase_axes(unbatched[i].shape, {dims[i]});
    }
    AbstractValue out = conv_type(self, unbatched, params)[0];
    out.shape.insert(out.shape.begin(), 0);
    return {{zeros_of(out)}, {0}};
  }
  if (dims[1] == not_batched) {  // more images
    const Array lhs = merge_axis(x[0], dims[0], c.lhs_spec[0], c.batch_group_count);
    const Array y = conv_general_dilated(lhs, x[1], c);
    return {{split_axis(y, c.out_spec[0], size)}, {static_cast<int>(c.out_spec[0])}};
  }
  const int result = static_cast<int>(c.out_spec[1]);
  if (dims[0] == not_batched) {  // more output features in each group
    const Array rhs = merge_axis(x[1], dims[1], c.rhs_spec[0], c.groups());
    return {{split_axis(conv_general_dilated(x[0], rhs, c), result, size, c.groups())}, {result}};
  }
  // More groups.
  const bool by_batch = c.batch_group_count > 1;
  const Array lhs = merge_axis(x[0], dims[0], c.lhs_spec[by_batch ? 0 : 1]);
  const Array rhs = merge_axis(x[1], dims[1], c.rhs_spec[0]);
  (by_batch ? c.batch_group_count : c.feature_group_count) *= size;
  return {{split_axis(conv_general_dilated(lhs, rhs, c), result, size)}, {result}};
}

// Lowering ----------------------------------------------------------------------------------------

/// A sum over the input features of a group and the taps, which come last.
expr::Reduction conv_reduction(std::span<const AbstractValue> x, const Params& params) {
  const ConvParams c(params);
  Shape shape = conv_type(conv_general_dilated_p, x, params)[0].shape;
  std::vector<bool> reduced(shape.size(), false);
  const Ints kernel = in_order(x[1].shape, c.rhs_spec);
  shape.insert(shape.end(), kernel.begin() + 1, kernel.end());
  reduced.resize(shape.size(), true);
  return {x[0].dtype == DType::bool_ ? expr::ReduceOp::bit_or : expr::ReduceOp::sum, std::move(shape),
          std::move(reduced)};
}

/// A tap times the element of lhs that it meets, or 0 where that is padding: no product, since 0 times infinity is
/// none.
expr::Expr conv_term(const expr::Operands& x, std::span<const expr::Expr> i, const Params& params) {
  using expr::Expr;
  const ConvParams c(params);
  const Shape &lhs = x.type(0).shape, &rhs = x.type(1).shape;
  const std::size_t rank = lhs.size();
  const Expr feature = i[rank], out_feature = i[c.out_spec[1]];
  std::vector<Expr> image(rank), tap(rank);
  image[c.lhs_spec[0]] = i[c.out_spec[0]];
  image[c.lhs_spec[1]] = feature;
  tap[c.rhs_spec[0]] = out_feature;
  tap[c.rhs_spec[1]] = feature;
  if (c.groups() > 1) {
    const Expr group = expr::floor_div(out_feature, std::max<std::int64_t>(rhs[c.rhs_spec[0]] / c.groups(), 1));
    const std::int64_t axis = c.lhs_spec[c.batch_group_count > 1 ? 0 : 1];
    image[axis] = image[axis] + group * expr::integer(lhs[axis] / c.groups());
  }
  Expr inside = expr::boolean(true);
  for (std::size_t k = 0; k + 2 < rank; ++k) {
    const Expr at = i[rank + 1 + k];
    const std::int64_t axis = c.lhs_spec[2 + k], dilation = c.lhs_dilation[k];
    const Expr spread = i[c.out_spec[2 + k]] * expr::integer(c.window_strides[k]) +
                        at * expr::integer(c.rhs_dilation[k]) - expr::integer(c.padding_low[k]);
    tap[c.rhs_spec[2 + k]] = at;
    image[axis] = expr::floor_div(spread, dilation);
    if (dilation > 1) inside = inside & expr::eq(expr::floor_mod(spread, dilation), expr::integer(0));
    inside = inside & expr::ge(image[axis], expr::integer(0)) & expr::lt(image[axis], expr::integer(lhs[axis]));
  }
  const auto wide = [](Expr e) {
    return e->dtype == DType::f16 || e->dtype == DType::bf16 ? expr::cast(e, DType::f32) : e;
  };
  const Expr a = wide(x.at(0, image, inside)), b = wide(x.at(1, tap));
  const Expr term = a->dtype == DType::bool_ ? a & b : a * b;
  return expr::select(inside, term, expr::constant_bits(term->dtype, 0));
}

/// Of each element of the result the window, of each feature that goes in.
double conv_flops(std::span<const AbstractValue> x, const AbstractValue& result, const Params& params) {
  const auto features = x[1].shape[static_cast<std::size_t>(ConvParams(params).rhs_spec[0])];
  return 2 * static_cast<double>(result.size()) * static_cast<double>(x[1].size()) /
         static_cast<double>(std::max<std::int64_t>(features, 1));
}

}  // namespace

const Primitive conv_general_dilated_p{
    .name = "conv_general_dilated",
    .op_class = OpClass::routine,
    .type = conv_type,
    .eval = conv_eval,
    .partials = {[](const Partial& p) { return bind1(conv_general_dilated_p, {p.t, p.x[1]}, p.params); },
                 [](const Partial& p) { return bind1(conv_general_dilated_p, {p.x[0], p.t}, p.params); }},
    .transpose = conv_transpose,
    .batch = conv_batch,
    .product_flops = conv_flops,
    .element = conv_term,
    .reduction = conv_reduction,
    .on_parts = bilinear_on_parts};
const Listed conv_listed{&conv_general_dilated_p};

Array conv_general_dilated(const Array& lhs, const Array& rhs, const ConvParams& c) {
  return bind1(conv_general_dilated_p, {lhs, rhs}, c.params());
}

}  // namespace cotan::ops
