// scan: partial evaluation and transposition, which together are reverse mode.
#include "control/control.hpp"
#include "core/def_use.hpp"
#include "ops/ops.hpp"
#include "passes/passes.hpp"

namespace cotan {

Arrays scan_partial_eval(const Primitive&, PartialEvalTrace& trace, std::span<const Array> args, const Params& params) {
  const Scan s(params);
  Mask unknown;
  for (const Array& a : args) unknown.push_back(trace.is_unknown(a));
  const SplitScan split = split_scan(s, unknown);
  // An unknown carry may start from a known value.
  Mask unknown_in = unknown;
  std::copy(split.carry_unknown.begin(), split.carry_unknown.end(),
            unknown_in.begin() + static_cast<std::ptrdiff_t>(s.consts));
  KnownResults known;
  {
    TraceScope scope(trace.parent());
    known = run_known(split, where(unknown_in, args, false), s.consts - count(part(unknown, 0, s.consts)));
  }
  Arrays results;
  if (!split.unknown.body->outputs.empty()) {
    Arrays operands = known.const_residuals;
    const auto add_unknown = [&](std::size_t from, std::size_t n) {
      append(operands, where(part(unknown_in, from, n), args.subspan(from, n)));
    };
    add_unknown(0, s.consts);
    add_unknown(s.consts, s.carries);
    append(operands, known.x_residuals);
    add_unknown(s.consts + s.carries, s.xs());
    results = trace.record(scan_p, operands, split.unknown.params());
  }
  return merge_outputs(concat(split.carry_unknown, split.ys_unknown), concat(known.carries, known.ys), results);
}

namespace {

/// A cotangent that a backward scan sums over the steps, each term a product (the gradient of a matrix of weights).
/// Instead of adding to the matrix in every step, the scan stacks the factors, and one product after the loop gives the
/// sum.
struct SumOfProducts {
  std::size_t carry;  ///< the sum
  const Equation* product;
  const Equation* transposed = nullptr;  ///< the term is the transpose of this product
};
std::vector<SumOfProducts> find_sums_of_products(const Scan& s, std::size_t sums) {
  constexpr std::int64_t large = 4096;  // elements; smaller ones stay in the cache, or in registers
  const Jaxpr& body = *s.body;
  const DefUse values(body);
  std::vector<SumOfProducts> out;
  for (std::size_t i = 0; i < sums; ++i) {
    const Var sum = body.inputs[s.consts + i];
    const Equation* add = values.only_for_its_reader(body.outputs[i]);
    if (body.type(sum).size() < large || !add || add->primitive != &ops::add_p || values.reads(sum) != 1) continue;
    const Var* left = std::get_if<Var>(&add->inputs[0]);
    if (!left || !(*left == sum)) continue;
    const Equation *product = values.only_for_its_reader(add->inputs[1]), *transposed = nullptr;
    if (product && product->primitive == &ops::transpose_p) {
      transposed = product;
      product = values.only_for_its_reader(transposed->inputs[0]);
    }
    if (!product || product->primitive != &ops::dot_general_p || !product->params.ints("batch_lhs").empty()) continue;
    std::int64_t factors = 0;
    for (const Atom& a : product->inputs) factors += body.type(a).size();
    if (factors <= body.type(sum).size()) out.push_back({i, product, transposed});
  }
  return out;
}
/// Zeros take the place of carries that were such sums; they are removed later.
Arrays bind_with_sums_outside(const Scan& s, const Arrays& operands, std::size_t sums) {
  const std::vector<SumOfProducts> found = find_sums_of_products(s, sums);
  if (found.empty()) return bind_scan(s, operands);
  Scan inside = s;
  Jaxpr body = *s.body;
  const std::size_t ys = s.ys();
  for (const SumOfProducts& f : found) {
    body.outputs[f.carry] = body.inputs[s.consts + f.carry];  // unchanged: the scan drops it
    for (const Atom& factor : f.product->inputs) body.outputs.push_back(factor);
  }
  inside.body = eliminate_dead_code(std::make_shared<const Jaxpr>(std::move(body)));
  Arrays results = bind_scan(inside, operands);
  for (std::size_t k = 0; k < found.size(); ++k) {
    const Params& p = found[k].product->params;
    const auto over_steps = [](Ints axes) {  // the steps are summed over as well
      for (auto& a : axes) ++a;
      axes.insert(axes.begin(), 0);
      return axes;
    };
    results[found[k].carry] =
        ops::dot_general(results[s.carries + ys + 2 * k], results[s.carries + ys + 2 * k + 1],
                         over_steps(p.ints("contract_lhs")), over_steps(p.ints("contract_rhs")), {}, {});
    if (const Equation* t = found[k].transposed)
      results[found[k].carry] = ops::transpose(results[found[k].carry], t->params.ints("permutation"));
  }
  results.resize(s.carries + ys);
  return results;
}

/// The transpose of a scan that is linear in all carries: a scan in the other direction. Its carries are the cotangents
/// of constants, which add up over the steps, and those of carries; its ys are the cotangents of xs.
class BackwardScan {
 public:
  BackwardScan(const Scan& s, std::span<const Array> cotangents, std::span<const LinearInput> inputs)
      : s_(s),
        cotangents_(cotangents),
        inputs_(inputs),
        linear_(inputs.size()),
        in_(s.body->input_types()),
        out_(s.body->output_types()),
        ys_(part(defined_mask(cotangents), s.carries, s.ys())),
        wanted_{Mask(s.consts), part(defined_mask(cotangents), 0, s.carries), Mask(s.xs())} {
    for (std::size_t i = 0; i < inputs.size(); ++i)
      linear_[i] = inputs[i].linear || (i >= s.consts && i < s.consts + s.carries);
  }
  /// The cotangents of the inputs.
  Arrays run() {
    find_wanted();
    Arrays const_values, x_values;
    for (std::size_t i = 0; i < inputs_.size(); ++i)
      if (!linear_[i]) (i < s_.consts ? const_values : x_values).push_back(inputs_[i].value);
    Scan t = s_;
    t.body = body_.jaxpr;
    t.reverse = !s_.reverse;
    t.consts = body_.consts.size() + const_values.size();
    t.carries = count(wanted_.consts) + count(wanted_.carries);
    Arrays operands = concat(body_.consts, const_values);
    append(operands, first_carries());
    append(operands, x_values);
    append(operands, where(ys_, cotangents_.subspan(s_.carries)));
    return by_input(bind_with_sums_outside(t, operands, count(wanted_.consts)));
  }

