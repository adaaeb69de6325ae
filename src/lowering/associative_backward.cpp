// The transpose of the linear program that a derivative of an associative scan leaves, in independent chunks. With y
// the results, x the elements, ȳ the cotangents of the results, and A, B the derivatives of y(i) = combine(y(i-1),
// x(i)):
//   λ(i) = ȳ(i) + A(i+1)ᵀ λ(i+1),   x̄(i) = B(i)ᵀ λ(i).
// Over a chunk, the product of the A is the derivative of combine(y before the chunk, all its elements combined). So
// the λ between chunks follow the same recurrence, with one step per chunk:
// inside    all chunks at once   its elements combined, and the λ that the chunk by itself sends to its start
//   between   one after the other  λ at the starts, or the same once more in chunks of chunks
//   results   all chunks at once   x̄, from the λ at the end of each chunk
#include "core/error.hpp"
#include "lowering/associative.hpp"
#include "lowering/chunks.hpp"

namespace cotan {

namespace {

class Backward {
 public:
  Backward(const AssociativeScan& s, const Mask& unknown, const Mask& linear)
      : s_(s),
        unknown_(unknown),
        linear_consts_(part(linear, 0, s.consts)),
        linear_elements_(part(linear, s.consts, s.leaves())) {
    for (std::size_t i = 0; i < s.leaves(); ++i)
      if (!linear_elements_[i]) known_among_elements_.push_back(!unknown[i]);
    sends_ = transposed_step();
    lambda_step_ = step(Gives::lambdas);
    result_step_ = step(Gives::results);
    total_step_ = total_step();
  }

  /// Takes operands that are not linear, then cotangents of the unknown results; gives cotangents of the linear
  /// operands.
  Arrays run(std::span<const Array> in) const {
    const std::size_t consts = s_.consts - count(linear_consts_), elements = known_among_elements_.size();
    Problem p{in.subspan(0, consts), {}, {}, {}};
    for (std::size_t i = 0; i < in.size() - consts; ++i)
      (i < elements ? p.x : i < elements + known() ? p.y : p.sent).push_back(in[consts + i]);
    const std::int64_t n = p.sent[0].shape()[0];
    const int levels = levels_for(n);
    if (too_few_for_chunks(n, levels)) return all_in_steps(p);
    const auto [cut, lambdas] = between(p, levels);
    const Folded rest = in_steps(result_step_, p, cut.inside(), n);
    const Arrays ends = ranges(cut, lambdas, 1, cut.chunks + 1);
    const Arrays rows = cut.for_all(
        [&](auto consts, auto in) {
          Arrays start(in.begin(), in.begin() + static_cast<std::ptrdiff_t>(leaves()));
          append(start, no_constants());
          const Folded f = fold(result_step_, consts, start, in.subspan(leaves()), !s_.reverse);
          return concat(f.given, std::span(f.carries).subspan(leaves()));
        },
        p.consts, concat(ends, rows_of(cut, p)));
    Arrays out;
    const std::size_t given = count(linear_elements_), sums = count(linear_consts_);
    for (std::size_t i = 0; i < sums; ++i)
      out.push_back(ops::add_cotangents(ops::reduce_sum(rows[given + i], {0}), rest.carries[leaves() + i]));
    for (std::size_t i = 0; i < given; ++i)
      out.push_back(cut.together(
          {Chunking::one(cut.front(lambdas[place_of_element(i)])), Chunking::joined(rows[i]), rest.given[i]}));
    return out;
  }

 private:
  /// The parts of elements that are not linear, results of known leaves, and cotangents of the others.
  struct Problem {
    std::span<const Array> consts;
    Arrays x, y, sent;
  };
  enum class Gives : std::uint8_t { lambdas, results };
  struct Between {
    Chunking cut;
    Arrays lambdas;
  };

  std::size_t leaves() const { return count(unknown_); }  ///< that are not known
  std::size_t known() const { return s_.leaves() - leaves(); }
  /// Among the unknown leaves: the leaf of the i-th linear element.
  std::size_t place_of_element(std::size_t i) const {
    std::size_t place = 0;
    for (std::size_t leaf = 0;; ++leaf) {
      if (linear_elements_[leaf] && i-- == 0) return place;
      place += unknown_[leaf];
    }
  }
  static Arrays ranges(const Chunking& cut, const Arrays& stacks, std::int64_t from, std::int64_t to,
                       std::int64_t stride = 1) {
    Arrays out;
    for (const Array& x : stacks) out.push_back(cut.range(x, from, to, stride));
    return out;
  }
  static Arrays zeros(const Types& types) {
    Arrays out;
    for (const AbstractValue& t : types) out.push_back(ops::zeros_of(t));
    return out;
  }
  Arrays no_constants() const {
    Types types;
    for (std::size_t i = 0; i < s_.consts; ++i)
      if (linear_consts_[i]) types.push_back(s_.combine->type(s_.combine->inputs[i]));
    return zeros(types);
  }
  Types lambda_types() const {
    Types types;
    for (std::size_t i = 0; i < s_.leaves(); ++i)
      if (unknown_[i]) types.push_back(s_.combine->type(s_.combine->outputs[i]));
    return types;
  }

