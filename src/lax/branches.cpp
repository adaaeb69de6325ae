// cond and switch_, flat: traces the branches, makes their results alike, binds the primitive.
#include <cotan/control_flow.hpp>
#include <cotan/eager.hpp>
#include <cotan/numpy.hpp>

#include "control/control.hpp"
#include "core/construct.hpp"
#include "core/effects.hpp"
#include "core/error.hpp"
#include "lax/control_flow.hpp"
#include "ops/ops.hpp"
#include "ops/promote.hpp"

namespace cotan::flat {

void check_all_defined(std::span<const Array> arrays, std::string_view name, const Paths& paths) {
  for (std::size_t i = 0; i < arrays.size(); ++i)
    if (!arrays[i].defined())
      raise<ValueError>("[{}] {} is an empty Array; assign it before the call.", name, paths(i));
}

Array as_branch(const Array& predicate) {
  if (!predicate.defined()) raise<ValueError>("[cond] the predicate is an empty Array; assign it before the call.");
  if (predicate.ndim() != 0)
    raise<ShapeError>("[cond] the predicate has shape {}; it must be a scalar. Use where to choose per element.",
                      describe(predicate.shape()));
  if (predicate.dtype() == DType::bool_) return ops::cast(predicate, DType::i32);
  return ops::cast(numpy::not_equal(predicate, 0), DType::i32);
}

namespace {
std::string branch_name(std::string_view function, std::size_t number) {
  if (function == "cond") return number ? "on_true" : "on_false";
  return fmt::format("branch {}", number);
}
}  // namespace

Arrays switch_(const Array& index, std::span<const FlatFn> branches, std::span<const Array> args, std::string_view name,
               const Paths& output_paths) {
  if (branches.empty()) raise<ValueError>("[{}] there are no branches; give at least one.", name);
  if (!index.defined()) raise<ValueError>("[{}] the index is an empty Array; assign it before the call.", name);
  if (index.ndim() != 0 || !is_integer(index.dtype()))
    raise<TypeError>("[{}] the index is {}; it must be an integer scalar.", name, index.aval());
  check_all_defined(args, name, [](std::size_t i) { return fmt::format("argument {}", i); });
  if (is_jit_disabled() && concrete(index)) return branches[branch_of(index, branches.size())](args);
  std::vector<Arrays> outs(branches.size());
  // First all of them for their types; weak results take the dtype of the others.
  std::vector<Types> results;
  std::vector<bool> wide(args.size());
  bool any_effects = false;
  for (const FlatFn& f : branches) {
    std::vector<bool> wanted;
    effects::Watched watched(f);
    results.push_back(trace_to_jaxpr(watched, types_of(args), name, {}, &wanted).jaxpr->output_types());
    add_wanted(wide, wanted);
    any_effects = any_effects || watched.found();
  }
  if (any_effects) {
    const std::vector<effects::Threaded> threaded(branches.begin(), branches.end());
    const std::vector<FlatFn> with_tokens(threaded.begin(), threaded.end());
    return effects::call(name, [&](const Array& token) {
      return switch_(index, with_tokens, effects::with_token(token, args), name, effects::after_token(output_paths));
    });
  }
  const std::size_t n = results[0].size();
  std::vector<numpy::ResultType> common;
  std::string problems;
  for (std::size_t k = 0; k < n; ++k) {
    const AbstractValue& a = results[0][k];
    std::optional<AbstractValue> strong_type;
    bool fits = true;
    for (const Types& t : results) {
      if (t.size() != n)
        raise<TreeError>("[{}] one branch returns {} arrays and another {}; they must return alike trees.", name, n,
                         t.size());
      fits = fits && t[k].shape == a.shape;
      if (!t[k].weak_type) {
        fits = fits && (!strong_type || strong_type->dtype == t[k].dtype);
        strong_type = t[k];
      }
    }
    Arrays all;
    for (const Types& t : results) all.push_back(abstract_array(t[k]));
    const numpy::ResultType type = numpy::result_type(all);
    if (strong_type && type.dtype != strong_type->dtype) fits = false;
    common.push_back(type);
    if (fits) continue;
    problems += fmt::format("\n  {}:", output_paths(k));
    for (std::size_t b = 0; b < results.size(); ++b)
      problems += fmt::format("{} {} in {}", b ? "," : "", results[b][k], branch_name(name, b));
  }
  if (!problems.empty())
    raise<TypeError>(
        "[{}] the branches must return the same shapes and dtypes, but{}; cast with astype or reshape "
        "them to be equal.",
        name, problems);
  std::vector<ClosedJaxpr> closed;
  for (const FlatFn& f : branches)
    closed.push_back(trace_to_jaxpr(
        [&](std::span<const Array> in) {
          Arrays out = f(narrowed(in, wide));
          for (std::size_t k = 0; k < n; ++k) {
            out[k] = numpy::cast_to(out[k], common[k]);
            if (!common[k].weak) out[k] = strong(out[k]);
          }
          return out;
        },
        widened(types_of(args), wide), name));
  const std::int64_t last = static_cast<std::int64_t>(branches.size()) - 1;
  Array number = strong(index);
  number = bind1(ops::clamp_p, {scalar(number.dtype(), 0), number, scalar(number.dtype(), last)});
  Arrays operands{ops::cast(number, DType::i32)};
  std::vector<JaxprPtr> programs = share_captured(closed, operands);
  const Arrays given = widened(args, wide);
  operands.insert(operands.end(), given.begin(), given.end());
  return bind(cond_p, operands, {{"branches", std::move(programs)}});
}

}  // namespace cotan::flat
