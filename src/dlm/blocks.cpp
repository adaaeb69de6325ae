#include "dlm/blocks.hpp"

#include <cmath>

#include "dlm/errors.hpp"

namespace cotan::dlm {

int columns_of(const Regression& r) {
  if (!r.x.defined() || r.x.ndim() < 1 || r.x.ndim() > 2)
    raise<ShapeError>("[dlm] the regressors are {}; they must be [steps] or [steps, series].",
                      r.x.defined() ? r.x.aval().str() : "missing");
  return r.x.ndim() == 1 ? 1 : static_cast<int>(r.x.shape()[1]);
}
int states_of(const Block& block) {
  return std::visit(Overloaded{
                        [](const Trend& b) { return b.order + 1; },
                        [](const Seasonal& b) { return b.period - 1; },
                        [](const Harmonics& b) { return 2 * b.count - (2 * b.count == b.period ? 1 : 0); },
                        [](const AutoRegression& b) { return b.order; },
                        [](const Regression& b) { return columns_of(b); },
                        [](const Spline&) { return 2; },
                    },
                    block);
}

/// Of a state of harmonics.
std::string harmonic_name(int state) {
  return fmt::format("harmonic {}{}", state / 2 + 1, state % 2 ? " conjugate" : "");
}
std::string sd_of(const Harmonics& b, int state) {
  if (b.sd.empty()) return harmonic_name(state);
  return b.sd.size() == 1 ? b.sd[0] : b.sd[static_cast<std::size_t>(state)];
}

void check(const Block& block) {
  std::visit(Overloaded{
                 [](const Trend& b) {
                   if (b.order < 0 || b.order > 2)
                     raise<ValueError>("[dlm] a trend of order {}; orders are 0 (level), 1 (with slope) and 2.",
                                       b.order);
                   if (static_cast<int>(b.sd.size()) < b.order + 1)
                     raise<ValueError>(
                         "[dlm] a trend of order {} has {} names of standard deviations; give {} (empty: no noise).",
                         b.order, b.sd.size(), b.order + 1);
                 },
                 [](const Seasonal& b) {
                   if (b.period < 2)
                     raise<ValueError>("[dlm] a season of {} steps; it must have at least 2.", b.period);
                 },
                 [](const Harmonics& b) {
                   if (!(b.period >= 2) || b.count < 1 || 2 * b.count > b.period)
                     raise<ValueError>("[dlm] {} harmonics of a period of {} steps; there are 1 to {}.", b.count,
                                       b.period, static_cast<int>(std::floor(b.period / 2)));
                   if (b.sd.size() > 1 && static_cast<int>(b.sd.size()) != states_of(b))
                     raise<ValueError>(
                         "[dlm] {} harmonics have {} names of standard deviations; give one for all, {} (one for each "
                         "state), or none.",
                         b.count, b.sd.size(), states_of(b));
                 },
                 [](const AutoRegression& b) {
                   if (b.order < 1)
                     raise<ValueError>("[dlm] an autoregression of order {}; it must be at least 1.", b.order);
                 },
                 [](const Regression& b) { columns_of(b); },
                 [](const Spline&) {},
             },
             block);
}

}  // namespace cotan::dlm
