// The JIT: LLVM modules to machine code in memory, and what object files on disk depend on.
#pragma once
#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include <memory>
#include <string>

#include "backend/native/codegen/code.hpp"

namespace cotan::native {

/// Members die in the right order.
struct OwnedModule {
  std::unique_ptr<llvm::LLVMContext> context = std::make_unique<llvm::LLVMContext>();
  std::unique_ptr<llvm::Module> module;
};

/// A module as bytes, and back in a context of its own. Equal programs have equal bytes.
std::string bitcode_of(const llvm::Module& module);
OwnedModule module_of_bitcode(const std::string& bitcode);

class Engine {
 public:
  static Engine& instance();
  /// Register width to vectorise for, in bytes.
  int vector_bytes() const { return vector_bytes_; }
  const std::string& cpu() const { return cpu_; }
  /// Data layout and target of a new module.
  void prepare(llvm::Module& module) const;
  /// Makes a module one for the CPU of this machine; raises CompileError where it is not valid.
  void validate(llvm::Module& module) const;
  /// The object file of a valid module, made in full or in a hurry; the two compute the same bits.
  std::string object_of(llvm::Module& module, bool full, std::string* ir = nullptr, std::string* assembly = nullptr) const;
  /// Into memory; `entry` is the symbol to look up.
  LinkedCode link(const std::string& object, const std::string& entry);
  /// What objects on disk depend on, besides their source.
  std::string key(bool full) const;

 private:
  Engine();
  struct Impl;
  std::unique_ptr<Impl> impl_;
  int vector_bytes_ = 16;
  std::string cpu_;
};

}  // namespace cotan::native
