// Rules of control flow for complex operands.
#pragma once
#include "core/primitive.hpp"

namespace cotan {

PartsList scan_on_parts(const Primitive&, std::span<const ComplexParts>, const Params&);
PartsList while_on_parts(const Primitive&, std::span<const ComplexParts>, const Params&);
PartsList cond_on_parts(const Primitive&, std::span<const ComplexParts>, const Params&);
PartsList associative_scan_on_parts(const Primitive&, std::span<const ComplexParts>, const Params&);
PartsList associative_rest_on_parts(const Primitive&, std::span<const ComplexParts>, const Params&);
PartsList lanes_on_parts(const Primitive&, std::span<const ComplexParts>, const Params&);

}  // namespace cotan
