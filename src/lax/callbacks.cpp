// The flat side of callbacks: what the typed ones call.
#include <cotan/callbacks.hpp>

#include "core/construct.hpp"
#include "core/effects.hpp"
#include "core/error.hpp"
#include "core/trace.hpp"
#include "transforms/callback.hpp"

namespace cotan {

namespace {

Arrays strong_operands(std::span<const Array> args) {
  Arrays out;
  for (const Array& a : args) out.push_back(a.defined() ? strong(a) : a);
  return out;
}
Types announced_types(std::string_view name, std::span<const Array> like) {
  Types out;
  for (std::size_t i = 0; i < like.size(); ++i) {
    if (!like[i].defined())
      raise<ValueError>("[{}] result {} is announced by an empty Array; give shape_dtype(shape, dtype).", name, i);
    out.push_back({like[i].dtype(), like[i].shape(), false});
  }
  return out;
}

/// Where nothing is traced it runs at once, and no cache of programs holds the user's function.
Arrays bind_callback(const Primitive& p, const Arrays& operands, const Params& params) {
  const bool at_once =
      is_eval_trace(current_trace()) &&
      std::all_of(operands.begin(), operands.end(), [](const Array& a) { return a.defined() && concrete(a); });
  return at_once ? p.eval(p, operands, params) : bind(p, operands, params);
}
Arrays bind_effect(const Primitive& p, std::string_view name, std::span<const Array> args, const Params& params) {
  return effects::call(name, [&](const Array& token) {
    return bind_callback(p, effects::with_token(token, strong_operands(args)), params);
  });
}

}  // namespace

namespace flat {

Arrays pure_callback(FlatFunction function, std::span<const Array> like, std::span<const Array> args,
                     const std::string& vmap_method) {
  constexpr std::string_view methods[] = {
      "", "sequential", "sequential_unrolled", "expand_dims", "broadcast_all", "legacy_vectorized"};
  if (std::find(std::begin(methods), std::end(methods), vmap_method) == std::end(methods))
    raise<ValueError>(
        "[pure_callback] vmap_method is \"{}\"; give \"sequential\", \"sequential_unrolled\", \"expand_dims\", "
        "\"broadcast_all\" or \"legacy_vectorized\".",
        vmap_method);
  const auto callback =
      std::make_shared<const Callback>("pure_callback", std::move(function), announced_types("pure_callback", like));
  return bind_callback(pure_callback_p, strong_operands(args),
                       {{"callback", OpaquePtr(callback)}, {"vmap_method", vmap_method}});
}

Arrays io_callback(FlatFunction function, std::span<const Array> like, std::span<const Array> args, bool ordered) {
  const auto callback =
      std::make_shared<const Callback>("io_callback", std::move(function), announced_types("io_callback", like));
  return bind_effect(io_callback_p, "io_callback", args, {{"callback", OpaquePtr(callback)}, {"ordered", ordered}});
}

void debug_callback(FlatFunction function, std::span<const Array> args, std::string_view name) {
  const auto callback = std::make_shared<const Callback>(std::string(name), std::move(function), Types{});
  bind_effect(debug_callback_p, name, args, {{"callback", OpaquePtr(callback)}});
}

void raise_callback_structure(std::string_view name, const std::string& announced, const std::string& returned,
                              const std::string& difference) {
  raise<TreeError>("[{}] the function returned {}, but {} was announced; return that structure.{}", name, returned,
                   announced, difference);
}

}  // namespace flat

void effects_barrier() {}

}  // namespace cotan
