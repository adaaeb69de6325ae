// Cuts a scan into independent pieces, a lane for each.
#pragma once
#include "control/control.hpp"
#include "ops/ops.hpp"
#include "passes/passes.hpp"

namespace cotan {

/// Elements counted from the end that a scan begins with, and cut into chunks of so many steps.
struct Chunking {
  bool reverse;
  std::int64_t chunks, steps;

  std::int64_t inside() const { return chunks * steps; }
  /// Elements `from` … `to`, of every `stride` the first.
  Array range(const Array& x, std::int64_t from, std::int64_t to, std::int64_t stride = 1) const {
    const std::int64_t n = x.shape()[0], last = from + (to - from - 1) / stride * stride;
    if (to <= from) return ops::slice_axis(x, 0, 0, 0);
    return reverse ? ops::slice_axis(x, 0, n - 1 - last, n - from, stride) : ops::slice_axis(x, 0, from, to, stride);
  }
  Array at(const Array& x, std::int64_t i) const {
    return ops::reshape(range(x, i, i + 1), Shape(x.shape().begin() + 1, x.shape().end()));
  }
  Array front(const Array& x) const { return at(x, 0); }
  /// A row for each chunk.
  Array split(const Array& x) const {
    Shape shape = x.shape();
    shape[0] = steps;
    shape.insert(shape.begin(), chunks);
    return ops::reshape(x, shape);
  }
  static Array joined(const Array& rows) {
    Shape shape = rows.shape();
    shape[1] *= shape[0];
    shape.erase(shape.begin());
    return ops::reshape(rows, shape);
  }
  static Array one(const Array& element) {
    Shape shape = element.shape();
    shape.insert(shape.begin(), 1);
    return ops::reshape(element, shape);
  }
  /// Stacks that follow each other.
  Array together(Arrays parts) const {
    if (reverse) std::reverse(parts.begin(), parts.end());
    return ops::concatenate(parts, 0);
  }

  /// f(constants, rows) for each row of the operands, the rows of its results stacked.
  template <class F>
  Arrays for_all(F&& f, std::span<const Array> consts, const Arrays& operands) const {
    Lanes lanes;
    lanes.size = chunks;
    lanes.apart = true;
    lanes.mapped = concat(Mask(consts.size(), false), Mask(operands.size(), true));
    Types types;
    for (const Array& c : consts) types.push_back(c.aval());
    for (const Array& x : operands)
      types.push_back({x.dtype(), Shape(x.shape().begin() + 1, x.shape().end()), x.weak_type()});
    lanes.program = eliminate_dead_code(inline_all_calls(
        trace_to_jaxpr(
            [&](std::span<const Array> in) { return f(in.subspan(0, consts.size()), in.subspan(consts.size())); },
            types, "chunk")
            .jaxpr));
    Arrays out = bind(lanes_p, concat(consts, operands), lanes.params());
    const Mask mapped = depends_on(*lanes.program, lanes.mapped);
    for (std::size_t i = 0; i < out.size(); ++i)
      if (!mapped[i]) out[i] = ops::batch_at_front(out[i], not_batched, chunks);
    return out;
  }
};

/// The last carries, and what the steps give.
struct Folded {
  Arrays carries, given;
};
inline Folded fold(const JaxprPtr& body, std::span<const Array> consts, std::span<const Array> start,
                   std::span<const Array> xs, bool reverse) {
  Scan scan;
  scan.body = body;
  scan.consts = consts.size();
  scan.carries = start.size();
  scan.length = xs[0].shape()[0];
  scan.reverse = reverse;
  if (scan.length == 0) {
    Folded none{Arrays(start.begin(), start.end()), {}};
    for (std::size_t k = scan.carries; k < body->outputs.size(); ++k) {
      AbstractValue type = body->type(body->outputs[k]);
      type.shape.insert(type.shape.begin(), 0);
      none.given.push_back(ops::zeros_of(type));
    }
    return none;
  }
  const Arrays out = bind(scan_p, concat(concat(consts, start), xs), scan.params());
  const auto middle = out.begin() + static_cast<std::ptrdiff_t>(start.size());
  return {Arrays(out.begin(), middle), Arrays(middle, out.end())};
}

/// How n elements are cut for a number of levels. With two levels about 2 L + n / L steps run one after the other, with
/// three 4 L + n / L². The last level runs in one group, so it should be short where steps are long. Elements that
/// chunks leave over run one after the other too, so they should be few.
Chunking chunking_of(std::int64_t n, int levels, const AssociativeScan& scan);
/// How many levels there are.
int levels_for(std::int64_t n);
/// Whether a plain scan, one step after the other, is as good.
inline bool too_few_for_chunks(std::int64_t n, int levels) {
  constexpr std::int64_t few = 128;
  return n <= few || levels == 1;
}

}  // namespace cotan
