// Collectives that reduce over a mapped axis: psum, pmax, pmin, pmean; and what an axis is: axis_index, axis_size.
#include <cotan/numpy.hpp>

#include "core/construct.hpp"
#include "ops/collectives/collectives.hpp"

namespace cotan::ops::collectives {

Params over_axis(const std::string& name, std::string_view op) {
  return {{"axis_name", name}, {"axis_size", axes::size_of(name, op)}};
}
Params axis_of(const Params& params) {
  return {{"axis_name", params.text("axis_name")}, {"axis_size", size_of(params)}};
}

Arrays no_axis_eval(const Primitive& self, std::span<const Array>, const Params& params) {
  raise<ValueError>(
      "[{}] the mapped axis '{}' has ended; a function that was differentiated inside of vmap is to be used there.",
      self.name, params.text("axis_name"));
}
void check_groups(std::string_view op, const lax::AxisIndexGroups& groups) {
  if (!groups.empty())
    raise<ValueError>("[{}] axis_index_groups are for devices, and an axis of vmap has none; nest two named axes.", op);
}
int checked_axis(std::string_view op, std::string_view what, int axis, int ndim, const Array& x) {
  if (axis < -ndim || axis >= ndim)
    raise<ShapeError>("[{}] {} {} is out of range for {}; give one from {} to {}.", op, what, axis, x.aval(), -ndim,
                      ndim - 1);
  return axis < 0 ? axis + ndim : axis;
}

namespace {

Types same_type(const Primitive&, std::span<const AbstractValue> x, const Params&) { return {x[0]}; }

/// Each element that is the extremum gets an equal share, as in numpy::max. JAX has no derivative here.
Array share_of_extremum(const Partial& p) {
  const Params axis = axis_of(p.params);
  const Array hit = cast(bind1(eq_p, {p.x[0], p.y}), p.y.dtype());
  return bind1(psum_p, {p.t * hit / bind1(psum_p, {hit}, axis)}, axis);
}

template <const Primitive* reduce>
BatchResult extremum_across(const Array& x, int dim, std::int64_t, const Params&) {
  return {{dim == not_batched ? x : bind1(*reduce, {x}, {{"axes", Ints{dim}}})}, {not_batched}};
}

Primitive extremum(std::string_view name) {
  return {.name = name,
          .op_class = OpClass::routine,
          .type = same_type,
          .eval = no_axis_eval,
          .partials = {share_of_extremum},
          .batch = elementwise_batch};
}

BatchResult psum_across(const Array& x, int dim, std::int64_t size, const Params&) {
  return {{dim == not_batched ? x * Array(size) : reduce_sum(x, {dim})}, {not_batched}};
}
BatchResult index_across(const Array&, int, std::int64_t size, const Params&) {
  return {{iota(DType::i32, {size}, 0)}, {0}};
}

}  // namespace

// A sum that every element gets: its transpose is the same again.
const Primitive psum_p{.name = "psum",
                       .op_class = OpClass::routine,
                       .type = same_type,
                       .eval = no_axis_eval,
                       .partials = {[](const Partial& p) { return bind1(psum_p, {p.t}, p.params); }},
                       .transpose = [](const Primitive& self, std::span<const Array> ct, std::span<const LinearInput>,
                                       const Params& params) { return bind(self, {ct[0]}, params); },
                       .batch = elementwise_batch,
                       .on_parts = on_each_part};
const Primitive pmax_p = extremum("pmax");
const Primitive pmin_p = extremum("pmin");
const Primitive axis_index_p{
    .name = "axis_index",
    .op_class = OpClass::routine,
    .type = [](const Primitive&, std::span<const AbstractValue>, const Params&) -> Types {
      return {{DType::i32, {}, false}};
    },
    .eval = no_axis_eval,
    .batch = [](const Primitive& self, std::span<const Array> x, std::span<const int>, std::int64_t,
                const Params& params) -> BatchResult { return {bind(self, x, params), {not_batched}}; },
    .not_differentiable = true};
const Listed collective_reductions_listed{&psum_p, &pmax_p, &pmin_p, &axis_index_p};

namespace {
const RuleFor<axes::AcrossAxis> sums{{&psum_p}, {psum_across}};
const RuleFor<axes::AcrossAxis> largest{{&pmax_p}, {extremum_across<&reduce_max_p>}};
const RuleFor<axes::AcrossAxis> smallest{{&pmin_p}, {extremum_across<&reduce_min_p>}};
const RuleFor<axes::AcrossAxis> indices{{&axis_index_p}, {index_across}};

Array over_all(const Primitive& p, Array x, const lax::AxisNames& names) {
  for (const std::string& name : names.list()) x = bind1(p, {x}, over_axis(name, p.name));
  return x;
}
}  // namespace

}  // namespace cotan::ops::collectives

namespace cotan::lax {

using namespace ops::collectives;

namespace {
std::int64_t size_of_all(const AxisNames& names, std::string_view op) {
  std::int64_t out = 1;
  for (const std::string& name : names.list()) out *= axes::size_of(name, op);
  return out;
}
}  // namespace

std::int64_t axis_size(const AxisNames& axis_name, const std::source_location& where) {
  const cotan::detail::CallSite site(where);
  return size_of_all(axis_name, "axis_size");
}
Array axis_index(const AxisNames& axis_name, const std::source_location& where) {
  const cotan::detail::CallSite site(where);
  Array out;
  for (const std::string& name : axis_name.list()) {
    const Params axis = over_axis(name, "axis_index");
    const Array own = bind1(axis_index_p, std::span<const Array>(), axis);
    out = out.defined() ? out * Array(ops::collectives::size_of(axis)) + own : own;
  }
  return out.defined() ? out : scalar(DType::i32, 0);
}

Array psum(const ArrayLike& x, const AxisNames& axis_name, const CollectiveOptions& options) {
  check_groups("psum", options.axis_index_groups);
  const Array& a = x.array();
  const Array operand = a.dtype() == DType::bool_ ? ops::cast(a, DType::i32) : a;
  if (!tracer(operand) && concrete(operand)) return operand * Array(size_of_all(axis_name, "psum"));
  return over_all(psum_p, operand, axis_name);
}
Array pmean(const ArrayLike& x, const AxisNames& axis_name, const CollectiveOptions& options) {
  check_groups("pmean", options.axis_index_groups);
  return psum(x, axis_name) / Array(size_of_all(axis_name, "pmean"));
}
Array pmax(const ArrayLike& x, const AxisNames& axis_name, const CollectiveOptions& options) {
  check_groups("pmax", options.axis_index_groups);
  return over_all(pmax_p, x.array(), axis_name);
}
Array pmin(const ArrayLike& x, const AxisNames& axis_name, const CollectiveOptions& options) {
  check_groups("pmin", options.axis_index_groups);
  return over_all(pmin_p, x.array(), axis_name);
}

}  // namespace cotan::lax
