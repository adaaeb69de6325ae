// associative_scan in chunks that know nothing of each other, for devices that run many things at once. How the work is
// cut depends on the number of elements alone, so that results do not depend on who does it.
//
// With C chunks of L steps, y(i) the results and X the elements after the first, a row per chunk:
//   totals   all chunks at once   t(c) = X(c, 0) * … * X(c, L-1)
//   starts   one after the other  y(0) = x(0), y((c+1) L) = y(c L) * t(c)
//   results  all chunks at once   y(c L), and L - 1 steps on from there
// What C L + 1 elements leave over follows one after the other.
#include <cmath>

#include "control/control.hpp"
#include "core/error.hpp"
#include "ops/ops.hpp"
#include "passes/passes.hpp"

namespace cotan {

namespace {

enum class Gives : std::uint8_t { before, after };  ///< the carry before or after each step

Arrays in_levels(const AssociativeScan& s, std::span<const Array> args, int levels);

class Chunks {
 public:
  Chunks(const AssociativeScan& s, std::span<const Array> args, std::int64_t chunks, int levels)
      : s_(s),
        levels_(levels),
        consts_(args.subspan(0, s.consts)),
        elements_(args.subspan(s.consts)),
        length_(elements_[0].shape()[0]),
        chunks_(chunks),
        steps_((length_ - 1) / chunks),
        step_before_(step(Gives::before)),
        step_after_(step(Gives::after)) {}

  Arrays run() {
    Arrays rows, first, left;
    for (const Array& x : elements_) {
      first.push_back(front(x));
      rows.push_back(split(range(x, 1, 1 + chunks_ * steps_)));
      left.push_back(range(x, 1 + chunks_ * steps_, length_));
    }
    const Arrays totals = for_all([&](auto consts, auto x) { return total(consts, x); }, rows);
    const auto [end, starts] = starts_of(first, totals);
    const Arrays rest = fold(step_after_, consts_, end, left).second;
    const Arrays results = for_all(
        [&](auto consts, auto in) {
          return fold(step_before_, consts, in.subspan(0, s_.leaves()), in.subspan(s_.leaves())).second;
        },
        concat(starts, rows));
    Arrays out;
    for (std::size_t i = 0; i < results.size(); ++i) {
      Shape joined = elements_[i].shape(), one = joined;
      joined[0] = chunks_ * steps_;
      one[0] = 1;
      Arrays parts{ops::reshape(results[i], joined), ops::reshape(end[i], one), rest[i]};
      if (s_.reverse) std::reverse(parts.begin(), parts.end());
      out.push_back(ops::concatenate(parts, 0));
    }
    return out;
  }

 private:
  /// Elements `from` … `to`, counted from the end that the scan begins with.
  Array range(const Array& x, std::int64_t from, std::int64_t to) const {
    const std::int64_t n = x.shape()[0];
    return s_.reverse ? ops::slice_axis(x, 0, n - to, n - from) : ops::slice_axis(x, 0, from, to);
  }
  Array front(const Array& x) const {
    return ops::reshape(range(x, 0, 1), Shape(x.shape().begin() + 1, x.shape().end()));
  }
  Array split(const Array& x) const {
    Shape shape = x.shape();
    shape[0] = steps_;
    shape.insert(shape.begin(), chunks_);
    return ops::reshape(x, shape);
  }

  /// What the last chunk ends with, and what each begins with.
  std::pair<Arrays, Arrays> starts_of(const Arrays& first, const Arrays& totals) const {
    if (levels_ == 0) return fold(step_before_, consts_, first, totals);
    Arrays elements, end, starts;  // one more scan, of what the chunks come to
    for (std::size_t i = 0; i < first.size(); ++i) {
      Shape one = totals[i].shape();
      one[0] = 1;
      Arrays parts{ops::reshape(first[i], one), totals[i]};
      if (s_.reverse) std::reverse(parts.begin(), parts.end());
      elements.push_back(ops::concatenate(parts, 0));
    }
    for (const Array& y : in_levels(s_, concat(consts_, elements), levels_ - 1)) {
      starts.push_back(range(y, 0, chunks_));
      end.push_back(ops::reshape(range(y, chunks_, chunks_ + 1), Shape(y.shape().begin() + 1, y.shape().end())));
    }
    return {end, starts};
  }

