// What collectives share: operations across the mapped axis that their parameter "axis_name" names, whose size is their
// parameter "axis_size". They are gone when vmap over that axis has been applied, so no device ever sees one.
#pragma once
#include <cotan/collectives.hpp>

#include "core/rules.hpp"
#include "core/trace.hpp"
#include "ops/collectives/axes.hpp"
#include "ops/elementwise.hpp"
#include "ops/parts.hpp"

namespace cotan::ops::collectives {

extern const Primitive psum_p, pmax_p, pmin_p, axis_index_p, all_gather_p, psum_scatter_p, all_to_all_p, ppermute_p,
    pbroadcast_p;

/// The parameters of a collective over the axis, which must be bound.
Params over_axis(const std::string& name, std::string_view op);
/// The same axis and nothing else.
Params axis_of(const Params& params);
inline std::int64_t size_of(const Params& params) { return params.integer("axis_size"); }

/// The evaluation of every collective: an error, since the axis is not there.
Arrays no_axis_eval(const Primitive& self, std::span<const Array> x, const Params& params);
/// Raises where groups are asked for, which a mapped axis has not.
void check_groups(std::string_view op, const lax::AxisIndexGroups& groups);
/// `axis` of `ndim` axes from 0, negative ones counted from the end; raises where it is outside.
int checked_axis(std::string_view op, std::string_view what, int axis, int ndim, const Array& x);
/// The batching rule over another axis of operations that act on each element apart.
using ops::elementwise_batch;

}  // namespace cotan::ops::collectives
