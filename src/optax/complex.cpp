// Complex leaves as pairs of real ones, for transformations that know real ones alone.
#include <cotan/numpy/complex.hpp>
#include <cotan/optax/contrib.hpp>

#include "optax/core.hpp"

namespace cotan::optax::contrib {

namespace {

Arrays split(std::span<const Array> leaves) {
  Arrays out;
  for (const Array& x : leaves) {
    if (!is_complex(x.dtype())) {
      out.push_back(x);
      continue;
    }
    out.push_back(np::real(x));
    out.push_back(np::imag(x));
  }
  return out;
}
/// The reverse, into leaves as complex as those of `like`.
Arrays merge(std::span<const Array> parts, const std::vector<bool>& complex) {
  Arrays out;
  std::size_t at = 0;
  for (const bool is_pair : complex) {
    out.push_back(is_pair ? lax::complex(parts[at], parts[at + 1]) : parts[at]);
    at += is_pair ? 2 : 1;
  }
  return out;
}
std::vector<bool> which_are_complex(const Arrays& leaves) {
  std::vector<bool> out;
  for (const Array& x : leaves) out.push_back(is_complex(x.dtype()));
  return out;
}
/// What the inner transformation is given: everything with real leaves alone.
Given split(const Given& given, const std::vector<bool>& complex) {
  Given out{.value = given.value};
  if (given.params) out.params = split(*given.params);
  if (given.grad) out.grad = split(*given.grad);
  if (given.paths)
    out.paths = [paths = given.paths, complex] {
      std::vector<std::string> names;
      const std::vector<std::string> all = paths();
      for (std::size_t i = 0; i < all.size(); ++i) {
        if (complex[i])
          names.insert(names.end(), {all[i] + ".real", all[i] + ".imaginary"});
        else
          names.push_back(all[i]);
      }
      return names;
    };
  if (given.value_fn)
    out.value_fn = [f = given.value_fn, complex](std::span<const Array> at) { return f(merge(at, complex)); };
  if (given.grad_fn)
    out.grad_fn = [f = given.grad_fn, complex](std::span<const Array> at, int step) {
      return split(f(merge(at, complex), step));
    };
  return out;
}

}  // namespace

GradientTransformation split_real_and_imaginary(const GradientTransformation& inner) {
  const std::string name = "split_real_and_imaginary";
  const GradientTransformation of_pairs{
      name,
      [=](const Given& given) {
        return State{.name = name, .parts = {inner.init_flat(split(given, which_are_complex(*given.params)))}};
      },
      [=](const Arrays& g, const State& state, const Given& given) {
        check_state(state, name, 1);
        const std::vector<bool> complex = which_are_complex(g);
        auto [updates, next] = inner.update_flat(split(g), state.parts[0], split(given, complex));
        State out = state;
        out.parts[0] = std::move(next);
        return std::pair{merge(updates, complex), std::move(out)};
      }};
  return of_pairs.of_complex_too();
}

}  // namespace cotan::optax::contrib
