// Chains, masks and parts of trees.
#include <algorithm>

#include "optax/core.hpp"

namespace cotan::optax {

namespace {

/// Whether a path is that of a leaf or of something it is in.
bool within(const std::string& path, const std::string& place) {
  if (path.compare(0, place.size(), place) != 0) return false;
  return path.size() == place.size() || place.empty() || path[place.size()] == '.' || path[place.size()] == '[';
}
[[noreturn]] void raise_no_leaf(const std::string& place, const std::vector<std::string>& paths) {
  throw_with_line<ValueError>(fmt::format("[masked] no leaf is at {}; there are [{}].", place, fmt::join(paths, ", ")));
}
Arrays chosen(const Arrays& leaves, const std::vector<bool>& mask) {
  Arrays out;
  for (std::size_t i = 0; i < leaves.size(); ++i)
    if (mask[i]) out.push_back(leaves[i]);
  return out;
}
Arrays replaced(Arrays all, const Arrays& some, const std::vector<bool>& mask) {
  std::size_t k = 0;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (mask[i]) all[i] = some.at(k++);
  return all;
}

/// What a masked transformation is given: only its leaves are there.
Given narrowed(const Given& given, const std::vector<bool>& mask) {
  Given out = given;
  if (given.params) out.params = chosen(*given.params, mask);
  if (given.grad) out.grad = chosen(*given.grad, mask);
  out.paths = [&given, mask] {
    const std::vector<std::string> all = given.paths();
    std::vector<std::string> some;
    for (std::size_t i = 0; i < all.size(); ++i)
      if (mask[i]) some.push_back(all[i]);
    return some;
  };
  if (given.value_fn)
    out.value_fn = [&given, mask](std::span<const Array> some) {
      return given.value_fn(replaced(*given.params, Arrays(some.begin(), some.end()), mask));
    };
  if (given.grad_fn)
    out.grad_fn = [&given, mask](std::span<const Array> some, int step) {
      return chosen(given.grad_fn(replaced(*given.params, Arrays(some.begin(), some.end()), mask), step), mask);
    };
  return out;
}
Step update_masked(const GradientTransformation& inner, const std::vector<bool>& mask, const Arrays& g,
                   const State& state, const Given& given) {
  auto [updates, next] = inner.update_flat(chosen(g, mask), state, narrowed(given, mask));
  return {replaced(g, updates, mask), std::move(next)};
}

GradientTransformation chained(std::string name, std::vector<std::string> names,
                               std::vector<GradientTransformation> links) {
  const GradientTransformation all{name,
                                   [=](const Given& given) {
                                     State out{.name = name};
                                     for (std::size_t i = 0; i < links.size(); ++i) {
                                       out.parts.push_back(links[i].init_flat(given));
                                       if (!names.empty()) out.parts.back().name = names[i];
                                     }
                                     return out;
                                   },
                                   [=](const Arrays& g, const State& state, const Given& given) {
                                     check_state(state, name, links.size());
                                     Arrays updates = g;
                                     State next = state;
                                     for (std::size_t i = 0; i < links.size(); ++i) {
                                       auto [changed, part] = links[i].update_flat(updates, state.parts[i], given);
                                       updates = std::move(changed);
                                       part.name = state.parts[i].name;
                                       next.parts[i] = std::move(part);
                                     }
                                     return std::pair{std::move(updates), std::move(next)};
                                   }};
  return all.of_complex_too();  // the links say whether they are
}

}  // namespace

std::vector<bool> Mask::of(const Arrays& leaves, const std::function<std::vector<std::string>()>& paths) const {
  std::vector<bool> out(leaves.size(), all_);
  if (!paths_ && !function_) return out;
  const std::vector<std::string> names = paths();
  if (function_)
    for (std::size_t i = 0; i < leaves.size(); ++i) out[i] = function_(names[i], leaves[i]);
  if (paths_) {
    std::fill(out.begin(), out.end(), false);
    for (const std::string& place : *paths_) {
      bool found = false;
      for (std::size_t i = 0; i < leaves.size(); ++i)
        if (within(names[i], place)) out[i] = found = true;
      if (!found) raise_no_leaf(place, names);
    }
  }
  return out;
}

bool Mask::of_one(const std::string& path, const Array& leaf) const {
  if (function_) return function_(path, leaf);
  if (!paths_) return all_;
  return std::any_of(paths_->begin(), paths_->end(), [&](const std::string& place) { return within(path, place); });
}

std::vector<std::string> Labels::of(const Arrays& leaves,
                                    const std::function<std::vector<std::string>()>& paths) const {
  const std::vector<std::string> names = paths();
  std::vector<std::string> out(leaves.size());
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    if (function_) {
      out[i] = function_(names[i], leaves[i]);
      continue;
    }
    std::size_t longest = 0;
    bool found = false;
    for (const auto& [place, label] : by_path_)
      if (within(names[i], place) && (!found || place.size() > longest)) {
        out[i] = label;
        longest = place.size();
        found = true;
      }
    if (!found)
      throw_with_line<ValueError>(
          fmt::format("[partition] the leaf {} has no label; add it, or \"\" for all the rest.", names[i]));
  }
  return out;
}

GradientTransformation chain(std::vector<GradientTransformation> links) {
  return chained("chain", {}, std::move(links));
}
GradientTransformation named_chain(const std::vector<std::pair<std::string, GradientTransformation>>& links) {
  std::vector<std::string> names;
  std::vector<GradientTransformation> list;
  for (const auto& [name, link] : links) {
    if (std::find(names.begin(), names.end(), name) != names.end())
      throw_with_line<ValueError>(fmt::format("[named_chain] two links are called {}; names must differ.", name));
    names.push_back(name);
    list.push_back(link);
  }
  return chained("named_chain", names, list);
}

