// Functions of functions: along axes, over broadcast axes, of indices.
#pragma once
#include <cotan/flat.hpp>
#include <functional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace cotan::numpy {

/// @name Functions of functions
/// @{
/// f of every vector along an axis, all at once; what it gives takes the place of that axis.
Array apply_along_axis(const std::function<Array(const Array&)>& f, int axis, const ArrayLike& a);
/// f(a, axis) for one axis after the other; where it takes the axis away, it stays with size 1.
Array apply_over_axes(const std::function<Array(const Array&, int)>& f, const ArrayLike& a,
                      const std::vector<int>& axes);

/// Of vectorize.
struct VectorizeOptions {
  std::string signature = {};      ///< the axes f is of and gives, named: "(m,n),(n)->(m)". None: scalars
  std::vector<int> excluded = {};  ///< arguments that f takes as they are
};

namespace detail {

Arrays vectorized(const FlatFn& f, const VectorizeOptions& options, const Arrays& arguments);
Array from_grid(const FlatFn& f, const Shape& shape, DType dtype);

inline Arrays to_list(const Array& result) { return {result}; }
inline Arrays to_list(const Arrays& result) { return result; }
template <class T>
Arrays to_list(const T& tuple) {
  return std::apply([](const auto&... each) { return Arrays{each...}; }, tuple);
}
template <class R>
R from_list(const Arrays& list) {
  if constexpr (std::is_same_v<R, Array>)
    return list[0];
  else if constexpr (std::is_same_v<R, Arrays>)
    return list;
  else
    return [&]<std::size_t... i>(std::index_sequence<i...>) {
      return R{list[i]...};
    }(std::make_index_sequence<std::tuple_size_v<R>>());
}
template <class F, std::size_t... i>
decltype(auto) call_with(const F& f, std::span<const Array> x, std::index_sequence<i...>) {
  return f(x[i]...);
}

/// What vectorize returns.
template <class F>
class Vectorized {
 public:
  Vectorized(F f, VectorizeOptions options) : f_(std::move(f)), options_(std::move(options)) {}
  template <class... A>
  auto operator()(const A&... arguments) const {
    constexpr auto positions = std::index_sequence_for<A...>();
    using R = std::remove_cvref_t<decltype(call_with(f_, std::span<const Array>(), positions))>;
    const auto flat = [this, positions](std::span<const Array> x) { return to_list(call_with(f_, x, positions)); };
    return from_list<R>(vectorized(flat, options_, {Array(arguments)...}));
  }

 private:
  F f_;
  VectorizeOptions options_;
};

}  // namespace detail

/// f, a function of scalars or of arrays with the axes of the signature, for arrays with any axes in front, which
/// broadcast. It gives an Array, or a tuple, pair, array or vector of such.
///
///     auto distance = np::vectorize([](ct::Array x, ct::Array y) { return np::sqrt(np::dot(x - y, x - y)); },
///                                   {.signature = "(n),(n)->()"});
template <class F>
auto vectorize(F f, VectorizeOptions options = {}) {
  return detail::Vectorized<F>(std::move(f), std::move(options));
}
/// f of the index of each element of an array of that shape: fromfunction([](Array i, Array j) { return i + j; }, {3,
/// 4}). f is called once, with scalars that stand for all.
template <class F, std::size_t n>
Array fromfunction(const F& f, const std::int64_t (&shape)[n], DType dtype = f32) {
  const auto flat = [&f](std::span<const Array> x) {
    return Arrays{detail::call_with(f, x, std::make_index_sequence<n>())};
  };
  return detail::from_grid(flat, Shape(shape, shape + n), dtype);
}
/// @}

}  // namespace cotan::numpy
