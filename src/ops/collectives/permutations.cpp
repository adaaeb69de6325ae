// Collectives that move whole elements along a mapped axis: ppermute, pshuffle, pbroadcast.
#include <algorithm>
#include <cotan/numpy.hpp>

#include "core/construct.hpp"
#include "ops/collectives/collectives.hpp"

namespace cotan::ops::collectives {

namespace {

Types moved_type(const Primitive&, std::span<const AbstractValue> x, const Params&) { return {x[0]}; }

/// Where each element comes from, or -1: "sources" of the parameters.
Ints sources_of(std::span<const std::pair<std::int64_t, std::int64_t>> pairs, const Params& over) {
  Ints sources(static_cast<std::size_t>(size_of(over)), -1);
  for (const auto& [source, target] : pairs) {
    for (const std::int64_t index : {source, target})
      if (index < 0 || index >= size_of(over))
        raise<IndexError>("[ppermute] index {} is outside of the mapped axis '{}' of size {}; indices count from 0.",
                          index, over.text("axis_name"), size_of(over));
    const auto at = static_cast<std::size_t>(target);
    if (sources[at] >= 0 || std::find(sources.begin(), sources.end(), source) != sources.end())
      raise<ValueError>(
          "[ppermute] the pair ({}, {}) has a source or a target a second time; each index sends and "
          "receives at most once.",
          source, target);
    sources[at] = source;
  }
  return sources;
}
Ints inverse(const Ints& sources) {
  Ints out(sources.size(), -1);
  for (std::size_t target = 0; target < sources.size(); ++target)
    if (sources[target] >= 0) out[static_cast<std::size_t>(sources[target])] = static_cast<std::int64_t>(target);
  return out;
}

/// The slices of an axis that come from `sources`, zeros where nothing comes.
Array permuted(const Array& x, const Ints& sources) {
  std::vector<std::int32_t> from;
  Shape ones(static_cast<std::size_t>(x.ndim()), 1);
  ones[0] = static_cast<std::int64_t>(sources.size());
  bool all = true;
  for (const std::int64_t s : sources) {
    from.push_back(static_cast<std::int32_t>(std::max<std::int64_t>(s, 0)));
    all &= s >= 0;
  }
  const Array moved = numpy::take(x, Array::from_host<std::int32_t>(from, {ones[0]}), 0);
  if (all) return moved;
  std::vector<std::int32_t> comes;
  for (const std::int64_t s : sources) comes.push_back(s >= 0);
  const Array there = Array::from_host<std::int32_t>(comes, ones) > 0;
  return numpy::where(there, moved, zeros_like(moved));
}
BatchResult permute_across(const Array& x, int dim, std::int64_t size, const Params& params) {
  return {{permuted(batch_at_front(x, dim, size), params.ints("sources"))}, {0}};
}

BatchResult broadcast_across(const Array& x, int dim, std::int64_t, const Params& params) {
  if (dim == not_batched) return {{x}, {not_batched}};
  const std::int64_t source = params.integer("source");
  const Array slice = slice_axis(x, dim, source, source + 1);
  return {{reshape(slice, erase_axes(x.shape(), {dim}))}, {not_batched}};
}
/// The source has all that anybody did with its value.
Arrays broadcast_transpose(const Primitive&, std::span<const Array> ct, std::span<const LinearInput>,
                           const Params& params) {
  const Params axis = axis_of(params);
  const Array sum = bind1(psum_p, {ct[0]}, axis);
  const Array index = bind1(axis_index_p, std::span<const Array>(), axis);
  return {numpy::where(index == Array(params.integer("source")), sum, zeros_like(sum))};
}

}  // namespace

const Primitive ppermute_p{
    .name = "ppermute",
    .op_class = OpClass::routine,
    .type = moved_type,
    .eval = no_axis_eval,
    .partials = {[](const Partial& p) { return bind1(ppermute_p, {p.t}, p.params); }},
    .transpose =
        [](const Primitive& self, std::span<const Array> ct, std::span<const LinearInput>, const Params& params) {
          return bind(self, {ct[0]}, params.with("sources", inverse(params.ints("sources"))));
        },
    .batch = elementwise_batch,
    .on_parts = on_each_part};
const Primitive pbroadcast_p{.name = "pbroadcast",
                             .op_class = OpClass::routine,
                             .type = moved_type,
                             .eval = no_axis_eval,
                             .partials = {[](const Partial& p) { return bind1(pbroadcast_p, {p.t}, p.params); }},
                             .transpose = broadcast_transpose,
                             .batch = elementwise_batch,
                             .on_parts = on_each_part};
const Listed permutations_listed{&ppermute_p, &pbroadcast_p};

namespace {
const RuleFor<axes::AcrossAxis> permutations{{&ppermute_p}, {permute_across}};
const RuleFor<axes::AcrossAxis> broadcasts{{&pbroadcast_p}, {broadcast_across}};
}  // namespace

}  // namespace cotan::ops::collectives

namespace cotan::lax {

using namespace ops::collectives;

Array ppermute(const ArrayLike& x, const std::string& axis_name,
               const std::vector<std::pair<std::int64_t, std::int64_t>>& perm) {
  const Params over = over_axis(axis_name, "ppermute");
  return bind1(ppermute_p, {x.array()}, over.with("sources", sources_of(perm, over)));
}

Array pshuffle(const ArrayLike& x, const std::string& axis_name, const std::vector<std::int64_t>& perm) {
  const Params over = over_axis(axis_name, "pshuffle");
  std::vector<std::int64_t> sorted = perm;
  std::sort(sorted.begin(), sorted.end());
  bool fits = static_cast<std::int64_t>(perm.size()) == ops::collectives::size_of(over);
  for (std::size_t i = 0; i < sorted.size(); ++i) fits = fits && sorted[i] == static_cast<std::int64_t>(i);
  if (!fits)
    raise<ValueError>("[pshuffle] {} is no permutation of the mapped axis '{}' of size {}; give each index once.",
                      describe(Shape(perm.begin(), perm.end())), axis_name, ops::collectives::size_of(over));
  return bind1(ppermute_p, {x.array()}, over.with("sources", Ints(perm.begin(), perm.end())));
}

Array pbroadcast(const ArrayLike& x, const std::string& axis_name, std::int64_t source) {
  const Params over = over_axis(axis_name, "pbroadcast");
  if (source < 0 || source >= ops::collectives::size_of(over))
    raise<IndexError>("[pbroadcast] source {} is outside of the mapped axis '{}' of size {}; indices count from 0.",
                      source, axis_name, ops::collectives::size_of(over));
  return bind1(pbroadcast_p, {x.array()}, over.with("source", source));
}

}  // namespace cotan::lax
