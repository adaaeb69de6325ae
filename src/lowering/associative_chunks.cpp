// associative_scan in independent chunks, for devices that run many things at once. How the work is cut depends on the
// number of elements alone, so that results do not depend on how many threads there are.
//
// With C chunks of L steps, y(i) the results and X the elements after the first, a row per chunk:
//   totals   all chunks at once   t(c) = X(c, 0) * … * X(c, L-1)
//   starts   one after the other  y(0) = x(0), y((c+1) L) = y(c L) * t(c)
//   results  all chunks at once   y(c L), and L - 1 steps on from there
// The elements that are left over (n - C L - 1 of them) follow one after the other.
#include <cmath>

#include "lowering/associative.hpp"
#include "lowering/chunks.hpp"

namespace cotan {

Chunking chunking_of(std::int64_t n, int levels, const AssociativeScan& scan) {
  constexpr std::int64_t shortest = 4;
  constexpr std::size_t long_step = 100;  // equations
  const double weight = scan.combine->equations.size() > long_step ? 2 : 0.5;
  const auto wanted =
      std::max(static_cast<std::int64_t>(std::pow(weight * static_cast<double>(n), 1.0 / levels)), shortest);
  std::int64_t best = wanted, least = n * n;
  for (std::int64_t steps = wanted; steps <= std::min(wanted + wanted / 2, (n - 1) / 2); ++steps) {
    const std::int64_t cost = 2 * (steps - wanted) + (n - 1) % steps;
    if (cost < least) {
      least = cost;
      best = steps;
    }
  }
  return {scan.reverse, (n - 1) / best, best};
}
int levels_for(std::int64_t n) {
  constexpr std::int64_t two_levels = 1 << 13;
  return n <= two_levels ? 2 : 3;
}

namespace {

enum class Gives : std::uint8_t { before, after };  ///< the carry before or after each step

Arrays in_levels(const AssociativeScan& s, std::span<const Array> consts, std::span<const Array> elements,
                 const Mask& unknown, const Arrays& done, int levels);

/// Of the leaves that are not known; the others have their results `done`.
class Chunks {
 public:
  Chunks(const AssociativeScan& s, std::span<const Array> consts, std::span<const Array> elements, const Mask& unknown,
         const Arrays& done, const Chunking& cut, int levels)
      : s_(s),
        levels_(levels),
        consts_(consts),
        elements_(elements),
        unknown_(unknown),
        done_(done),
        wanted_(cotan::count(unknown)),
        length_(elements_[0].shape()[0]),
        cut_(cut),
        step_before_(step(Gives::before, unknown)),
        step_after_(step(Gives::after, unknown)),
        whole_step_(step(Gives::after, Mask(s.leaves(), true))) {}

  Arrays run() {
    Arrays rows, previous, first, left, previous_left;
    for (const Array& x : elements_) {
      rows.push_back(cut_.split(cut_.range(x, 1, 1 + cut_.inside())));
      left.push_back(cut_.range(x, 1 + cut_.inside(), length_));
    }
    for (const Array& y : done_) {
      previous.push_back(cut_.split(cut_.range(y, 0, cut_.inside())));
      previous_left.push_back(cut_.range(y, cut_.inside(), length_ - 1));
    }
    for (const Array& x : where(unknown_, elements_)) first.push_back(cut_.front(x));
    const Arrays totals = cut_.for_all([&](auto consts, auto x) { return total(consts, x); }, consts_, rows);
    const auto [end, starts] = starts_of(first, totals);
    const Arrays rest = fold(step_after_, consts_, end, concat(previous_left, left), s_.reverse).given;
    const Arrays results = cut_.for_all(
        [&](auto consts, auto in) {
          return fold(step_before_, consts, in.subspan(0, wanted_), in.subspan(wanted_), s_.reverse).given;
        },
        consts_, concat(concat(starts, previous), rows));
    Arrays out;
    for (std::size_t i = 0; i < results.size(); ++i)
      out.push_back(cut_.together({Chunking::joined(results[i]), Chunking::one(end[i]), rest[i]}));
    return out;
  }

