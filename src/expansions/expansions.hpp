// Routines as programs: factorisations, sorts, scatters and running sums written with loops, elementwise
// operations and gathers, for devices that have no routine for them.
#pragma once
#include "core/jaxpr.hpp"
#include "core/rules.hpp"

namespace cotan {

/// The results of a primitive on these operands by other operations; none: it cannot be done for these. An expansion is
/// attached by a RuleFor<Expansion> in the file that it is in.
struct Expansion {
  Arrays (*expand)(const Primitive& p, std::span<const Array> x, const Params& params);
};

/// What sorts of long rows become: the positions (i32) of the words (u32) of a vector in ascending order, equal ones in
/// the order they are in. Devices may have a routine for it.
extern const Primitive order_of_words_p;
/// What scatters that add become: keys i32[n], their ascending order i32[n] and values [n, width]; row k of the result,
/// of `count`, is `start` plus the values of the keys that are k, added up in their order. Devices may have a routine
/// for it.
extern const Primitive sum_of_runs_p;

/// Whether there is a program for the operation. (For some operands there may be none all the same: see
/// expansion_of.)
bool has_expansion(const Primitive& p);
/// The operation as a program of loops, elementwise operations and gathers, for devices without a routine for
/// it; nullptr: there is none. No 64-bit types are in it unless the operation itself has them.
JaxprPtr expansion_of(const Primitive& p, const Types& types, const Params& params);
/// The same for an elementwise operation whose program has loops, on many elements: so many at a time, each block with
/// loops of its own that end with its slowest element. nullptr: `p` is no such operation, or one block is all.
JaxprPtr expansion_in_blocks(const Primitive& p, const Types& types, const Params& params, std::int64_t block);
/// Replaces equations that `wanted` picks by their expansions (repeatedly, since an expansion may contain such
/// equations), and inside nested programs those that `wanted_inside` picks.
using Wanted = bool (*)(const Primitive&, std::span<const AbstractValue>, const Params&);
/// Elementwise ones with loops are expanded in blocks of `block` elements, if that is not 0.
JaxprPtr expand_routines(const JaxprPtr& jaxpr, Wanted wanted, Wanted wanted_inside, std::int64_t block = 0);
inline JaxprPtr expand_routines(const JaxprPtr& jaxpr, Wanted wanted) { return expand_routines(jaxpr, wanted, wanted); }

}  // namespace cotan
