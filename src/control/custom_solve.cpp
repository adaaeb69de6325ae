// custom_linear_solve and custom_root: solvers of the user's, whose derivatives follow from what is solved. A linear
// solve is a call that is transposed by solving the transposed system; a root is a call with a rule of its own.
#include <algorithm>
#include <cotan/solvers.hpp>

#include "control/control.hpp"
#include "core/construct.hpp"
#include "ops/ops.hpp"

namespace cotan {

namespace {

/// Operands: constants of all programs, then the right side. The programs take the same. What a solver gives behind the
/// solution is auxiliary: it has no derivative.
struct LinearSolve {
  JaxprPtr solve, matvec, transpose_solve, vecmat;  ///< the last two, or neither
  std::size_t consts = 0;

  explicit LinearSolve(const Params& p)
      : solve(p.jaxpr("jaxpr")), matvec(p.jaxpr("matvec")), consts(static_cast<std::size_t>(p.integer("num_consts"))) {
    if (!p.has("vecmat")) return;
    transpose_solve = p.jaxpr("transpose_solve");
    vecmat = p.jaxpr("vecmat");
  }
  LinearSolve() = default;
  /// The solution among the results.
  Arrays solution(const Arrays& results) const {
    return {results.begin(), results.begin() + static_cast<std::ptrdiff_t>(matvec->outputs.size())};
  }
  Params params() const {
    Params out{{"jaxpr", solve}, {"matvec", matvec}, {"num_consts", static_cast<std::int64_t>(consts)}};
    return vecmat ? out.with("transpose_solve", transpose_solve).with("vecmat", vecmat) : out;
  }
  std::vector<JaxprPtr*> programs() {
    std::vector<JaxprPtr*> out{&solve, &matvec};
    if (vecmat) out.insert(out.end(), {&transpose_solve, &vecmat});
    return out;
  }
};

/// Tangents of the right side less what the operation's own tangent makes of the solution.
Arrays tangents_of_right(const LinearSolve& s, std::span<const Array> primals, std::span<const Array> tangents,
                         const Arrays& x) {
  Arrays right(tangents.begin() + static_cast<std::ptrdiff_t>(s.consts), tangents.end());
  const auto consts = primals.subspan(0, s.consts);
  Arrays moved(tangents.begin(), tangents.begin() + static_cast<std::ptrdiff_t>(s.consts));
  Mask nonzero = defined_mask(moved);
  if (any(nonzero)) {
    nonzero.resize(s.consts + x.size(), false);
    const JvpJaxpr j = jvp_jaxpr(*s.matvec, nonzero);
    Arrays args = concat(j.jaxpr.consts, concat(consts, x));
    for (const Array& t : moved)
      if (t.defined()) args.push_back(t);
    const Arrays out = eval_jaxpr(*j.jaxpr.jaxpr, args);
    for (std::size_t i = 0, k = x.size(); i < x.size(); ++i) {
      if (!j.nonzero_out[i]) continue;
      const Array negative = bind1(ops::neg_p, {out[k++]});
      right[i] = right[i].defined() ? bind1(ops::add_p, {right[i], negative}) : negative;
    }
  }
  return right;
}

JvpResult solve_jvp(const Primitive& self, std::span<const Array> primals, std::span<const Array> tangents,
                    const Params& params) {
  const LinearSolve s(params);
  JvpResult out;
  out.primals = bind(self, primals, params);
  Arrays right = tangents_of_right(s, primals, tangents, s.solution(out.primals));
  out.tangents.resize(out.primals.size());
  if (!any(defined_mask(right))) return out;
  Arrays operands(primals.begin(), primals.begin() + static_cast<std::ptrdiff_t>(s.consts));
  for (std::size_t i = 0; i < right.size(); ++i)
    operands.push_back(right[i].defined() ? right[i] : ops::zeros_of(out.primals[i].aval()));
  const Arrays moved = s.solution(bind(self, operands, params));
  std::copy(moved.begin(), moved.end(), out.tangents.begin());
  return out;
}

Arrays solve_transpose(const Primitive& self, std::span<const Array> ct, std::span<const LinearInput> in,
                       const Params& params) {
  LinearSolve s(params);
  if (!s.vecmat)
    raise<TransformError>(
        "[custom_linear_solve] reverse mode needs to solve the transposed system; give transpose_solve, or say that "
        "the operation is symmetric.");
  Arrays operands, out(in.size());
  for (std::size_t i = 0; i < s.consts; ++i) {
    if (in[i].linear)
      raise<TransformError>(
          "[transpose] custom_linear_solve is not linear in its operation; give linear_transpose a linear function.");
    operands.push_back(in[i].value);
  }
  for (std::size_t i = 0; i < in.size() - s.consts; ++i)
    operands.push_back(ct[i].defined() ? ct[i] : ops::zeros_of(in[s.consts + i].aval));
  std::swap(s.solve, s.transpose_solve);
  std::swap(s.matvec, s.vecmat);
  const Arrays results = s.solution(bind(self, operands, s.params()));
  for (std::size_t i = 0; i < results.size(); ++i)
    if (in[s.consts + i].linear) out[s.consts + i] = results[i];
  return out;
}

BatchResult solve_batch(const Primitive& self, std::span<const Array> args, std::span<const int> dims,
                        std::int64_t size, const Params& params) {
  LinearSolve s(params);
  FrontOperands front = batch_in_front(args.subspan(0, s.consts), dims.subspan(0, s.consts));
  for (std::size_t i = s.consts; i < args.size(); ++i) {
    front.values.push_back(ops::batch_at_front(args[i], dims[i], size));
    front.batched.push_back(true);
  }
  std::vector<ClosedJaxpr> batched;
  for (const JaxprPtr* p : s.programs())
    batched.push_back(batch_jaxpr(**p, front.batched, size, Mask((*p)->outputs.size(), true)).jaxpr);
  Arrays captured;
  const std::vector<JaxprPtr> programs = share_captured(batched, captured);
  for (std::size_t k = 0; k < programs.size(); ++k) *s.programs()[k] = programs[k];
  s.consts += captured.size();
  const Arrays results = bind(self, concat(captured, front.values), s.params());
  return {results, std::vector<int>(results.size(), 0)};
}

/// A function on arrays like these, which gives arrays like these, and of a solver auxiliary ones behind them.
ClosedJaxpr trace_alike(std::string_view name, std::string_view what, const FlatFn& f, const Types& types) {
  return trace_to_jaxpr(
      [&](std::span<const Array> in) {
        Arrays out = f(in);
        check_outputs_defined(out, name);
        for (std::size_t i = 0; i < types.size(); ++i) {
          if (out[i].weak_type()) out[i] = ops::cast(out[i], types[i].dtype);
          if (out[i].shape() != types[i].shape || out[i].dtype() != types[i].dtype)
            raise<TypeError>("[{}] {} gives {} for {}; it must give the same shape and dtype.", name, what,
                             out[i].aval(), types[i]);
        }
        return out;
      },
      types, name);
}

/// As many of them as a rule of the user's, floats all of them.
Arrays floats_alike(std::string_view name, std::span<const Array> arrays, const flat::Paths& paths) {
  Arrays out;
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    if (!arrays[i].defined())
      raise<ValueError>("[{}] {} is an empty Array; assign it before the call.", name, paths(i));
    if (!is_floating(arrays[i].dtype()))
      raise<TypeError>("[{}] {} is {}; it must be of floats, cast it with astype.", name, paths(i), arrays[i].aval());
    out.push_back(strong(arrays[i]));
  }
  return out;
}

/// A first guess that is a C++ number takes the dtype of what the function makes of it, as the carries of loops do.
Arrays guess_in_dtype_of(const FlatFn& f, std::span<const Array> guess) {
  Arrays out(guess.begin(), guess.end());
  const auto is_number = [](const Array& a) { return a.defined() && a.weak_type(); };
  if (std::none_of(out.begin(), out.end(), is_number)) return out;
  const Types results = trace_to_jaxpr(f, types_of(out), "custom_root").jaxpr->output_types();
  for (std::size_t i = 0; i < std::min(out.size(), results.size()); ++i)
    if (is_number(out[i]) && is_floating(results[i].dtype)) out[i] = ops::cast(out[i], results[i].dtype);
  return out;
}

/// The program of a function with its captured arrays, as a function.
auto with_consts(const JaxprPtr& jaxpr, Arrays consts) {
  return
      [jaxpr, consts = std::move(consts)](std::span<const Array> in) { return eval_jaxpr(*jaxpr, concat(consts, in)); };
}

const Primitive custom_linear_solve_p{.name = "custom_linear_solve",
                                      .op_class = OpClass::call,
                                      .type = call_type,
                                      .eval = call_eval,
                                      .jvp = solve_jvp,
                                      .transpose = solve_transpose,
                                      .batch = solve_batch};

/// What custom_root is made of. Constants: those of f, then those of the solver.
struct Root {
  JaxprPtr f, solve;
  std::size_t consts = 0;  ///< of f
  flat::Solver tangent_solve;
};
Arrays bind_root(const std::shared_ptr<const Root>& root, std::span<const Array> args);

/// f(x(a), a) = 0, so the tangent of x solves: df/dx dx = -df/da da.
Arrays root_rule(const std::shared_ptr<const Root>& root, std::span<const Array> in) {
  const std::size_t n = in.size() / 2;
  const auto consts = in.subspan(0, root->consts), moved = in.subspan(n, root->consts);
  const Arrays all = bind_root(root, in.subspan(0, n));
  const Arrays x(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(root->f->outputs.size()));
  const Arrays at = concat(consts, x);
  const auto f = [&](std::span<const Array> args) { return eval_jaxpr(*root->f, args); };
  const auto tangent = [&](const Arrays& t) {
    Arrays out = jvp_flat(f, at, t, "custom_root").tangents;
    for (std::size_t i = 0; i < out.size(); ++i)
      if (!out[i].defined()) out[i] = ops::zeros_of(x[i].aval());
    return out;
  };
  Arrays of_consts(at.size());
  for (std::size_t i = 0; i < moved.size(); ++i)
    if (is_inexact(consts[i].dtype())) of_consts[i] = moved[i];
  const auto of_root = [&](std::span<const Array> dx) {
    Arrays t(root->consts);
    t.insert(t.end(), dx.begin(), dx.end());
    return tangent(t);
  };
  const Arrays dx = root->tangent_solve(of_root, tangent(of_consts));
  Arrays out = all;
  for (std::size_t i = 0; i < dx.size(); ++i) out.push_back(bind1(ops::neg_p, {ops::cast(dx[i], x[i].dtype())}));
  for (std::size_t i = dx.size(); i < all.size(); ++i) out.push_back(ops::zeros_of(all[i].aval()));
  return out;
}

Arrays bind_root(const std::shared_ptr<const Root>& root, std::span<const Array> args) {
  return flat::custom_jvp([&](std::span<const Array> in) { return eval_jaxpr(*root->solve, in.subspan(root->consts)); },
                          [root](std::span<const Array> in) { return root_rule(root, in); }, args, "custom_root");
}

}  // namespace