  /// Steps `from` + 1 … `to` - 1 backwards, for which results `from` … are what they start from.
  Folded in_steps(const JaxprPtr& body, const Problem& p, std::int64_t from, std::int64_t to) const {
    const Chunking whole{s_.reverse, 1, 1};
    Arrays start;
    for (const Array& c : p.sent) start.push_back(whole.at(c, to - 1));
    append(start, no_constants());
    return fold(body, p.consts, start, steps_of(whole, p, from, to - 1), !s_.reverse);
  }
  /// What the steps after results `from` … `to` read.
  static Arrays steps_of(const Chunking& cut, const Problem& p, std::int64_t from, std::int64_t to) {
    Arrays out = ranges(cut, p.y, from, to);
    append(out, ranges(cut, p.x, from + 1, to + 1));
    append(out, ranges(cut, p.sent, from, to));
    return out;
  }
  static Arrays rows_of(const Chunking& cut, const Problem& p) {
    Arrays out;
    for (const Array& a : steps_of(cut, p, 0, cut.inside())) out.push_back(cut.split(a));
    return out;
  }

  Arrays all_in_steps(const Problem& p) const {
    const Folded f = in_steps(result_step_, p, 0, p.sent[0].shape()[0]);
    const Chunking whole{s_.reverse, 1, 1};
    Arrays out(f.carries.begin() + static_cast<std::ptrdiff_t>(leaves()), f.carries.end());
    for (std::size_t i = 0; i < f.given.size(); ++i)
      out.push_back(whole.together({Chunking::one(f.carries[place_of_element(i)]), f.given[i]}));
    return out;
  }

  /// All λ of a problem.
  Arrays lambdas_of(const Problem& p, int levels) const {
    const std::int64_t n = p.sent[0].shape()[0];
    const Chunking whole{s_.reverse, 1, 1};
    Arrays out;
    if (too_few_for_chunks(n, levels)) {
      const Folded f = in_steps(lambda_step_, p, 0, n);
      for (std::size_t i = 0; i < leaves(); ++i)
        out.push_back(whole.together({Chunking::one(f.carries[i]), f.given[i]}));
      return out;
    }
    const auto [cut, lambdas] = between(p, levels);
    const Folded rest = in_steps(lambda_step_, p, cut.inside(), n);
    const Arrays rows = cut.for_all(
        [&](auto consts, auto in) {
          Arrays start(in.begin(), in.begin() + static_cast<std::ptrdiff_t>(leaves()));
          append(start, no_constants());
          return fold(lambda_step_, consts, start, in.subspan(leaves()), !s_.reverse).given;
        },
        p.consts, concat(ranges(cut, lambdas, 1, cut.chunks + 1), rows_of(cut, p)));
    for (std::size_t i = 0; i < leaves(); ++i)
      out.push_back(cut.together({Chunking::one(cut.front(lambdas[i])), Chunking::joined(rows[i]), rest.given[i]}));
    return out;
  }

  /// The λ at the starts of chunks, and at the end of the last.
  Between between(const Problem& p, int levels) const {
    const std::int64_t n = p.sent[0].shape()[0];
    const Chunking cut = chunking_of(n, levels, s_);
    const Arrays inside =
        cut.for_all([&](auto consts, auto in) { return inside_chunk(consts, in); }, p.consts, rows_of(cut, p));
    const Folded rest = in_steps(lambda_step_, p, cut.inside(), n);
    Problem outer{p.consts, {}, ranges(cut, p.y, 0, cut.inside() + 1, cut.steps), {}};
    for (std::size_t i = 0, k = 0; i < known_among_elements_.size(); ++i) {
      // In place of a linear element there is a zero, also per chunk; the first element is not read.
      const Array& total = known_among_elements_[i] ? inside[k++] : cut.range(p.x[i], 0, cut.chunks);
      outer.x.push_back(cut.together({cut.range(p.x[i], 0, 1), total}));
    }
    for (std::size_t i = 0; i < leaves(); ++i)
      outer.sent.push_back(cut.together({inside[known() + i], Chunking::one(rest.carries[i])}));
    return {cut, lambdas_of(outer, levels - 1)};
  }
  /// The known elements combined, and what the chunk by itself sends to its start.
  Arrays inside_chunk(std::span<const Array> consts, std::span<const Array> in) const {
    const Chunking whole{s_.reverse, 1, 1};
    Arrays first, others;
    for (std::size_t i = 0; i < known_among_elements_.size(); ++i) {
      const Array& x = in[known() + i];
      if (!known_among_elements_[i]) continue;
      first.push_back(whole.front(x));
      others.push_back(whole.range(x, 1, x.shape()[0]));
    }
    Arrays out;
    if (known() > 0) out = fold(total_step_, consts, first, others, s_.reverse).carries;
    Arrays start = zeros(lambda_types());
    append(start, no_constants());
    const Folded sent = fold(lambda_step_, consts, start, in, !s_.reverse);
    append(out, Arrays(sent.carries.begin(), sent.carries.begin() + static_cast<std::ptrdiff_t>(leaves())));
    return out;
  }

