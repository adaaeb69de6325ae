#include "backend/native/codegen/engine.hpp"

#include <llvm/Analysis/CGSCCPassManager.h>
#include <llvm/Analysis/LoopAnalysisManager.h>
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/Bitcode/BitcodeWriter.h>
#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Verifier.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetOptions.h>
#include <llvm/TargetParser/Host.h>
#include <llvm/Transforms/IPO/AlwaysInliner.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/LICM.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include <atomic>

#include "backend/native/runtime/symbols.hpp"
#include "core/error.hpp"

namespace cotan::native {

namespace {

[[noreturn]] void fail(llvm::Error error, std::string_view what) {
  raise<CompileError>("[native] {}: {}; this is a bug in cotan.", what, llvm::toString(std::move(error)));
}
template <class T>
T check(llvm::Expected<T> value, std::string_view what) {
  if (!value) fail(value.takeError(), what);
  return std::move(*value);
}

/// The few LLVM passes that are still needed: kernels arrive vectorised, with common subexpressions shared and
/// invariant code hoisted, so a light pipeline is enough and compiles fast. In a hurry: only passes that save later
/// ones work.
void optimize(llvm::Module& module, llvm::TargetMachine& machine, bool full) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  // Kernels inside loops become part of the loop: then what they leave in small arrays stays in registers.
  bool loops_in_program = false;
  for (llvm::Function& f : module) loops_in_program |= f.hasFnAttribute(llvm::Attribute::AlwaysInline);
  llvm::ModulePassManager all;
  if (loops_in_program) all.addPass(llvm::AlwaysInlinerPass(false));
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  if (full) {
    passes.addPass(llvm::EarlyCSEPass());
    passes.addPass(llvm::InstCombinePass());
  }
  if (full && loops_in_program) {
    passes.addPass(llvm::createFunctionToLoopPassAdaptor(llvm::LICMPass(llvm::LICMOptions()), true));
    passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
    passes.addPass(llvm::EarlyCSEPass(true));
    passes.addPass(llvm::InstCombinePass());
  }
  if (full) passes.addPass(llvm::SimplifyCFGPass());
  all.addPass(llvm::createModuleToFunctionPassAdaptor(std::move(passes)));
  all.run(module, modules);
}

}  // namespace

struct Engine::Impl {
  std::unique_ptr<llvm::orc::LLJIT> jit;
  std::string triple, features, machine_key;
  llvm::DataLayout layout{""};
  std::atomic<std::uint64_t> modules{0};

  std::unique_ptr<llvm::TargetMachine> new_machine(const std::string& cpu, bool full = true) const {
    std::string error;
    const llvm::Target* target = llvm::TargetRegistry::lookupTarget(triple, error);
    if (!target) raise<CompileError>("[native] LLVM has no target {}: {}; reinstall LLVM.", triple, error);
    llvm::TargetOptions options;
    return std::unique_ptr<llvm::TargetMachine>(
        target->createTargetMachine(triple, cpu, features, options, llvm::Reloc::PIC_, llvm::CodeModel::Small,
                                    full ? llvm::CodeGenOptLevel::Default : llvm::CodeGenOptLevel::None, true));
  }
};

Engine& Engine::instance() {
  static Engine& engine = *new Engine;  // never destroyed: compiled programs may outlive everything
  return engine;
}

Engine::Engine() : impl_(std::make_unique<Impl>()) {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  llvm::InitializeNativeTargetAsmParser();
  cpu_ = llvm::sys::getHostCPUName().str();
  impl_->triple = llvm::sys::getProcessTriple();
  std::vector<std::string> features;
  const auto host = llvm::sys::getHostCPUFeatures();
  for (const auto& feature : host) features.push_back((feature.second ? "+" : "-") + feature.first().str());
  std::sort(features.begin(), features.end());
  impl_->features = fmt::format("{}", fmt::join(features, ","));
  const auto has = [&](const char* name) {
    const auto at = host.find(name);
    return at != host.end() && at->second;
  };
  vector_bytes_ = has("avx512f") && has("avx512bw") && has("avx512vl") && has("avx512dq") ? 64 : has("avx2") ? 32 : 16;
  impl_->layout = impl_->new_machine(cpu_)->createDataLayout();
  impl_->machine_key = fmt::format("cotan {} llvm {} {} {} {}", COTAN_VERSION, LLVM_VERSION_STRING, impl_->triple, cpu_,
                                   impl_->features);

  impl_->jit = check(llvm::orc::LLJITBuilder().create(), "the JIT did not start");
  auto& dylib = impl_->jit->getMainJITDylib();
  // memcpy and its kind, which LLVM may call on its own.
  dylib.addGenerator(
      check(llvm::orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(impl_->layout.getGlobalPrefix()),
            "the process's symbols are not there"));
  llvm::orc::SymbolMap symbols;
  for (const RuntimeSymbol& s : runtime_symbols())
    symbols[impl_->jit->mangleAndIntern(std::string(s.name))] = {
        llvm::orc::ExecutorAddr::fromPtr(s.address), llvm::JITSymbolFlags::Exported | llvm::JITSymbolFlags::Callable};
  if (auto error = dylib.define(llvm::orc::absoluteSymbols(std::move(symbols))))
    fail(std::move(error), "run-time symbols");
}

void Engine::prepare(llvm::Module& module) const {
  module.setTargetTriple(impl_->triple);
  module.setDataLayout(impl_->layout);
}

