#include <llvm/IR/IntrinsicsX86.h>

#include <algorithm>
#include <cmath>

#include "backend/native/codegen/emit_function.hpp"
#include "backend/native/codegen/emit_scalar.hpp"
#include "backend/native/codegen/kernel_emitter.hpp"
#include "compiler/definitions.hpp"
#include "compiler/memory.hpp"
#include "core/error.hpp"

namespace cotan::native {

void KernelEmitter::emit() {
  if (once_) {
    decode(number(0));
  } else {
    Value* begin = schedule_.grain ? function_->getArg(1) : number(0);
    Value* end = schedule_.grain ? function_->getArg(2) : number(schedule_.iterations);
    decode(open_loop(begin, end, 1, "iteration"));
  }
  if (tiled_ && schedule_.squares) {
    over_squares();
  } else if (tiled_) {
    variables_[tiled_->variable.get()] = open_loop(tile_begin_, tile_end_, 1, "row");
    over_vectors();
    close();
  } else if (schedule_.sums_in_memory) {
    sum_in_memory();
  } else if (vector_ && !lanes_reduce_) {
    over_vectors();
  } else {
    run_passes(1);
  }
  if (!once_) close();
  if (streamed_) nest_.here().CreateIntrinsic(llvm::Intrinsic::x86_sse_sfence, {}, {});
  nest_.finish();
}

void KernelEmitter::assign_levels() {
  once_ = !schedule_.grain && schedule_.iterations == 1;
  single_vector_ = vector_ && !lanes_reduce_ && !schedule_.block && !schedule_.sums_in_memory && !schedule_.squares &&
                   vector_->extent == std::int64_t{schedule_.width} * schedule_.unroll;
  int level = once_ ? 0 : 1;
  for (const Loop* l : kept_)
    if (l != vector_ && l != tiled_) levels_[l->variable.get()] = level;
  if (tiled_) levels_[tiled_->variable.get()] = ++level;
  if (schedule_.sums_in_memory) {  // reduced loops outside, the kept vector loop inside
    for (const Loop* l : reduced_) levels_[l->variable.get()] = ++level;
    levels_[vector_->variable.get()] = ++level;
    row_level_ = innermost_ = level;
    return;
  }
  if (vector_ && !lanes_reduce_) levels_[vector_->variable.get()] = single_vector_ ? level : ++level;
  row_level_ = level;
  for (const Loop* l : reduced_)
    if (l != vector_) levels_[l->variable.get()] = ++level;
  if (lanes_reduce_) levels_[vector_->variable.get()] = ++level;
  innermost_ = level;
  if (!vector_ || !reduced_.empty() || single_vector_) return;
  constexpr std::ptrdiff_t most_hoisted = 32;
  std::vector<Expr> loads;
  for (const Pass& pass : kernel_.passes)
    for (const Store& s : pass.stores) compiler::collect_loads(s.value, loads);
  std::sort(loads.begin(), loads.end(), [](Expr a, Expr b) { return a->id < b->id; });
  loads.erase(std::unique(loads.begin(), loads.end()), loads.end());
  loads_inside_ = std::count_if(loads.begin(), loads.end(), [&](Expr l) { return !depends_on(l, vector_->variable); }) >
                  most_hoisted;
}

Value* KernelEmitter::open_loop(Value* begin, Value* end, std::int64_t step, const char* name) {
  Value* i = nest_.open_loop(begin, end, step, name);
  memo_.resize(static_cast<std::size_t>(nest_.depth()) + 1);
  columns_.resize(memo_.size());
  return i;
}

void KernelEmitter::open_if(Value* condition) {
  nest_.open_if(condition);
  memo_.resize(static_cast<std::size_t>(nest_.depth()) + 1);
  columns_.resize(memo_.size());
}

void KernelEmitter::close() {
  nest_.close();
  memo_.resize(static_cast<std::size_t>(nest_.depth()) + 1);
  columns_.resize(memo_.size());
}

KernelEmitter::Place KernelEmitter::place_of(Expr e) {
  if (const auto at = places_.find(e.get()); at != places_.end()) return at->second;
  Place p;
  if (e->op == Op::variable) {
    const auto level = levels_.find(e.get());
    internal_check(level != levels_.end(), "a kernel uses a loop variable that it does not have");
    p = {level->second, vector_ && e == vector_->variable && schedule_.width > 1, tiled_ && e == tiled_->variable};
  } else if (e->op == Op::load && reductions_.contains(static_cast<BufferId>(e->bits))) {
    p = {row_level_, vector_ && !lanes_reduce_ && schedule_.width > 1};
  } else {
    for (Expr x : e->operands) {
      const Place q = place_of(x);
      p = {std::max(p.level, q.level), p.varying || q.varying, p.tiled || q.tiled};
    }
    // More vectors than there are registers would be written to the stack and read back.
    if (e->op == Op::load && loads_inside_) p.level = innermost_;
    if (e->op == Op::load && written_.contains(static_cast<BufferId>(e->bits))) {
      // What an earlier pass has stored must not be read before that pass has ended: nothing is hoisted.
      p.level = innermost_;
      if (in_lane_rows(static_cast<BufferId>(e->bits))) p.varying = schedule_.width > 1;
    }
  }
  places_.emplace(e.get(), p);
  return p;
}

void KernelEmitter::decode(Value* t) {
  auto b = nest_.here();
  struct Digit {
    std::int64_t extent;
    std::function<void(Value*)> set;
  };
  std::vector<Digit> digits;
  for (const Loop* l : kept_)
    if (l != vector_ && l != tiled_)
      digits.push_back({l->extent, [this, l](Value* v) { variables_[l->variable.get()] = v; }});
  if (tiled_)
    digits.push_back({ceil_div(tiled_->extent, schedule_.tile), [&](Value* v) {
                        tile_begin_ = b.CreateMul(v, number(schedule_.tile));
                        tile_end_ = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin,
                                                            b.CreateAdd(tile_begin_, number(schedule_.tile)),
                                                            number(tiled_->extent));
                      }});
  if (vector_ && !lanes_reduce_) {
    vector_begin_ = number(0);
    vector_end_ = number(vector_->extent);
    if (schedule_.block)
      digits.push_back({ceil_div(vector_->extent, schedule_.block), [&](Value* v) {
                          vector_begin_ = b.CreateMul(v, number(schedule_.block));
                          vector_end_ = b.CreateAdd(vector_begin_, number(schedule_.block));
                          if (vector_->extent % schedule_.block)
                            vector_end_ =
                                b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, vector_end_, number(vector_->extent));
                        }});
  }
  for (std::size_t k = digits.size(); k-- > 0;) {
    if (k == 0) {
      digits[k].set(t);
      break;
    }
    digits[k].set(b.CreateURem(t, number(digits[k].extent)));
    t = b.CreateUDiv(t, number(digits[k].extent));
  }
}