GradientTransformation masked(const GradientTransformation& inner, const Mask& mask) {
  const GradientTransformation of_some{
      "masked",
      [=](const Given& given) {
        const auto there = mask.of(*given.params, given.paths);
        return State{.name = "masked", .parts = {inner.init_flat(narrowed(given, there))}};
      },
      [=](const Arrays& g, const State& state, const Given& given) {
        check_state(state, "masked", 1);
        auto [updates, next] = update_masked(inner, mask.of(g, given.paths), g, state.parts[0], given);
        return std::pair{std::move(updates), State{.name = state.name, .parts = {std::move(next)}}};
      }};
  return of_some.of_complex_too();
}

GradientTransformation partition(const std::map<std::string, GradientTransformation>& transformations,
                                 const Labels& labels) {
  const auto masks = [=](const Arrays& leaves, const Given& given) {
    const std::vector<std::string> of = labels.of(leaves, given.paths);
    std::map<std::string, std::vector<bool>> out;
    std::vector<std::string> known;
    for (const auto& [label, inner] : transformations) known.push_back(label);
    for (const std::string& label : of)
      if (!transformations.contains(label))
        throw_with_line<ValueError>(
            fmt::format("[partition] a leaf has the label {}, and transformations are there for [{}].", label,
                        fmt::join(known, ", ")));
    for (const std::string& label : known) {
      out[label] = {};
      for (const std::string& other : of) out[label].push_back(other == label);
    }
    return out;
  };
  const GradientTransformation parts{"partition",
                                     [=](const Given& given) {
                                       State out{.name = "partition"};
                                       const auto there = masks(*given.params, given);
                                       for (const auto& [label, inner] : transformations) {
                                         out.parts.push_back(inner.init_flat(narrowed(given, there.at(label))));
                                         out.parts.back().name = label;
                                       }
                                       return out;
                                     },
                                     [=](const Arrays& g, const State& state, const Given& given) {
                                       check_state(state, "partition", transformations.size());
                                       const auto there = masks(g, given);
                                       Arrays updates = g;
                                       State next = state;
                                       std::size_t i = 0;
                                       for (const auto& [label, inner] : transformations) {
                                         auto [changed, part] =
                                             update_masked(inner, there.at(label), updates, state.parts[i], given);
                                         updates = std::move(changed);
                                         part.name = label;
                                         next.parts[i++] = std::move(part);
                                       }
                                       return std::pair{std::move(updates), std::move(next)};
                                     }};
  return parts.of_complex_too();
}
GradientTransformation multi_transform(const std::map<std::string, GradientTransformation>& transformations,
                                       const Labels& labels) {
  return partition(transformations, labels);
}
GradientTransformation freeze(const Mask& mask) { return masked(set_to_zero(), mask); }
GradientTransformation selective_transform(const GradientTransformation& optimizer, const Mask& freeze_mask) {
  const auto label = [freeze_mask](const std::string& path, const Array& leaf) -> std::string {
    return freeze_mask.of_one(path, leaf) ? "freeze" : "train";
  };
  return partition({{"train", optimizer}, {"freeze", set_to_zero()}}, Labels(label));
}

GradientTransformation flatten(const GradientTransformation& inner) {
  const auto joined = [](const Arrays& leaves) {
    return Arrays{np::concatenate(each([](const Array& a) { return np::ravel(a); }, leaves), 0)};
  };
  const auto split = [](const Array& all, const Arrays& like) {
    Arrays out;
    std::int64_t at = 0;
    for (const Array& leaf : like) {
      out.push_back(np::reshape(all(range(at, at + leaf.size())), leaf.shape()));
      at += leaf.size();
    }
    return out;
  };
  const auto flat_given = [joined, split](const Given& given) {
    Given out = given;
    if (given.params) out.params = joined(*given.params);
    if (given.grad) out.grad = joined(*given.grad);
    out.paths = [] { return std::vector<std::string>{""}; };
    if (given.value_fn)
      out.value_fn = [&given, split](std::span<const Array> x) { return given.value_fn(split(x[0], *given.params)); };
    if (given.grad_fn)
      out.grad_fn = [&given, split, joined](std::span<const Array> x, int step) {
        return joined(given.grad_fn(split(x[0], *given.params), step));
      };
    return out;
  };
  return {"flatten",
          [=](const Given& given) { return State{.name = "flatten", .parts = {inner.init_flat(flat_given(given))}}; },
          [=](const Arrays& g, const State& state, const Given& given) {
            check_state(state, "flatten", 1);
            auto [updates, next] = inner.update_flat(joined(g), state.parts[0], flat_given(given));
            return std::pair{split(updates[0], g), State{.name = state.name, .parts = {std::move(next)}}};
          }};
}

GradientTransformation identity() {
  return without_state("identity", [](const Arrays& g, const Given&) { return g; }).of_complex_too();
}
GradientTransformation set_to_zero() {
  return without_state("set_to_zero", [](const Arrays& g, const Given&) { return zeros_like(g); }).of_complex_too();
}
GradientTransformation stateless(std::function<Arrays(const Arrays&, const std::optional<Arrays>&)> f) {
  return without_state("stateless", [f](const Arrays& g, const Given& given) { return f(g, given.params); });
}
GradientTransformation stateless_with_tree_map(std::function<Array(const Array&, const Array&)> f) {
  return without_state("stateless_with_tree_map", [f](const Arrays& g, const Given& given) {
    return each(f, g, given.params ? *given.params : Arrays(g.size()));
  });
}
GradientTransformation with_extra_args_support(const GradientTransformation& transformation) { return transformation; }

}  // namespace cotan::optax
