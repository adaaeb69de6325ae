// Arrays in states by their names.
#include "optax/core.hpp"

namespace cotan::optax::tree_utils {

namespace {

template <class S, class F>
void for_each_field(S& state, const std::string& at, const F& f) {
  for (auto& [name, arrays] : state.fields) f(at + '.' + name, name, arrays);
  for (std::size_t i = 0; i < state.parts.size(); ++i) for_each_field(state.parts[i], fmt::format("{}[{}]", at, i), f);
}

/// Fields that have a leaf for each parameter, whatever their number: not those of counts, keys and measures.
bool belongs_to_params(const State& state, const std::string& field) {
  static const std::vector<std::string> single{"count", "rng_key", "key"};
  if (std::find(single.begin(), single.end(), field) != single.end()) return false;
  const auto& shared = state.fields.at(field);
  return shared.size() > 1 || shared[0].ndim() > 0;
}

}  // namespace

std::vector<std::pair<std::string, Arrays>> tree_get_all_with_path(const State& state, const std::string& key) {
  std::vector<std::pair<std::string, Arrays>> out;
  for_each_field(state, "", [&](const std::string& path, const std::string& name, const Arrays& arrays) {
    if (name == key) out.emplace_back(path, arrays);
  });
  return out;
}

Array tree_get(const State& state, const std::string& key, const std::source_location& where) {
  const cotan::detail::CallSite site(where);
  const auto all = tree_get_all_with_path(state, key);
  if (all.size() != 1 || all[0].second.size() != 1) {
    std::vector<std::string> names;
    for_each_field(state, "",
                   [&](const std::string& path, const std::string&, const Arrays&) { names.push_back(path); });
    throw_with_line<ValueError>(
        fmt::format("[tree_get] the state has {} fields called {}, and one Array is wanted; there are [{}].",
                    all.size(), key, fmt::join(names, ", ")));
  }
  return all[0].second[0];
}

State tree_set(const State& state, const std::map<std::string, Array>& values, const std::source_location& where) {
  const cotan::detail::CallSite site(where);
  State out = state;
  for (const auto& [key, value] : values) {
    bool found = false;
    for_each_field(
        out, "", [&, &wanted = key, &with = value](const std::string& path, const std::string& name, Arrays& arrays) {
          if (name != wanted || arrays.size() != 1) return;
          found = true;
          if (with.shape() != arrays[0].shape())
            throw_with_line<ShapeError>(fmt::format("[tree_set] {} is {} and the new value {}; give it the same shape.",
                                                    path, arrays[0].aval().str(), with.aval().str()));
          arrays[0] = with.astype(arrays[0].dtype());
        });
    if (!found)
      throw_with_line<ValueError>(
          fmt::format("[tree_set] the state has no single Array {}; tree_get_all_with_path finds what there is.", key));
  }
  return out;
}

State tree_map_params(const State& state, const std::function<Array(const Array&)>& f,
                      const std::function<Array(const Array&)>& otherwise) {
  State out = state;
  for (auto& [name, arrays] : out.fields) {
    const bool of_params = belongs_to_params(state, name);
    for (Array& a : arrays)
      if (of_params || otherwise) a = of_params ? f(a) : otherwise(a);
  }
  for (State& p : out.parts) p = tree_map_params(p, f, otherwise);
  return out;
}

}  // namespace cotan::optax::tree_utils
