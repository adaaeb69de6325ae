// Loops of a program: in its own function, or with steps that are functions themselves.
#include "backend/native/codegen/generate.hpp"
#include "backend/native/codegen/program_emitter.hpp"

namespace cotan::native {

ProgramEmitter::Function ProgramEmitter::enter(llvm::Type* result, const std::vector<llvm::Type*>& arguments,
                                               std::int64_t which) {
  Function saved{function_, b_.GetInsertBlock(), given_, std::move(places_), std::move(io_), list_, list_size_};
  function_ = llvm::Function::Create(llvm::FunctionType::get(result, arguments, false), llvm::Function::ExternalLinkage,
                                     fmt::format("{}{}", step_name, which), module_);
  function_->addFnAttr(llvm::Attribute::NoUnwind);
  b_.SetInsertPoint(block("entry"));
  Value *io = listed(0), *arena = listed(1);
  given_ = {io, arena, listed(2)};
  places_.clear();
  io_.clear();
  list_ = nullptr;
  return saved;
}

llvm::Function* ProgramEmitter::leave(Function saved) {
  llvm::Function* written = function_;
  function_ = saved.function;
  given_ = saved.given;
  places_ = std::move(saved.places);
  io_ = std::move(saved.io);
  list_ = saved.list;
  list_size_ = saved.list_size;
  b_.SetInsertPoint(saved.block);
  return written;
}

Value* ProgramEmitter::code_of(std::int64_t which) {
  const auto ask = module_.getOrInsertFunction("cotan_native_step", llvm::FunctionType::get(ptr_, {ptr_, i64_}, false));
  return b_.CreateCall(ask, {given_.caller, number(which)});
}

void ProgramEmitter::keep_close(const Repeat& loop) {
  for (BufferId id : loop.kept_close) {
    Value* close = local_copy_of(id);
    copy(close, address(id), id);
    places_[id] = close;
  }
}

void ProgramEmitter::add_parallel(const Repeat& loop) {
  const std::int64_t which = steps_apart_++;
  Function saved = enter(b_.getVoidTy(), {ptr_, i64_, i64_}, which);
  keep_close(loop);
  auto *before = b_.GetInsertBlock(), *head = block("lanes"), *after = block("after");
  b_.CreateBr(head);
  b_.SetInsertPoint(head);
  llvm::PHINode* step = b_.CreatePHI(i64_, 2, "group");
  step->addIncoming(function_->getArg(1), before);
  indices_[loop.index.get()] = step;
  add(loop.steps, true);
  Value* next = b_.CreateAdd(step, number(1), "next", true, true);
  step->addIncoming(next, b_.GetInsertBlock());
  b_.CreateCondBr(b_.CreateICmpSLT(next, function_->getArg(2)), head, after);
  b_.SetInsertPoint(after);
  b_.CreateRetVoid();

  leave(std::move(saved));
  b_.CreateCall(parallel_, {code_of(which), argument_list({given_.io, given_.arena, given_.caller}),
                            number(loop.length), number(loop.grain)});
  leave_on_failure(b_.CreateCall(failed_, {given_.caller}));
}

void ProgramEmitter::add_repeat(const Repeat& loop, bool apart) {
  if (!apart) keep_close(loop);
  // Carries that are handed on by copying live on the stack; those that take turns in two places are pointers.
  std::vector<Turn> turns;
  for (const Carried& c : loop.carries) {
    if (c.in_place) continue;
    if (c.spare < 0)
      copy(address(c.in), address(c.start), c.in);
    else
      turns.push_back({&c, nullptr, nullptr, address(c.in), address(c.out)});
  }
  const std::int64_t unroll = loop.length > 0 && !apart ? std::max<std::int64_t>(loop.unroll, 1) : 1;
  const std::int64_t whole = loop.length < 0 ? -1 : loop.length / unroll * unroll;
  if (apart)
    run_apart(loop, turns);
  else
    run(loop, whole, unroll, turns);
  for (std::int64_t step = whole; loop.length >= 0 && step < loop.length; ++step) {  // what unrolling leaves over
    indices_[loop.index.get()] = number(step);
    one_step(loop, turns);
  }
  for (const Carried& c : loop.carries)
    if (c.spare < 0 && !c.in_place) copy(address(c.result), address(c.in), c.in);
  for (Turn& t : turns) {
    Value* last = places_.at(t.carried->in);
    places_.erase(t.carried->in);
    places_.erase(t.carried->out);
    if (loop.length >= 0) continue;
    // After an odd number of steps the value is in the other place.
    auto *move = block("move"), *on = block("on");
    Value* wanted = address(t.carried->result);
    b_.CreateCondBr(b_.CreateICmpEQ(last, wanted), on, move);
    b_.SetInsertPoint(move);
    copy(wanted, last, t.carried->result);
    b_.CreateBr(on);
    b_.SetInsertPoint(on);
  }
  for (BufferId id : loop.kept_close) places_.erase(id);
}

void ProgramEmitter::run(const Repeat& loop, std::int64_t length, std::int64_t unroll, std::vector<Turn>& turns) {
  for (Turn& t : turns) {
    places_[t.carried->in] = t.first;
    places_[t.carried->out] = t.second;
  }
  if (length == 0) return;
  auto *before = b_.GetInsertBlock(), *head = block("loop"), *after = block("after");
  b_.CreateBr(head);
  b_.SetInsertPoint(head);
  llvm::PHINode* step = begin_step(before, turns);
  indices_[loop.index.get()] = step;
  if (length < 0) {
    add(loop.condition, true);
    Value* holds = b_.CreateLoad(b_.getInt8Ty(), address(loop.holds));
    auto* body = block("body");
    b_.CreateCondBr(b_.CreateICmpNE(holds, b_.getInt8(0)), body, after);
    b_.SetInsertPoint(body);
  }
  std::vector<std::pair<Value*, Value*>> tested;  // what the loop is left with where the condition is tested
  for (Turn& t : turns) tested.push_back({t.in, t.out});
  for (std::int64_t k = 0; k < unroll; ++k) {
    indices_[loop.index.get()] = k ? b_.CreateAdd(step, number(k), "", true, true) : step;
    one_step(loop, turns);
  }
  Value* next = end_step(step, unroll, turns);
  if (length < 0) {
    b_.CreateBr(head);
    for (std::size_t k = 0; k < turns.size(); ++k) {
      places_[turns[k].carried->in] = tested[k].first;
      places_[turns[k].carried->out] = tested[k].second;
    }
  } else {
    b_.CreateCondBr(b_.CreateICmpSLT(next, number(length)), head, after);
  }
  b_.SetInsertPoint(after);
}

llvm::PHINode* ProgramEmitter::begin_step(llvm::BasicBlock* before, std::vector<Turn>& turns) {
  llvm::PHINode* step = b_.CreatePHI(i64_, 2, "step");
  step->addIncoming(number(0), before);
  for (Turn& t : turns) {
    t.in = b_.CreatePHI(ptr_, 2);
    t.out = b_.CreatePHI(ptr_, 2);
    t.in->addIncoming(t.first, before);
    t.out->addIncoming(t.second, before);
    places_[t.carried->in] = t.in;
    places_[t.carried->out] = t.out;
  }
  return step;
}

Value* ProgramEmitter::end_step(llvm::PHINode* step, std::int64_t steps, std::vector<Turn>& turns) {
  Value* next = b_.CreateAdd(step, number(steps), "next", true, true);
  step->addIncoming(next, b_.GetInsertBlock());
  for (Turn& t : turns) {
    t.in->addIncoming(places_.at(t.carried->in), b_.GetInsertBlock());
    t.out->addIncoming(places_.at(t.carried->out), b_.GetInsertBlock());
  }
  return next;
}

void ProgramEmitter::one_step(const Repeat& loop, std::vector<Turn>& turns) {
  add(loop.steps, true);
  for (const Carried& c : loop.carries)
    if (c.spare < 0 && !c.in_place) copy(address(c.in), address(c.out), c.in);
  for (Turn& t : turns) std::swap(places_[t.carried->in], places_[t.carried->out]);
}

void ProgramEmitter::run_apart(const Repeat& loop, std::vector<Turn>& turns) {
  // Arguments of a step: those of the program, and the places of carries.
  std::vector<BufferId> on_stack;
  for (const Carried& c : loop.carries)
    if (c.spare < 0 && !c.in_place) on_stack.push_back(c.in);
  std::vector<Value*> given{given_.io, given_.arena, given_.caller};
  for (BufferId id : on_stack) given.push_back(address(id));
  const std::size_t fixed = given.size();

  const std::int64_t which = steps_apart_++;
  Function saved = enter(i32_, {ptr_, i64_}, which);
  for (std::size_t k = 0; k < on_stack.size(); ++k) places_[on_stack[k]] = listed(3 + k);
  std::vector<Turn> inside = turns;
  for (std::size_t k = 0; k < turns.size(); ++k) {
    places_[turns[k].carried->in] = listed(fixed + 2 * k);
    places_[turns[k].carried->out] = listed(fixed + 2 * k + 1);
  }
  keep_close(loop);
  indices_[loop.index.get()] = function_->getArg(1);
  if (loop.length < 0) {
    add(loop.condition, true);
    Value* holds = b_.CreateLoad(b_.getInt8Ty(), address(loop.holds));
    auto *body = block("body"), *over = block("over");
    b_.CreateCondBr(b_.CreateICmpNE(holds, b_.getInt8(0)), body, over);
    b_.SetInsertPoint(over);
    b_.CreateRet(llvm::ConstantInt::getSigned(i32_, loop_is_over));
    b_.SetInsertPoint(body);
  }
  one_step(loop, inside);
  b_.CreateRet(b_.getInt32(0));
  llvm::FunctionType* type = leave(std::move(saved))->getFunctionType();

  Value* list = stack(ptr_, fixed + 2 * turns.size(), "places");
  const auto put = [&](std::size_t k, Value* v) { b_.CreateStore(v, b_.CreateConstInBoundsGEP1_64(ptr_, list, k)); };
  for (std::size_t k = 0; k < fixed; ++k) put(k, given[k]);
  auto *before = b_.GetInsertBlock(), *head = block("loop"), *went_on = block("went_on"), *after = block("after");
  b_.CreateBr(head);
  b_.SetInsertPoint(head);
  llvm::PHINode* step = begin_step(before, turns);
  for (std::size_t k = 0; k < turns.size(); ++k) {
    put(fixed + 2 * k, turns[k].in);
    put(fixed + 2 * k + 1, turns[k].out);
  }
  Value* status = b_.CreateCall(type, code_of(which), {list, step});
  b_.CreateCondBr(b_.CreateICmpEQ(status, llvm::ConstantInt::getSigned(i32_, loop_is_over)), after, went_on);
  b_.SetInsertPoint(went_on);
  leave_on_failure(status);
  for (Turn& t : turns) std::swap(places_[t.carried->in], places_[t.carried->out]);
  Value* next = end_step(step, 1, turns);
  if (loop.length < 0) {
    b_.CreateBr(head);
    for (Turn& t : turns)
      std::swap(places_[t.carried->in], places_[t.carried->out]);  // before a step, the two places are as they were
  } else {
    b_.CreateCondBr(b_.CreateICmpSLT(next, number(loop.length)), head, after);
  }
  b_.SetInsertPoint(after);
}

}  // namespace cotan::native
