#include "backend/native/codegen/emit_program.hpp"

#include <llvm/IR/InlineAsm.h>

#include "backend/native/codegen/cost.hpp"
#include "backend/native/codegen/emit_kernel.hpp"
#include "backend/native/codegen/emit_scalar.hpp"
#include "backend/native/codegen/generate.hpp"
#include "backend/native/codegen/program_emitter.hpp"
#include "compiler/definitions.hpp"
#include "compiler/memory.hpp"
#include "core/error.hpp"

namespace cotan::native {

ProgramEmitter::ProgramEmitter(llvm::Module& module, Program& program)
    : module_(module),
      context_(module.getContext()),
      program_(program),
      ptr_(llvm::PointerType::getUnqual(context_)),
      i64_(llvm::Type::getInt64Ty(context_)),
      i32_(llvm::Type::getInt32Ty(context_)),
      b_(context_) {
  function_ = llvm::Function::Create(llvm::FunctionType::get(i32_, {ptr_, ptr_, ptr_}, false),
                                     llvm::Function::ExternalLinkage, entry_name, module);
  parallel_ = module.getOrInsertFunction("cotan_native_parallel",
                                         llvm::FunctionType::get(i32_, {ptr_, ptr_, i64_, i64_}, false));
  failed_ = module.getOrInsertFunction("cotan_native_failed", llvm::FunctionType::get(i32_, {ptr_}, false));
  routine_ =
      module.getOrInsertFunction("cotan_native_routine", llvm::FunctionType::get(i32_, {ptr_, i64_, ptr_}, false));
}

void ProgramEmitter::emit() {
  // In the order in which the executable knows them.
  compiler::for_each_step(program_.steps, [&](const Step& step) {
    if (const auto* routine = std::get_if<Routine>(&step))
      routine_numbers_.emplace(routine, static_cast<std::int64_t>(routine_numbers_.size()));
  });
  find_broadcast();
  b_.SetInsertPoint(block("entry"));
  given_ = {function_->getArg(0), function_->getArg(1), function_->getArg(2)};
  if (program_.small)
    add(program_.steps, true);
  else
    add_timed(program_.steps);
  b_.CreateRet(b_.getInt32(0));
}

llvm::IRBuilder<> ProgramEmitter::at_start() {
  llvm::BasicBlock& entry = function_->getEntryBlock();
  auto at = entry.begin();
  if (auto* last = llvm::dyn_cast<llvm::Instruction>(given_.caller)) at = std::next(last->getIterator());
  return llvm::IRBuilder<>(&entry, at);
}

Value* ProgramEmitter::stack(llvm::Type* type, std::uint64_t count, const char* name) {
  llvm::IRBuilder<> at = at_start();
  auto* slot = at.CreateAlloca(llvm::ArrayType::get(type, count), nullptr, name);
  slot->setAlignment(llvm::Align(64));
  return slot;
}

Value* ProgramEmitter::local_copy_of(BufferId id) {
  const auto& type = buffer(id).type;
  return stack(memory_type(context_, type.dtype), static_cast<std::uint64_t>(std::max<std::int64_t>(type.size(), 1)),
               "local");
}

void ProgramEmitter::find_broadcast() {
  constexpr std::int64_t many_elements = 64;
  std::set<BufferId> handed_on;  // carries are copied, all at once
  compiler::for_each_step(program_.steps, [&](const Step& step) {
    if (const auto* repeat = std::get_if<std::unique_ptr<Repeat>>(&step))
      for (const Carried& c : (*repeat)->carries) handed_on.insert({c.in, c.out});
    const auto* kernel = std::get_if<Kernel>(&step);
    if (!kernel) return;
    const compiler::Loop *lanes = nullptr, *terms = nullptr;
    for (const compiler::Loop& l : kernel->loops) (l.reduced ? terms : lanes) = &l;
    if (!lanes || !terms) return;
    for (const compiler::Pass& pass : kernel->passes)
      for (const compiler::Reduce& r : pass.reductions) {
        std::vector<Expr> loads;
        compiler::collect_loads(r.value, loads);
        for (Expr l : loads) {
          // Row by row: otherwise loads would come too soon after the stores of the same rows.
          const auto along = affine_in(l->operands[0], terms->variable);
          if (buffer(static_cast<BufferId>(l->bits)).type.size() >= many_elements && along && along->coefficient == 1 &&
              !depends_on(l->operands[0], lanes->variable))
            broadcast_.insert(static_cast<BufferId>(l->bits));
        }
      }
  });
  for (BufferId id : handed_on) broadcast_.erase(id);
}

void ProgramEmitter::show(Value* pointer) {
  // Right behind it, where nothing may stand yet: a program that begins with it has an empty entry block.
  auto* slot = llvm::cast<llvm::Instruction>(pointer);
  llvm::IRBuilder<> at(slot->getParent(), std::next(slot->getIterator()));
  auto* type = llvm::FunctionType::get(at.getVoidTy(), {ptr_}, false);
  at.CreateCall(type, llvm::InlineAsm::get(type, "", "r", true), {pointer});
}

void ProgramEmitter::copy(Value* to, Value* from, BufferId like) {
  const auto align = llvm::Align(itemsize(buffer(like).type.dtype));
  if (const std::size_t bytes = buffer(like).bytes()) b_.CreateMemCpy(to, align, from, align, bytes);
}

Value* ProgramEmitter::address(BufferId id) {
  if (const auto at = places_.find(id); at != places_.end()) return at->second;
  const compiler::Buffer& b = buffer(id);
  switch (b.storage) {
    case Storage::arena:
      return bytes_after(given_.arena, arena_offset(b));
    case Storage::local: {
      Value* place = places_.emplace(id, local_copy_of(id)).first->second;
      if (broadcast_.contains(id)) show(place);
      return place;
    }
    case Storage::part:
      return bytes_after(address(b.whole), offset(b.start, b.type.dtype));
    case Storage::input:
    case Storage::output: {
      const auto slot =
          static_cast<std::uint64_t>(b.place) + (b.storage == Storage::output ? program_.inputs.size() : 0);
      Value*& known = io_[slot];
      if (!known) {  // once, before everything
        llvm::IRBuilder<> at = at_start();
        known = at.CreateLoad(ptr_, at.CreateConstInBoundsGEP1_64(ptr_, given_.io, slot));
      }
      return known;
    }
    default:
      return llvm::ConstantPointerNull::get(ptr_);  // nobody reads it
  }
}

Value* ProgramEmitter::arena_offset(const compiler::Buffer& b) {
  Value* place = number(b.place);
  return b.copies > 1 ? b_.CreateAdd(place, b_.CreateMul(index(b.copy), number(compiler::stride_of(b)))) : place;
}

Value* ProgramEmitter::index(Expr e) {
  if (const auto c = expr::as_integer(e)) return number(*c);
  if (e->op == expr::Op::variable) return indices_.at(e.get());
  std::vector<Value*> x;
  for (Expr operand : e->operands) x.push_back(index(operand));
  return emit_operation(b_, *e.get(), x);
}

void ProgramEmitter::add_timed(const std::vector<Step>& steps) {
  const auto mark =
      module_.getOrInsertFunction("cotan_native_mark", llvm::FunctionType::get(b_.getVoidTy(), {ptr_, i64_}, false));
  Value* marks = b_.CreateLoad(ptr_, given_.caller);
  Value* wanted = b_.CreateICmpNE(marks, llvm::ConstantPointerNull::get(ptr_));
  for (std::size_t k = 0; k <= steps.size(); ++k) {
    auto *note = block("note"), *on = block("on");
    b_.CreateCondBr(wanted, note, on);
    b_.SetInsertPoint(note);
    b_.CreateCall(mark, {marks, number(static_cast<std::int64_t>(k))});
    b_.CreateBr(on);
    b_.SetInsertPoint(on);
    if (k < steps.size()) add({&steps[k], 1}, false);
  }
}

void ProgramEmitter::add(std::span<const Step> steps, bool in_loop) {
  for (const Step& step : steps)
    compiler::visit_step(step, Overloaded{[&](const Kernel& kernel) { add_kernel(kernel, in_loop); },
                                          [&](const Routine& routine) { add_routine(routine); },
                                          [&](const Repeat& loop) {
                                            if (loop.parallel && !in_loop && loop.length > 1)
                                              add_parallel(loop);
                                            else
                                              add_repeat(loop, !in_loop && !program_.small && has_long_steps(loop));
                                          },
                                          [&](const Choice& choice) { add_choice(choice, in_loop); }});
}

void ProgramEmitter::add_kernel(const Kernel& kernel, bool in_loop) {
  // Layers of a network repeat each other, and share functions.
  Emitted& shared = emitted_[(in_loop ? "loop " : "") + signature_of(program_, kernel)];
  const KernelArguments arguments = arguments_of(program_, kernel);
  if (!shared.function) {
    const ScheduledKernel scheduled = schedule_for_host(program_, kernel, in_loop);
    shared.schedule = scheduled.schedule;
    shared.inlined = in_loop && !scheduled.schedule.grain;
    shared.function = emit_kernel(module_, program_, scheduled.kernel, arguments, scheduled.schedule, shared.inlined,
                                  fmt::format("kernel{}", emitted_.size() - 1));
  }
  std::vector<Value*> given;
  for (BufferId id : arguments.buffers) given.push_back(address(id));
  for (Expr i : arguments.indices) given.push_back(index(i));
  if (shared.inlined) {
    b_.CreateCall(shared.function, given);
    return;
  }
  Value* list = argument_list(given);
  Value* iterations = number(shared.schedule.iterations);
  if (shared.schedule.grain)
    leave_on_failure(b_.CreateCall(parallel_, {shared.function, list, iterations, number(shared.schedule.grain)}));
  else
    b_.CreateCall(shared.function, {list, number(0), iterations});
}

void ProgramEmitter::add_routine(const Routine& routine) {
  std::vector<Value*> given;
  for (const compiler::Operand& o : routine.operands) {
    if (o.buffer < 0) {
      given.push_back(llvm::ConstantPointerNull::get(ptr_));
      continue;
    }
    Value* first = address(o.buffer);
    if (o.offset) first = bytes_after(first, offset(o.offset, o.type.dtype));
    given.push_back(first);
  }
  for (BufferId id : routine.results) given.push_back(address(id));
  leave_on_failure(
      b_.CreateCall(routine_, {given_.caller, number(routine_numbers_.at(&routine)), argument_list(given)}));
}

Value* ProgramEmitter::argument_list(const std::vector<Value*>& given) {
  if (given.size() > list_size_ || !list_) {
    list_size_ = std::max<std::size_t>(given.size(), 16);
    list_ = stack(ptr_, list_size_, "arguments");
  }
  for (std::size_t k = 0; k < given.size(); ++k)
    b_.CreateStore(given[k], b_.CreateConstInBoundsGEP1_64(ptr_, list_, k));
  return list_;
}

void ProgramEmitter::leave_on_failure(Value* status) {
  auto *fail = block("fail"), *on = block("on");
  b_.CreateCondBr(b_.CreateICmpEQ(status, b_.getInt32(0)), on, fail);
  b_.SetInsertPoint(fail);
  if (function_->getReturnType()->isVoidTy())  // of lanes: whoever started them asks for the result
    b_.CreateRetVoid();
  else
    b_.CreateRet(status);
  b_.SetInsertPoint(on);
}

void ProgramEmitter::add_choice(const Choice& choice, bool in_loop) {
  Value* chosen = b_.CreateLoad(i32_, address(choice.index));
  auto *after = block("after"), *first = block("branch");
  // The index is within range, so the first branch can stand for all other numbers.
  llvm::SwitchInst* jump = b_.CreateSwitch(chosen, first, static_cast<unsigned>(choice.branches.size()));
  for (std::size_t k = 0; k < choice.branches.size(); ++k) {
    auto* at = k == 0 ? first : block("branch");
    if (k > 0) jump->addCase(b_.getInt32(static_cast<std::uint32_t>(k)), at);
    b_.SetInsertPoint(at);
    add(choice.branches[k], in_loop);
    b_.CreateBr(after);
  }
  b_.SetInsertPoint(after);
}

void emit_program(llvm::Module& module, Program& program) { ProgramEmitter(module, program).emit(); }

}  // namespace cotan::native
