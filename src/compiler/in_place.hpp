// Carries of loops that a step changes in few places (dynamic_update_slice, scatter, or a loop that does so): the next
// value is written over the last one, instead of being a copy that differs in an element.
#pragma once
#include "compiler/definitions.hpp"

namespace cotan::compiler {

/// Finds the large carries of a loop that can be changed where they lie, and orders its body so that whatever reads
/// the last value comes before what overwrites it.
void change_in_place(Flat& flat, FlatLoop& loop);
/// Per item: the values that it reads, nested ones included.
std::vector<BufferId> values_read(const Item& item);
/// For an operation that changes its first operand where it lies: the kernel that writes the window, if it is one.
std::optional<Kernel> update_kernel(const Equation& e, Definitions& definitions);

}  // namespace cotan::compiler