 private:
  /// Which inputs get a cotangent.
  struct Wanted {
    Mask consts, carries, xs;
  };

  /// Traces the step again until the set of cotangents that it takes and gives is the same.
  void find_wanted() {
    for (;;) {
      Wanted next = wanted_;
      body_ = trace_to_jaxpr([&](std::span<const Array> given) { return step(given, next); }, step_types(), "vjp",
                             s_.body->name);
      const bool enough = next.consts == wanted_.consts && next.carries == wanted_.carries;
      wanted_ = std::move(next);
      if (enough) return;
    }
  }
  /// Of what a step takes: constants, sums for constants, cotangents of carries, slices of xs, and those of the ys'
  /// cotangents.
  Types step_types() const {
    Types types;
    const auto add = [&](const Types& all, std::size_t from, const Mask& mask) {
      append(types, where(mask, std::span(all).subspan(from)));
    };
    Mask values = linear_;
    values.flip();
    add(in_, 0, part(values, 0, s_.consts));
    add(in_, 0, wanted_.consts);
    add(out_, 0, wanted_.carries);
    add(in_, s_.consts + s_.carries, part(values, s_.consts + s_.carries, s_.xs()));
    add(out_, s_.carries, ys_);
    return types;
  }
  Arrays step(std::span<const Array> given, Wanted& next) const {
    const std::size_t n = inputs_.size();
    std::size_t k = 0;
    Arrays args(n), sums(s_.consts), cts(out_.size());
    const auto take = [&](Arrays& to, std::size_t from, std::size_t count, const auto& wanted) {
      for (std::size_t i = 0; i < count; ++i)
        if (wanted(i)) to[from + i] = given[k++];
    };
    take(args, 0, s_.consts, [&](std::size_t i) { return !linear_[i]; });
    take(sums, 0, s_.consts, [&](std::size_t i) { return wanted_.consts[i]; });
    take(cts, 0, s_.carries, [&](std::size_t i) { return wanted_.carries[i]; });
    take(args, s_.consts + s_.carries, s_.xs(), [&](std::size_t i) { return !linear_[s_.consts + s_.carries + i]; });
    take(cts, s_.carries, s_.ys(), [&](std::size_t i) { return ys_[i]; });
    const Arrays of_linear = backward_pass(*s_.body, args, cts);
    Arrays all(n), results;
    for (std::size_t i = 0, j = 0; i < n; ++i)
      if (linear_[i]) all[i] = of_linear[j++];
    for (std::size_t i = 0; i < s_.consts; ++i) {
      next.consts[i] = wanted_.consts[i] || all[i].defined();
      if (wanted_.consts[i]) results.push_back(ops::add_cotangents(sums[i], all[i]));
    }
    for (std::size_t i = 0; i < s_.carries; ++i) {
      const Array& ct = all[s_.consts + i];
      next.carries[i] = wanted_.carries[i] || ct.defined();
      if (wanted_.carries[i]) results.push_back(ct.defined() ? ct : ops::zeros_of(in_[s_.consts + i]));
    }
    for (std::size_t i = 0; i < s_.xs(); ++i) {
      const Array& ct = all[s_.consts + s_.carries + i];
      next.xs[i] = ct.defined();
      if (ct.defined()) results.push_back(ct);
    }
    return results;
  }