bool KernelEmitter::has_rest(std::int64_t begin_multiple, std::int64_t extent, std::int64_t step) const {
  if (begin_multiple == 0) return extent % step != 0;
  return begin_multiple % step != 0 || extent % step != 0;
}

void KernelEmitter::vector_loop(Value* begin, Value* end, std::int64_t piece, int unroll,
                                llvm::function_ref<void(int)> body) {
  const std::int64_t width = schedule_.width, step = width * unroll;
  const bool rest = has_rest(piece, vector_->extent, step);
  const bool main = piece ? piece >= step : vector_->extent >= step;
  if (single_vector_) {
    base_ = number(0);
    variables_[vector_->variable.get()] = base_;
    body(unroll);
    return;
  }
  Value* main_end = end;
  if (main && rest) {
    auto b = nest_.here();
    Value* length = b.CreateSub(end, begin);
    main_end = b.CreateAdd(begin, b.CreateSub(length, b.CreateSRem(length, number(step))));
  }
  if (main) {
    base_ = open_loop(begin, main_end, step, "vector");
    variables_[vector_->variable.get()] = base_;
    body(unroll);
    close();
  }
  if (!rest) return;
  Value* from = main ? main_end : begin;
  const bool once = unroll == 1;
  if (once && main)
    open_if(nest_.here().CreateICmpSLT(from, end)), base_ = from;
  else
    base_ = open_loop(from, end, width, "rest");
  variables_[vector_->variable.get()] = base_;
  auto b = nest_.here();
  if (width > 1) {
    Value* index = b.CreateAdd(splat(b, base_), lane_numbers());
    mask_ = b.CreateICmpSLT(index, splat(b, end));
  }
  body(1);
  mask_ = nullptr;
  close();
}

void KernelEmitter::over_vectors() {
  vector_loop(vector_begin_, vector_end_, schedule_.block, schedule_.unroll, [&](int vectors) { run_passes(vectors); });
}

