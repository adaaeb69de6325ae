// saved_residuals: the values between the forward and the backward pass, found by tracing both.
#include <cotan/transforms/residuals.hpp>
#include <iostream>

#include "core/def_use.hpp"
#include "passes/passes.hpp"
#include "transforms/calls.hpp"

namespace cotan::flat {

namespace {

std::string source_of(const Jaxpr& program, const Atom& kept, std::size_t consts, const DefUse& values,
                      const Paths& paths) {
  const Var* v = std::get_if<Var>(&kept);
  if (!v) return "from a literal";
  for (std::size_t i = 0; i < program.inputs.size(); ++i)
    if (program.inputs[i] == *v) return i < consts ? "from a constant" : "from the " + paths(i - consts);
  const Equation& e = *values.definition(*v);
  const std::string at = e.where.line() ? fmt::format(" at {}:{}", e.where.file_name(), e.where.line()) : "";
  if (e.primitive == &name_p) return fmt::format("named '{}'{}", e.params.text("name"), at);
  return fmt::format("output of {}{}", e.primitive->name, at);
}

}  // namespace

std::vector<SavedResidual> saved_residuals(const FlatFn& f, std::span<const Array> args, const Paths& paths) {
  check_defined(args, "saved_residuals", paths);
  const ClosedJaxpr closed = trace_to_jaxpr(
      [&](std::span<const Array> in) {
        return linearize_flat(with_names(f, paths), in, "saved_residuals").linear.consts;
      },
      types_of(args), "saved_residuals");
  const JaxprPtr program = inline_calls(closed.jaxpr);
  const DefUse values(*program);
  std::vector<SavedResidual> out;
  for (const Atom& kept : program->outputs)
    out.push_back({program->type(kept).str(), source_of(*program, kept, closed.consts.size(), values, paths)});
  return out;
}

void print(const std::vector<SavedResidual>& residuals) {
  for (const SavedResidual& r : residuals) std::cout << r.type << ' ' << r.source << '\n';
}

}  // namespace cotan::flat