std::string bitcode_of(const llvm::Module& module) {
  std::string out;
  llvm::raw_string_ostream stream(out);
  llvm::WriteBitcodeToFile(module, stream);
  return out;
}
OwnedModule module_of_bitcode(const std::string& bitcode) {
  OwnedModule owned;
  owned.module = check(llvm::parseBitcodeFile(llvm::MemoryBufferRef(bitcode, "cotan"), *owned.context),
                       "the code's own source was not accepted");
  return owned;
}

void Engine::validate(llvm::Module& module) const {
  for (llvm::Function& f : module) {
    if (f.isDeclaration()) continue;
    f.addFnAttr("prefer-vector-width", std::to_string(8 * vector_bytes_));
    f.addFnAttr("min-legal-vector-width", std::to_string(8 * vector_bytes_));
    f.addFnAttr("target-cpu", cpu_);
    f.addFnAttr("target-features", impl_->features);
  }
  std::string problem;
  llvm::raw_string_ostream problems(problem);
  if (llvm::verifyModule(module, &problems))
    raise<CompileError>("[native] the generated code is not valid: {}; this is a bug in cotan.", problem);
}

std::string Engine::key(bool full) const {
  // To be raised when the passes change: compiled objects are kept on disk by it.
  constexpr int passes = 2;
  return fmt::format("{} passes {} {}", impl_->machine_key, passes, full ? "full" : "quick");
}

std::string Engine::object_of(llvm::Module& module, std::string* ir, std::string* assembly) const {
  return object_of(module, true, ir, assembly);
}

std::optional<std::string> Engine::quick_object_of(llvm::Module& module) const {
  constexpr int most_stack_bytes = 1 << 20;
  for (llvm::Function& f : module)
    if (!f.isDeclaration()) f.addFnAttr("warn-stack-size", std::to_string(most_stack_bytes));
  bool too_much = false;
  module.getContext().setDiagnosticHandlerCallBack(
      [](const llvm::DiagnosticInfo* info, void* noted) {
        if (llvm::isa<llvm::DiagnosticInfoStackSize>(info)) *static_cast<bool*>(noted) = true;
      },
      &too_much);
  std::string object = object_of(module, false, nullptr, nullptr);
  module.getContext().setDiagnosticHandlerCallBack(nullptr, nullptr);
  return too_much ? std::nullopt : std::optional(std::move(object));
}

std::string Engine::object_of(llvm::Module& module, bool full, std::string* ir, std::string* assembly) const {
  const auto machine = impl_->new_machine(cpu_, full);
  optimize(module, *machine, full);
  if (ir) {
    llvm::raw_string_ostream out(*ir);
    module.print(out, nullptr);
  }
  const auto emit = [&](llvm::CodeGenFileType type, llvm::Module& m) {
    llvm::SmallString<0> buffer;
    llvm::raw_svector_ostream out(buffer);
    llvm::legacy::PassManager passes;
    machine->addPassesToEmitFile(passes, out, nullptr, type);
    passes.run(m);
    return std::string(buffer.str());
  };
  if (assembly) {
    const auto copy = llvm::CloneModule(module);
    *assembly = emit(llvm::CodeGenFileType::AssemblyFile, *copy);
  }
  return emit(llvm::CodeGenFileType::ObjectFile, module);
}

void Engine::warm_up() const {
  OwnedModule owned;
  owned.module = std::make_unique<llvm::Module>("warm up", *owned.context);
  prepare(*owned.module);
  llvm::IRBuilder<> b(*owned.context);
  auto* function = llvm::Function::Create(llvm::FunctionType::get(b.getVoidTy(), {b.getPtrTy()}, false),
                                          llvm::Function::ExternalLinkage, "warm_up", *owned.module);
  b.SetInsertPoint(llvm::BasicBlock::Create(*owned.context, "entry", function));
  // Three quarters of two registers: such vectors are split, and widened.
  auto* type = llvm::FixedVectorType::get(b.getFloatTy(), static_cast<unsigned>(vector_bytes_) * 3 / 8);
  llvm::Value* x = b.CreateAlignedLoad(type, function->getArg(0), llvm::Align(4));
  llvm::Value* y = b.CreateFAdd(x, x);
  b.CreateAlignedStore(b.CreateSelect(b.CreateFCmpOLT(x, y), x, y), function->getArg(0), llvm::Align(4));
  b.CreateRetVoid();
  validate(*owned.module);
  object_of(*owned.module);
}

LinkedCode Engine::link(const std::string& object, const std::string& entry, const std::vector<std::string>& steps) {
  auto& session = impl_->jit->getExecutionSession();
  auto library = impl_->jit->createJITDylib(fmt::format("program{}", impl_->modules++));
  if (!library) fail(library.takeError(), "a new library");
  llvm::orc::JITDylib& dylib = *library;
  dylib.addToLinkOrder(impl_->jit->getMainJITDylib());
  const auto remove = [&session, &dylib] { llvm::consumeError(session.removeJITDylib(dylib)); };
  if (auto error = impl_->jit->addObjectFile(dylib, llvm::MemoryBuffer::getMemBufferCopy(object))) {
    remove();
    fail(std::move(error), "the object file was not accepted");
  }
  const auto find = [&](const std::string& name) {
    auto address = impl_->jit->lookup(dylib, name);
    if (!address) {
      remove();
      fail(address.takeError(), "the program was not linked");
    }
    return *address;
  };
  const auto code = find(entry).toPtr<Entry>();
  std::vector<const void*> parts;
  for (const std::string& name : steps) parts.push_back(find(name).toPtr<const void*>());
  return {code, std::move(parts),
          std::shared_ptr<const void>(reinterpret_cast<const void*>(code), [remove](const void*) { remove(); })};
}

}  // namespace cotan::native
