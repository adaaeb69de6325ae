// Calls of the run-time library in generated code: functions that have an expansion (expr/math.hpp) are compiled
// once per module and number of lanes, the others are called lane by lane.
#pragma once
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include "expr/expr.hpp"

namespace cotan::native {

/// The value of a `call` or `patch` node's function on x, vectors or scalars. With a mask only those lanes count: in
/// the others the result is anything.
llvm::Value* emit_function_call(llvm::IRBuilder<>& b, llvm::Module& module, const expr::Node& node,
                                llvm::ArrayRef<llvm::Value*> x, llvm::Value* mask = nullptr);

}  // namespace cotan::native
