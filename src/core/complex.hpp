// Complex values on devices: there are none. Memory of a c64[n] is that of an f32[n, 2], and a program that computes
// with complex numbers is one that computes with their parts (passes/complex_parts.cpp).
#pragma once
#include "core/backend.hpp"

namespace cotan {

/// Whether anything in the program is complex, also inside nested programs.
bool has_complex(const Jaxpr& jaxpr);
/// The program that devices run in place of `jaxpr`: operands and results that were complex have an axis of size 2 at
/// the end. nullptr where nothing is complex.
const JaxprPtr& real_form(const JaxprPtr& jaxpr);
/// Backend::run_program on any program.
Arrays run_on(Backend& backend, const JaxprPtr& jaxpr, std::span<const Array> args, const std::vector<bool>* donated);
/// Whether an operation works on complex values, or holds a program that does.
bool is_complex_operation(const Primitive& p, std::span<const Array> args, const Types& results, const Params& params);
/// One such operation, on its device.
Arrays run_complex_operation(const Primitive& p, std::span<const Array> args, const Params& params);
/// The memory of a complex array as real numbers with an axis of size 2 at the end, and back.
Array as_real(const Array& a);
Array as_complex(const Array& a, const AbstractValue& type);

}  // namespace cotan