void KernelEmitter::over_squares() {
  const std::int64_t n = schedule_.width;
  auto b = nest_.here();
  const auto whole = [&](Value* begin, Value* end) {
    return b.CreateAdd(begin, b.CreateAnd(b.CreateSub(end, begin), number(-n)));
  };
  Value *rows = whole(tile_begin_, tile_end_), *lanes = whole(vector_begin_, vector_end_);
  Value *&row = variables_[tiled_->variable.get()], *&lane = variables_[vector_->variable.get()];
  row = open_loop(tile_begin_, rows, n, "square");
  lane = base_ = open_loop(vector_begin_, lanes, n, "vector");
  in_square_ = true;
  run_passes(static_cast<int>(n));
  in_square_ = false;
  square_rows_.clear();
  close();
  close();
  if (tiled_->extent % n == 0 && vector_->extent % n == 0) return;
  row = open_loop(tile_begin_, tile_end_, 1, "row");
  auto at_row = nest_.here();
  lane = base_ =
      open_loop(at_row.CreateSelect(at_row.CreateICmpSLT(row, rows), lanes, vector_begin_), vector_end_, n, "rest");
  auto at_lane = nest_.here();
  mask_ = at_lane.CreateICmpSLT(at_lane.CreateAdd(splat(at_lane, base_), lane_numbers()), splat(at_lane, vector_end_));
  run_passes(1);
  mask_ = nullptr;
  close();
  close();
}

llvm::Constant* KernelEmitter::splat_constant(llvm::Value* scalar) {
  auto* c = llvm::cast<llvm::Constant>(scalar);
  return schedule_.width == 1
             ? c
             : llvm::ConstantVector::getSplat(llvm::ElementCount::getFixed(static_cast<unsigned>(schedule_.width)), c);
}

Value* KernelEmitter::splat(llvm::IRBuilder<>& b, Value* x) {
  if (auto* c = llvm::dyn_cast<llvm::Constant>(x)) return splat_constant(c);
  return schedule_.width == 1 ? x : b.CreateVectorSplat(static_cast<unsigned>(schedule_.width), x);
}

llvm::Constant* KernelEmitter::lane_numbers() {
  std::vector<llvm::Constant*> lanes;
  for (int k = 0; k < schedule_.width; ++k)
    lanes.push_back(llvm::ConstantInt::get(i64_, static_cast<std::uint64_t>(k)));
  return llvm::ConstantVector::get(lanes);
}

Value* KernelEmitter::emit_lanes(Expr e, int u) {
  Value* v = emit(e, u);
  if (schedule_.width == 1 || place_of(e).varying) return v;
  auto b = nest_.here();
  return splat(b, v);
}

Value* KernelEmitter::emit_scalar(Expr e, int u) {
  internal_check(!place_of(e).varying, "an expression that differs between lanes is used as a scalar");
  return emit(e, u);
}

Value* KernelEmitter::emit(Expr e, int u) {
  if (e->op == Op::constant) return emit_constant(context_, *e.get());
  const Place place = place_of(e);
  const std::pair key{e.get(), place.varying || (place.tiled && in_square_) ? u : 0};
  if (e->op == Op::load) {
    const auto buffer = static_cast<BufferId>(e->bits);
    if (const auto r = reductions_.find(buffer); r != reductions_.end()) {
      Value* result = results_.at({buffer, place.varying ? u : 0});
      const DType from = r->second->position ? DType::i64 : r->second->value->dtype;
      auto b = nest_.at(place.level);
      return emit_cast(b, result, from, e->dtype);
    }
  }
  auto& known = memo_[static_cast<std::size_t>(place.level)];
  if (const auto at = known.find(key); at != known.end()) return at->second;
  Value* v = emit_new(e, u, place);
  memo_[static_cast<std::size_t>(place.level)].emplace(key, v);
  return v;
}

Value* KernelEmitter::emit_new(Expr e, int u, Place place) {
  if (e->op == Op::variable) {
    Value* v = variables_.at(e.get());
    auto b = nest_.at(place.level);
    if (!place.varying) return place.tiled && in_square_ ? b.CreateAdd(v, number(u)) : v;
    return b.CreateAdd(splat(b, in_square_ ? v : b.CreateAdd(v, number(std::int64_t{u} * schedule_.width))),
                       lane_numbers());
  }
  if (e->op == Op::load) return emit_load(e, u, place);
  if (divides_by_one_number(e, place)) return emit_quotient(e, u, place);
  std::vector<Value*> x;
  for (Expr operand : e->operands) x.push_back(emit(operand, u));
  auto b = nest_.at(place.level);
  if (place.varying)
    for (std::size_t k = 0; k < x.size(); ++k)
      if (!place_of(e->operands[k]).varying) x[k] = splat(b, x[k]);
  if (e->op == Op::call) return emit_function_call(b, module_, *e.get(), x);
  if (e->op == Op::patch) return emit_patch(*e.get(), x, place);
  return emit_operation(b, *e.get(), x);
}

