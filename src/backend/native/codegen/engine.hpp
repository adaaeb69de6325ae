// The JIT: LLVM modules to machine code in memory, through an optional cache of object files on disk.
#pragma once
#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include <memory>
#include <string>

namespace cotan::native {

struct Compiled {
  void* entry;
  std::shared_ptr<const void> memory;
  bool from_disk;
};

/// Members die in the right order.
struct OwnedModule {
  std::unique_ptr<llvm::LLVMContext> context = std::make_unique<llvm::LLVMContext>();
  std::unique_ptr<llvm::Module> module;
};

class Engine {
 public:
  static Engine& instance();
  /// Register width to vectorise for, in bytes.
  int vector_bytes() const { return vector_bytes_; }
  const std::string& cpu() const { return cpu_; }
  /// Data layout and target of a new module.
  void prepare(llvm::Module& module) const;
  /// Optimises and compiles; `entry` is the symbol to look up. Raises CompileError.
  Compiled compile(OwnedModule owned, const std::string& entry, std::string* ir = nullptr, std::string* assembly = nullptr);

 private:
  Engine();
  struct Impl;
  std::unique_ptr<Impl> impl_;
  int vector_bytes_ = 16;
  std::string cpu_;
};

}  // namespace cotan::native
