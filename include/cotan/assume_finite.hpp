// A promise about values that lets programs leave out arithmetic.
#pragma once
#include <cotan/transforms/transformed.hpp>

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
  return detail::like_function(
      std::move(f), [](auto& flat, const Arrays& leaves) { return flat::assume_finite(flat, leaves); }, where);
}

}  // namespace cotan
