// What the sources of optax share: functions leaf by leaf, arithmetic of hyperparameters, states of named fields.
#pragma once
#include <fmt/format.h>

#include <cotan/control_flow.hpp>
#include <cotan/lax.hpp>
#include <cotan/numpy.hpp>
#include <cotan/optax/numerics.hpp>
#include <cotan/optax/transforms.hpp>
#include <cotan/random.hpp>
#include <initializer_list>

namespace cotan::optax {

namespace np = numpy;
namespace tu = tree_utils::flat;

// A hyperparameter meets an Array in the dtype of the Array. Two numbers stay numbers, in double.
// (Templates, so that no Array is taken for a hyperparameter.)
template <class H>
concept IsHyperparameter = std::is_same_v<H, Hyperparameter>;
template <IsHyperparameter H>
Array operator*(const H& h, const Array& x) {
  return h.like(x) * x;
}
template <IsHyperparameter H>
Array operator+(const Array& x, const H& h) {
  return x + h.like(x);
}
template <IsHyperparameter H>
Array operator/(const Array& x, const H& h) {
  return x / h.like(x);
}
inline Array max(const Array& x, const Hyperparameter& h) { return np::maximum(x, h.like(x)); }
inline Array min(const Array& x, const Hyperparameter& h) { return np::minimum(x, h.like(x)); }
/// f of two hyperparameters.
template <class F>
Hyperparameter combined(const Hyperparameter& a, const Hyperparameter& b, F f) {
  if (a.is_number() && b.is_number()) return f(a.number(), b.number());
  return Hyperparameter(Array(f(a.array(), b.array())));
}
inline Hyperparameter one_minus(const Hyperparameter& h) {
  return combined(1.0, h, [](const auto& a, const auto& b) { return a - b; });
}
inline Hyperparameter times(const Hyperparameter& a, const Hyperparameter& b) {
  return combined(a, b, [](const auto& x, const auto& y) { return x * y; });
}
inline Hyperparameter plus(const Hyperparameter& a, const Hyperparameter& b) {
  return combined(a, b, [](const auto& x, const auto& y) { return x + y; });
}
inline Hyperparameter minus(const Hyperparameter& h) { return times(-1.0, h); }
inline bool is_zero(const ScalarOrSchedule& s) {
  return !s.is_schedule() && s.scalar().is_number() && s.scalar().number() == 0;
}

[[noreturn]] void raise_leaf_counts(std::size_t first, std::size_t other);

/// f leaf by leaf.
template <class F, class... Rest>
Arrays each(const F& f, const Arrays& first, const Rest&... rest) {
  (static_cast<void>(rest.size() == first.size() ? 0 : (raise_leaf_counts(first.size(), rest.size()), 0)), ...);
  Arrays out;
  out.reserve(first.size());
  for (std::size_t i = 0; i < first.size(); ++i) out.push_back(f(first[i], rest[i]...));
  return out;
}
inline Arrays zeros_like(const Arrays& x, std::optional<DType> dtype = std::nullopt) {
  return tu::full_like(x, 0.0, dtype);
}
inline Array number(double value, DType dtype) { return np::full({}, value, dtype); }
inline Array first_count() { return np::zeros({}, i32); }
/// 1 - decay^count in a dtype, exact where it is small.
Array bias(const Hyperparameter& decay, const Array& count, DType dtype);
/// base^count in a dtype.
Array power_of_count(const Hyperparameter& base, const Array& count, DType dtype);
inline DType widest(const Arrays& x) { return tree_utils::dtype_of_leaves(x, tree_utils::MixedDtypes::highest); }
inline DType narrowest(const Arrays& x) { return tree_utils::dtype_of_leaves(x, tree_utils::MixedDtypes::lowest); }
/// mean / (sqrt(square + eps_root) + eps).
inline Arrays by_root(const Arrays& mean, const Arrays& square, const Hyperparameter& eps,
                      const Hyperparameter& eps_root) {
  return each([&](const Array& m, const Array& v) { return m / (np::sqrt(v + eps_root) + eps); }, mean, square);
}
/// on_true() or on_false(), of which one runs; both give trees of one structure.
template <class T, class F>
auto choose(const Array& condition, const T& on_true, const F& on_false) {
  return lax::cond(condition, on_true, on_false);
}

/// The fields of a state by name.
using Fields = std::map<std::string, Arrays>;
/// Parameters that must be there.
const Arrays& params_of(const Given& given, const std::string& name);
/// The loss, which must be there.
const Array& value_of(const Given& given, const std::string& name);
/// A transformation whose state is fields: `update` gives updates and makes new fields of the old ones.
GradientTransformation with_fields(std::string name, std::function<Fields(const Arrays& params)> init,
                                   std::function<Arrays(const Arrays& g, Fields& fields, const Given& given)> update);
/// One without a state.
GradientTransformation without_state(std::string name, std::function<Arrays(const Arrays& g, const Given& given)> f);
/// State and updates of a transformation inside another, by its place.
State& part(State& state, std::size_t i, const std::string& name);
/// Checks a state against the name of what made it.
void check_state(const State& state, const std::string& name, std::size_t parts);
/// States of one structure, by one condition.
State select(const Array& condition, const State& a, const State& b);
/// The leaves of a state in a tuple with updates, for branches.
using Step = std::pair<Arrays, State>;

}  // namespace cotan::optax