  JaxprPtr step(Gives gives) const {
    std::vector<std::size_t> outputs = numbers(0, s_.leaves());
    append(outputs, numbers(0, s_.leaves()));
    if (gives == Gives::after) return rearranged(*s_.combine, numbers(0, s_.combine->inputs.size()), outputs);
    return trace_to_jaxpr(
               [&](std::span<const Array> in) {
                 return concat(eval_jaxpr(*s_.combine, in), in.subspan(s_.consts, s_.leaves()));
               },
               s_.combine->input_types(), "scan")
        .jaxpr;
  }
  /// The last carry, and those that the steps give.
  std::pair<Arrays, Arrays> fold(const JaxprPtr& body, std::span<const Array> consts, std::span<const Array> start,
                                 std::span<const Array> xs) const {
    Scan scan;
    scan.body = body;
    scan.consts = s_.consts;
    scan.carries = s_.leaves();
    scan.length = xs[0].shape()[0];
    scan.reverse = s_.reverse;
    const Arrays out = bind(scan_p, concat(concat(consts, start), xs), scan.params());
    const auto middle = out.begin() + static_cast<std::ptrdiff_t>(s_.leaves());
    return {Arrays(out.begin(), middle), Arrays(middle, out.end())};
  }
  Arrays total(std::span<const Array> consts, std::span<const Array> xs) const {
    Arrays first, others;
    for (const Array& x : xs) {
      first.push_back(front(x));
      others.push_back(range(x, 1, x.shape()[0]));
    }
    return fold(step_after_, consts, first, others).first;
  }

  /// f(constants, rows) for each row of the operands, the rows of its results stacked.
  template <class F>
  Arrays for_all(F&& f, const Arrays& operands) const {
    Lanes lanes;
    lanes.size = chunks_;
    lanes.apart = true;
    lanes.mapped = concat(Mask(s_.consts, false), Mask(operands.size(), true));
    Types types;
    for (const Array& c : consts_) types.push_back(c.aval());
    for (const Array& x : operands) types.push_back({x.dtype(), Shape(x.shape().begin() + 1, x.shape().end()), x.weak_type()});
    lanes.program = eliminate_dead_code(inline_all_calls(
        trace_to_jaxpr([&](std::span<const Array> in) { return f(in.subspan(0, s_.consts), in.subspan(s_.consts)); }, types, "chunk").jaxpr));
    Arrays out = bind(lanes_p, concat(consts_, operands), lanes.params());
    const Mask mapped = depends_on(*lanes.program, lanes.mapped);
    for (std::size_t i = 0; i < out.size(); ++i)
      if (!mapped[i]) out[i] = ops::batch_at_front(out[i], not_batched, chunks_);
    return out;
  }

  const AssociativeScan& s_;
  const int levels_;
  const std::span<const Array> consts_, elements_;
  const std::int64_t length_, chunks_, steps_;
  const JaxprPtr step_before_, step_after_;
};

/// With L elements in each chunk, two levels take about 2 L + n / L steps one after the other, three 4 L + n / L².
Arrays in_levels(const AssociativeScan& s, std::span<const Array> args, int levels) {
  constexpr std::int64_t few = 128, shortest = 4;
  const std::int64_t n = args[s.consts].shape()[0];
  if (n <= few || levels == 1) return associative_scan_in_steps(s, args);
  const double root = std::pow(static_cast<double>(n) / 2, 1.0 / levels);
  return Chunks(s, args, (n - 1) / std::max(static_cast<std::int64_t>(root), shortest), levels).run();
}

}  // namespace

Arrays associative_scan_in_chunks(const AssociativeScan& s, std::span<const Array> args, std::int64_t chunks) {
  return Chunks(s, args, chunks, 0).run();
}

Arrays associative_scan_in_levels(const AssociativeScan& s, std::span<const Array> args) {
  constexpr std::int64_t two_levels = 1 << 13;
  return in_levels(s, args, args[s.consts].shape()[0] <= two_levels ? 2 : 3);
}

}  // namespace cotan
