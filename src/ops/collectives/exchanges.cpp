// Collectives after which every element has parts of others: all_gather, psum_scatter, all_to_all, pswapaxes.
#include <cotan/numpy.hpp>

#include "ops/collectives/collectives.hpp"

namespace cotan::ops::collectives {

namespace {

/// Axis `at` of the shape and the one behind it as one.
Array merged(const Array& x, std::size_t at) {
  Shape shape = x.shape();
  shape[at] *= shape[at + 1];
  shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(at) + 1);
  return reshape(x, shape);
}
/// Axis `at` as two, of which the first has `size` elements.
Array split(const Array& x, std::size_t at, std::int64_t size) {
  Shape shape = x.shape();
  shape[at] /= size;
  shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(at), size);
  return reshape(x, shape);
}
/// The parameters with the axes moved to where they are behind a batch axis in front.
Params behind_batch(Params params) {
  for (const std::string_view key : {"axis", "split_axis", "concat_axis"})
    if (params.has(key)) params = params.with(key, params.integer(key) + 1);
  return params;
}
/// The batching rule over another axis.
BatchResult batch_in_front_of_axes(const Primitive& self, std::span<const Array> x, std::span<const int> dims,
                                   std::int64_t, const Params& params) {
  return {bind(self, {move_axis(x[0], dims[0], 0)}, behind_batch(params)), {0}};
}

Types gathered_type(const Primitive&, std::span<const AbstractValue> x, const Params& params) {
  AbstractValue out = x[0];
  out.shape.insert(out.shape.begin() + params.integer("axis"), size_of(params));
  return {out};
}
Types scattered_type(const Primitive&, std::span<const AbstractValue> x, const Params& params) {
  AbstractValue out = x[0];
  out.shape.erase(out.shape.begin() + params.integer("axis"));
  return {out};
}
Types exchanged_type(const Primitive&, std::span<const AbstractValue> x, const Params& params) {
  AbstractValue out = x[0];
  out.shape.erase(out.shape.begin() + params.integer("split_axis"));
  out.shape.insert(out.shape.begin() + params.integer("concat_axis"), size_of(params));
  return {out};
}

BatchResult gather_across(const Array& x, int dim, std::int64_t size, const Params& params) {
  const Array front = batch_at_front(x, dim, size);
  return {{move_axis(front, 0, static_cast<int>(params.integer("axis")))}, {not_batched}};
}
BatchResult scatter_across(const Array& x, int dim, std::int64_t size, const Params& params) {
  return {{dim == not_batched ? x * Array(size) : reduce_sum(x, {dim})}, {static_cast<int>(params.integer("axis"))}};
}
/// Element i's part for j is at (i, j); the result has it at (j, i).
BatchResult exchange_across(const Array& x, int dim, std::int64_t size, const Params& params) {
  const Array by_target =
      move_axis(batch_at_front(x, dim, size), static_cast<int>(params.integer("split_axis")) + 1, 0);
  return {{move_axis(by_target, 1, static_cast<int>(params.integer("concat_axis")) + 1)}, {0}};
}

Params exchanged_back(const Params& params) {
  return params.with("split_axis", params.integer("concat_axis")).with("concat_axis", params.integer("split_axis"));
}

}  // namespace

// A new axis with what every element has.
const Primitive all_gather_p{.name = "all_gather",
                             .op_class = OpClass::routine,
                             .type = gathered_type,
                             .eval = no_axis_eval,
                             .partials = {[](const Partial& p) { return bind1(all_gather_p, {p.t}, p.params); }},
                             .transpose = [](const Primitive&, std::span<const Array> ct, std::span<const LinearInput>,
                                             const Params& params) { return bind(psum_scatter_p, {ct[0]}, params); },
                             .batch = batch_in_front_of_axes,
                             .on_parts = on_each_part};
// The sum over all elements, of which each gets one slice.
const Primitive psum_scatter_p{
    .name = "psum_scatter",
    .op_class = OpClass::routine,
    .type = scattered_type,
    .eval = no_axis_eval,
    .partials = {[](const Partial& p) { return bind1(psum_scatter_p, {p.t}, p.params); }},
    .transpose = [](const Primitive&, std::span<const Array> ct, std::span<const LinearInput>,
                    const Params& params) { return bind(all_gather_p, {ct[0]}, params); },
    .batch = batch_in_front_of_axes,
    .on_parts = on_each_part};
