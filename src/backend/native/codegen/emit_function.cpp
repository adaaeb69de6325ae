#include "backend/native/codegen/emit_function.hpp"

#include <fmt/format.h>

#include <unordered_map>

#include "backend/native/codegen/emit_scalar.hpp"
#include "expr/math.hpp"

namespace cotan::native {

namespace {

using expr::Expr;
using expr::Op;
using llvm::Value;

int width_of(const Value* x) {
  const auto* v = llvm::dyn_cast<llvm::FixedVectorType>(x->getType());
  return v ? static_cast<int>(v->getNumElements()) : 1;
}
std::string suffix(DType t) { return t == DType::f32 ? "_f32" : "_f64"; }

llvm::Function* new_function(llvm::Module& module, const std::string& name, llvm::Type* result,
                             llvm::ArrayRef<llvm::Type*> types) {
  auto* f = llvm::Function::Create(llvm::FunctionType::get(result, types, false), llvm::Function::InternalLinkage, name,
                                   module);
  f->addFnAttr(llvm::Attribute::NoUnwind);
  f->addFnAttr(llvm::Attribute::NoInline);
  llvm::BasicBlock::Create(module.getContext(), "entry", f);
  return f;
}

/// The expressions of a function's body.
class BodyEmitter {
 public:
  BodyEmitter(llvm::Module& module, llvm::Function* function, int width)
      : module_(module), function_(function), width_(width), builder_(&function->getEntryBlock()) {}

  Value* emit(Expr e) {
    if (const auto at = known_.find(e.get()); at != known_.end()) return at->second;
    Value* v = emit_new(*e.get());
    known_.emplace(e.get(), v);
    return v;
  }
  void finish(Expr result) { builder_.CreateRet(emit(result)); }

 private:
  Value* emit_new(const expr::Node& node) {
    if (node.op == Op::load) return function_->getArg(static_cast<unsigned>(node.bits));
    if (node.op == Op::constant) {
      llvm::Constant* c = emit_constant(module_.getContext(), node);
      return width_ == 1
                 ? c
                 : llvm::ConstantVector::getSplat(llvm::ElementCount::getFixed(static_cast<unsigned>(width_)), c);
    }
    std::vector<Value*> x;
    for (Expr operand : node.operands) x.push_back(emit(operand));
    if (node.op == Op::call) return emit_function_call(builder_, module_, node, x);
    if (node.op == Op::patch) return emit_patch(node, x);
    return emit_operation(builder_, node, x);
  }
  Value* emit_patch(const expr::Node& node, llvm::ArrayRef<Value*> x) {
    llvm::LLVMContext& c = module_.getContext();
    Value* any = width_ == 1 ? x[0] : builder_.CreateOrReduce(x[0]);
    llvm::BasicBlock* before = builder_.GetInsertBlock();
    auto* rare = llvm::BasicBlock::Create(c, "rare", function_);
    auto* after = llvm::BasicBlock::Create(c, "after", function_);
    builder_.CreateCondBr(any, rare, after);
    builder_.SetInsertPoint(rare);
    Value* called =
        builder_.CreateSelect(x[0], emit_function_call(builder_, module_, node, x.drop_front(2), x[0]), x[1]);
    builder_.CreateBr(after);
    builder_.SetInsertPoint(after);
    auto* value = builder_.CreatePHI(x[1]->getType(), 2);
    value->addIncoming(x[1], before);
    value->addIncoming(called, rare);
    return value;
  }

