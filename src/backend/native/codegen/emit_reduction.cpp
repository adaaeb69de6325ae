// Passes of a kernel: what is summed, compared and combined, in lanes and across them.
#include <llvm/IR/IntrinsicsX86.h>

#include <algorithm>

#include "backend/native/codegen/emit_scalar.hpp"
#include "backend/native/codegen/kernel_emitter.hpp"
#include "compiler/memory.hpp"
#include "core/error.hpp"

namespace cotan::native {

void KernelEmitter::run_passes(int vectors) {
  for (std::size_t k = 0; k < kernel_.passes.size(); ++k) {
    const Pass& pass = kernel_.passes[k];
    if (reduced_.empty() && pass.reductions.empty()) {
      store_all(pass.stores, vectors);
    } else {
      reduce(pass, lanes_reduce_ ? schedule_.vectors_in(k) : vectors);
    }
    store_all(pass.rows, lanes_reduce_ ? 1 : vectors);
  }
}

void KernelEmitter::reduce(const Pass& pass, int vectors) {
  std::vector<Accumulator> accumulators;
  for (const Reduce& r : pass.reductions) {
    Accumulator a{&r, {}, {}};
    for (int u = 0; u < vectors; ++u) {
      a.values.push_back(nest_.slot(vector_of(register_type(context_, r.value->dtype), schedule_.width), "sum"));
      nest_.here().CreateStore(splat_constant(identity(r.op, r.value->dtype)), a.values.back());
      if (r.position) {
        a.positions.push_back(nest_.slot(vector_of(i64_, schedule_.width), "position"));
        nest_.here().CreateStore(splat_constant(number(std::numeric_limits<std::int64_t>::max())), a.positions.back());
      }
    }
    accumulators.push_back(std::move(a));
  }
  int opened = 0;
  for (const Loop* l : reduced_) {
    if (l == vector_) continue;
    const auto [begin, end] = bounds(*l);
    variables_[l->variable.get()] = open_loop(begin, end, 1, "reduce");
    ++opened;
  }
  const auto body = [&](int n) {
    for (Accumulator& a : accumulators)
      for (int u = 0; u < n; ++u) accumulate(a, u);
    store_all(pass.stores, n);
  };
  if (lanes_reduce_) {
    const auto [begin, end] = bounds(*vector_);
    vector_loop(begin, end, vector_->length, vectors, body);
  } else {
    body(vectors);
  }
  for (; opened > 0; --opened) close();
  for (const Accumulator& a : accumulators) finish(a);
}

void KernelEmitter::sum_in_memory() {
  const Pass& pass = kernel_.passes[0];
  const std::int64_t length = schedule_.block ? schedule_.block : round_up(vector_->extent, schedule_.width);
  std::vector<Accumulator> rows;
  for (const Reduce& r : pass.reductions) {
    llvm::Type* element = register_type(context_, r.value->dtype);
    rows.push_back({&r, {nest_.slot(llvm::ArrayType::get(element, static_cast<std::uint64_t>(length)), "sums")}, {}});
  }
  const auto slot = [&](llvm::IRBuilder<>& b, const Accumulator& a) {
    Value* at = b.CreateSub(base_, vector_begin_);
    return b.CreateInBoundsGEP(register_type(context_, a.reduce->value->dtype), a.values[0], at);
  };
  // Row by row: set, add, and take the results out.
  in_row_loop(
      [&] {
        auto b = nest_.here();
        for (const Accumulator& a : rows)
          b.CreateAlignedStore(splat_constant(identity(a.reduce->op, a.reduce->value->dtype)), slot(b, a),
                               llvm::Align(64));
      },
      static_cast<int>(reduced_.size()));
  for (const Loop* l : reduced_) {
    const auto [begin, end] = bounds(*l);
    variables_[l->variable.get()] = open_loop(begin, end, 1, "reduce");
  }
  over_vectors_with([&](int) {
    for (const Accumulator& a : rows) {
      const Reduce& r = *a.reduce;
      llvm::Type* type = vector_of(register_type(context_, r.value->dtype), schedule_.width);
      Value* x = emit_lanes(r.value, 0);
      auto b = nest_.here();
      Value* old = b.CreateAlignedLoad(type, slot(b, a), llvm::Align(64));
      b.CreateAlignedStore(combine(b, r.op, r.value->dtype, old, x), slot(b, a), llvm::Align(64));
    }
    store_all(pass.stores, 1);
  });
  for (std::size_t k = 0; k < reduced_.size(); ++k) close();
  in_row_loop(
      [&] {
        auto b = nest_.here();
        for (const Accumulator& a : rows) {
          llvm::Type* type = vector_of(register_type(context_, a.reduce->value->dtype), schedule_.width);
          results_[{a.reduce->result, 0}] = b.CreateAlignedLoad(type, slot(b, a), llvm::Align(64));
        }
        store_all(pass.rows, 1);
      },
      static_cast<int>(reduced_.size()));
}

template <class F>
void KernelEmitter::over_vectors_with(F&& body) {
  vector_loop(vector_begin_, vector_end_, schedule_.block, schedule_.unroll, body);
}

template <class F>
void KernelEmitter::in_row_loop(F&& body, int loops) {
  for (int k = 0; k < loops; ++k) open_if(llvm::ConstantInt::getTrue(context_));
  over_vectors_with([&](int) { body(); });
  for (int k = 0; k < loops; ++k) close();
}

void KernelEmitter::accumulate(const Accumulator& a, int u) {
  const Reduce& r = *a.reduce;
  llvm::Type* type = a.values[u]->getAllocatedType();
  const bool fused = r.op == ReduceOp::sum && r.value->op == Op::mul && is_floating(r.value->dtype);
  Value *x = nullptr, *y = nullptr;
  if (fused)
    x = emit_lanes(r.value->operands[0], u), y = emit_lanes(r.value->operands[1], u);
  else
    x = emit_lanes(r.value, u);
  Value* position = r.position ? emit_lanes(r.position, u) : nullptr;
  auto b = nest_.here();
  Value* old = b.CreateLoad(type, a.values[u]);
  Value* combined = nullptr;
  if (r.position) {
    Value* old_position = b.CreateLoad(a.positions[u]->getAllocatedType(), a.positions[u]);
    Value* better = is_better(b, r, x, position, old, old_position);
    if (mask_) better = b.CreateAnd(better, mask_);
    combined = b.CreateSelect(better, x, old);
    b.CreateStore(b.CreateSelect(better, position, old_position), a.positions[u]);
  } else {
    combined =
        fused ? b.CreateIntrinsic(llvm::Intrinsic::fma, {type}, {x, y, old}) : combine(b, r.op, r.value->dtype, old, x);
    if (mask_) combined = b.CreateSelect(mask_, combined, old);
  }
  b.CreateStore(combined, a.values[u]);
}

void KernelEmitter::finish(const Accumulator& a) {
  auto b = nest_.here();
  const Reduce& r = *a.reduce;
  llvm::Type* type = a.values[0]->getAllocatedType();
  std::vector<Value*> values, positions;
  for (auto* slot : a.values) values.push_back(b.CreateLoad(type, slot));
  for (auto* slot : a.positions) positions.push_back(b.CreateLoad(slot->getAllocatedType(), slot));
  const auto join = [&](Value*& v, Value*& p, Value* w, Value* q) {
    if (r.position) {
      Value* better = is_better(b, r, w, q, v, p);
      v = b.CreateSelect(better, w, v);
      p = b.CreateSelect(better, q, p);
    } else {
      v = combine(b, r.op, r.value->dtype, v, w);
    }
  };
  Value* none = nullptr;
  if (lanes_reduce_) {
    for (std::size_t n = values.size(); n > 1; n /= 2)
      for (std::size_t u = 0; u < n / 2; ++u)
        join(values[u], r.position ? positions[u] : none, values[u + n / 2], r.position ? positions[u + n / 2] : none);
    values.resize(1);
    for (int n = schedule_.width; n > 1; n /= 2) {
      Value *low = half(b, values[0], n, false), *high = half(b, values[0], n, true);
      if (r.position) {
        Value *p = half(b, positions[0], n, false), *q = half(b, positions[0], n, true);
        join(low, p, high, q);
        positions[0] = p;
      } else {
        join(low, none, high, none);
      }
      values[0] = low;
    }
  }
  for (std::size_t u = 0; u < values.size(); ++u)
    results_[{r.result, static_cast<int>(u)}] = r.position ? positions[u] : values[u];
}

Value* KernelEmitter::half(llvm::IRBuilder<>& b, Value* v, int n, bool high) {
  const int first = high ? n / 2 : 0;
  if (n == 2) return b.CreateExtractElement(v, static_cast<std::uint64_t>(first));
  std::vector<int> lanes;
  for (int k = 0; k < n / 2; ++k) lanes.push_back(first + k);
  return b.CreateShuffleVector(v, lanes);
}

Value* KernelEmitter::combine(llvm::IRBuilder<>& b, ReduceOp op, DType dtype, Value* x, Value* y) {
  const bool real = is_floating(dtype), sign = is_signed_integer(dtype), logical = dtype == DType::bool_;
  const auto call = [&](llvm::Intrinsic::ID id) { return b.CreateBinaryIntrinsic(id, x, y); };
  switch (op) {
    case ReduceOp::sum:
      return real ? b.CreateFAdd(x, y) : b.CreateAdd(x, y);
    case ReduceOp::product:
      return real ? b.CreateFMul(x, y) : b.CreateMul(x, y);
    case ReduceOp::max:
      if (logical) return b.CreateOr(x, y);
      return call(real ? llvm::Intrinsic::maximum : sign ? llvm::Intrinsic::smax : llvm::Intrinsic::umax);
    case ReduceOp::min:
      if (logical) return b.CreateAnd(x, y);
      return call(real ? llvm::Intrinsic::minimum : sign ? llvm::Intrinsic::smin : llvm::Intrinsic::umin);
    case ReduceOp::bit_and:
      return b.CreateAnd(x, y);
    case ReduceOp::bit_xor:
      return b.CreateXor(x, y);
    default:
      return b.CreateOr(x, y);
  }
}

Value* KernelEmitter::is_better(llvm::IRBuilder<>& b, const Reduce& r, Value* x, Value* p, Value* y, Value* q) {
  const bool larger = r.op == ReduceOp::max;
  Value* first = b.CreateICmpSLT(p, q);
  if (is_floating(r.value->dtype)) {
    Value* beats = larger ? b.CreateFCmpOGT(x, y) : b.CreateFCmpOLT(x, y);
    Value *x_nan = b.CreateFCmpUNO(x, x), *y_nan = b.CreateFCmpUNO(y, y);
    beats = b.CreateOr(beats, b.CreateAnd(x_nan, b.CreateNot(y_nan)));
    Value* tie = b.CreateOr(b.CreateFCmpOEQ(x, y), b.CreateAnd(x_nan, y_nan));
    return b.CreateOr(beats, b.CreateAnd(tie, first));
  }
  const bool sign = is_signed_integer(r.value->dtype);
  Value* beats = larger ? (sign ? b.CreateICmpSGT(x, y) : b.CreateICmpUGT(x, y))
                        : (sign ? b.CreateICmpSLT(x, y) : b.CreateICmpULT(x, y));
  return b.CreateOr(beats, b.CreateAnd(b.CreateICmpEQ(x, y), first));
}

llvm::Constant* KernelEmitter::identity(ReduceOp op, DType dtype) {
  llvm::Type* type = register_type(context_, dtype);
  const bool real = is_floating(dtype);
  const unsigned bits = real ? 0 : type->getIntegerBitWidth();
  const bool sign = is_signed_integer(dtype);
  switch (op) {
    case ReduceOp::product:
      return real ? llvm::ConstantFP::get(type, 1.0) : llvm::ConstantInt::get(type, 1);
    case ReduceOp::max:
      if (real) return llvm::ConstantFP::getInfinity(type, true);
      return llvm::ConstantInt::get(type, sign ? llvm::APInt::getSignedMinValue(bits) : llvm::APInt(bits, 0));
    case ReduceOp::min:
      if (real) return llvm::ConstantFP::getInfinity(type, false);
      return llvm::ConstantInt::get(type, sign ? llvm::APInt::getSignedMaxValue(bits) : llvm::APInt::getMaxValue(bits));
    case ReduceOp::bit_and:
      return llvm::Constant::getAllOnesValue(type);
    default:
      return llvm::Constant::getNullValue(type);
  }
}

}  // namespace cotan::native
