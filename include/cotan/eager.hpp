// Places where nothing is traced: jit switched off, and values that are computed while a function is traced.
#pragma once
#include <cotan/flat.hpp>

namespace cotan {

/// While it lives, jit does nothing on this thread. What disable_jit returns.
class [[nodiscard]] JitDisabled {
 public:
  explicit JitDisabled(bool disable);  ///< or enables it again
  ~JitDisabled();                      ///< as it was before
  JitDisabled(const JitDisabled&) = delete;
  JitDisabled& operator=(const JitDisabled&) = delete;

 private:
  bool saved_;
};
/// While the result lives, jitted functions on this thread run as they are written, operation by operation, and scan,
/// while_loop, fori_loop, cond and switch_ run as loops and branches of C++, so that a debugger can step through them
/// and values can be printed. `jax.disable_jit`.
///
///     const auto off = ct::disable_jit();
inline JitDisabled disable_jit(bool disable = true) { return JitDisabled(disable); }

/// While it lives, operations are evaluated at once. What ensure_compile_time_eval returns.
class [[nodiscard]] CompileTimeEval {
 public:
  CompileTimeEval();   ///< from here on
  ~CompileTimeEval();  ///< to here
  CompileTimeEval(const CompileTimeEval&) = delete;
  CompileTimeEval& operator=(const CompileTimeEval&) = delete;

 private:
  struct Scope;
  std::unique_ptr<Scope> scope_;
};
/// While the result lives, operations on arrays with values are evaluated at once, also inside of functions that are
/// being traced; arguments of those functions have no values and raise. `jax.ensure_compile_time_eval`.
///
///     const auto now = ct::ensure_compile_time_eval();
///     if (np::all(table > 0)) …            // table has values, also inside of jit
inline CompileTimeEval ensure_compile_time_eval() { return CompileTimeEval(); }

namespace flat {
/// Whether disable_jit is on for this thread.
bool is_jit_disabled();
}  // namespace flat
}  // namespace cotan
