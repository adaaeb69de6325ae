// cotan::lax's convolutions: layouts by letters and padding by name, over the one primitive.
#include "ops/conv.hpp"

#include <algorithm>
#include <cotan/lax.hpp>
#include <tuple>

#include "lax/options.hpp"
#include "ops/promote.hpp"
#include "ops/window.hpp"

namespace cotan::lax {

namespace {

void check_ndim(std::string_view op, const Array& lhs, const Array& rhs) {
  if (lhs.ndim() != rhs.ndim() || lhs.ndim() < 2)
    raise<ShapeError>(
        "[{}] operands are {} and {}; both need two axes for batch and features and the same number of "
        "spatial ones.",
        op, lhs.aval(), rhs.aval());
}

/// The axes of a layout like "NHWC": `first` and `second` before the others, those in the kernel's order.
Ints axes_of(std::string_view op, const std::string& layout, char first, char second, const std::string& spatial,
             int ndim) {
  const auto once = [&](char c) { return std::count(layout.begin(), layout.end(), c) == 1; };
  if (static_cast<int>(layout.size()) != ndim || !once(first) || !once(second) ||
      !std::all_of(spatial.begin(), spatial.end(), once))
    raise<ValueError>("[{}] the layout '{}' does not name {} axes {}, {}{}{}; give each of them one letter.", op,
                      layout, ndim, first, second, spatial.empty() ? "" : " and ", spatial);
  Ints axes = {static_cast<std::int64_t>(layout.find(first)), static_cast<std::int64_t>(layout.find(second))};
  for (char c : spatial) axes.push_back(static_cast<std::int64_t>(layout.find(c)));
  return axes;
}

void set_layout(std::string_view op, const ConvDimensionNumbers& d, int ndim, ops::ConvParams& c) {
  std::string spatial;
  for (char letter : d.rhs)
    if (letter != 'O' && letter != 'I') spatial += letter;
  c.lhs_spec = axes_of(op, d.lhs, 'N', 'C', spatial, ndim);
  c.rhs_spec = axes_of(op, d.rhs, 'O', 'I', spatial, ndim);
  c.out_spec = axes_of(op, d.out, 'N', 'C', spatial, ndim);
}

/// Letters for the spatial axes of a default layout.
std::string spatial_letters(int ndim) {
  std::string out;
  for (int i = 2; i < ndim; ++i) out += static_cast<char>('a' + i - 2);
  return out;
}
bool is_default(const ConvDimensionNumbers& d) { return d.lhs.empty() && d.rhs.empty() && d.out.empty(); }

Ints one_per_axis(std::string_view op, const char* what, const std::vector<std::int64_t>& list, int ndim) {
  const std::size_t axes = static_cast<std::size_t>(ndim) - 2;
  if (list.empty()) return Ints(axes, 1);
  if (list.size() != axes)
    raise<ShapeError>("[{}] {} {} for {} spatial axes; give one per axis.", op, what, describe(list), axes);
  if (std::any_of(list.begin(), list.end(), [](auto n) { return n < 1; }))
    raise<ValueError>("[{}] {} {} are not all positive; give positive ones.", op, what, describe(list));
  return list;
}

void set_padding(std::string_view op, const ConvPadding::Pairs& pairs, ops::ConvParams& c) {
  if (pairs.size() != c.window_strides.size())
    raise<ShapeError>("[{}] {} pairs of padding for {} spatial axes; give one per axis.", op, pairs.size(),
                      c.window_strides.size());
  for (const auto& [low, high] : pairs) {
    c.padding_low.push_back(std::clamp(low, -too_long, too_long));
    c.padding_high.push_back(std::clamp(high, -too_long, too_long));
  }
}

/// The sizes of the spatial axes, in the order of a layout.
Ints spatial_sizes(const Array& a, const Ints& spec) {
  Ints out;
  for (std::size_t i = 2; i < spec.size(); ++i) out.push_back(a.shape()[spec[i]]);
  return out;
}
Ints windows_of(const Array& rhs, const ops::ConvParams& c) { return spatial_sizes(rhs, c.rhs_spec); }

/// (low, high) per spatial axis for a padding by name.
ConvPadding::Pairs named_padding(const std::string& name, const Array& lhs, const Ints& window,
                                 const ops::ConvParams& c) {
  const bool spread = std::any_of(c.lhs_dilation.begin(), c.lhs_dilation.end(), [](auto d) { return d != 1; });
  if (name.starts_with("SAME") && spread)
    raise<ValueError>(
        "[conv_general_dilated] {} padding has no meaning where lhs is dilated by {}; give pairs, or use "
        "conv_transpose.",
        name, describe(c.lhs_dilation));
  return padding_by_name("conv_general_dilated", name, spatial_sizes(lhs, c.lhs_spec), window, c.window_strides,
                         c.rhs_dilation);
}

Array promoted(const Array& lhs, const Array& rhs, const ops::ConvParams& c, std::optional<DType> wanted = {}) {
  const Array operands[] = {lhs, rhs};
  const Arrays x = in_preferred_type(operands, wanted);
  const Array y = ops::conv_general_dilated(x[0], x[1], c);
  return wanted ? ops::cast(y, *wanted) : y;
}

/// Layout, strides, padding and dilations of a kernel with these windows.
ops::ConvParams params_of(std::string_view op, const Array& lhs, const Ints& window,
                          const ConvPatchesOptions& options) {
  const int ndim = lhs.ndim();
  ops::ConvParams c;
  const std::string letters = spatial_letters(ndim);
  set_layout(op,
             is_default(options.dimension_numbers)
                 ? ConvDimensionNumbers{"NC" + letters, "OI" + letters, "NC" + letters}
                 : options.dimension_numbers,
             ndim, c);
  c.window_strides = one_per_axis(op, "window strides", options.window_strides, ndim);
  c.lhs_dilation = one_per_axis(op, "lhs dilations", options.lhs_dilation, ndim);
  c.rhs_dilation = one_per_axis(op, "rhs dilations", options.rhs_dilation, ndim);
  one_per_axis(op, "filter shape", window.empty() ? Ints{0} : window, ndim);
  const ConvPadding& padding = options.padding;
  set_padding(op, padding.name().empty() ? padding.pairs() : named_padding(padding.name(), lhs, window, c), c);
  return c;
}

/// What to put around a spread-out input so that the result has the size which a convolution with this
/// padding would take: `window` and `stride` along one axis.
std::pair<std::int64_t, std::int64_t> transposed_padding(const std::string& name, std::int64_t window,
                                                         std::int64_t stride) {
  const std::int64_t reach = window - 1;
  const std::int64_t total = reach + stride - 1 + (name == "VALID" ? std::max(window - stride, std::int64_t{0}) : 0);
  const std::int64_t low = name == "VALID" || stride > reach ? reach : (total + 1) / 2;
  return {low, total - low};
}

}  // namespace

Array conv_general_dilated(const ArrayLike& lhs, const ArrayLike& rhs, const ConvOptions& options) {
  constexpr std::string_view op = "conv_general_dilated";
  check_ndim(op, lhs, rhs);
  const int ndim = lhs->ndim();
  ops::ConvParams c;
  const std::string letters = spatial_letters(ndim);
  set_layout(op,
             is_default(options.dimension_numbers)
                 ? ConvDimensionNumbers{"NC" + letters, "OI" + letters, "NC" + letters}
                 : options.dimension_numbers,
             ndim, c);
  c.window_strides = one_per_axis(op, "window strides", options.window_strides, ndim);
  c.lhs_dilation = one_per_axis(op, "lhs dilations", options.lhs_dilation, ndim);
  c.rhs_dilation = one_per_axis(op, "rhs dilations", options.rhs_dilation, ndim);
  c.feature_group_count = options.feature_group_count;
  c.batch_group_count = options.batch_group_count;
  const ConvPadding& padding = options.padding;
  set_padding(op, padding.name().empty() ? padding.pairs() : named_padding(padding.name(), lhs, windows_of(rhs, c), c),
              c);
  return promoted(lhs, rhs, c, options.preferred_element_type);
}

Array conv(const ArrayLike& lhs, const ArrayLike& rhs, const std::vector<std::int64_t>& window_strides,
           const ConvPadding& padding) {
  return conv_general_dilated(lhs, rhs, {.window_strides = window_strides, .padding = padding});
}

Array conv_with_general_padding(const ArrayLike& lhs, const ArrayLike& rhs,
                                const std::vector<std::int64_t>& window_strides, const ConvPadding& padding,
                                const std::vector<std::int64_t>& lhs_dilation,
                                const std::vector<std::int64_t>& rhs_dilation) {
  return conv_general_dilated(lhs, rhs,
                              {.window_strides = window_strides,
                               .padding = padding,
                               .lhs_dilation = lhs_dilation,
                               .rhs_dilation = rhs_dilation});
}

Array conv_transpose(const ArrayLike& lhs, const ArrayLike& rhs, const ConvTransposeOptions& options) {
  constexpr std::string_view op = "conv_transpose";
  check_ndim(op, lhs, rhs);
  const int ndim = lhs->ndim();
  ops::ConvParams c;
  const std::string letters = spatial_letters(ndim);
  set_layout(op,
             is_default(options.dimension_numbers)
                 ? ConvDimensionNumbers{"N" + letters + "C", letters + "IO", "N" + letters + "C"}
                 : options.dimension_numbers,
             ndim, c);
  c.window_strides = Ints(letters.size(), 1);
  c.lhs_dilation = one_per_axis(op, "strides", options.strides, ndim);
  c.rhs_dilation = one_per_axis(op, "rhs dilations", options.rhs_dilation, ndim);
  const std::string& name = options.padding.name();
  if (!name.empty() && name != "SAME" && name != "VALID")
    raise<ValueError>("[conv_transpose] there is no padding '{}'; use SAME, VALID or pairs.", name);
  ConvPadding::Pairs pairs = options.padding.pairs();
  if (!name.empty()) pairs.resize(letters.size());
  set_padding(op, pairs, c);
  if (!name.empty() || options.use_consistent_padding)
    for (std::size_t i = 0; i < letters.size(); ++i) {
      const std::int64_t window = dilated(rhs->shape()[c.rhs_spec[2 + i]], c.rhs_dilation[i]);
      std::tie(c.padding_low[i], c.padding_high[i]) =
          name.empty() ? std::pair(window - 1 - c.padding_low[i], window - 1 - c.padding_high[i])
                       : transposed_padding(name, window, std::min(c.lhs_dilation[i], too_long));
    }
  if (!options.transpose_kernel) return promoted(lhs, rhs, c);
  const Array turned = ops::rev(rhs, Ints(c.rhs_spec.begin() + 2, c.rhs_spec.end()));
  std::swap(c.rhs_spec[0], c.rhs_spec[1]);
  return promoted(lhs, turned, c);
}

Array conv_general_dilated_patches(const ArrayLike& lhs, const std::vector<std::int64_t>& filter_shape,
                                   const ConvPatchesOptions& options) {
  constexpr std::string_view op = "conv_general_dilated_patches";
  if (lhs->ndim() < 2) check_ndim(op, lhs, lhs);
  const ops::ConvParams c = params_of(op, lhs, filter_shape, options);
  ops::WindowParams w(Ints(static_cast<std::size_t>(lhs->ndim()), 1));
  const std::size_t spatial = filter_shape.size();
  for (std::size_t i = 0; i < spatial; ++i) {
    const std::int64_t axis = c.lhs_spec[2 + i];
    w.dimensions[axis] = filter_shape[i];
    w.strides[axis] = c.window_strides[i];
    w.padding_low[axis] = c.padding_low[i];
    w.padding_high[axis] = c.padding_high[i];
    w.base_dilation[axis] = c.lhs_dilation[i];
    w.window_dilation[axis] = c.rhs_dilation[i];
  }
  const Array patches = ops::window_patches(lhs, scalar(lhs->dtype(), 0), w);
  // [places…, window…] to (batch, features, window, places…), and features with windows are one axis.
  Ints order = {c.lhs_spec[0], c.lhs_spec[1]};
  for (std::size_t i = 0; i < spatial; ++i) order.push_back(lhs->ndim() + c.lhs_spec[2 + i]);
  for (std::size_t i = 0; i < spatial; ++i) order.push_back(c.lhs_spec[2 + i]);
  for (int i = 0; i < 2; ++i) order.push_back(lhs->ndim() + c.lhs_spec[i]);  // of size 1
  const Array ordered = ops::transpose(patches, order);
  Shape joined = {ordered.shape()[0], ordered.shape()[1] * ops::product(filter_shape)};
  joined.insert(joined.end(), ordered.shape().begin() + 2 + static_cast<std::ptrdiff_t>(spatial),
                ordered.shape().end() - 2);
  Ints to_layout(joined.size());
  for (std::size_t i = 0; i < joined.size(); ++i) to_layout[c.out_spec[i]] = static_cast<std::int64_t>(i);
  return ops::transpose(ops::reshape(ordered, joined), to_layout);
}

Array conv_general_dilated_local(const ArrayLike& lhs, const ArrayLike& rhs,
                                 const std::vector<std::int64_t>& filter_shape, const ConvPatchesOptions& options) {
  constexpr std::string_view op = "conv_general_dilated_local";
  check_ndim(op, lhs, rhs);
  const ops::ConvParams c = params_of(op, lhs, filter_shape, options);
  const Array patches = conv_general_dilated_patches(lhs, filter_shape, options);
  const Array operands[] = {patches, rhs};
  const Arrays x = numpy::cast_all(operands, numpy::result_type(operands));
  const Ints places(c.out_spec.begin() + 2, c.out_spec.end()), kernels(c.rhs_spec.begin() + 2, c.rhs_spec.end());
  // (places…, batch, features) to the layout.
  const Array y = ops::dot_general(x[0], x[1], {c.out_spec[1]}, {c.rhs_spec[1]}, places, kernels);
  Ints to_layout(c.out_spec.size());
  const auto spatial = static_cast<std::int64_t>(places.size());
  for (std::size_t i = 0; i < places.size(); ++i) to_layout[places[i]] = static_cast<std::int64_t>(i);
  to_layout[c.out_spec[0]] = spatial;
  to_layout[c.out_spec[1]] = spatial + 1;
  return ops::transpose(y, to_layout);
}

}  // namespace cotan::lax
