// Programs ahead of time: jit(f).lower(args…).compile(); `jax.stages`.
#pragma once
#include <cotan/transforms/transformed.hpp>
#include <cotan/tree.hpp>

namespace cotan {

template <class F>
class Jitted;

namespace flat {
/// The outputs of a program, without elements.
Arrays outputs_of(const Program& program);
/// Compiles the program for the default device, for which arrays need not be there. `donated`: which arguments are
/// given up.
Explanation compile(const Program& program, const std::vector<bool>& donated);
/// The shapes and dtypes of arrays, without their elements.
Arrays without_elements(std::span<const Array> arrays);
/// Raises TypeError where arguments are not of the types that a program was compiled for.
void check_compiled_for(const std::vector<Array>& compiled, std::span<const Array> args, std::string_view device,
                        const Paths& paths);
}  // namespace flat

/// What a compiled program computes: Compiled::cost_analysis(). Numbers are those of Explanation.
struct CostAnalysis {
  double flops, transcendentals, bytes_accessed;
};
/// The memory that a call takes: Compiled::memory_analysis().
struct MemoryAnalysis {
  std::int64_t argument_size_in_bytes, output_size_in_bytes;
  std::int64_t alias_size_in_bytes;   ///< of outputs that take the memory of donated arguments
  std::int64_t temp_size_in_bytes;    ///< while it runs
  std::int64_t peak_memory_in_bytes;  ///< all of them together, at most
};

/// A function that was compiled for arguments of certain shapes and dtypes: `jax.stages.Compiled`. Others raise
/// TypeError; C++ numbers and strings that are static must be those that it was compiled with.
template <class F, class... A>
class Compiled {
 public:
  Compiled(Jitted<F> f, std::tuple<A...> like, Explanation made)
      : f_(std::move(f)), like_(std::move(like)), made_(std::move(made)) {}
  /// Calls it.
  auto operator()(const std::type_identity_t<A>&... args, detail::CallLine line = detail::CallLine(COTAN_HERE)) const {
    const detail::CallSite site(line);
    const std::tuple<A...> given(args...);
    if (tree::structure(given) != tree::structure(like_))
      throw TreeError("[compiled] the arguments are " + tree::outline(given) + " and it was compiled for " +
                      tree::outline(like_) + "; compile it for those." + tree::difference(given, like_) +
                      detail::call_note());
    flat::check_compiled_for(tree::leaves(like_), tree::leaves(given), made_.device, detail::lazy_paths(given));
    return f_.at_line(line, args...);
  }
  /// Operations and bytes, counted.
  CostAnalysis cost_analysis() const { return {made_.flops, made_.transcendentals, made_.bytes_accessed}; }
  /// Bytes of arguments, results and what is between.
  MemoryAnalysis memory_analysis() const {
    return {made_.argument_bytes, made_.result_bytes, made_.donated_bytes, made_.temporary_bytes, made_.peak_bytes};
  }
  /// Its steps on the device: the text of explain.
  std::string as_text() const { return made_.text(); }
  /// The device that it was compiled for.
  const std::string& device() const { return made_.device; }

 private:
  Jitted<F> f_;
  std::tuple<A...> like_;
  Explanation made_;
};

/// A function traced and simplified for arguments of certain shapes and dtypes: `jax.stages.Lowered`.
template <class F, class R, class... A>
class Lowered {
 public:
  Lowered(Jitted<F> f, std::tuple<A...> like, R out, Program program, std::vector<bool> donated)
      : f_(std::move(f)),
        like_(std::move(like)),
        out_(std::move(out)),
        program_(std::move(program)),
        donated_(std::move(donated)) {}
  /// The program in JAX's notation, which is what is compiled; there is no StableHLO.
  std::string as_text() const { return program_.str(); }
  /// The program itself.
  const Program& program() const { return program_; }
  /// Shapes and dtypes of the output: Arrays without elements.
  const R& out_info() const { return out_; }
  /// Compiled for the default device.
  Compiled<F, A...> compile() const { return {f_, like_, flat::compile(program_, donated_)}; }

 private:
  Jitted<F> f_;
  std::tuple<A...> like_;
  R out_;
  Program program_;
  std::vector<bool> donated_;
};

/// A function traced for arguments of certain shapes and dtypes: `jax.stages.Traced`.
template <class F, class R, class... A>
class Traced {
 public:
  Traced(Lowered<F, R, A...> lowered, Program program) : lowered_(std::move(lowered)), program_(std::move(program)) {}
  /// Its program.
  const Program& jaxpr() const { return program_; }
  /// Shapes and dtypes of the output: Arrays without elements.
  const R& out_info() const { return lowered_.out_info(); }
  /// The next stage.
  const Lowered<F, R, A...>& lower() const { return lowered_; }

 private:
  Lowered<F, R, A...> lowered_;
  Program program_;
};

}  // namespace cotan
