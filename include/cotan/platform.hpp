// cotan::lax: functions by the device that runs them, and functions with a name of their own.
#pragma once
#include <cotan/control_flow.hpp>
#include <map>

namespace cotan {

namespace flat {
/// The number of the platform, in order, that runs the program that `like` is part of; as many as there are where it is
/// none of these.
Array platform_index(const std::vector<std::string>& platforms, const Array& like);
/// Raises where there is neither a function nor a default, or no array among the arguments.
void check_platforms(std::size_t functions, std::size_t leaves);
}  // namespace flat

namespace lax {

/// The function of the device that runs the program ("native", "webgpu" or "reference"), else the last one; all give an
/// Array of one shape and dtype, from the same arguments. JAX's platforms are "cpu", "cuda", "tpu".
/// `jax.lax.platform_dependent`.
///
///     lax::platform_dependent({{"webgpu", f}}, g, x);
template <class... A>
Array platform_dependent(
    const std::map<std::string, std::type_identity_t<std::function<Array(const detail::Traced<A>&...)>>>& per_platform,
    const std::type_identity_t<std::function<Array(const detail::Traced<A>&...)>>& otherwise, const A&... args) {
  const std::tuple<detail::Traced<A>...> in(detail::traced(args)...);
  const Arrays leaves = tree::leaves(in);
  std::vector<std::string> names;
  std::vector<std::function<Array(const detail::Traced<A>&...)>> branches;
  for (const auto& [name, f] : per_platform) {
    names.push_back(name);
    branches.push_back(f);
  }
  flat::check_platforms(otherwise ? 1 : 0, leaves.size());
  branches.push_back(otherwise);
  return switch_(flat::platform_index(names, leaves[0]), branches, args...);
}

/// The function under a name that programs show, `name.version`: what a library has one operation for, it may
/// recognize. It is computed, and differentiated, as it is. `jax.lax.composite`.
template <class F>
auto composite(F decomposition, const std::string& name, int version = 0) {
  return jit(std::move(decomposition), {.name = version == 0 ? name : name + "." + std::to_string(version)});
}

}  // namespace lax
}  // namespace cotan
