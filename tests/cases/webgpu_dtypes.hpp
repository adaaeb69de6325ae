// docs/webgpu_dtypes.md from the case table.
#pragma once
#include <iosfwd>

namespace cases {

void print_webgpu_dtypes(std::ostream& out);

}  // namespace cases
