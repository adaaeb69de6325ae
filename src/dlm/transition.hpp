// Products with G that leave out the zeros it is known to have: companion matrices and rotations cost as much as
// adding.
#pragma once
#include "dlm/steps.hpp"

namespace cotan::dlm {

constexpr int operator|(Band a, Band b) { return static_cast<int>(a) | static_cast<int>(b); }
constexpr int operator|(int a, Band b) { return a | static_cast<int>(b); }

/// G of all steps; elements that do not change are taken out of it once, before a loop.
class Transition {
 public:
  explicit Transition(const StateSpace& model);
  /// G X and Gᵀ X of a matrix [m, k]; `G` is the one of the step.
  Array times(const Array& G, const Array& X) const { return product(G, X, false); }
  Array times_transposed(const Array& G, const Array& X) const { return product(G, X, true); }
  /// Of a vector [m].
  Array times_vector(const Array& G, const Array& x) const {
    return parts_.empty() ? numpy::matmul(G, x) : numpy::squeeze(times(G, numpy::expand_dims(x, -1)), -1);
  }
  Array transposed_times_vector(const Array& G, const Array& x) const {
    return parts_.empty() ? numpy::matmul(x, G) : numpy::squeeze(times_transposed(G, numpy::expand_dims(x, -1)), -1);
  }
  /// G C Gᵀ and Gᵀ N G of a symmetric matrix.
  Array around(const Array& G, const Array& C) const { return times(G, transposed(times(G, C))); }
  Array around_transposed(const Array& G, const Array& N) const {
    return times_transposed(G, transposed(times_transposed(G, N)));
  }

 private:
  struct Part {
    std::int64_t first, size;
    int bands;
    Array diagonal, above, below, row, column, any;  ///< those that it has
  };
  Array product(const Array& G, const Array& X, bool transposed) const;
  std::vector<Part> parts_;  ///< none: by the whole of G
};

}  // namespace cotan::dlm
