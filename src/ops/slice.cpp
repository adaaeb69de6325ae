// slice, and rev, which turns axes round.
#include <algorithm>

#include "ops/parts.hpp"
#include "ops/views.hpp"

namespace cotan::ops {

using expr::Expr;
using expr::integer;
using expr::Operands;

namespace {

Types slice_type(const Primitive&, std::span<const AbstractValue> x, const Params& params) {
  const Ints &start = params.ints("start_indices"), &limit = params.ints("limit_indices"),
             &strides = params.ints("strides");
  const std::size_t n = x[0].shape.size();
  if (start.size() != n || limit.size() != n || strides.size() != n)
    raise<ShapeError>("[slice] {} has {} axes; give one start, limit and stride per axis.", x[0], n);
  Shape shape;
  for (std::size_t i = 0; i < n; ++i) {
    if (start[i] < 0 || limit[i] > x[0].shape[i] || start[i] > limit[i] || strides[i] < 1)
      raise<IndexError>(
          "[slice] {}:{}:{} does not fit axis {} of {}; bounds run from 0 to {} and strides are positive.", start[i],
          limit[i], strides[i], i, x[0], x[0].shape[i]);
    shape.push_back((limit[i] - start[i] + strides[i] - 1) / strides[i]);
  }
  return {{x[0].dtype, shape, x[0].weak_type}};
}
Arrays slice_eval(const Primitive& self, std::span<const Array> x, const Params& params) {
  const Ints &start = params.ints("start_indices"), &step = params.ints("strides");
  Ints strides = strides_of(x[0].shape());
  std::int64_t offset = 0;
  for (std::size_t i = 0; i < strides.size(); ++i) {
    offset += start[i] * strides[i];
    strides[i] *= step[i];
  }
  return {gather_strided(x[0], result_type(self, x, params).shape, offset, strides)};
}
Arrays slice_transpose(const Primitive&, std::span<const Array> ct, std::span<const LinearInput> in,
                       const Params& params) {
  const Ints &start = params.ints("start_indices"), &strides = params.ints("strides");
  Ints low = start, high, interior;
  for (std::size_t i = 0; i < start.size(); ++i) {
    const std::int64_t n = ct[0].shape()[i];
    const std::int64_t covered = n == 0 ? 0 : (n - 1) * strides[i] + 1;
    high.push_back(in[0].aval.shape[i] - start[i] - covered);
    interior.push_back(strides[i] - 1);
  }
  return {pad(ct[0], scalar(ct[0].dtype(), 0), low, high, interior)};
}
BatchResult slice_batch(const Primitive&, std::span<const Array> x, std::span<const int> dims, std::int64_t size,
                        const Params& params) {
  return {{slice(move_axis(x[0], dims[0], 0), inserted_front(params.ints("start_indices"), 0, 0),
                 inserted_front(params.ints("limit_indices"), 0, size), inserted_front(params.ints("strides"), 0, 1))},
          {0}};
}

Expr slice_element(const Operands& x, Is i, const Params& params) {
  const Ints &start = params.ints("start_indices"), &strides = params.ints("strides");
  std::vector<Expr> at;
  for (std::size_t k = 0; k < i.size(); ++k) at.push_back(i[k] * integer(strides[k]) + integer(start[k]));
  return x.at(0, at);
}

std::optional<std::size_t> slice_same_as(const OperandFacts& x) {
  if (!all_are(x.params.ints("start_indices"), 0) || !all_are(x.params.ints("strides"), 1)) return std::nullopt;
  return 0;
}
rows::Answer slice_on_rows(const rows::Question& q) {
  return rows::by_axis(q, {"start_indices", "limit_indices", "strides"});
}

Types rev_type(const Primitive&, std::span<const AbstractValue> x, const Params& params) {
  for (auto d : params.ints("dimensions"))
    if (d < 0 || d >= x[0].ndim())
      raise<IndexError>("[rev] axis {} is out of range for {}; axes count from 0.", d, x[0]);
  return {x[0]};
}
Arrays rev_eval(const Primitive&, std::span<const Array> x, const Params& params) {
  Ints strides = strides_of(x[0].shape());
  std::int64_t offset = 0;
  for (auto d : params.ints("dimensions")) {
    offset += (x[0].shape()[d] - 1) * strides[d];
    strides[d] = -strides[d];
  }
  return {gather_strided(x[0], x[0].shape(), x[0].size() ? offset : 0, strides)};
}
Arrays rev_transpose(const Primitive&, std::span<const Array> ct, std::span<const LinearInput>, const Params& params) {
  return {rev(ct[0], params.ints("dimensions"))};
}
BatchResult rev_batch(const Primitive&, std::span<const Array> x, std::span<const int> dims, std::int64_t,
                      const Params& params) {
  Ints axes = params.ints("dimensions");
  for (auto& a : axes) ++a;
  return {{rev(move_axis(x[0], dims[0], 0), axes)}, {0}};
}

Expr rev_element(const Operands& x, Is i, const Params& params) {
  std::vector<Expr> at(i.begin(), i.end());
  for (auto d : params.ints("dimensions")) at[d] = integer(x.type(0).shape[d] - 1) - i[d];
  return x.at(0, at);
}

std::optional<std::size_t> rev_same_as(const OperandFacts& x) {
  return x.params.ints("dimensions").empty() ? std::optional<std::size_t>(0) : std::nullopt;
}
rows::Answer rev_on_rows(const rows::Question& q) {
  const Ints& dims = q.ints("dimensions");
  if (q.axes[0] == rows::whole || rows::has(dims, q.axes[0])) return {};
  return rows::OnRows{{q.axes[0]}, q.axes[0], q.e.params.with("dimensions", rows::renumbered(dims, q.axes[0]))};
}

}  // namespace

const Primitive slice_p{.name = "slice",
                        .op_class = OpClass::view,
                        .type = slice_type,
                        .eval = slice_eval,
                        .partials = {[](const Partial& d) { return apply_to_tangent(slice_p, d); }},
                        .transpose = slice_transpose,
                        .batch = slice_batch,
                        .element = slice_element,
                        .rewrites = {.same_as = slice_same_as},
                        .on_rows = slice_on_rows,
                        .on_parts = on_each_part};
const Primitive rev_p{.name = "rev",
                      .op_class = OpClass::view,
                      .type = rev_type,
                      .eval = rev_eval,
                      .partials = {[](const Partial& d) { return apply_to_tangent(rev_p, d); }},
                      .transpose = rev_transpose,
                      .batch = rev_batch,
                      .element = rev_element,
                      .rewrites = {.same_as = rev_same_as, .undoes_itself = true},
                      .on_rows = rev_on_rows,
                      .on_parts = on_each_part};
const Listed slice_listed{&slice_p, &rev_p};

Array slice(const Array& a, const Ints& start, const Ints& limit, const Ints& strides) {
  const Ints steps = strides.empty() ? Ints(start.size(), 1) : strides;
  const bool whole = limit == a.shape() && std::all_of(start.begin(), start.end(), [](auto s) { return s == 0; }) &&
                     std::all_of(steps.begin(), steps.end(), [](auto s) { return s == 1; });
  if (whole) return a;
  return bind1(slice_p, {a}, {{"start_indices", start}, {"limit_indices", limit}, {"strides", steps}});
}
Array slice_axis(const Array& a, int axis, std::int64_t start, std::int64_t limit, std::int64_t stride) {
  Ints starts(a.ndim(), 0), limits = a.shape(), strides(a.ndim(), 1);
  starts[axis] = start;
  limits[axis] = limit;
  strides[axis] = stride;
  return slice(a, starts, limits, strides);
}
Array rev(const Array& a, const Ints& dimensions) {
  return dimensions.empty() ? a : bind1(rev_p, {a}, {{"dimensions", dimensions}});
}

}  // namespace cotan::ops
