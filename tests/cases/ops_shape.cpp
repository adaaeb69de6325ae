// Shape and movement, and products.
#include <cotan/cotan.hpp>

#include "cases/case_ops.hpp"

namespace cases {

namespace np = cotan::numpy;
namespace lax = cotan::lax;
using cotan::ArrayLike;

namespace {

Arrays all_of(Args x) { return Arrays(x.begin(), x.end()); }

Array pad(const Array& x, const Params& p) {
  std::vector<std::pair<std::int64_t, std::int64_t>> width;
  for (int axis = 0; axis < x.ndim(); ++axis) {
    const Json& w = p["pad_width"];
    if (w.is_number())
      width.emplace_back(w.get<std::int64_t>(), w.get<std::int64_t>());
    else
      width.emplace_back(w[axis][0], w[axis][1]);
  }
  return np::pad(x, width, p.text("mode", "constant"),
                 p.has("constant_values") ? p.scalar("constant_values") : Array(0));
}

Arrays split(const Array& x, const Params& p) {
  const Json& parts = p["indices_or_sections"];
  if (parts.is_number()) return np::split(x, parts.get<int>(), p.axis("axis", 0));
  return np::split(x, parts.get<std::vector<std::int64_t>>(), p.axis("axis", 0));
}

Array tensordot(Args x, const Params& p) {
  const Json& axes = p["axes"];
  if (axes.is_number()) return np::tensordot(x[0], x[1], axes.get<int>());
  return np::tensordot(x[0], x[1], axes[0].get<std::vector<int>>(), axes[1].get<std::vector<int>>());
}

void add_product_ops(OpTable& t) {
  const std::pair<const char*, Array (*)(const ArrayLike&, const ArrayLike&)> products[] = {
      {"matmul", np::matmul}, {"dot", np::dot},   {"vdot", np::vdot},   {"inner", np::inner},
      {"outer", np::outer},   {"kron", np::kron}, {"cross", np::cross}, {"polyval", np::polyval}};
  for (const auto& [name, f] : products) t[name] = one([f = f](Args x, const Params&) { return f(x[0], x[1]); });
  t["tensordot"] = one(tensordot);
  t["einsum"] = one([](Args x, const Params& p) { return np::einsum(p.text("subscripts"), all_of(x)); });
  t["convolve"] = one([](Args x, const Params& p) { return np::convolve(x[0], x[1], p.text("mode")); });
  t["correlate"] = one([](Args x, const Params& p) { return np::correlate(x[0], x[1], p.text("mode")); });
  t["vander"] = one([](Args x, const Params& p) { return np::vander(x[0], p.maybe_axis("N")); });
  t["lax.dot_general"] = one([](Args x, const Params& p) {
    using List = std::vector<std::int64_t>;
    const Json& d = p["dimension_numbers"];
    return lax::dot_general(
        x[0], x[1], {d[0][0].get<List>(), d[0][1].get<List>(), d[1][0].get<List>(), d[1][1].get<List>()},
        p.has("preferred_element_type") ? std::optional(p.dtype("preferred_element_type")) : std::nullopt);
  });
}

}  // namespace

void add_shape_ops(OpTable& t) {
  t["reshape"] = one([](Args x, const Params& p) { return np::reshape(x[0], p.shape()); });
  t["ravel"] = one([](Args x, const Params&) { return np::ravel(x[0]); });
  t["transpose"] = one([](Args x, const Params& p) {
    return p.has("axes") ? np::transpose(x[0], p.ints("axes")) : np::transpose(x[0]);
  });
  t["permute_dims"] = one([](Args x, const Params& p) { return np::permute_dims(x[0], p.ints("axes")); });
  t["matrix_transpose"] = one([](Args x, const Params&) { return np::matrix_transpose(x[0]); });
  t["lax.transpose"] = one([](Args x, const Params& p) { return lax::transpose(x[0], p.list("permutation")); });
  t["swapaxes"] = one([](Args x, const Params& p) { return np::swapaxes(x[0], p.axis("axis1"), p.axis("axis2")); });
  t["moveaxis"] =
      one([](Args x, const Params& p) { return np::moveaxis(x[0], p.axes("source"), p.axes("destination")); });
  t["squeeze"] = one([](Args x, const Params& p) { return np::squeeze(x[0], p.axes()); });
  t["expand_dims"] = one([](Args x, const Params& p) { return np::expand_dims(x[0], p.axes()); });
  t["broadcast_to"] = one([](Args x, const Params& p) { return np::broadcast_to(x[0], p.shape()); });
  t["broadcast_arrays"] = [](Args x, const Params&) { return np::broadcast_arrays(all_of(x)); };
  t["lax.broadcast_in_dim"] = one(
      [](Args x, const Params& p) { return lax::broadcast_in_dim(x[0], p.shape(), p.list("broadcast_dimensions")); });
  t["atleast_1d"] = one([](Args x, const Params&) { return np::atleast_1d(x[0]); });
  t["atleast_2d"] = one([](Args x, const Params&) { return np::atleast_2d(x[0]); });
  t["concatenate"] = one([](Args x, const Params& p) { return np::concatenate(all_of(x), p.axis("axis", 0)); });
  t["lax.concatenate"] = one([](Args x, const Params& p) { return lax::concatenate(all_of(x), p.axis("dimension")); });
  t["stack"] = one([](Args x, const Params& p) { return np::stack(all_of(x), p.axis("axis", 0)); });
  t["vstack"] = one([](Args x, const Params&) { return np::vstack(all_of(x)); });
  t["hstack"] = one([](Args x, const Params&) { return np::hstack(all_of(x)); });
  t["column_stack"] = one([](Args x, const Params&) { return np::column_stack(all_of(x)); });
  t["split"] = [](Args x, const Params& p) { return split(x[0], p); };
  t["unstack"] = [](Args x, const Params& p) { return np::unstack(x[0], p.axis("axis", 0)); };
  t["repeat"] = one([](Args x, const Params& p) { return np::repeat(x[0], p.integer("repeats"), p.maybe_axis()); });
  t["tile"] = one([](Args x, const Params& p) { return np::tile(x[0], p.list("reps")); });
  t["flip"] = one([](Args x, const Params& p) { return np::flip(x[0], p.axes()); });
  t["fliplr"] = one([](Args x, const Params&) { return np::fliplr(x[0]); });
  t["flipud"] = one([](Args x, const Params&) { return np::flipud(x[0]); });
  t["rot90"] = one([](Args x, const Params& p) { return np::rot90(x[0], p.axis("k", 1)); });
  t["lax.rev"] = one([](Args x, const Params& p) { return lax::rev(x[0], p.list("dimensions")); });
  t["roll"] = one([](Args x, const Params& p) { return np::roll(x[0], p.integer("shift"), p.maybe_axis()); });
  t["pad"] = one([](Args x, const Params& p) { return pad(x[0], p); });
  t["lax.pad"] = one([](Args x, const Params& p) {
    std::vector<lax::PaddingConfig> config;
    for (const Json& c : p["padding_config"]) config.push_back({c[0], c[1], c[2]});
    return lax::pad(x[0], x[1], config);
  });
  t["lax.slice"] = one([](Args x, const Params& p) {
    return lax::slice(x[0], p.list("start_indices"), p.list("limit_indices"),
                      p.has("strides") ? p.list("strides") : std::vector<std::int64_t>{});
  });
  t["lax.slice_in_dim"] = one([](Args x, const Params& p) {
    return lax::slice_in_dim(x[0], p.integer("start_index"), p.integer("limit_index"), p.integer("stride"), p.axis());
  });
  t["tril"] = one([](Args x, const Params& p) { return np::tril(x[0], p.axis("k", 0)); });
  t["triu"] = one([](Args x, const Params& p) { return np::triu(x[0], p.axis("k", 0)); });
  t["diag"] = one([](Args x, const Params& p) { return np::diag(x[0], p.axis("k", 0)); });
  t["diagonal"] = one([](Args x, const Params& p) {
    return np::diagonal(x[0], p.axis("offset", 0), p.axis("axis1", 0), p.axis("axis2", 1));
  });
  t["trace"] = one([](Args x, const Params& p) { return np::trace(x[0], p.axis("offset", 0)); });
  t["meshgrid"] = [](Args x, const Params& p) { return np::meshgrid(all_of(x), p.text("indexing")); };
  add_product_ops(t);
}

}  // namespace cases
