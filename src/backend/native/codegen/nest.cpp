#include "backend/native/codegen/nest.hpp"

#include <llvm/Transforms/Utils/BasicBlockUtils.h>

namespace cotan::native {

using llvm::BasicBlock;
using llvm::Value;

// Every open block ends in a placeholder terminator, so that code can always be added before it.

Nest::Nest(llvm::Function* function)
    : function_(function), builder_(function->getContext()), rare_(function->getContext()) {
  levels_.push_back({new_block("entry")});
}

BasicBlock* Nest::new_block(const char* name) {
  BasicBlock* block = BasicBlock::Create(function_->getContext(), name, function_);
  llvm::IRBuilder<>(block).CreateUnreachable();
  return block;
}

Value* Nest::open_loop(Value* begin, Value* end, std::int64_t step, const char* name) {
  BasicBlock* before = levels_.back().block;
  BasicBlock *body = new_block(name), *exit = new_block("after");
  before->getTerminator()->eraseFromParent();
  builder_.SetInsertPoint(before);
  builder_.CreateCondBr(builder_.CreateICmpSLT(begin, end), body, exit);
  builder_.SetInsertPoint(body->getTerminator());
  llvm::PHINode* index = builder_.CreatePHI(begin->getType(), 2, name);
  index->addIncoming(begin, before);
  levels_.push_back({body, index, end, step, body, exit});
  return index;
}
void Nest::open_if(Value* condition) {
  BasicBlock* before = levels_.back().block;
  BasicBlock *body = new_block("then"), *exit = new_block("after");
  before->getTerminator()->eraseFromParent();
  builder_.SetInsertPoint(before);
  builder_.CreateCondBr(condition, body, exit);
  levels_.push_back({body, nullptr, nullptr, 0, body, exit});
}
void Nest::close() {
  const Level level = levels_.back();
  levels_.pop_back();
  level.block->getTerminator()->eraseFromParent();
  builder_.SetInsertPoint(level.block);
  if (level.index) {
    Value* next =
        builder_.CreateAdd(level.index, builder_.getInt64(static_cast<std::uint64_t>(level.step)), "next", true, true);
    level.index->addIncoming(next, level.block);
    builder_.CreateCondBr(builder_.CreateICmpSLT(next, level.end), level.start, level.exit);
  } else {
    builder_.CreateBr(level.exit);
  }
  levels_.back().block = level.exit;
}

llvm::IRBuilder<>& Nest::begin_rare(int level, Value* condition) {
  Level& l = levels_[static_cast<std::size_t>(level)];
  llvm::Instruction* then = llvm::SplitBlockAndInsertIfThen(condition, l.block->getTerminator(), false);
  before_rare_ = l.block;
  after_rare_ = llvm::cast<llvm::BranchInst>(then)->getSuccessor(0);
  // Loop headers below name the block that ends in their branch.
  after_rare_->replaceSuccessorsPhiUsesWith(l.block, after_rare_);
  l.block = after_rare_;
  rare_.SetInsertPoint(then);
  return rare_;
}
Value* Nest::end_rare(int, Value* rare, Value* usual) {
  BasicBlock* from = rare_.GetInsertBlock();
  builder_.SetInsertPoint(after_rare_, after_rare_->begin());
  llvm::PHINode* joined = builder_.CreatePHI(usual->getType(), 2);
  joined->addIncoming(rare, from);
  joined->addIncoming(usual, before_rare_);
  return joined;
}

llvm::AllocaInst* Nest::slot(llvm::Type* type, const char* name, Value* count) {
  BasicBlock& entry = function_->getEntryBlock();
  llvm::IRBuilder<> b(&entry, entry.begin());
  llvm::AllocaInst* a = b.CreateAlloca(type, count, name);
  a->setAlignment(llvm::Align(64));
  return a;
}
void Nest::finish() {
  levels_[0].block->getTerminator()->eraseFromParent();
  builder_.SetInsertPoint(levels_[0].block);
  builder_.CreateRetVoid();
}

}  // namespace cotan::native
