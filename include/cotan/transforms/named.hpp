// Names for parts of a program, which printed programs, explanations and profiles show.
#pragma once
#include <cotan/profile.hpp>
#include <cotan/transforms/transformed.hpp>

namespace cotan {

/// While it lives, operations belong to a part of the program with that name, inside of those around it: make_jaxpr
/// shows it behind each of them ("# encoder/layer0"), explain and profiles in front of kernels, and a Profile the time
/// that it lived. Results are the same. `with jax.named_scope(name)`.
///
///     const ct::named_scope scope("encoder");
class named_scope {
 public:
  explicit named_scope(std::string_view name);
  ~named_scope();
  named_scope(const named_scope&) = delete;
  named_scope& operator=(const named_scope&) = delete;

 private:
  const std::string* outer_;
  ProfileSpan span_;
};

/// f in a scope of that name. `jax.named_call`.
template <class F>
auto named_call(F f, std::string name, const std::source_location& where = COTAN_HERE) {
  return detail::transformed<detail::CallReason>(
      [f = std::move(f), name = std::move(name)]<class... A>(const A&... a)
        requires detail::CallableWith<F, A...>
      {
        const named_scope scope(name);
        return std::apply(f, detail::call_arguments<F, A...>(a...));
      },
      where);
}

}  // namespace cotan
