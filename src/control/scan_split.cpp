// scan: splits a loop into one of known values and one of unknown values.
#include "control/control.hpp"

namespace cotan {

namespace {

/// Makes a SplitScan, part by part.
class ScanSplitter {
 public:
  explicit ScanSplitter(const Scan& s) : s_(s) {}
  SplitScan run(const Mask& unknown) {
    find_unknown_carries(unknown);
    give_out_carries();
    hoist();
    place_residuals();
    make_unknown();
    return std::move(out_);
  }

 private:
  using Place = SplitScan::Residual;
  using From = SplitScan::From;

  /// Finds the smallest set of carries that are unknown in every step, and splits the body by it.
  void find_unknown_carries(const Mask& unknown) {
    consts_ = part(unknown, 0, s_.consts);
    carries_ = part(unknown, s_.consts, s_.carries);
    xs_ = part(unknown, s_.consts + s_.carries, s_.xs());
    for (;;) {
      split_ = partial_eval_jaxpr(*s_.body, concat(concat(consts_, carries_), xs_), carries_);
      const Mask more = either(carries_, part(split_.output_unknown, 0, s_.carries));
      if (more == carries_) break;
      carries_ = more;
    }
    out_.carry_unknown = carries_;
    out_.ys_unknown = part(split_.output_unknown, s_.carries, s_.ys());
    out_.captured = split_.known.consts;
    captured_ = out_.captured.size();
    known_consts_ = captured_ + s_.consts - count(consts_);
    known_carries_ = s_.carries - count(carries_);
    known_outputs_ = known_carries_ + s_.ys() - count(out_.ys_unknown);
  }

  /// The known carry that a residual equals at the beginning of a step, if any.
  std::optional<std::size_t> as_carry(std::size_t known_input) const {
    const std::size_t at = captured_ + known_input;
    if (at < known_consts_ || at >= known_consts_ + known_carries_) return std::nullopt;
    return at - known_consts_;
  }
  /// A known carry that is a residual must be output in every step.
  void give_out_carries() {
    known_ = *split_.known.jaxpr;
    residual_outputs_ = known_.outputs.size() - known_outputs_;
    carry_outputs_.resize(known_carries_);
    for (const SplitJaxpr::Residual& r : split_.residuals) {
      const auto* input = std::get_if<SplitJaxpr::Input>(&r);
      const auto carry = input ? as_carry(input->number) : std::nullopt;
      if (!carry || carry_outputs_[*carry]) continue;
      carry_outputs_[*carry] = known_.outputs.size();
      known_.outputs.push_back(known_.inputs[known_consts_ + *carry]);
    }
  }

  /// What the known part computes from constants alone is computed before the loop: by a program that gives the loop's
  /// constants, then the residuals that are the same for all steps.
  void hoist() {
    Mask varies(known_.inputs.size(), true), in_loop(known_.outputs.size(), true);
    std::fill_n(varies.begin(), known_consts_, false);
    std::fill_n(in_loop.begin() + static_cast<std::ptrdiff_t>(known_outputs_), residual_outputs_, false);
    const SplitJaxpr hoisted = partial_eval_jaxpr(known_, varies, in_loop);
    stepwise_ = hoisted.output_unknown;
    out_.known = s_;
    out_.known.body = hoisted.unknown;
    out_.known.consts = out_.known_consts = hoisted.residuals.size();
    out_.known.carries = known_carries_;

    Jaxpr before = *hoisted.known.jaxpr;
    const std::size_t independent = known_.outputs.size() - count(stepwise_),
                      before_captured = hoisted.known.consts.size();
    out_.captured.insert(out_.captured.begin(), hoisted.known.consts.begin(), hoisted.known.consts.end());
    std::vector<Atom> outputs =
        hoisted.residuals_from([&](std::size_t k) { return Atom(before.inputs[before_captured + k]); },
                               [&](std::size_t k) { return before.outputs[independent + k]; });
    outputs.insert(outputs.end(), before.outputs.begin(),
                   before.outputs.begin() + static_cast<std::ptrdiff_t>(independent));
    before.outputs = std::move(outputs);
    out_.before = std::make_shared<const Jaxpr>(std::move(before));
  }

  /// Where further outputs of the known part went: to the results before the loop, or to the ys of the known scan.
  std::vector<Place> places_of_outputs() const {
    std::vector<Place> out(known_.outputs.size());
    std::size_t before = out_.known_consts, stacked = 0;
    for (std::size_t i = known_outputs_; i < out.size(); ++i)
      out[i] = stepwise_[i] ? Place{From::stacked, stacked++} : Place{From::before, before++};
    return out;
  }
  /// Residuals are constants of the unknown scan where they are the same for all steps, else xs.
  void place_residuals() {
    const std::vector<Place> of_output = places_of_outputs();
    struct Placed {
      Place place;
      bool is_const;
    };
    const std::vector<Placed> placed = split_.residuals_from(
        [&](std::size_t input) {
          if (const auto carry = as_carry(input)) return Placed{of_output[*carry_outputs_[*carry]], false};
          return Placed{{From::operand, input}, captured_ + input < known_consts_};
        },
        [&](std::size_t output) {
          const Place place = of_output[known_outputs_ + output];
          return Placed{place, place.from == From::before};
        });
    for (std::size_t r = 0; r < placed.size(); ++r) {
      (placed[r].is_const ? out_.const_residuals : out_.x_residuals).push_back(placed[r].place);
      (placed[r].is_const ? const_inputs_ : x_inputs_).push_back(r);
    }
  }

  /// Its operands: residuals that are constants, unknown constants, carries, residuals that are xs, unknown xs.
  void make_unknown() {
    const std::size_t residuals = split_.residuals.size();
    out_.unknown = s_;
    std::vector<std::size_t> inputs = const_inputs_;
    append(inputs, numbers(residuals, count(consts_) + count(carries_)));
    append(inputs, x_inputs_);
    append(inputs, numbers(residuals + count(consts_) + count(carries_), count(xs_)));
    out_.unknown.body = rearranged(*split_.unknown, inputs, numbers(0, split_.unknown->outputs.size()));
    out_.unknown.consts = const_inputs_.size() + count(consts_);
    out_.unknown.carries = count(carries_);
  }

  const Scan& s_;
  SplitScan out_;
  Mask consts_, carries_, xs_;  ///< unknown ones
  SplitJaxpr split_;            ///< the body
  /// Of the known part: captured arrays, constants with those, carries, and outputs that are no residuals.
  std::size_t captured_ = 0, known_consts_ = 0, known_carries_ = 0, known_outputs_ = 0;
  Jaxpr known_;  ///< the known part, which also outputs its carries
  std::size_t residual_outputs_ = 0;
  std::vector<std::optional<std::size_t>> carry_outputs_;  ///< by known carry: its output of `known_`
  Mask stepwise_;                                          ///< outputs of `known_` that differ from step to step
  std::vector<std::size_t> const_inputs_, x_inputs_;       ///< residuals, by number
};

}  // namespace

SplitScan split_scan(const Scan& scan, const Mask& unknown) { return ScanSplitter(scan).run(unknown); }

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

}  // namespace cotan
