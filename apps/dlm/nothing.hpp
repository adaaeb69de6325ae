// What stands for a number that is not there.
#pragma once
#include <limits>

namespace apps {

constexpr double nothing = std::numeric_limits<double>::quiet_NaN();

}  // namespace apps
