// Blocks of a model: what states they have, and what they give to G, F and W.
#pragma once
#include <cotan/dlm.hpp>

namespace cotan::dlm {

template <class... F>
struct Overloaded : F... {
  using F::operator()...;
};
template <class... F>
Overloaded(F...) -> Overloaded<F...>;

int columns_of(const Regression& r);
int states_of(const Block& block);
std::string harmonic_name(int state);
/// The standard deviation of a state of harmonics.
std::string sd_of(const Harmonics& b, int state);
/// Raises where a block has impossible options.
void check(const Block& block);

/// Looks parameters up; those that are not given are standard deviations of 0.
class Lookup {
 public:
  explicit Lookup(const Parameters& p) : parameters_(p) {}
  Array variance(const std::string& name) const;
  Array coefficients(const std::string& name, int order) const;

 private:
  const Parameters& parameters_;
};

/// Of a block: G and W as [m, m] or [n, m, m], F as [m] or [n, m].
struct BlockMatrices {
  Array G, F, W;
  int bands;  ///< of G, for steps of one
};
/// For `n` steps of one.
BlockMatrices matrices_of(const Block& block, const Lookup& p, std::int64_t n);
/// The same for steps of these lengths.
void take_steps(const Block& block, const Lookup& p, BlockMatrices& matrices, const std::vector<double>& steps);

}  // namespace cotan::dlm