 private:
  /// What the last chunk ends with, and what each begins with.
  std::pair<Arrays, Arrays> starts_of(const Arrays& first, const Arrays& totals) const {
    Arrays done;
    for (const Array& y : done_) done.push_back(cut_.range(y, 0, cut_.inside() + 1, cut_.steps));
    if (levels_ == 0) {
      Arrays previous;
      for (const Array& y : done) previous.push_back(cut_.range(y, 0, cut_.chunks));
      const Folded f = fold(step_before_, consts_, first, concat(previous, totals), s_.reverse);
      return {f.carries, f.given};
    }
    Arrays elements, end, starts;  // one more scan, of what the chunks come to
    for (std::size_t i = 0, u = 0, k = 0; i < totals.size(); ++i)
      elements.push_back(
          cut_.together({unknown_[i] ? Chunking::one(first[u++]) : cut_.range(done[k++], 0, 1), totals[i]}));
    for (const Array& y : in_levels(s_, consts_, elements, unknown_, done, levels_ - 1)) {
      starts.push_back(cut_.range(y, 0, cut_.chunks));
      end.push_back(cut_.at(y, cut_.chunks));
    }
    return {end, starts};
  }

  /// Takes constants, the carried leaves, the results so far of the others, and elements.
  JaxprPtr step(Gives gives, const Mask& carried) const {
    const std::size_t n = s_.leaves();
    std::vector<std::size_t> inputs = numbers(0, s_.consts), others, outputs;
    for (std::size_t i = 0; i < n; ++i) {
      (carried[i] ? inputs : others).push_back(s_.consts + i);
      if (carried[i]) outputs.push_back(i);
    }
    const std::size_t carries = outputs.size();
    append(inputs, others);
    append(inputs, numbers(s_.consts + n, n));
    if (gives == Gives::after) append(outputs, std::vector<std::size_t>(outputs));
    const JaxprPtr combine = eliminate_dead_code(rearranged(*s_.combine, inputs, outputs));
    if (gives == Gives::after) return combine;
    return trace_to_jaxpr(
               [&](std::span<const Array> in) {
                 return concat(eval_jaxpr(*combine, in), in.subspan(s_.consts, carries));
               },
               combine->input_types(), "scan")
        .jaxpr;
  }
  Arrays total(std::span<const Array> consts, std::span<const Array> xs) const {
    Arrays first, others;
    for (const Array& x : xs) {
      first.push_back(cut_.front(x));
      others.push_back(cut_.range(x, 1, x.shape()[0]));
    }
    return fold(whole_step_, consts, first, others, s_.reverse).carries;
  }

  const AssociativeScan& s_;
  const int levels_;
  const std::span<const Array> consts_, elements_;
  const Mask unknown_;
  const Arrays done_;
  const std::size_t wanted_;
  const std::int64_t length_;
  const Chunking cut_;
  const JaxprPtr step_before_, step_after_, whole_step_;
};

Arrays in_levels(const AssociativeScan& s, std::span<const Array> consts, std::span<const Array> elements,
                 const Mask& unknown, const Arrays& done, int levels) {
  const std::int64_t n = elements[0].shape()[0];
  if (too_few_for_chunks(n, levels)) return associative_rest_in_steps(s, consts, elements, unknown, done);
  return Chunks(s, consts, elements, unknown, done, chunking_of(n, levels, s), levels).run();
}

Arrays rest_in_levels(const AssociativeScan& s, std::span<const Array> consts, std::span<const Array> elements,
                      const Mask& unknown, const Arrays& done) {
  return in_levels(s, consts, elements, unknown, done, levels_for(elements[0].shape()[0]));
}

}  // namespace

Arrays associative_scan_in_chunks(const AssociativeScan& s, std::span<const Array> args, std::int64_t chunks) {
  const Chunking cut{s.reverse, chunks, (args[s.consts].shape()[0] - 1) / chunks};
  return Chunks(s, args.subspan(0, s.consts), args.subspan(s.consts), Mask(s.leaves(), true), {}, cut, 0).run();
}

Arrays associative_scan_in_levels(const AssociativeScan& s, std::span<const Array> args) {
  return rest_in_levels(s, args.subspan(0, s.consts), args.subspan(s.consts), Mask(s.leaves(), true), {});
}
JaxprPtr associative_rest_in_levels(const AssociativeRest& rest) {
  if (!rest.transposed) return rest.program(rest_in_levels);
  return associative_backward_in_levels(rest.scan, rest.unknown, rest.linear, rest.in_steps->input_types());
}

}  // namespace cotan
