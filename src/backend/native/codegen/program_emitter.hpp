// Inside emit_program: one function for a program, others for steps that run apart.
#pragma once
#include <llvm/IR/IRBuilder.h>

#include <set>
#include <span>
#include <unordered_map>

#include "backend/native/codegen/emit_program.hpp"
#include "backend/native/codegen/schedule.hpp"
#include "compiler/program.hpp"

namespace cotan::native {

using compiler::BufferId;
using compiler::Carried;
using compiler::Choice;
using compiler::Kernel;
using compiler::Program;
using compiler::Repeat;
using compiler::Routine;
using compiler::Step;
using compiler::Storage;
using expr::Expr;
using llvm::Value;

class ProgramEmitter {
 public:
  ProgramEmitter(llvm::Module& module, Program& program);

  void emit();

 private:
  llvm::BasicBlock* block(const char* name) { return llvm::BasicBlock::Create(context_, name, function_); }
  Value* number(std::int64_t n) { return llvm::ConstantInt::getSigned(i64_, n); }
  const compiler::Buffer& buffer(BufferId id) const { return program_.buffers[static_cast<std::size_t>(id)]; }
  Value* bytes_after(Value* pointer, Value* bytes) { return b_.CreateInBoundsGEP(b_.getInt8Ty(), pointer, bytes); }

  /// Emits before all code except what loads the function's arguments.
  llvm::IRBuilder<> at_start();
  /// Memory of the function's own, wherever the code is that asks for it.
  Value* stack(llvm::Type* type, std::uint64_t count, const char* name);
  Value* local_copy_of(BufferId id);
  /// Matrices of loops whose elements are broadcast to all lanes one by one, such as the left operand of a product. A
  /// broadcasting load is free; taking the element out of a vector costs a shuffle.
  void find_broadcast();
  /// Keeps it in memory on the stack: LLVM does not know who else reads it.
  void show(Value* pointer);
  void copy(Value* to, Value* from, BufferId like);

  // Addresses -----------------------------------------------------------------------------------------

  Value* address(BufferId id);
  Value* arena_offset(const compiler::Buffer& b);
  /// In bytes.
  Value* offset(Expr elements, DType dtype) {
    return b_.CreateMul(index(elements), number(static_cast<std::int64_t>(itemsize(dtype))));
  }
  /// An expression of the indices of loops around here.
  Value* index(Expr e);

  // Steps ---------------------------------------------------------------------------------------------

  /// Steps with the time before each and after the last, where the caller has a place for it: in a profile.
  void add_timed(const std::vector<Step>& steps);

  void add(std::span<const Step> steps, bool in_loop);

  struct Emitted {
    llvm::Function* function = nullptr;
    KernelSchedule schedule;
    bool inlined = false;
  };
  void add_kernel(const Kernel& kernel, bool in_loop);

  void add_routine(const Routine& routine);

  /// Addresses and indices in memory, for a call.
  Value* argument_list(const std::vector<Value*>& given);

  void leave_on_failure(Value* status);

  struct Given {
    Value *io, *arena, *caller;
  };
  /// What is known in a function, put aside while another one is written.
  struct Function {
    llvm::Function* function;
    llvm::BasicBlock* block;
    Given given;
    std::unordered_map<BufferId, Value*> places;
    std::unordered_map<std::uint64_t, Value*> io;
    Value* list;
    std::size_t list_size;
  };
  /// Continues in a new function, whose first argument is a list: the program's own arguments, and more.
  Function enter(llvm::Type* result, const std::vector<llvm::Type*>& arguments, std::int64_t which);
  Value* listed(std::uint64_t k) {
    return b_.CreateLoad(ptr_, b_.CreateConstInBoundsGEP1_64(ptr_, function_->getArg(0), k));
  }
  llvm::Function* leave(Function saved);
  /// The function that was registered under this number, as of now: better code may have taken over.
  Value* code_of(std::int64_t which);
  void keep_close(const Repeat& loop);

  /// A loop whose steps run in parallel: a function of its own, for a range of steps.
  void add_parallel(const Repeat& loop);

  // Loops ---------------------------------------------------------------------------------------------

  /// A carry that takes turns in two places.
  struct Turn {
    const Carried* carried;
    llvm::PHINode *in, *out;
    Value *first, *second;
  };

  /// `apart`: a step is a function of its own.
  void add_repeat(const Repeat& loop, bool apart);

  /// The loop itself: `length` steps, or as long as the condition holds.
  void run(const Repeat& loop, std::int64_t length, std::int64_t unroll, std::vector<Turn>& turns);

  /// At the head of a loop: the number of the step, and where carries are.
  llvm::PHINode* begin_step(llvm::BasicBlock* before, std::vector<Turn>& turns);
  Value* end_step(llvm::PHINode* step, std::int64_t steps, std::vector<Turn>& turns);
  void one_step(const Repeat& loop, std::vector<Turn>& turns);

  /// A loop that looks up the code of every step, so that better code can take over while it runs.
  void run_apart(const Repeat& loop, std::vector<Turn>& turns);

  void add_choice(const Choice& choice, bool in_loop);

  llvm::Module& module_;
  llvm::LLVMContext& context_;
  Program& program_;
  llvm::PointerType* ptr_;
  llvm::Type *i64_, *i32_;
  llvm::IRBuilder<> b_;
  llvm::Function* function_ = nullptr;
  Given given_{};
  llvm::FunctionCallee parallel_, routine_, failed_;
  std::set<BufferId> broadcast_;
  std::unordered_map<std::string, Emitted> emitted_;
  std::unordered_map<BufferId, Value*> places_;   ///< of what is on the stack, and of carries
  std::unordered_map<std::uint64_t, Value*> io_;  ///< inputs and outputs, by number
  std::unordered_map<const expr::Node*, Value*> indices_;
  Value* list_ = nullptr;
  std::size_t list_size_ = 0;
  std::int64_t steps_apart_ = 0;
  std::unordered_map<const Routine*, std::int64_t> routine_numbers_;
};

}  // namespace cotan::native
