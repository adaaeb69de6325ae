// Values and jumps of the level that a model does not expect, found by auxiliary residuals.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace apps {

struct Flag {
  enum class Kind { outlier, level_shift } kind;
  std::size_t row;  ///< of the value, or of the first one at the new level
  double size, sd;  ///< on the modelled scale
  double t() const { return size / sd; }
};

struct Flags {
  double threshold = 0;                                   ///< of |t|
  std::size_t tests = 0;                                  ///< of values and of jumps
  std::vector<double> t_of_values = {}, t_of_level = {};  ///< auxiliary residuals: shocks in their standard deviations
  std::vector<Flag> found = {};                           ///< by row
};

/// Estimated shocks and their standard deviations, a row each; NaN where nothing tells.
struct ShockPath {
  std::vector<double> size, sd;
};

/// The threshold lets half a false flag pass in a series of this length whose model is right, and is never
/// below 3. Of neighbours that stand for one event only the clearest is kept.
Flags find_flags(const ShockPath& values, const ShockPath& level);

std::string name_of(Flag::Kind kind);
/// "|t| > 3.02, where half of one in 199 tests is expected if the model is right".
std::string threshold_in_words(const Flags& flags);

}  // namespace apps
