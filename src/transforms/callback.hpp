// Operations that call functions of the user's on the host, while a program runs.
#pragma once
#include "core/primitive.hpp"

namespace cotan {

/// A function from arrays on the host to arrays there, as a parameter of equations: equal only to itself.
struct Callback final : OpaqueParam {
  std::string name;  ///< in messages and printed programs
  FlatFunction function;
  Types results;
  Callback(std::string name, FlatFunction function, Types results)
      : name(std::move(name)), function(std::move(function)), results(std::move(results)) {}
  std::string describe() const override { return "<" + name + ">"; }
};
using CallbackPtr = std::shared_ptr<const Callback>;

/// Operands to results, nothing else: it runs as often as its results are wanted. Params: callback, vmap_method.
extern const Primitive pure_callback_p;
/// Each takes a token before its operands, and gives one before its results (core/effects.hpp). Params: callback; of
/// io_callback also whether it is `ordered`.
extern const Primitive io_callback_p, debug_callback_p;

/// The parameter of any of them.
CallbackPtr callback_of(const Params& params);

/// Whether a program or an equation has effects, those of nested programs too.
bool has_effects(const Jaxpr& jaxpr);
bool has_effects(const Equation& e);
/// The same, of effects but checks.
bool has_callbacks(const Jaxpr& jaxpr);
/// The program without its effects: what is left when they have run already. Raises for effects with results.
JaxprPtr without_effects(const JaxprPtr& jaxpr);

}  // namespace cotan
