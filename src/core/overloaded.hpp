// One function of several, each for its own types: std::visit(Overloaded{…}, variant).
#pragma once

namespace cotan {

template <class... F>
struct Overloaded : F... {
  using F::operator()...;
};
template <class... F>
Overloaded(F...) -> Overloaded<F...>;

}  // namespace cotan
