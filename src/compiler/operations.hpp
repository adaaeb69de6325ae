// Operations that only compilers see: flattening adds them to a program beside the user's operations.
#pragma once
#include "core/primitive.hpp"

namespace cotan::compiler {

/// The slice of operand 0 for a step of a loop, whose number is operand 1.
extern const Primitive step_slice_p;
extern const Primitive copy_p;
/// Lanes of operand 0, which are its first axis, for a group of them, whose number is operand 1.
extern const Primitive lane_slice_p;
/// The lanes of a value as its first axis.
extern const Primitive lane_front_p;

}  // namespace cotan::compiler
