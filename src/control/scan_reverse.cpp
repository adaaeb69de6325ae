// scan: partial evaluation and transposition, which together are reverse mode.
#include "control/control.hpp"
#include "ops/ops.hpp"
#include "passes/passes.hpp"

namespace cotan {

SplitScan split_scan(const Scan& s, const Mask& unknown) {
  SplitScan out;
  const Mask consts = part(unknown, 0, s.consts), xs = part(unknown, s.consts + s.carries, s.xs());
  Mask carries = part(unknown, s.consts, s.carries);
  SplitJaxpr split;
  for (;;) {
    split = partial_eval_jaxpr(*s.body, concat(concat(consts, carries), xs), carries);
    const Mask more = either(carries, part(split.output_unknown, 0, s.carries));
    if (more == carries) break;
    carries = more;
  }
  out.carry_unknown = carries;
  out.ys_unknown = part(split.output_unknown, s.carries, s.ys());
  out.captured = split.known.consts;
  const std::size_t captured = out.captured.size();
  const std::size_t known_consts = captured + s.consts - count(consts), known_carries = s.carries - count(carries),
                    known_ys = s.ys() - count(out.ys_unknown);

  // A known carry that is a residual must be given out step by step.
  Jaxpr known = *split.known.jaxpr;
  const std::size_t residual_outputs = known.outputs.size() - known_carries - known_ys;
  std::vector<std::size_t> carry_output(known_carries, 0);
  for (int source : split.residual_source) {
    const std::size_t at = captured + static_cast<std::size_t>(std::max(source, 0));
    if (source < 0 || at < known_consts || at >= known_consts + known_carries) continue;
    std::size_t& output = carry_output[at - known_consts];
    if (output) continue;
    output = known.outputs.size();
    known.outputs.push_back(known.inputs[at]);
  }
  // What the known part computes from constants alone is computed before the loop.
  Mask varies(known.inputs.size(), true), in_loop(known.outputs.size(), true);
  std::fill_n(varies.begin(), known_consts, false);
  std::fill_n(in_loop.begin() + static_cast<std::ptrdiff_t>(known_carries + known_ys), residual_outputs, false);
  const SplitJaxpr hoisted = partial_eval_jaxpr(known, varies, in_loop);
  out.known = s;
  out.known.body = hoisted.unknown;
  out.known.consts = out.known_consts = hoisted.residual_source.size();
  out.known.carries = known_carries;
  // The program before it gives the loop's constants, then the step-independent residuals.
  Jaxpr before = *hoisted.known.jaxpr;
  const std::size_t independent = known.outputs.size() - count(hoisted.output_unknown),
                    before_captured = hoisted.known.consts.size();
  out.captured.insert(out.captured.begin(), hoisted.known.consts.begin(), hoisted.known.consts.end());
  std::vector<Atom> outputs;
  for (int source : hoisted.residual_source)
    outputs.push_back(source >= 0 ? Atom(before.inputs[before_captured + static_cast<std::size_t>(source)])
                                  : before.outputs[independent + static_cast<std::size_t>(-1 - source)]);
  outputs.insert(outputs.end(), before.outputs.begin(),
                 before.outputs.begin() + static_cast<std::ptrdiff_t>(independent));
  before.outputs = std::move(outputs);
  out.before = std::make_shared<const Jaxpr>(std::move(before));

  // The unknown scan: residuals that are constants, unknown constants, carries, residuals that are xs, unknown xs.
  std::vector<std::size_t> const_inputs, x_inputs;
  // Where residual output r of the split went: a number among the step-independent ones, or a y of the known scan.
  std::vector<SplitScan::Residual> of_output(known.outputs.size());
  std::size_t before_at = out.known_consts, stacked_at = 0;
  for (std::size_t i = known_carries + known_ys; i < known.outputs.size(); ++i)
    of_output[i] = hoisted.output_unknown[i] ? SplitScan::Residual{SplitScan::From::stacked, stacked_at++}
                                             : SplitScan::Residual{SplitScan::From::before, before_at++};
  for (std::size_t r = 0; r < split.residual_source.size(); ++r) {
    const int source = split.residual_source[r];
    SplitScan::Residual residual{SplitScan::From::operand, 0};
    bool is_const = false;
    if (source >= 0) {
      const std::size_t at = captured + static_cast<std::size_t>(source);
      is_const = at < known_consts;
      if (at >= known_consts && at < known_consts + known_carries)
        residual = of_output[carry_output[at - known_consts]];
      else
        residual.index = static_cast<std::size_t>(source);
    } else {
      residual = of_output[known_carries + known_ys + static_cast<std::size_t>(-1 - source)];
      is_const = residual.from == SplitScan::From::before;
    }
    (is_const ? out.const_residuals : out.x_residuals).push_back(residual);
    (is_const ? const_inputs : x_inputs).push_back(r);
  }
  const std::size_t residuals = split.residual_source.size();
  out.unknown = s;
  std::vector<std::size_t> inputs = const_inputs;
  append(inputs, numbers(residuals, count(consts) + count(carries)));
  append(inputs, x_inputs);
  append(inputs, numbers(residuals + count(consts) + count(carries), count(xs)));
  out.unknown.body = rearranged(*split.unknown, inputs, numbers(0, split.unknown->outputs.size()));
  out.unknown.consts = const_inputs.size() + count(consts);
  out.unknown.carries = count(carries);
  return out;
}

KnownResults run_known(const SplitScan& split, const Arrays& known_args, std::size_t known_consts) {
  const std::span<const Array> args = known_args;
  const Arrays before = eval_jaxpr(*split.before, concat(split.captured, args.subspan(0, known_consts)));
  const Arrays operands = concat(std::span(before).subspan(0, split.known_consts), args.subspan(known_consts));
  const Arrays results = bind_scan(split.known, operands);
  KnownResults out;
  const std::size_t ys = count(split.ys_unknown);
  auto at = results.begin();
  out.carries.assign(at, at + static_cast<std::ptrdiff_t>(split.known.carries));
  at += static_cast<std::ptrdiff_t>(split.known.carries);
  out.ys.assign(at, at + static_cast<std::ptrdiff_t>(split.ys_unknown.size() - ys));
  at += static_cast<std::ptrdiff_t>(out.ys.size());
  const auto value = [&](const SplitScan::Residual& r) {
    switch (r.from) {
      case SplitScan::From::operand:
        return known_args[r.index];
      case SplitScan::From::before:
        return before[r.index];
      default:
        return *(at + static_cast<std::ptrdiff_t>(r.index));
    }
  };
  for (const auto& r : split.const_residuals) out.const_residuals.push_back(value(r));
  for (const auto& r : split.x_residuals) out.x_residuals.push_back(value(r));
  return out;
}

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

/// A large sum over the steps of products, which a backward scan adds up for a matrix of weights: instead of adding
/// to the matrix in every step, the factors are stacked, and one product after the loop does it all.
struct SumOfProducts {
  std::size_t carry;  ///< the sum
  const Equation* product;
  const Equation* transposed = nullptr;  ///< what is added is the product turned round
};
std::vector<SumOfProducts> find_sums_of_products(const Scan& s, std::size_t sums) {
  constexpr std::int64_t large = 4096;  // elements; smaller ones stay in the cache, or in registers
  const Jaxpr& body = *s.body;
  std::vector<int> uses(body.types.size(), 0);
  std::vector<const Equation*> made_by(body.types.size(), nullptr);
  const auto see = [&](const std::vector<Atom>& atoms) {
    for (const Atom& a : atoms)
      if (const Var* v = std::get_if<Var>(&a)) ++uses[static_cast<std::size_t>(v->id)];
  };
  for (const Equation& e : body.equations) {
    see(e.inputs);
    for (Var v : e.outputs) made_by[static_cast<std::size_t>(v.id)] = &e;
  }
  see(body.outputs);
  const auto maker = [&](const Atom& a) {
    const Var* v = std::get_if<Var>(&a);
    return v && uses[static_cast<std::size_t>(v->id)] == 1 ? made_by[static_cast<std::size_t>(v->id)] : nullptr;
  };
  std::vector<SumOfProducts> out;
  for (std::size_t i = 0; i < sums; ++i) {
    const Var sum = body.inputs[s.consts + i];
    const Equation* add = maker(body.outputs[i]);
    if (body.type(sum).size() < large || !add || add->primitive != &ops::add_p ||
        uses[static_cast<std::size_t>(sum.id)] != 1)
      continue;
    const Var* left = std::get_if<Var>(&add->inputs[0]);
    if (!left || !(*left == sum)) continue;
    const Equation *product = maker(add->inputs[1]), *transposed = nullptr;
    if (product && product->primitive == &ops::transpose_p) {
      transposed = product;
      product = maker(transposed->inputs[0]);
    }
    if (!product || product->primitive != &ops::dot_general_p || !product->params.ints("batch_lhs").empty()) continue;
    std::int64_t factors = 0;
    for (const Atom& a : product->inputs) factors += body.type(a).size();
    if (factors <= body.type(sum).size()) out.push_back({i, product, transposed});
  }
  return out;
}
/// The cotangents that were such sums, in the place of the carries: zeros go in for them, and fall away.
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

/// Linear in all carries.
Arrays transpose_linear_scan(const Scan& s, std::span<const Array> cotangents, std::span<const LinearInput> inputs) {
  const std::size_t n = inputs.size();
  Mask linear(n);
  for (std::size_t i = 0; i < n; ++i) linear[i] = inputs[i].linear || (i >= s.consts && i < s.consts + s.carries);
  const Mask carries_out = part(defined_mask(cotangents), 0, s.carries),
             ys = part(defined_mask(cotangents), s.carries, s.ys());
  // Which cotangents there are: of constants, which add up over the steps, of carries and of xs.
  Mask consts(s.consts), carries = carries_out, xs(s.xs());
  const Types in = s.body->input_types(), out = s.body->output_types();
  Arrays const_values, x_values;
  for (std::size_t i = 0; i < n; ++i)
    if (!linear[i]) (i < s.consts ? const_values : x_values).push_back(inputs[i].value);
  ClosedJaxpr body;
  for (;;) {
    Types types;
    const auto add = [&](const Types& all, std::size_t from, const Mask& mask) {
      for (std::size_t i = 0; i < mask.size(); ++i)
        if (mask[i]) types.push_back(all[from + i]);
    };
    Mask nonlinear = linear;
    nonlinear.flip();
    add(in, 0, part(nonlinear, 0, s.consts));
    add(in, 0, consts);
    add(out, 0, carries);
    add(in, s.consts + s.carries, part(nonlinear, s.consts + s.carries, s.xs()));
    add(out, s.carries, ys);
    Mask new_consts(s.consts), new_carries = carries, new_xs(s.xs());
    body = trace_to_jaxpr(
        [&](std::span<const Array> given) {
          std::size_t k = 0;
          Arrays args(n), sums(s.consts), cts(out.size());
          for (std::size_t i = 0; i < s.consts; ++i)
            if (!linear[i]) args[i] = given[k++];
          for (std::size_t i = 0; i < s.consts; ++i)
            if (consts[i]) sums[i] = given[k++];
          for (std::size_t i = 0; i < s.carries; ++i)
            if (carries[i]) cts[i] = given[k++];
          for (std::size_t i = s.consts + s.carries; i < n; ++i)
            if (!linear[i]) args[i] = given[k++];
          for (std::size_t i = 0; i < s.ys(); ++i)
            if (ys[i]) cts[s.carries + i] = given[k++];
          const Arrays of_linear = backward_pass(*s.body, args, cts);
          Arrays results, of_xs;
          Arrays all(n);
          for (std::size_t i = 0, j = 0; i < n; ++i)
            if (linear[i]) all[i] = of_linear[j++];
          for (std::size_t i = 0; i < s.consts; ++i) {
            new_consts[i] = consts[i] || all[i].defined();
            if (consts[i]) results.push_back(ops::add_cotangents(sums[i], all[i]));
          }
          for (std::size_t i = 0; i < s.carries; ++i) {
            const Array& ct = all[s.consts + i];
            new_carries[i] = carries[i] || ct.defined();
            if (carries[i]) results.push_back(ct.defined() ? ct : ops::zeros_of(in[s.consts + i]));
          }
          for (std::size_t i = 0; i < s.xs(); ++i) {
            const Array& ct = all[s.consts + s.carries + i];
            new_xs[i] = ct.defined();
            if (ct.defined()) results.push_back(ct);
          }
          return results;
        },
        types, "vjp", s.body->name);
    xs = new_xs;
    if (new_consts == consts && new_carries == carries) break;
    consts = new_consts;
    carries = new_carries;
  }
  Scan t = s;
  t.body = body.jaxpr;
  t.reverse = !s.reverse;
  t.consts = body.consts.size() + const_values.size();
  t.carries = count(consts) + count(carries);
  Arrays operands = concat(body.consts, const_values);
  for (std::size_t i = 0; i < s.consts; ++i)
    if (consts[i]) operands.push_back(ops::zeros_of(in[i]));
  for (std::size_t i = 0; i < s.carries; ++i)
    if (carries[i]) operands.push_back(cotangents[i].defined() ? cotangents[i] : ops::zeros_of(out[i]));
  append(operands, x_values);
  for (std::size_t i = 0; i < s.ys(); ++i)
    if (ys[i]) operands.push_back(cotangents[s.carries + i]);
  const Arrays results = bind_with_sums_outside(t, operands, count(consts));
  Arrays cts(n);
  std::size_t k = 0;
  for (std::size_t i = 0; i < s.consts; ++i)
    if (consts[i]) cts[i] = results[k++];
  for (std::size_t i = 0; i < s.carries; ++i)
    if (carries[i]) cts[s.consts + i] = results[k++];
  for (std::size_t i = 0; i < s.xs(); ++i)
    if (xs[i]) cts[s.consts + s.carries + i] = results[k++];
  return cts;
}

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
  if (count(carries) == s.carries) return transpose_linear_scan(s, cotangents, inputs);
  // Carries that are not linear, such as a counter, are run forwards first.
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
  const Arrays cts = transpose_linear_scan(split.unknown, where(unknown_out, cotangents), rest);
  Arrays out(inputs.size());
  for (std::size_t i = 0; i < rest.size(); ++i)
    if (of_rest[i] < inputs.size()) out[of_rest[i]] = cts[i];
  return out;
}

}  // namespace cotan
