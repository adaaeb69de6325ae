// docs/features.md from the case table.
#pragma once
#include <iosfwd>

namespace cases {

void print_features(std::ostream& out);

}  // namespace cases
