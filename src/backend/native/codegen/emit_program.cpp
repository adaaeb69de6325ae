#include "backend/native/codegen/emit_program.hpp"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InlineAsm.h>

#include <set>
#include <span>
#include <unordered_map>

#include "backend/native/codegen/cost.hpp"
#include "backend/native/codegen/emit_kernel.hpp"
#include "backend/native/codegen/emit_scalar.hpp"
#include "backend/native/codegen/generate.hpp"
#include "compiler/definitions.hpp"
#include "compiler/memory.hpp"
#include "core/error.hpp"

namespace cotan::native {

namespace {

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
  ProgramEmitter(llvm::Module& module, Program& program)
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

  void emit() {
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

 private:
  llvm::BasicBlock* block(const char* name) { return llvm::BasicBlock::Create(context_, name, function_); }
  Value* number(std::int64_t n) { return llvm::ConstantInt::getSigned(i64_, n); }
  const compiler::Buffer& buffer(BufferId id) const { return program_.buffers[static_cast<std::size_t>(id)]; }
  Value* bytes_after(Value* pointer, Value* bytes) { return b_.CreateInBoundsGEP(b_.getInt8Ty(), pointer, bytes); }

  /// Before everything but what the function is given.
  llvm::IRBuilder<> at_start() {
    llvm::BasicBlock& entry = function_->getEntryBlock();
    auto at = entry.begin();
    if (auto* last = llvm::dyn_cast<llvm::Instruction>(given_.caller)) at = std::next(last->getIterator());
    return llvm::IRBuilder<>(&entry, at);
  }
  /// Memory of the function's own, wherever the code is that asks for it.
  Value* stack(llvm::Type* type, std::uint64_t count, const char* name) {
    llvm::IRBuilder<> at = at_start();
    auto* slot = at.CreateAlloca(llvm::ArrayType::get(type, count), nullptr, name);
    slot->setAlignment(llvm::Align(64));
    return slot;
  }
  Value* local_copy_of(BufferId id) {
    const auto& type = buffer(id).type;
    return stack(memory_type(context_, type.dtype), static_cast<std::uint64_t>(std::max<std::int64_t>(type.size(), 1)),
                 "local");
  }
  /// Matrices of loops whose elements are wanted one by one in all lanes, as those on the left of a product are. A load
  /// does that for nothing; to take them out of vectors costs a shuffle each.
  void find_broadcast() {
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
            // Row by row: in another order, loads would come too soon after the stores of the rows.
            const auto along = affine_in(l->operands[0], terms->variable);
            if (buffer(static_cast<BufferId>(l->bits)).type.size() >= many_elements && along &&
                along->coefficient == 1 && !depends_on(l->operands[0], lanes->variable))
              broadcast_.insert(static_cast<BufferId>(l->bits));
          }
        }
    });
    for (BufferId id : handed_on) broadcast_.erase(id);
  }
  /// Keeps memory of the stack memory: LLVM does not know who else looks at it.
  void show(Value* pointer) {
    // Right behind it, where nothing may stand yet: a program that begins with it has an empty entry block.
    auto* slot = llvm::cast<llvm::Instruction>(pointer);
    llvm::IRBuilder<> at(slot->getParent(), std::next(slot->getIterator()));
    auto* type = llvm::FunctionType::get(at.getVoidTy(), {ptr_}, false);
    at.CreateCall(type, llvm::InlineAsm::get(type, "", "r", true), {pointer});
  }
  void copy(Value* to, Value* from, BufferId like) {
    const auto align = llvm::Align(itemsize(buffer(like).type.dtype));
    if (const std::size_t bytes = buffer(like).bytes()) b_.CreateMemCpy(to, align, from, align, bytes);
  }

  // Addresses -----------------------------------------------------------------------------------------

  Value* address(BufferId id) {
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
        return llvm::ConstantPointerNull::get(ptr_);  // nobody wants it
    }
  }
  Value* arena_offset(const compiler::Buffer& b) {
    Value* place = number(b.place);
    return b.copies > 1 ? b_.CreateAdd(place, b_.CreateMul(index(b.copy), number(compiler::stride_of(b)))) : place;
  }
  /// In bytes.
  Value* offset(Expr elements, DType dtype) {
    return b_.CreateMul(index(elements), number(static_cast<std::int64_t>(itemsize(dtype))));
  }
  /// An expression of the indices of loops around here.
  Value* index(Expr e) {
    if (const auto c = expr::as_integer(e)) return number(*c);
    if (e->op == expr::Op::variable) return indices_.at(e.get());
    std::vector<Value*> x;
    for (Expr operand : e->operands) x.push_back(index(operand));
    return emit_operation(b_, *e.get(), x);
  }

  // Steps ---------------------------------------------------------------------------------------------

  /// Steps with the time before each and after the last, where the caller has a place for it: in a profile.
  void add_timed(const std::vector<Step>& steps) {
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

  void add(std::span<const Step> steps, bool in_loop) {
    for (const Step& step : steps) {
      if (const auto* kernel = std::get_if<Kernel>(&step))
        add_kernel(*kernel, in_loop);
      else if (const auto* routine = std::get_if<Routine>(&step))
        add_routine(*routine);
      else if (const auto* repeat = std::get_if<std::unique_ptr<Repeat>>(&step))
        (*repeat)->parallel && !in_loop && (*repeat)->length > 1
            ? add_parallel(**repeat)
            : add_repeat(**repeat, !in_loop && !program_.small && has_long_steps(**repeat));
      else
        add_choice(*std::get<std::unique_ptr<Choice>>(step), in_loop);
    }
  }

  struct Emitted {
    llvm::Function* function = nullptr;
    KernelSchedule schedule;
    bool inlined = false;
  };
  void add_kernel(const Kernel& kernel, bool in_loop) {
    // Layers of a network repeat each other.
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

  void add_routine(const Routine& routine) {
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

  /// Addresses and indices in memory, for a call.
  Value* argument_list(const std::vector<Value*>& given) {
    if (given.size() > list_size_ || !list_) {
      list_size_ = std::max<std::size_t>(given.size(), 16);
      list_ = stack(ptr_, list_size_, "arguments");
    }
    for (std::size_t k = 0; k < given.size(); ++k)
      b_.CreateStore(given[k], b_.CreateConstInBoundsGEP1_64(ptr_, list_, k));
    return list_;
  }

  void leave_on_failure(Value* status) {
    auto *fail = block("fail"), *on = block("on");
    b_.CreateCondBr(b_.CreateICmpEQ(status, b_.getInt32(0)), on, fail);
    b_.SetInsertPoint(fail);
    if (function_->getReturnType()->isVoidTy())  // lanes: who started them asks
      b_.CreateRetVoid();
    else
      b_.CreateRet(status);
    b_.SetInsertPoint(on);
  }

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
  /// Goes on in a new function, whose first argument is a list: what the program is given, and more.
  Function enter(llvm::Type* result, const std::vector<llvm::Type*>& arguments, std::int64_t which) {
    Function saved{function_, b_.GetInsertBlock(), given_, std::move(places_), std::move(io_), list_, list_size_};
    function_ = llvm::Function::Create(llvm::FunctionType::get(result, arguments, false),
                                       llvm::Function::ExternalLinkage, fmt::format("{}{}", step_name, which), module_);
    function_->addFnAttr(llvm::Attribute::NoUnwind);
    b_.SetInsertPoint(block("entry"));
    Value *io = listed(0), *arena = listed(1);
    given_ = {io, arena, listed(2)};
    places_.clear();
    io_.clear();
    list_ = nullptr;
    return saved;
  }
  Value* listed(std::uint64_t k) {
    return b_.CreateLoad(ptr_, b_.CreateConstInBoundsGEP1_64(ptr_, function_->getArg(0), k));
  }
  llvm::Function* leave(Function saved) {
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
  /// The function that was entered by this number, as it is now: better code may have taken over.
  Value* code_of(std::int64_t which) {
    const auto ask =
        module_.getOrInsertFunction("cotan_native_step", llvm::FunctionType::get(ptr_, {ptr_, i64_}, false));
    return b_.CreateCall(ask, {given_.caller, number(which)});
  }
  void keep_close(const Repeat& loop) {
    for (BufferId id : loop.kept_close) {
      Value* close = local_copy_of(id);
      copy(close, address(id), id);
      places_[id] = close;
    }
  }

  /// A loop whose steps run in parallel: a function of its own, for a range of steps.
  void add_parallel(const Repeat& loop) {
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

  // Loops ---------------------------------------------------------------------------------------------

  /// A carry that takes turns in two places.
  struct Turn {
    const Carried* carried;
    llvm::PHINode *in, *out;
    Value *first, *second;
  };

  /// `apart`: a step is a function of its own.
  void add_repeat(const Repeat& loop, bool apart) {
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
    for (std::int64_t step = whole; loop.length >= 0 && step < loop.length; ++step) {  // what is left of unrolling
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

  /// The loop itself: `length` steps, or as long as the condition holds.
  void run(const Repeat& loop, std::int64_t length, std::int64_t unroll, std::vector<Turn>& turns) {
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

  /// At the head of a loop: the number of the step, and where carries are.
  llvm::PHINode* begin_step(llvm::BasicBlock* before, std::vector<Turn>& turns) {
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
  Value* end_step(llvm::PHINode* step, std::int64_t steps, std::vector<Turn>& turns) {
    Value* next = b_.CreateAdd(step, number(steps), "next", true, true);
    step->addIncoming(next, b_.GetInsertBlock());
    for (Turn& t : turns) {
      t.in->addIncoming(places_.at(t.carried->in), b_.GetInsertBlock());
      t.out->addIncoming(places_.at(t.carried->out), b_.GetInsertBlock());
    }
    return next;
  }
  void one_step(const Repeat& loop, std::vector<Turn>& turns) {
    add(loop.steps, true);
    for (const Carried& c : loop.carries)
      if (c.spare < 0 && !c.in_place) copy(address(c.in), address(c.out), c.in);
    for (Turn& t : turns) std::swap(places_[t.carried->in], places_[t.carried->out]);
  }

  /// A loop that asks for the code of every step: while it runs, better code may take over.
  void run_apart(const Repeat& loop, std::vector<Turn>& turns) {
    // What a step is given: what the program is given, and where carries are.
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
      for (Turn& t : turns) std::swap(places_[t.carried->in], places_[t.carried->out]);  // it is left before a step
    } else {
      b_.CreateCondBr(b_.CreateICmpSLT(next, number(loop.length)), head, after);
    }
    b_.SetInsertPoint(after);
  }

  void add_choice(const Choice& choice, bool in_loop) {
    Value* chosen = b_.CreateLoad(i32_, address(choice.index));
    auto *after = block("after"), *first = block("branch");
    // The index is within range: the first branch stands for all other numbers.
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

}  // namespace

void emit_program(llvm::Module& module, Program& program) { ProgramEmitter(module, program).emit(); }

}  // namespace cotan::native
