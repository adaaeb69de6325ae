// Indexing, gather and scatter.
#include <cotan/cotan.hpp>

#include "cases/case_ops.hpp"

namespace cases {

namespace np = cotan::numpy;
namespace lax = cotan::lax;
using cotan::ArrayLike;

namespace {

/// "a:b:c" with any part left out.
cotan::Range parse_range(const std::string& text) {
  cotan::Range range;
  std::vector<std::optional<std::int64_t>> parts;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(':', at), text.size());
    parts.push_back(end > at ? std::optional(std::stoll(text.substr(at, end - at))) : std::nullopt);
    at = end + 1;
  }
  range.start = parts[0];
  range.stop = parts[1];
  if (parts.size() > 2) range.step = parts[2].value_or(1);
  return range;
}

std::vector<cotan::Index> parse_index(const Params& p, Args x) {
  std::vector<cotan::Index> out;
  for (const Json& item : p["index"]) {
    if (item.is_number()) {
      out.emplace_back(item.get<std::int64_t>());
      continue;
    }
    const std::string text = item;
    if (text == "newaxis")
      out.emplace_back(cotan::newaxis);
    else if (text == "...")
      out.emplace_back(cotan::ellipsis);
    else if (text[0] == '@')
      out.emplace_back(x[std::stoul(text.substr(1))]);
    else
      out.emplace_back(parse_range(text));
  }
  return out;
}

using Update = Array (cotan::IndexUpdate::*)(const ArrayLike&, cotan::IndexOptions) const;
OpFunction update(Update method) {
  return one([method](Args x, const Params& p) {
    cotan::IndexOptions options;
    if (p.text("mode") == "clip") options.mode = cotan::IndexMode::clip;
    return (cotan::IndexUpdate(x[0], parse_index(p, x)).*method)(x[1], options);
  });
}

lax::GatherScatterMode parse_mode(const Params& p) {
  return p.text("mode") == "clip" ? lax::GatherScatterMode::clip : lax::GatherScatterMode::fill_or_drop;
}
std::vector<std::int64_t> list_or_empty(const Params& p, const char* key) {
  return p.has(key) ? p.list(key) : std::vector<std::int64_t>{};
}

Array gather(Args x, const Params& p) {
  const lax::GatherDimensionNumbers dimensions{p.list("offset_dims"), p.list("collapsed_slice_dims"),
                                               p.list("start_index_map"), list_or_empty(p, "operand_batching_dims"),
                                               list_or_empty(p, "start_indices_batching_dims")};
  if (p.has("fill_value"))
    return lax::gather(x[0], x[1], dimensions, p.list("slice_sizes"), parse_mode(p), p.real("fill_value"));
  return lax::gather(x[0], x[1], dimensions, p.list("slice_sizes"), parse_mode(p));
}

using Scatter = Array (*)(const ArrayLike&, const ArrayLike&, const ArrayLike&, const lax::ScatterDimensionNumbers&,
                          lax::GatherScatterMode);
OpFunction scatter(Scatter f) {
  return one([f](Args x, const Params& p) {
    return f(x[0], x[1], x[2],
             {p.list("update_window_dims"), p.list("inserted_window_dims"), p.list("scatter_dims_to_operand_dims")},
             parse_mode(p));
  });
}

Arrays rest(Args x, std::size_t from) { return Arrays(x.begin() + static_cast<std::ptrdiff_t>(from), x.end()); }

}  // namespace

void add_indexing_ops(OpTable& t) {
  t["array.getitem"] = one([](Args x, const Params& p) { return cotan::detail::get_index(x[0], parse_index(p, x)); });
  t["array.at_set"] = update(&cotan::IndexUpdate::set);
  t["array.at_add"] = update(&cotan::IndexUpdate::add);
  t["array.at_multiply"] = update(&cotan::IndexUpdate::multiply);
  t["array.at_min"] = update(&cotan::IndexUpdate::min);
  t["array.at_max"] = update(&cotan::IndexUpdate::max);

  t["take"] = one([](Args x, const Params& p) { return np::take(x[0], x[1], p.maybe_axis()); });
  t["take_along_axis"] = one([](Args x, const Params& p) { return np::take_along_axis(x[0], x[1], p.axis()); });
  t["choose"] = one([](Args x, const Params&) { return np::choose(x[0], rest(x, 1)); });
  t["nonzero"] = [](Args x, const Params&) { return np::nonzero(x[0]); };
  t["unique"] = one([](Args x, const Params&) { return np::unique(x[0]); });

  t["lax.dynamic_slice"] =
      one([](Args x, const Params& p) { return lax::dynamic_slice(x[0], rest(x, 1), p.list("slice_sizes")); });
  t["lax.dynamic_slice_in_dim"] = one(
      [](Args x, const Params& p) { return lax::dynamic_slice_in_dim(x[0], x[1], p.integer("slice_size"), p.axis()); });
  t["lax.dynamic_update_slice"] =
      one([](Args x, const Params&) { return lax::dynamic_update_slice(x[0], x[1], rest(x, 2)); });
  t["lax.dynamic_update_slice_in_dim"] =
      one([](Args x, const Params& p) { return lax::dynamic_update_slice_in_dim(x[0], x[1], x[2], p.axis()); });

  t["lax.gather"] = one(gather);
  t["lax.scatter"] = scatter(lax::scatter);
  t["lax.scatter_add"] = scatter(lax::scatter_add);
  t["lax.scatter_mul"] = scatter(lax::scatter_mul);
  t["lax.scatter_min"] = scatter(lax::scatter_min);
  t["lax.scatter_max"] = scatter(lax::scatter_max);
}

}  // namespace cases
