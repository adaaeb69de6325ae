// A promise about values that lets programs leave out arithmetic.
#pragma once
#include <cotan/transforms.hpp>

namespace cotan {

namespace flat {
/// f with the promise that cotan::assume_finite makes.
Arrays assume_finite(const FlatFn& f, std::span<const Array> args);
}  // namespace flat

/// f with the promise that no product inside meets infinity or NaN: where one factor is a small matrix that is known
/// while f is traced (a transition matrix, a selection), its zeros and ones cost nothing. jit(assume_finite(f)).
/// If the promise is broken, results are not NaN where they should be. Zeros may lose their sign.
template <class F>
auto assume_finite(F f, const std::source_location& where = COTAN_HERE) {
  return detail::transformed<detail::CallReason>(
      [f = std::move(f)]<class... A>(const A&... a)
        requires detail::CallableWith<F, A...>
      {
        const auto args = detail::call_arguments<F, A...>(a...);
        using R = std::remove_cvref_t<decltype(std::apply(f, args))>;
        std::optional<R> like;
        const Arrays out = flat::assume_finite(
            [&](std::span<const Array> in) {
              like = std::apply(f, tree::unflatten(args, in));
              return tree::leaves(*like);
            },
            tree::leaves(args));
        return tree::unflatten(std::move(*like), out);
      },
      where);
}

}  // namespace cotan