bool KernelEmitter::divides_by_one_number(Expr e, Place place) {
  if (e->op != Op::div || !lanes_reduce_ || !place.varying || (e->dtype != DType::f32 && e->dtype != DType::f64))
    return false;
  const Place divisor = place_of(e->operands[1]);
  return !divisor.varying && divisor.level < place.level && e->operands[1]->op != Op::constant;
}

Value* KernelEmitter::emit_quotient(Expr e, int u, Place place) {
  const Expr divisor = e->operands[1];
  const int exponents = e->dtype == DType::f32 ? 60 : 500;
  const Expr usual =
      ge(divisor, like(divisor, std::ldexp(1.0, -exponents))) & le(divisor, like(divisor, std::ldexp(1.0, exponents)));
  Value *x = emit(e->operands[0], u), *is_usual = emit(usual, u);
  Value *shared = emit(divisor, u), *reciprocal = emit(1.0 / divisor, u);
  auto b = nest_.at(place.level);
  Value *d = splat(b, shared), *r = splat(b, reciprocal);
  llvm::Type* type = x->getType();
  const auto fma = [&](Value* a, Value* y, Value* z) {
    return b.CreateIntrinsic(llvm::Intrinsic::fma, {type}, {a, y, z});
  };
  Value* near = b.CreateFMul(x, r);
  Value* error = fma(near, d, b.CreateFNeg(x));
  // Infinities are right as they are.
  Value* finite =
      b.CreateFCmpOLT(b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, error), llvm::ConstantFP::getInfinity(type));
  Value* quotient = b.CreateSelect(finite, fma(b.CreateFNeg(error), r, near), near);
  auto& rare = nest_.begin_rare(place.level, b.CreateNot(is_usual));
  return nest_.end_rare(place.level, rare.CreateFDiv(x, d), quotient);
}

Value* KernelEmitter::emit_patch(const expr::Node& node, llvm::ArrayRef<Value*> x, Place place) {
  auto b = nest_.at(place.level);
  Value* any = x[0]->getType()->isVectorTy() ? b.CreateOrReduce(x[0]) : x[0];
  auto& rare = nest_.begin_rare(place.level, any);
  Value* called = rare.CreateSelect(x[0], emit_function_call(rare, module_, node, x.drop_front(2), x[0]), x[1]);
  return nest_.end_rare(place.level, called, x[1]);
}

/// In a loop, kernels with more code than this are called and not inlined: their arrays are not in registers anyway,
/// and the time of LLVM's scheduler grows with the square of a block's loads and stores.
constexpr unsigned most_inlined = 800;

llvm::Function* emit_kernel(llvm::Module& module, const Program& program, const Kernel& kernel,
                            const KernelArguments& arguments, const KernelSchedule& schedule, bool inlined,
                            const std::string& name) {
  llvm::LLVMContext& c = module.getContext();
  llvm::Type *ptr = llvm::PointerType::getUnqual(c), *i64 = llvm::Type::getInt64Ty(c);
  std::vector<llvm::Type*> parameters{ptr, i64, i64};
  if (inlined) {
    parameters.assign(arguments.buffers.size(), ptr);
    parameters.insert(parameters.end(), arguments.indices.size(), i64);
  }
  auto* type = llvm::FunctionType::get(llvm::Type::getVoidTy(c), parameters, false);
  llvm::Function* f = llvm::Function::Create(type, llvm::Function::InternalLinkage, name, module);
  f->addFnAttr(llvm::Attribute::NoUnwind);
  if (inlined) {
    f->addFnAttr(llvm::Attribute::AlwaysInline);
  } else {
    f->addParamAttr(0, llvm::Attribute::NoAlias);
    f->addParamAttr(0, llvm::Attribute::ReadOnly);
  }
  KernelEmitter(module, program, kernel, arguments, schedule, inlined, f).emit();
  if (inlined && f->getInstructionCount() > most_inlined) {
    f->removeFnAttr(llvm::Attribute::AlwaysInline);
    f->addFnAttr(llvm::Attribute::NoInline);
  }
  return f;
}

}  // namespace cotan::native