  llvm::Module& module_;
  llvm::Function* function_;
  int width_;
  llvm::IRBuilder<> builder_;
  std::unordered_map<const expr::Node*, Value*> known_;
};

/// Constant operands stay constants: an expansion may depend on them.
llvm::Function* expanded(llvm::Module& module, const expr::Node& node, std::size_t first, llvm::ArrayRef<Value*> x) {
  if (!expr::math::has_expansion(*node.function)) return nullptr;
  const int width = width_of(x.back());
  std::string name = fmt::format("{}{}x{}", node.function->name, suffix(node.dtype), width);
  for (std::size_t k = 0; k < x.size(); ++k)
    if (const Expr e = node.operands[first + k]; e->op == Op::constant)
      name += fmt::format("_{}_{:x}", k, static_cast<std::uint64_t>(e->bits));
  if (llvm::Function* f = module.getFunction(name)) return f;
  expr::Graph graph;
  const expr::GraphScope scope(graph);
  std::vector<Expr> operands;
  std::vector<llvm::Type*> types;
  for (std::size_t k = 0; k < x.size(); ++k) {
    const Expr e = node.operands[first + k];
    operands.push_back(e->op == Op::constant ? expr::constant_bits(e->dtype, static_cast<std::uint64_t>(e->bits))
                                             : expr::load(static_cast<std::int64_t>(k), e->dtype, expr::integer(0)));
    types.push_back(x[k]->getType());
  }
  const Expr body = expr::math::expansion(*node.function, operands);
  if (!body) return nullptr;
  llvm::Function* f = new_function(module, name, x.back()->getType(), types);
  BodyEmitter(module, f, width).finish(body);
  return f;
}

/// callee(x…) in the lanes whose bits are set.
llvm::Function* lane_by_lane(llvm::Module& module, const std::string& symbol, llvm::FunctionCallee callee, int width,
                             llvm::ArrayRef<Value*> x) {
  const std::string name = fmt::format("{}x{}_lanes", symbol, width);
  if (llvm::Function* f = module.getFunction(name)) return f;
  llvm::LLVMContext& c = module.getContext();
  llvm::Type *i64 = llvm::Type::getInt64Ty(c), *vector = x[0]->getType(), *element = vector->getScalarType();
  std::vector<llvm::Type*> types{i64};
  types.insert(types.end(), x.size(), vector);
  llvm::Function* f = new_function(module, name, vector, types);
  llvm::IRBuilder<> b(&f->getEntryBlock());
  std::vector<Value*> slots;
  for (unsigned k = 0; k < x.size(); ++k) {
    slots.push_back(b.CreateAlloca(vector));
    b.CreateStore(f->getArg(k + 1), slots.back());
  }
  Value* out = b.CreateAlloca(vector);
  b.CreateStore(f->getArg(1), out);
  llvm::BasicBlock* entry = b.GetInsertBlock();
  auto* loop = llvm::BasicBlock::Create(c, "lane", f);
  auto* done = llvm::BasicBlock::Create(c, "done", f);
  const auto is_zero = [&](Value* v) { return b.CreateICmpEQ(v, llvm::ConstantInt::get(i64, 0)); };
  b.CreateCondBr(is_zero(f->getArg(0)), done, loop);
  b.SetInsertPoint(loop);
  auto* left = b.CreatePHI(i64, 2);
  left->addIncoming(f->getArg(0), entry);
  Value* lane = b.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, left, b.getTrue());
  std::vector<Value*> arguments;
  for (Value* slot : slots) arguments.push_back(b.CreateLoad(element, b.CreateGEP(element, slot, lane)));
  b.CreateStore(b.CreateCall(callee, arguments), b.CreateGEP(element, out, lane));
  Value* rest = b.CreateAnd(left, b.CreateSub(left, llvm::ConstantInt::get(i64, 1)));
  left->addIncoming(rest, loop);
  b.CreateCondBr(is_zero(rest), done, loop);
  b.SetInsertPoint(done);
  b.CreateRet(b.CreateLoad(vector, out));
  return f;
}

}  // namespace

Value* emit_function_call(llvm::IRBuilder<>& b, llvm::Module& module, const expr::Node& node, llvm::ArrayRef<Value*> x,
                          Value* mask) {
  const std::size_t first = node.operands.size() - x.size();
  if (llvm::Function* f = expanded(module, node, first, x)) return b.CreateCall(f, x);
  llvm::Type* type = register_type(module.getContext(), node.dtype);
  const std::string symbol = std::string(node.function->name) + suffix(node.dtype);
  const std::vector<llvm::Type*> types(x.size(), type);
  const auto callee = module.getOrInsertFunction(symbol, llvm::FunctionType::get(type, types, false));
  const int width = width_of(x.back());
  if (width == 1) return b.CreateCall(callee, x);
  Value* lanes = b.getInt64(width == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << width) - 1);
  if (mask)
    lanes = b.CreateZExtOrTrunc(b.CreateBitCast(mask, b.getIntNTy(static_cast<unsigned>(width))), b.getInt64Ty());
  std::vector<Value*> arguments{lanes};
  arguments.insert(arguments.end(), x.begin(), x.end());
  return b.CreateCall(lane_by_lane(module, symbol, callee, width, x), arguments);
}

}  // namespace cotan::native
