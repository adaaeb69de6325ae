// LLVM instructions for the operations of expressions, on scalars and on vectors alike.
#pragma once
#include <llvm/IR/IRBuilder.h>

#include "expr/expr.hpp"

namespace cotan::native {

/// The type of a value in registers: bool is i1, bf16 the i16 of its bits.
llvm::Type* register_type(llvm::LLVMContext& context, DType dtype);
/// The type of an element in memory: bool is a byte.
llvm::Type* memory_type(llvm::LLVMContext& context, DType dtype);
llvm::Type* vector_of(llvm::Type* element, int width);

/// The instruction for `node` on operands that are all of one width. Not for leaves, calls and patches.
llvm::Value* emit_operation(llvm::IRBuilder<>& b, const expr::Node& node, llvm::ArrayRef<llvm::Value*> x);
llvm::Value* emit_cast(llvm::IRBuilder<>& b, llvm::Value* x, DType from, DType to);
llvm::Constant* emit_constant(llvm::LLVMContext& context, const expr::Node& node);

}  // namespace cotan::native
