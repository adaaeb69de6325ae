// Functions that return a value to differentiate and, beside it, something that is not: has_aux.
#pragma once
#include <cotan/transforms/transformed.hpp>

namespace cotan {

/// The type of has_aux.
struct HasAux {};
/// JAX's `has_aux=True`: the function returns std::pair{value, aux}, and what is differentiated is `value` alone; `aux`
/// comes out as it is. jvp(f, x, t, has_aux), vjp(has_aux, f, x…), linearize(has_aux, f, x…), jacfwd(f, has_aux),
/// jacrev and hessian likewise. grad and value_and_grad see it from the type, and take it too.
inline constexpr HasAux has_aux{};

namespace detail {

template <class Output>
constexpr bool check_aux() {
  constexpr bool is_pair = [] {
    if constexpr (tree::detail::is_tuple<Output>)
      return std::tuple_size_v<Output> == 2;
    else
      return false;
  }();
  static_assert(is_pair, "has_aux: the function must return std::pair{value, aux}");
  return is_pair;
}

/// Flattened for a function that returns {value, aux}: its leaves are those of the value, then those of aux.
template <class F, class Args>
class FlattenedWithAux {
 public:
  using Output = typename Flattened<F, Args>::Output;
  static_assert(check_aux<Output>());
  using Value = std::tuple_element_t<0, Output>;
  using Aux = std::tuple_element_t<1, Output>;
  FlattenedWithAux(const F& f, const Args& args) : f_(f), args_(args) {}
  Arrays operator()(std::span<const Array> leaves) {
    output_ = std::apply(f_, tree::unflatten(args_, leaves));
    Arrays out = tree::leaves(std::get<0>(*output_));
    values_ = out.size();
    const Arrays aux = tree::leaves(std::get<1>(*output_));
    out.insert(out.end(), aux.begin(), aux.end());
    return out;
  }
  /// How many leaves the value has; known once the function has run.
  std::size_t values() const { return values_; }
  std::function<std::size_t()> counter() const {
    return [this] { return values_; };
  }
  /// A value like the function's, of the first of these leaves.
  Value value(std::span<const Array> leaves) const {
    return tree::unflatten(std::get<0>(*output_), leaves.subspan(0, values_));
  }
  /// The aux of all leaves.
  Aux aux(std::span<const Array> leaves) const {
    return tree::unflatten(std::get<1>(*output_), leaves.subspan(values_));
  }

 private:
  const F& f_;
  const Args& args_;
  std::optional<Output> output_;
  std::size_t values_ = 0;
};

}  // namespace detail
}  // namespace cotan
