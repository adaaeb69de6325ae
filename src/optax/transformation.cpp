// Hyperparameters, states, and what every transformation checks before it runs.
#include "optax/core.hpp"

namespace cotan::optax {

Array Hyperparameter::like(DType dtype) const {
  if (is_number()) return Array(number_);
  return is_floating(dtype) ? array_.astype(dtype, {}) : array_;
}

Schedule Schedule::of_real(std::function<Array(const Array&)> f) {
  Schedule out(std::move(f));
  out.real_ = true;
  return out;
}
Array Schedule::operator()(const ArrayLike& step) const {
  const Array& s = step.array();
  return function_(real_ && !is_floating(s.dtype()) ? s.astype(f32) : s);
}
Array Schedule::at(const Array& step, DType dtype) const {
  return function_(real_ ? step.astype(dtype) : step).astype(dtype);
}

const Array& State::operator[](const std::string& field) const {
  const auto at = fields.find(field);
  if (at == fields.end() || at->second.size() != 1) {
    std::vector<std::string> names;
    for (const auto& [key, arrays] : fields)
      if (arrays.size() == 1) names.push_back(key);
    throw_with_line<ValueError>(fmt::format("[optax] the state of {} has no single Array {}; it has [{}].", name, field,
                                            fmt::join(names, ", ")));
  }
  return at->second[0];
}
const State& State::part(const std::string& part_name) const {
  for (const State& p : parts)
    if (p.name == part_name) return p;
  std::vector<std::string> names;
  for (const State& p : parts) names.push_back(p.name);
  throw_with_line<ValueError>(
      fmt::format("[optax] the state of {} has no part {}; it has [{}].", name, part_name, fmt::join(names, ", ")));
}

GradientTransformation::GradientTransformation(std::string name, Init init, Update update)
    : name_(std::move(name)), init_(std::move(init)), update_(std::move(update)) {}

namespace {
/// A tree that is one Array has a leaf without a path.
std::string named(const std::string& path) { return path.empty() ? "(an Array)" : path; }
}  // namespace

GradientTransformation GradientTransformation::of_complex_too() const {
  GradientTransformation out = *this;
  out.of_complex_ = true;
  return out;
}

State GradientTransformation::init_flat(const Given& given) const {
  const Arrays& params = *given.params;
  for (std::size_t i = 0; i < params.size(); ++i) {
    if (is_complex(params[i].dtype())) {
      if (of_complex_) continue;
      throw_with_line<TypeError>(fmt::format(
          "[{}] the parameter {} is {}; this one is of real parameters: wrap it in contrib::split_real_and_imaginary.",
          name_, named(given.paths()[i]), params[i].aval().str()));
    }
    if (!is_floating(params[i].dtype()))
      throw_with_line<TypeError>(
          fmt::format("[{}] the parameter {} is {}; parameters are floats: convert it with astype, or leave it out of "
                      "the tree.",
                      name_, named(given.paths()[i]), params[i].aval().str()));
  }
  return init_(given);
}

std::pair<Arrays, State> GradientTransformation::update_flat(const Arrays& gradients, const State& state,
                                                             const Given& given) const {
  if (given.params && given.params->size() == gradients.size())
    for (std::size_t i = 0; i < gradients.size(); ++i)
      if (gradients[i].shape() != (*given.params)[i].shape() && name_ != "differentially_private_aggregate" &&
          name_ != "chain")
        throw_with_line<ShapeError>(
            fmt::format("[{}] the gradient {} is {} and its parameter {}; they must have one shape.", name_,
                        named(given.paths()[i]), gradients[i].aval().str(), (*given.params)[i].aval().str()));
  return update_(gradients, state, given);
}

void raise_leaf_counts(std::size_t first, std::size_t other) {
  throw_with_line<TreeError>(
      fmt::format("[optax] {} leaves meet {} in the state or in the parameters; the state must be made by init of the "
                  "same optimizer, for parameters of the same structure.",
                  first, other));
}
const Arrays& params_of(const Given& given, const std::string& name) {
  if (!given.params)
    throw_with_line<ValueError>(fmt::format("[{}] needs the parameters; call update(gradients, state, params).", name));
  return *given.params;
}
const Array& value_of(const Given& given, const std::string& name) {
  if (!given.value.defined())
    throw_with_line<ValueError>(
        fmt::format("[{}] needs the loss; call update(gradients, state, params, {{.value = loss}}).", name));
  return given.value;
}
void check_state(const State& state, const std::string& name, std::size_t parts) {
  if (state.parts.size() != parts)
    throw_with_line<TreeError>(
        fmt::format("[{}] the state, of {}, has {} parts and {} are needed; make it by init of the same optimizer.",
                    name, state.name.empty() ? "nothing" : state.name, state.parts.size(), parts));
}

GradientTransformation with_fields(std::string name, std::function<Fields(const Arrays&)> init,
                                   std::function<Arrays(const Arrays&, Fields&, const Given&)> update) {
  return {
      name, [name, init](const Given& given) { return State{.name = name, .fields = init(*given.params)}; },
      [name, update](const Arrays& g, const State& state, const Given& given) {
        if (state.fields.empty())
          throw_with_line<TreeError>(fmt::format("[{}] the state is that of {}; make it by init of the same optimizer.",
                                                 name, state.name.empty() ? "nothing" : state.name));
        State next = state;
        Arrays updates = update(g, next.fields, given);
        return std::pair{std::move(updates), std::move(next)};
      }};
}
GradientTransformation without_state(std::string name, std::function<Arrays(const Arrays&, const Given&)> f) {
  return {name, [name](const Given&) { return State{.name = name}; },
          [f](const Arrays& g, const State& state, const Given& given) { return std::pair{f(g, given), state}; }};
}
State select(const Array& condition, const State& a, const State& b) {
  return tree::map([&](const Array& x, const Array& y) { return np::where(condition, x, y).astype(y.dtype()); }, a, b);
}

namespace detail {
Arrays apply_updates(const Arrays& params, const Arrays& updates) {
  return each([](const Array& p, const Array& u) { return (p + u).astype(p.dtype()); }, params, updates);
}
Arrays incremental_update(const Arrays& news, const Arrays& olds, const Hyperparameter& s) {
  return each([&](const Array& a, const Array& b) { return s * a + one_minus(s) * b; }, news, olds);
}
Arrays periodic_update(const Arrays& news, const Arrays& olds, const Array& steps, std::int64_t period) {
  if (period < 1)
    throw_with_line<ValueError>(fmt::format("[periodic_update] a period of {}; it must be at least 1.", period));
  const Array now = steps % period == 0;
  return each([&](const Array& a, const Array& b) { return np::where(now, a, b); }, news, olds);
}
}  // namespace detail

}  // namespace cotan::optax
