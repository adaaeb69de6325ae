// Nest: a loop nest under construction. Code can be added at any open level: an expression goes to the
// outermost loop in which its operands are known, so nothing is computed more often than it must be.
#pragma once
#include <llvm/IR/IRBuilder.h>

#include <vector>

namespace cotan::native {

class Nest {
 public:
  /// Level 0 is the function's own body; `entry` must be empty.
  explicit Nest(llvm::Function* function);

  int depth() const { return static_cast<int>(levels_.size()) - 1; }
  /// A builder that adds at the end of what is open at `level`.
  llvm::IRBuilder<> at(int level) {
    return llvm::IRBuilder<>(levels_[static_cast<std::size_t>(level)].block->getTerminator());
  }
  llvm::IRBuilder<> here() { return at(depth()); }

  /// Opens `for (i = begin; i < end; i += step)`; returns i.
  llvm::Value* open_loop(llvm::Value* begin, llvm::Value* end, std::int64_t step, const char* name);
  /// Opens `if (condition)`.
  void open_if(llvm::Value* condition);
  void close();
  /// A branch around rare code at `level`: returns the builder of the rare block; end_rare joins again.
  llvm::IRBuilder<>& begin_rare(int level, llvm::Value* condition);
  /// The value: `rare` where the branch was taken, else `usual`.
  llvm::Value* end_rare(int level, llvm::Value* rare, llvm::Value* usual);
  /// Stack memory of the function.
  llvm::AllocaInst* slot(llvm::Type* type, const char* name, llvm::Value* count = nullptr);
  void finish();  ///< returns from the function

 private:
  struct Level {
    llvm::BasicBlock* block;  ///< where code is added: before its last instruction
    llvm::PHINode* index = nullptr;
    llvm::Value* end = nullptr;
    std::int64_t step = 0;
    llvm::BasicBlock* start = nullptr;
    llvm::BasicBlock* exit = nullptr;
  };
  llvm::BasicBlock* new_block(const char* name);
  llvm::Function* function_;
  llvm::IRBuilder<> builder_, rare_;
  std::vector<Level> levels_;
  llvm::BasicBlock* before_rare_ = nullptr;
  llvm::BasicBlock* after_rare_ = nullptr;
};

}  // namespace cotan::native
