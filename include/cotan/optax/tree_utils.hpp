// Arithmetic of trees, and what is in the state of an optimizer by its name.
#pragma once
#include <cotan/optax/transformation.hpp>

/// `optax.tree_utils`: arithmetic of trees of one structure.
namespace cotan::optax::tree_utils {

/// The same on lists of leaves; scalars are Arrays.
namespace flat {
Arrays add(const Arrays& x, const Arrays& y);                                 ///< x + y
Arrays sub(const Arrays& x, const Arrays& y);                                 ///< x - y
Arrays mul(const Arrays& x, const Arrays& y);                                 ///< x y
Arrays div(const Arrays& x, const Arrays& y);                                 ///< x / y
Arrays scale(const Hyperparameter& s, const Arrays& x);                       ///< s x
Arrays add_scale(const Arrays& x, const Hyperparameter& s, const Arrays& y);  ///< x + s y
Arrays where(const Array& condition, const Arrays& x, const Arrays& y);       ///< by one condition
Array vdot(const Arrays& x, const Arrays& y);                                 ///< the sum of products
Array sum(const Arrays& x);                                                   ///< of all elements
Array max(const Arrays& x);                                                   ///< of all elements; of none -inf
Array min(const Arrays& x);                                                   ///< of all elements; of none inf
/// Of all elements as one vector: order 2, 1, or infinity.
Array norm(const Arrays& x, double order = 2, bool squared = false);
Array allclose(const Arrays& x, const Arrays& y, double rtol, double atol, bool equal_nan);  ///< bool
Arrays clip(const Arrays& x, const std::optional<Hyperparameter>& low,
            const std::optional<Hyperparameter>& high);  ///< elements between the bounds
Arrays full_like(const Arrays& x, const Hyperparameter& value, std::optional<DType> dtype);  ///< the same value
Arrays cast(const Arrays& x, std::optional<DType> dtype);  ///< to a dtype, where there is one
Arrays cast_like(const Arrays& x, const Arrays& like);     ///< leaf by leaf
Arrays conj(const Arrays& x);                              ///< conjugated
Arrays real(const Arrays& x);                              ///< real parts
Arrays batch_shape(const Arrays& x, const Shape& shape);   ///< leading axes, broadcast
Arrays split_key(const Array& key, std::size_t leaves);    ///< a key for each leaf
/// (1 - decay) update^order + decay moment
Arrays update_moment(const Arrays& updates, const Arrays& moments, const Hyperparameter& decay, int order);
/// max(|update| + eps, decay moment)
Arrays update_infinity_moment(const Arrays& updates, const Arrays& moments, const Hyperparameter& decay,
                              const Hyperparameter& eps);
/// moment / (1 - decay^count), for an i32 count
Arrays bias_correction(const Arrays& moments, const Hyperparameter& decay, const Array& count);
}  // namespace flat

/// Which of several dtypes.
enum class MixedDtypes : std::uint8_t { none, promote, highest, lowest };
/// The dtype of all leaves: where they differ that of the handler, and none raises.
DType dtype_of_leaves(const Arrays& leaves, MixedDtypes mixed_dtype_handler = MixedDtypes::none);
/// The same of a tree; `optax.tree_utils.tree_dtype`.
template <tree::Tree T>
DType tree_dtype(const T& t, MixedDtypes mixed_dtype_handler = MixedDtypes::none) {
  return dtype_of_leaves(tree::leaves(t), mixed_dtype_handler);
}

namespace detail {
template <class T, class F>
T on_leaves(const T& t, const std::source_location& where, const F& f) {
  const cotan::detail::CallSite site(where);
  return tree::unflatten(t, f(tree::leaves(t)));
}
template <class F, class T>
auto of_leaves(const F& f, const T& x, const T& y, std::string_view op, const std::source_location& where) {
  const cotan::detail::CallSite site(where);
  tree::detail::check_structure(op, tree::structure(x), x, y);
  return f(tree::leaves(x), tree::leaves(y));
}
}  // namespace detail

/// Complex conjugates; real leaves as they are.
template <tree::Tree T>
T tree_conj(const T& x, const std::source_location& where = COTAN_HERE) {
  return detail::on_leaves(x, where, flat::conj);
}
/// Real parts.
template <tree::Tree T>
T tree_real(const T& x, const std::source_location& where = COTAN_HERE) {
  return detail::on_leaves(x, where, flat::real);
}
/// x + y
template <tree::Tree T>
T tree_add(const T& x, const T& y, const std::source_location& where = COTAN_HERE) {
  return optax::detail::map_trees("tree_add", flat::add, x, y, where);
}
/// x - y
template <tree::Tree T>
T tree_sub(const T& x, const T& y, const std::source_location& where = COTAN_HERE) {
  return optax::detail::map_trees("tree_sub", flat::sub, x, y, where);
}
/// x y, element by element
template <tree::Tree T>
T tree_mul(const T& x, const T& y, const std::source_location& where = COTAN_HERE) {
  return optax::detail::map_trees("tree_mul", flat::mul, x, y, where);
}
/// x / y, element by element
template <tree::Tree T>
T tree_div(const T& x, const T& y, const std::source_location& where = COTAN_HERE) {
  return optax::detail::map_trees("tree_div", flat::div, x, y, where);
}
/// scalar x
template <tree::Tree T>
T tree_scale(const Hyperparameter& scalar, const T& x, const std::source_location& where = COTAN_HERE) {
  return detail::on_leaves(x, where, [&](const Arrays& a) { return flat::scale(scalar, a); });
}
/// x + scalar y
template <tree::Tree T>
T tree_add_scale(const T& x, const Hyperparameter& scalar, const T& y, const std::source_location& where = COTAN_HERE) {
  const auto f = [&](const Arrays& a, const Arrays& b) { return flat::add_scale(a, scalar, b); };
  return optax::detail::map_trees("tree_add_scale", f, x, y, where);
}
/// x where the condition holds, else y
template <tree::Tree T>
T tree_where(const ArrayLike& condition, const T& x, const T& y, const std::source_location& where = COTAN_HERE) {
  const auto f = [&](const Arrays& a, const Arrays& b) { return flat::where(condition.array(), a, b); };
  return optax::detail::map_trees("tree_where", f, x, y, where);
}
/// The sum of products of all elements.
template <tree::Tree T>
Array tree_vdot(const T& x, const T& y, const std::source_location& where = COTAN_HERE) {
  return detail::of_leaves(flat::vdot, x, y, "tree_vdot", where);
}
/// The sum of all elements.
template <tree::Tree T>
Array tree_sum(const T& x, const std::source_location& where = COTAN_HERE) {
  const cotan::detail::CallSite site(where);
  return flat::sum(tree::leaves(x));
}
/// The largest element.
template <tree::Tree T>
Array tree_max(const T& x, const std::source_location& where = COTAN_HERE) {
  const cotan::detail::CallSite site(where);
  return flat::max(tree::leaves(x));
}
/// The smallest element.
template <tree::Tree T>
Array tree_min(const T& x, const std::source_location& where = COTAN_HERE) {
  const cotan::detail::CallSite site(where);
  return flat::min(tree::leaves(x));
}
/// How many elements.
template <tree::Tree T>
std::int64_t tree_size(const T& x) {
  return tree::reduce([](std::int64_t n, const Array& a) { return n + a.size(); }, x, std::int64_t{0});
}
/// The norm of all elements as one vector, or its square: order 2, 1, or infinity.
template <tree::Tree T>
Array tree_norm(const T& x, double order = 2, bool squared = false, const std::source_location& where = COTAN_HERE) {
  const cotan::detail::CallSite site(where);
  return flat::norm(tree::leaves(x), order, squared);
}
/// bool: whether all elements are close.
template <tree::Tree T>
Array tree_allclose(const T& x, const T& y, double rtol = 1e-5, double atol = 1e-8, bool equal_nan = false,
                    const std::source_location& where = COTAN_HERE) {
  const auto f = [&](const Arrays& a, const Arrays& b) { return flat::allclose(a, b, rtol, atol, equal_nan); };
  return detail::of_leaves(f, x, y, "tree_allclose", where);
}
/// Elements between two bounds, either of which may be none.
template <tree::Tree T>
T tree_clip(const T& x, const std::optional<Hyperparameter>& min_value = std::nullopt,
            const std::optional<Hyperparameter>& max_value = std::nullopt,
            const std::source_location& where = COTAN_HERE) {
  return detail::on_leaves(x, where, [&](const Arrays& a) { return flat::clip(a, min_value, max_value); });
}
/// A tree of one value.
template <tree::Tree T>
T tree_full_like(const T& x, const Hyperparameter& fill_value, std::optional<DType> dtype = std::nullopt) {
  return tree::unflatten(x, flat::full_like(tree::leaves(x), fill_value, dtype));
}
/// A tree of zeros.
template <tree::Tree T>
T tree_zeros_like(const T& x, std::optional<DType> dtype = std::nullopt) {
  return tree_full_like(x, 0.0, dtype);
}
/// A tree of ones.
template <tree::Tree T>
T tree_ones_like(const T& x, std::optional<DType> dtype = std::nullopt) {
  return tree_full_like(x, 1.0, dtype);
}
/// Leaves in a dtype; as they are where there is none.
template <tree::Tree T>
T tree_cast(const T& x, std::optional<DType> dtype, const std::source_location& where = COTAN_HERE) {
  return detail::on_leaves(x, where, [&](const Arrays& a) { return flat::cast(a, dtype); });
}
/// Leaves in the dtypes of another tree's.
template <tree::Tree T, tree::Tree U>
T tree_cast_like(const T& x, const U& other, const std::source_location& where = COTAN_HERE) {
  return optax::detail::map_trees("tree_cast_like", flat::cast_like, x, other, where);
}
/// Leaves with leading axes, broadcast.
template <tree::Tree T>
T tree_batch_shape(const T& x, const Shape& shape, const std::source_location& where = COTAN_HERE) {
  return detail::on_leaves(x, where, [&](const Arrays& a) { return flat::batch_shape(a, shape); });
}
/// A key for each leaf, u32[2].
template <tree::Tree T>
T tree_split_key_like(const ArrayLike& key, const T& target) {
  return tree::unflatten(target, flat::split_key(key.array(), tree::leaves(target).size()));
}
/// The same tree: keys are plain u32[2] here.
template <tree::Tree T>
T tree_unwrap_random_key_data(const T& t) {
  return t;
}
/// Leaves drawn by sampler(key, shape, dtype), such as random::normal, with a key for each.
template <tree::Tree T, class Sampler>
T tree_random_like(const ArrayLike& key, const T& target, const Sampler& sampler,
                   std::optional<DType> dtype = std::nullopt) {
  const Arrays like = tree::leaves(target), keys = flat::split_key(key.array(), like.size());
  Arrays out;
  for (std::size_t i = 0; i < like.size(); ++i)
    out.push_back(sampler(keys[i], like[i].shape(), dtype.value_or(like[i].dtype())));
  return tree::unflatten(target, out);
}
/// (1 - decay) updates^order + decay moments
template <tree::Tree T>
T tree_update_moment(const T& updates, const T& moments, const Hyperparameter& decay, int order,
                     const std::source_location& where = COTAN_HERE) {
  const auto f = [&](const Arrays& a, const Arrays& b) { return flat::update_moment(a, b, decay, order); };
  return optax::detail::map_trees("tree_update_moment", f, updates, moments, where);
}
/// The same; of complex numbers it would take |update|.
template <tree::Tree T>
T tree_update_moment_per_elem_norm(const T& updates, const T& moments, const Hyperparameter& decay, int order,
                                   const std::source_location& where = COTAN_HERE) {
  return tree_update_moment(updates, moments, decay, order, where);
}
/// max(|updates| + eps, decay moments)
template <tree::Tree T>
T tree_update_infinity_moment(const T& updates, const T& moments, const Hyperparameter& decay,
                              const Hyperparameter& eps, const std::source_location& where = COTAN_HERE) {
  const auto f = [&](const Arrays& a, const Arrays& b) { return flat::update_infinity_moment(a, b, decay, eps); };
  return optax::detail::map_trees("tree_update_infinity_moment", f, updates, moments, where);
}
/// moments / (1 - decay^count)
template <tree::Tree T>
T tree_bias_correction(const T& moments, const Hyperparameter& decay, const ArrayLike& count,
                       const std::source_location& where = COTAN_HERE) {
  return detail::on_leaves(moments, where,
                           [&](const Arrays& a) { return flat::bias_correction(a, decay, count.array()); });
}

/// The one Array of that name in a state or in what is inside it; more than one, or none, raises.
Array tree_get(const State& state, const std::string& key, const std::source_location& where = COTAN_HERE);
/// The leaves of that name as a tree like `like`.
template <tree::Tree T>
T tree_get(const State& state, const std::string& key, const T& like);
/// All fields of that name with their places: "[1].mu".
std::vector<std::pair<std::string, Arrays>> tree_get_all_with_path(const State& state, const std::string& key);
/// A state with other Arrays under those names, everywhere where there are such; none raises. They are cast to the
/// dtypes of those there.
State tree_set(const State& state, const std::map<std::string, Array>& values,
               const std::source_location& where = COTAN_HERE);
/// f on the Arrays of a state that belong to leaves of the parameters, `otherwise` (if any) on the rest.
State tree_map_params(const State& state, const std::function<Array(const Array&)>& f,
                      const std::function<Array(const Array&)>& otherwise = {});

template <tree::Tree T>
T tree_get(const State& state, const std::string& key, const T& like) {
  const auto all = tree_get_all_with_path(state, key);
  if (all.size() != 1)
    throw_with_line<ValueError>("[tree_get] the state has " + std::to_string(all.size()) + " fields called " + key +
                                "; there must be one.");
  return tree::unflatten(like, all[0].second);
}

}  // namespace cotan::optax::tree_utils
