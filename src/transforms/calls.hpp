// What primitives with a nested program (jit, custom rules, checkpoint, loops) share.
#pragma once
#include "transforms/traces.hpp"

namespace cotan {

extern const Primitive jit_p, custom_jvp_call_p, custom_vjp_call_p, custom_lin_p, checkpoint_p, name_p;

// Rules of a primitive whose parameter "jaxpr" is the program it applies to its operands.
Types call_type(const Primitive& self, std::span<const AbstractValue> operands, const Params& params);
Arrays call_eval(const Primitive& self, std::span<const Array> args, const Params& params);
JvpResult call_jvp(const Primitive& self, std::span<const Array> primals, std::span<const Array> tangents,
                   const Params& params);
/// Of calls that keep no structure backwards: the transpose of the program.
Arrays transpose_of_call(const Primitive& self, std::span<const Array> cts, std::span<const LinearInput> in,
                         const Params& params);
BatchResult call_batch(const Primitive& self, std::span<const Array> args, std::span<const int> dims, std::int64_t size,
                       const Params& params);

// Arguments of a traced function that are C++ numbers: one that meets f64 inside is passed in f64, and narrowed where
// it meets nothing that wide (core/weak.cpp).
/// Narrows arguments that are `wide` from f64 to weak f32.
Arrays narrowed(std::span<const Array> args, const std::vector<bool>& wide);
/// Widens arguments that are `wide` to f64, with all bits that are known.
Arrays widened(std::span<const Array> args, const std::vector<bool>& wide);
Types widened(Types types, const std::vector<bool>& wide);
/// Which arguments of a call are C++ numbers that meet f64 inside of f; empty: none of them.
std::vector<bool> numbers_that_meet_f64(const FlatFn& f, std::span<const Array> args, std::string_view transform);
/// Marks what is wanted and not marked yet; false if there is nothing new.
bool add_wanted(std::vector<bool>& wide, const std::vector<bool>& wanted);
/// trace_to_jaxpr for a program that is called with widened(args, wide).
struct CallProgram {
  ClosedJaxpr closed;
  std::vector<bool> wide;
};
CallProgram trace_call(const FlatFn& f, const Types& inputs, std::string_view transform, std::string name = {});

std::vector<bool> defined_mask(std::span<const Array> arrays);
Arrays concat(std::span<const Array> a, std::span<const Array> b);
/// Operands with the batch axis in front where they have one.
struct FrontOperands {
  Arrays values;
  std::vector<bool> batched;
};
FrontOperands batch_in_front(std::span<const Array> args, std::span<const int> dims);
std::vector<int> dims_of(const std::vector<bool>& batched);
/// The operands of a call that is partially evaluated, by whether they are known.
struct KnownOperands {
  std::vector<bool> unknown;
  Arrays known_args, unknown_args;
};
KnownOperands split_known(const PartialEvalTrace& trace, std::span<const Array> args);
/// The residual operands of a split program; drops the residual outputs from `known_outs`.
Arrays residuals_of(const SplitJaxpr& split, const Arrays& known_args, Arrays& known_outs);
Arrays merge_outputs(const std::vector<bool>& output_unknown, const Arrays& known, const Arrays& unknown);
/// Cotangents per operand from those of the linear operands that are not zero.
Arrays scatter_cotangents(std::span<const LinearInput> inputs, const std::vector<bool>& nonzero, const Arrays& cts);

}  // namespace cotan
