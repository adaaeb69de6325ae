// The JIT: LLVM modules to machine code in memory, and what object files on disk depend on.
#pragma once
#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backend/native/codegen/code.hpp"

namespace cotan::native {

/// The order of members is the reverse of the order in which they must be destroyed.
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
  /// Data layout and target of a new module.
  void prepare(llvm::Module& module) const;
  /// Makes a module one for the CPU of this machine; raises CompileError where it is not valid.
  void validate(llvm::Module& module) const;
  /// The object file of a valid module at its best; what is made in a hurry computes the same bits.
  std::string object_of(llvm::Module& module, std::string* ir = nullptr, std::string* assembly = nullptr) const;
  /// The same in a hurry; nothing where a function would need too much stack, since then every value has a place there.
  std::optional<std::string> quick_object_of(llvm::Module& module) const;
  /// Compiles a few instructions in full, so that all that LLVM makes once for the process is there.
  void warm_up() const;
  /// Into memory; `entry` is the symbol to look up, `steps` those of parts of the program.
  LinkedCode link(const std::string& object, const std::string& entry, const std::vector<std::string>& steps);
  /// What objects on disk depend on, besides their source.
  std::string key(bool full) const;

 private:
  Engine();
  std::string object_of(llvm::Module& module, bool full, std::string* ir, std::string* assembly) const;
  struct Impl;
  std::unique_ptr<Impl> impl_;
  int vector_bytes_ = 16;
  std::string cpu_;
};

}  // namespace cotan::native