  Arrays first_carries() const {
    Arrays out;
    for (std::size_t i = 0; i < s_.consts; ++i)
      if (wanted_.consts[i]) out.push_back(ops::zeros_of(in_[i]));
    for (std::size_t i = 0; i < s_.carries; ++i)
      if (wanted_.carries[i]) out.push_back(cotangents_[i].defined() ? cotangents_[i] : ops::zeros_of(out_[i]));
    return out;
  }
  Arrays by_input(const Arrays& results) const {
    Arrays cts;
    auto next = results.begin();
    for (const Mask* mask : {&wanted_.consts, &wanted_.carries, &wanted_.xs})
      for (const bool there : *mask) cts.push_back(there ? *next++ : Array());
    return cts;
  }

  const Scan& s_;
  const std::span<const Array> cotangents_;
  const std::span<const LinearInput> inputs_;
  Mask linear_;
  const Types in_, out_;  ///< of the body
  const Mask ys_;         ///< those that have a cotangent
  Wanted wanted_;
  ClosedJaxpr body_;
};

}  // namespace

Arrays scan_transpose(const Primitive&, std::span<const Array> cotangents, std::span<const LinearInput> inputs,
                      const Params& params) {
  const Scan s(params);
  Mask linear;
  for (const LinearInput& in : inputs) linear.push_back(in.linear);
  Mask carries = part(linear, s.consts, s.carries);
  for (;;) {
    const Mask more = either(carries, part(depends_on(*s.body, linear), 0, s.carries));
    if (more == carries) break;
    carries = more;
    std::copy(more.begin(), more.end(), linear.begin() + static_cast<std::ptrdiff_t>(s.consts));
  }
  if (count(carries) == s.carries) return BackwardScan(s, cotangents, inputs).run();
  // Carries that are not linear, such as a counter, are computed forwards first.
  const SplitScan split = split_scan(s, linear);
  Arrays known_args;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (!linear[i]) known_args.push_back(inputs[i].value);
  const KnownResults known = run_known(split, known_args, s.consts - count(part(linear, 0, s.consts)));
  std::vector<LinearInput> rest;
  std::vector<std::size_t> of_rest;
  const auto add_value = [&](const Array& a) {
    rest.push_back({false, a.aval(), a});
    of_rest.push_back(inputs.size());
  };
  const auto add_linear = [&](std::size_t from, std::size_t n) {
    for (std::size_t i = from; i < from + n; ++i)
      if (linear[i]) {
        rest.push_back(inputs[i]);
        of_rest.push_back(i);
      }
  };
  for (const Array& a : known.const_residuals) add_value(a);
  add_linear(0, s.consts + s.carries);
  for (const Array& a : known.x_residuals) add_value(a);
  add_linear(s.consts + s.carries, s.xs());
  const Mask unknown_out = concat(split.carry_unknown, split.ys_unknown);
  const Arrays some = where(unknown_out, cotangents), cts = BackwardScan(split.unknown, some, rest).run();
  Arrays out(inputs.size());
  for (std::size_t i = 0; i < rest.size(); ++i)
    if (of_rest[i] < inputs.size()) out[of_rest[i]] = cts[i];
  return out;
}

}  // namespace cotan
