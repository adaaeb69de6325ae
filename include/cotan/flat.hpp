// The flat core under the typed skin: every transform works on lists of Arrays; the templates in
// transforms.hpp only flatten pytrees into these and back. Users rarely need this header.
#pragma once
#include <cotan/array.hpp>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace cotan {

/// A flat list: the leaves of a tree.
using Arrays = std::vector<Array>;

/// Non-owning view of a callable on flat lists: two pointers, no allocation.
class FlatFn {
 public:
  template <class F>
    requires(!std::is_same_v<std::remove_cvref_t<F>, FlatFn>)
  FlatFn(F&& f)
      : object_(const_cast<void*>(static_cast<const void*>(&f))),
        call_([](void* o, std::span<const Array> in) -> Arrays {
          return (*static_cast<std::remove_reference_t<F>*>(o))(in);
        }) {}
  /// Calls it.
  Arrays operator()(std::span<const Array> in) const { return call_(object_, in); }

 private:
  void* object_;
  Arrays (*call_)(void*, std::span<const Array>);
};
/// The same, owning.
using FlatFunction = std::function<Arrays(std::span<const Array>)>;

/// A program's equations; opaque here.
struct Jaxpr;
/// Shared, never changed.
using JaxprPtr = std::shared_ptr<const Jaxpr>;

/// A traced program and the constants it captured.
class Program {
 public:
  Program(JaxprPtr jaxpr, Arrays consts) : jaxpr_(std::move(jaxpr)), consts_(std::move(consts)) {}
  /// JAX's notation.
  std::string str() const;
  /// How many equations it has.
  int equations() const;
  /// Constant folding, common subexpressions, dead code, exact identities, no-op views; calls inlined.
  Program simplified() const;
  /// The equations.
  const JaxprPtr& jaxpr() const { return jaxpr_; }
  /// The constants.
  const Arrays& consts() const { return consts_; }

 private:
  JaxprPtr jaxpr_;
  Arrays consts_;
};
/// Its str().
std::ostream& operator<<(std::ostream& out, const Program& program);

/// Which intermediate results `checkpoint` keeps for the backward pass.
class Policy;
/// Shared, never changed.
using PolicyPtr = std::shared_ptr<const Policy>;

/// Every transform on flat lists of Arrays: what the typed templates call. For bindings and for other typed skins.
namespace flat {

/// Paths of flat arguments for messages: "argument 0 .layers[1].w".
using Paths = std::function<std::string(std::size_t)>;

/// What vjp gives: cotangents of the outputs to cotangents of the inputs.
struct Pullback {
  std::function<Arrays(std::span<const Array> cotangents, const Paths& outputs)>
      apply;  ///< one per differentiated input
};
/// What linearize gives: tangents of the inputs to tangents of the outputs.
struct Pushforward {
  std::function<Arrays(std::span<const Array> tangents, const Paths& arguments)> apply;
};

/// Outputs, and the pullback. `transform` is the name that errors say.
std::pair<Arrays, Pullback> vjp(const FlatFn& f, std::span<const Array> primals, std::string_view transform,
                                const Paths& paths);
/// Outputs, and the pushforward.
std::pair<Arrays, Pushforward> linearize(const FlatFn& f, std::span<const Array> primals, const Paths& paths);
/// Outputs and their tangents.
std::pair<Arrays, Arrays> jvp(const FlatFn& f, std::span<const Array> primals, std::span<const Array> tangents,
                              const Paths& paths);
/// Value, gradients of output 0 with respect to `wrt`, and the other outputs.
struct ValueAndGrad {
  Arrays outputs, grads;
};
/// Output 0 must be a floating scalar, or a complex one where the function is holomorphic.
ValueAndGrad value_and_grad(const FlatFn& f, std::span<const Array> wrt, std::string_view transform, const Paths& paths,
                            bool holomorphic = false);
/// Cotangents of arguments like `like`.
Arrays linear_transpose(const FlatFn& f, std::span<const Array> like, std::span<const Array> cotangents,
                        const Paths& paths, const Paths& outputs);
/// Blocks of shape (output…, input…), by output leaf, then by input leaf.
Arrays jacobian(const FlatFn& f, std::span<const Array> primals, bool forward, const Paths& paths,
                bool holomorphic = false);

/// An argument that is not mapped.
inline constexpr int no_axis = -1000000;
/// `in_axes` has an axis or no_axis per argument; `out_axes` gives those of as many outputs.
Arrays vmap(const FlatFn& f, std::span<const Array> args, std::span<const int> in_axes,
            const std::function<std::vector<int>(std::size_t outputs)>& out_axes, const Paths& paths);

/// The program that f is on such arguments.
Program make_jaxpr(const FlatFn& f, std::span<const Array> args, const std::string& name, const Paths& paths);
/// Outputs without elements.
Arrays eval_shape(const FlatFn& f, std::span<const Array> args, const Paths& paths);

/// Of jit.
struct JitOptions {
  std::string name = "f";
  std::vector<bool> donate;  ///< per flat argument
};
/// A jitted function's programs, by signature. Shared by copies of the callable; locked.
class JitCache;
/// An empty one.
std::shared_ptr<JitCache> make_jit_cache();
/// Runs the cached program for `key` and the arguments' types, tracing `f` on a miss. `on_trace` is the
/// payload (the output exemplar) that a miss stores and a hit returns.
Arrays jit(JitCache& cache, const std::string& key, const FlatFn& f,
           const std::function<std::shared_ptr<const void>()>& make_payload, std::shared_ptr<const void>& payload,
           std::span<const Array> args, const JitOptions& options, const Paths& paths);

/// f: (primals) -> outputs. rule: (primals, tangents) -> outputs, tangents.
Arrays custom_jvp(const FlatFn& f, FlatFunction rule, std::span<const Array> args, std::string_view name);
/// forward: (primals) -> outputs, residuals. backward: (residuals, cotangents) -> cotangents.
using FlatForward = std::function<std::pair<Arrays, Arrays>(std::span<const Array>)>;
/// The reverse rule is forward and backward.
Arrays custom_vjp(const FlatFn& f, FlatForward forward, FlatFunction backward, std::span<const Array> args,
                  std::string_view name);
/// f, of which the backward pass keeps what the policy says.
Arrays checkpoint(const FlatFn& f, std::span<const Array> args, PolicyPtr policy);

}  // namespace flat
}  // namespace cotan