const Primitive all_to_all_p{
    .name = "all_to_all",
    .op_class = OpClass::routine,
    .type = exchanged_type,
    .eval = no_axis_eval,
    .partials = {[](const Partial& p) { return bind1(all_to_all_p, {p.t}, p.params); }},
    .transpose = [](const Primitive& self, std::span<const Array> ct, std::span<const LinearInput>,
                    const Params& params) { return bind(self, {ct[0]}, exchanged_back(params)); },
    .batch = batch_in_front_of_axes,
    .on_parts = on_each_part};
const Listed exchanges_listed{&all_gather_p, &psum_scatter_p, &all_to_all_p};

namespace {

const RuleFor<axes::AcrossAxis> gathers{{&all_gather_p}, {gather_across}};
const RuleFor<axes::AcrossAxis> scatters{{&psum_scatter_p}, {scatter_across}};
const RuleFor<axes::AcrossAxis> exchanges{{&all_to_all_p}, {exchange_across}};

/// Raises unless axis `at` has the size of the mapped axis, or with `tiled` a multiple of that.
void check_parts(std::string_view op, const Array& x, int at, const Params& axis, bool tiled) {
  const std::int64_t here = x.shape()[static_cast<std::size_t>(at)], size = size_of(axis);
  if (tiled ? here % size != 0 : here != size)
    raise<ShapeError>("[{}] axis {} of {} has {} elements, and the mapped axis '{}' has {}; {}.", op, at, x.aval(),
                      here, axis.text("axis_name"), size,
                      tiled ? "it must have a multiple of that" : "they must be equal, or the operation tiled");
}

}  // namespace

}  // namespace cotan::ops::collectives

namespace cotan::lax {

using namespace ops::collectives;

Array all_gather(const ArrayLike& x, const AxisNames& axis_name, const AllGatherOptions& options) {
  check_groups("all_gather", options.axis_index_groups);
  Array out = x.array();
  const int axis = checked_axis("all_gather", "axis", options.axis, out.ndim() + (options.tiled ? 0 : 1), out);
  bool merges = options.tiled;
  // The last name varies fastest.
  for (auto name = axis_name.list().rbegin(); name != axis_name.list().rend(); ++name) {
    out = bind1(all_gather_p, {out}, over_axis(*name, "all_gather").with("axis", static_cast<std::int64_t>(axis)));
    if (merges) out = merged(out, static_cast<std::size_t>(axis));
    merges = true;
  }
  return out;
}

Array psum_scatter(const ArrayLike& x, const AxisNames& axis_name, const PsumScatterOptions& options) {
  check_groups("psum_scatter", options.axis_index_groups);
  Array out = x.array();
  const int axis = checked_axis("psum_scatter", "scatter_dimension", options.scatter_dimension, out.ndim(), out);
  const auto at = static_cast<std::size_t>(axis);
  const auto& names = axis_name.list();
  for (std::size_t k = 0; k < names.size(); ++k) {
    const Params over = over_axis(names[k], "psum_scatter").with("axis", static_cast<std::int64_t>(axis));
    const bool tiled = options.tiled || k + 1 < names.size();
    check_parts("psum_scatter", out, axis, over, tiled);
    out = bind1(psum_scatter_p, {tiled ? split(out, at, size_of(over)) : out}, over);
  }
  return out;
}

Array all_to_all(const ArrayLike& x, const std::string& axis_name, int split_axis, int concat_axis,
                 const AllToAllOptions& options) {
  check_groups("all_to_all", options.axis_index_groups);
  Array in = x.array();
  const Params over = over_axis(axis_name, "all_to_all");
  const int from = checked_axis("all_to_all", "split_axis", split_axis, in.ndim(), in),
            to = checked_axis("all_to_all", "concat_axis", concat_axis, in.ndim(), in);
  check_parts("all_to_all", in, from, over, options.tiled);
  if (options.tiled) in = split(in, static_cast<std::size_t>(from), size_of(over));
  const Array out = bind1(
      all_to_all_p, {in},
      over.with("split_axis", static_cast<std::int64_t>(from)).with("concat_axis", static_cast<std::int64_t>(to)));
  return options.tiled ? merged(out, static_cast<std::size_t>(to)) : out;
}

Array pswapaxes(const ArrayLike& x, const std::string& axis_name, int axis, const CollectiveOptions& options) {
  check_groups("pswapaxes", options.axis_index_groups);
  return all_to_all(x, axis_name, axis, axis);
}

}  // namespace cotan::lax