  /// Takes constants, known results before the step, elements, λ; gives cotangents of the unknown results before it, of
  /// linear elements, and of linear constants.
  JaxprPtr transposed_step() const {
    const JaxprPtr combine = restrict_outputs(s_.combine, unknown_);
    const Mask linear = concat(concat(linear_consts_, unknown_), linear_elements_);
    const SplitJaxpr split = partial_eval_jaxpr(*combine, linear, Mask(leaves(), true));
    Types types, linear_types;
    for (std::size_t i = 0; i < linear.size(); ++i)
      (linear[i] ? linear_types : types).push_back(combine->type(combine->inputs[i]));
    const std::size_t known_inputs = types.size();
    append(types, lambda_types());
    const auto backward = [&](std::span<const Array> in) {
      const Arrays given(in.begin(), in.begin() + static_cast<std::ptrdiff_t>(known_inputs));
      Arrays results = eval_jaxpr(*split.known.jaxpr, concat(split.known.consts, given));
      Arrays args = residuals_of(split, given, results);
      args.resize(args.size() + linear_types.size());
      Arrays sent = backward_pass(*split.unknown, args, in.subspan(known_inputs));
      for (std::size_t i = 0; i < sent.size(); ++i)
        if (!sent[i].defined()) sent[i] = ops::zeros_of(linear_types[i]);
      // Constants last.
      std::rotate(sent.begin(), sent.begin() + static_cast<std::ptrdiff_t>(count(linear_consts_)), sent.end());
      return sent;
    };
    return eliminate_dead_code(inline_all_calls(trace_to_jaxpr(backward, types, "transpose").jaxpr));
  }
  /// Constants; λ, sums for constants; known results before the step, elements, what is sent to the results before it.
  JaxprPtr step(Gives gives) const {
    const std::size_t consts = s_.consts - count(linear_consts_), sums = count(linear_consts_), n = leaves();
    const Types sent_types = sends_->input_types();
    Types types(sent_types.begin(), sent_types.begin() + static_cast<std::ptrdiff_t>(consts));
    append(types, lambda_types());
    for (std::size_t i = 0; i < s_.consts; ++i)
      if (linear_consts_[i]) types.push_back(s_.combine->type(s_.combine->inputs[i]));
    const std::size_t xs = known() + known_among_elements_.size();
    append(types, Types(sent_types.begin() + static_cast<std::ptrdiff_t>(consts),
                        sent_types.begin() + static_cast<std::ptrdiff_t>(consts + xs)));
    append(types, lambda_types());
    const auto run = [&](std::span<const Array> in) {
      const auto lambda = in.subspan(consts, n), sum = in.subspan(consts + n, sums),
                 x = in.subspan(consts + n + sums, xs), to = in.subspan(consts + n + sums + xs);
      const Arrays sent = eval_jaxpr(*sends_, concat(concat(in.subspan(0, consts), x), lambda));
      const std::size_t elements = count(linear_elements_);
      Arrays out;
      for (std::size_t i = 0; i < n; ++i) out.push_back(ops::add_cotangents(to[i], sent[i]));
      for (std::size_t i = 0; i < sums; ++i) out.push_back(ops::add_cotangents(sum[i], sent[n + elements + i]));
      if (gives == Gives::lambdas)
        append(out, Arrays(lambda.begin(), lambda.end()));
      else
        append(out, Arrays(sent.begin() + static_cast<std::ptrdiff_t>(n),
                           sent.begin() + static_cast<std::ptrdiff_t>(n + elements)));
      return out;
    };
    return eliminate_dead_code(inline_all_calls(trace_to_jaxpr(run, types, "scan").jaxpr));
  }
  /// Constants, known leaves of two elements -> of one.
  JaxprPtr total_step() const {
    Mask known = unknown_;
    known.flip();
    const JaxprPtr combine = restrict_outputs(s_.combine, known);
    std::vector<std::size_t> inputs;
    for (std::size_t i = 0; i < s_.consts; ++i)
      if (!linear_consts_[i]) inputs.push_back(i);
    for (const std::size_t side : {std::size_t{0}, std::size_t{1}})
      for (std::size_t i = 0; i < s_.leaves(); ++i)
        if (known[i]) inputs.push_back(s_.consts + side * s_.leaves() + i);
    return rearranged(*combine, inputs, numbers(0, combine->outputs.size()));
  }

  const AssociativeScan& s_;
  const Mask unknown_, linear_consts_, linear_elements_;
  Mask known_among_elements_;  ///< by element that is not linear: whether its leaf is known
  JaxprPtr sends_, lambda_step_, result_step_, total_step_;
};

}  // namespace

JaxprPtr associative_backward_in_levels(const AssociativeScan& s, const Mask& unknown, const Mask& linear,
                                        const Types& operands) {
  const Backward backward(s, unknown, linear);
  const ClosedJaxpr closed =
      trace_to_jaxpr([&](std::span<const Array> in) { return backward.run(in); }, operands, "associative_backward");
  internal_check(closed.consts.empty(), "a transposed scan captures an array");
  return eliminate_dead_code(inline_all_calls(closed.jaxpr));
}

}  // namespace cotan
