// Errors of programs as values: functions that say what went wrong in them beside what they compute.
#pragma once
#include <cotan/callbacks.hpp>

namespace cotan {

namespace flat {
/// The outputs of f, and as the last one the state that experimental::checkify::Error reads; `errors`: the bits of an
/// ErrorSet.
Arrays checkify(const FlatFn& f, std::span<const Array> args, unsigned errors);
/// A check of the user's.
void check(const Array& predicate, const debug::Format& message, std::vector<debug::Printed> args);
}  // namespace flat

/// `jax.experimental.checkify`: checks inside of compiled programs.
namespace experimental::checkify {

/// Which errors checkify looks for: user_checks | nan_checks.
struct ErrorSet {
  unsigned bits;
  /// Both.
  constexpr ErrorSet operator|(ErrorSet other) const { return {bits | other.bits}; }
};
inline constexpr ErrorSet user_checks{1};  ///< check() was given false
inline constexpr ErrorSet nan_checks{2};   ///< an operation gave a NaN
inline constexpr ErrorSet div_checks{4};   ///< something was divided by zero
inline constexpr ErrorSet index_checks{
    8};  ///< an index was outside of its array, and no mode ("clip", a fill value) allows it
inline constexpr ErrorSet float_checks = nan_checks | div_checks;          ///< NaN and divisions by zero
inline constexpr ErrorSet automatic_checks = float_checks | index_checks;  ///< all but check()
inline constexpr ErrorSet all_checks = automatic_checks | user_checks;     ///< all

/// What throw_ and check throw.
struct CheckError : cotan::Error {
  using cotan::Error::Error;
};
/// The first error of a run, or that there was none; a pytree, so that jit and vmap can give it.
struct Error {
  Array state;  ///< zeros, or the number of what went wrong and the values that its message shows
  /// The message; nothing where all went well. Of a batch a line for each lane that has one.
  std::optional<std::string> get() const;
  /// Raises CheckError, with the message and the line of the program, where something went wrong.
  void throw_() const;
};

/// f that gives std::pair{Error, output}. Errors are carried through jit, scan, while_loop, cond, vmap, derivatives and
/// checkpoint, on every device, and the first one is kept; the rest of the function is computed as if there were none.
/// `jax.experimental.checkify.checkify`.
///
///     const auto safe = ct::jit(checkify::checkify(f, checkify::all_checks));
///     const auto [error, y] = safe(x);
///     error.throw_();
template <class F>
auto checkify(F f, ErrorSet errors = user_checks, const std::source_location& where = COTAN_HERE) {
  return cotan::detail::transformed<cotan::detail::CallReason>(
      [f = std::move(f), errors]<class... A>(const A&... a)
        requires cotan::detail::CallableWith<F, A...>
      {
        const auto args = cotan::detail::call_arguments<F, A...>(a...);
        cotan::detail::Flattened flat(f, args);
        Arrays out = flat::checkify(flat, tree::leaves(args), errors.bits);
        Error error{out.back()};
        out.pop_back();
        using Output = typename decltype(flat)::Output;
        return std::pair<Error, Output>{std::move(error), flat.filled(out)};
      },
      where);
}

/// That a bool is true. Inside of checkify a false one is an error, with the text, whose fields are those of
/// debug::print. Elsewhere it raises CheckError, also from compiled code (in JAX such code cannot be compiled).
/// `jax.experimental.checkify.check`.
///
///     checkify::check(x > 0, "{x} must be positive", ct::debug::arg("x", x));
template <class... A>
void check(const ArrayLike& predicate, const debug::Format& message, const A&... args) {
  flat::check(predicate.array(), message, {debug::Printed(args)...});
}

}  // namespace experimental::checkify
}  // namespace cotan
