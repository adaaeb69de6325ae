// What leaves any element as it is that it is combined with.
#pragma once
#include "core/construct.hpp"

namespace cotan::lax {

enum class Neutral : std::uint8_t { zero, one, all_bits, least, largest };
/// As a scalar of that dtype.
Array neutral(Neutral which, DType dtype);

}  // namespace cotan::lax