namespace flat {

Arrays custom_linear_solve(const FlatFn& matvec, std::span<const Array> b, const LinearSolvers& solvers,
                           const Paths& paths) {
  constexpr std::string_view name = "custom_linear_solve";
  const Arrays right = floats_alike(name, b, paths);
  const Types types = types_of(right);
  const ClosedJaxpr operation = trace_alike(name, "the operation", matvec, types);
  const auto solved = [&](const Solver& solve, const ClosedJaxpr& of) {
    const auto apply = with_consts(of.jaxpr, of.consts);
    return trace_alike(name, "the solver", [&](std::span<const Array> in) { return solve(apply, in); }, types);
  };
  std::vector<ClosedJaxpr> programs{solved(solvers.solve, operation), operation};
  if (solvers.symmetric || solvers.transpose_solve) {
    ClosedJaxpr transposed = operation;
    if (!solvers.symmetric)
      transposed = trace_alike(
          name, "the transposed operation",
          [&](std::span<const Array> in) {
            Arrays args = operation.consts;
            args.resize(args.size() + types.size());
            Arrays out = backward_pass(*operation.jaxpr, args, in);
            for (std::size_t i = 0; i < out.size(); ++i)
              if (!out[i].defined()) out[i] = ops::zeros_of(types[i]);
            return out;
          },
          types);
    programs.push_back(solved(solvers.transpose_solve ? solvers.transpose_solve : solvers.solve, transposed));
    programs.push_back(std::move(transposed));
  }
  Arrays captured;
  const std::vector<JaxprPtr> shared = share_captured(programs, captured);
  LinearSolve s;
  s.solve = shared[0];
  s.matvec = shared[1];
  if (shared.size() > 2) {
    s.transpose_solve = shared[2];
    s.vecmat = shared[3];
  }
  s.consts = captured.size();
  return bind(custom_linear_solve_p, concat(captured, right), s.params());
}

Arrays custom_root(const FlatFn& f, std::span<const Array> initial_guess, const Solver& solve,
                   const Solver& tangent_solve, const Paths& paths) {
  constexpr std::string_view name = "custom_root";
  const Arrays guess = floats_alike(name, guess_in_dtype_of(f, initial_guess), paths);
  const Types types = types_of(guess);
  const ClosedJaxpr function = trace_alike(name, "the function", f, types);
  const auto apply = with_consts(function.jaxpr, function.consts);
  const ClosedJaxpr solver =
      trace_alike(name, "the solver", [&](std::span<const Array> in) { return solve(apply, in); }, types);
  const auto root = std::make_shared<Root>(Root{function.jaxpr, solver.jaxpr, function.consts.size(), tangent_solve});
  return bind_root(root, concat(concat(function.consts, solver.consts), guess));
}

}  // namespace flat
}  // namespace cotan
