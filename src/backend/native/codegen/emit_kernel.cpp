#include "backend/native/codegen/emit_kernel.hpp"

#include <llvm/IR/IntrinsicsX86.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "backend/native/codegen/emit_scalar.hpp"
#include "backend/native/codegen/nest.hpp"
#include "compiler/memory.hpp"
#include "core/error.hpp"

namespace cotan::native {

namespace {

using compiler::BufferId;
using compiler::Kernel;
using compiler::Loop;
using compiler::Pass;
using compiler::Program;
using compiler::Reduce;
using compiler::Storage;
using compiler::Store;
using expr::Expr;
using expr::Op;
using expr::ReduceOp;
using llvm::Value;

class KernelEmitter {
 public:
  KernelEmitter(llvm::Module& module, const Program& program, const Kernel& kernel,
                const KernelArguments& arguments, const KernelSchedule& schedule, bool inlined, llvm::Function* function)
      : module_(module),
        context_(module.getContext()),
        program_(program),
        kernel_(kernel),
        schedule_(schedule),
        function_(function),
        nest_(function),
        arguments_(arguments),
        inlined_(inlined),
        i64_(llvm::Type::getInt64Ty(context_)),
        lanes_reduce_(schedule.lanes_reduce(kernel)) {
    for (const Loop& l : kernel.loops) (l.reduced ? reduced_ : kept_).push_back(&l);
    vector_ = schedule.vector_loop >= 0 ? &kernel.loops[static_cast<std::size_t>(schedule.vector_loop)] : nullptr;
    tiled_ = schedule.tiled_loop >= 0 ? &kernel.loops[static_cast<std::size_t>(schedule.tiled_loop)] : nullptr;
    assign_levels();
    for (const Pass& pass : kernel.passes) {
      for (const Reduce& r : pass.reductions) reductions_[r.result] = &r;
      for (const Store& s : pass.stores) written_.insert(s.buffer);
    }
    memo_.resize(1);
    for (std::size_t k = 0; k < arguments.indices.size(); ++k) {
      const expr::Node* index = arguments.indices[k].get();
      levels_[index] = 0;
      variables_[index] = argument(i64_, arguments.buffers.size() + k);
    }
  }

  void emit() {
    if (once_) {
      decode(number(0));
    } else {
      Value* begin = schedule_.grain ? function_->getArg(1) : number(0);
      Value* end = schedule_.grain ? function_->getArg(2) : number(schedule_.iterations);
      decode(open_loop(begin, end, 1, "iteration"));
    }
    if (tiled_) {
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

 private:
  // Levels --------------------------------------------------------------------------------------------
  // 0: function. 1: parallel iterations. Then the tiled loop, the kept vector loop, the reduced loops. Loops
  // that run once are none.

  void assign_levels() {
    once_ = !schedule_.grain && schedule_.iterations == 1;
    single_vector_ = vector_ && !lanes_reduce_ && !schedule_.block && !schedule_.sums_in_memory &&
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
  }

  Value* open_loop(Value* begin, Value* end, std::int64_t step, const char* name) {
    Value* i = nest_.open_loop(begin, end, step, name);
    memo_.resize(static_cast<std::size_t>(nest_.depth()) + 1);
    return i;
  }
  void open_if(Value* condition) {
    nest_.open_if(condition);
    memo_.resize(static_cast<std::size_t>(nest_.depth()) + 1);
  }
  void close() {
    nest_.close();
    memo_.resize(static_cast<std::size_t>(nest_.depth()) + 1);
  }
  Value* number(std::int64_t v) { return llvm::ConstantInt::getSigned(i64_, v); }

  /// Where an expression is computed, and whether it differs between lanes.
  struct Place {
    int level = 0;
    bool varying = false;
  };
  Place place_of(Expr e) {
    if (const auto at = places_.find(e.get()); at != places_.end()) return at->second;
    Place p;
    if (e->op == Op::variable) {
      const auto level = levels_.find(e.get());
      internal_check(level != levels_.end(), "a kernel uses a loop variable that it does not have");
      p = {level->second, vector_ && e == vector_->variable && schedule_.width > 1};
    } else if (e->op == Op::load && reductions_.contains(static_cast<BufferId>(e->bits))) {
      p = {row_level_, vector_ && !lanes_reduce_ && schedule_.width > 1};
    } else {
      for (Expr x : e->operands) {
        const Place q = place_of(x);
        p = {std::max(p.level, q.level), p.varying || q.varying};
      }
      if (e->op == Op::load && written_.contains(static_cast<BufferId>(e->bits))) {
        // What an earlier pass has stored must not be read before that: no hoisting.
        p.level = innermost_;
        if (in_lane_rows(static_cast<BufferId>(e->bits))) p.varying = schedule_.width > 1;
      }
    }
    places_.emplace(e.get(), p);
    return p;
  }

  /// The indices of the kept loops from the number of the parallel iteration; the last one runs fastest.
  void decode(Value* t) {
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
                          tile_end_ = b.CreateBinaryIntrinsic(
                              llvm::Intrinsic::smin, b.CreateAdd(tile_begin_, number(schedule_.tile)),
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
                              vector_end_ = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, vector_end_,
                                                                    number(vector_->extent));
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
  static std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

  // Vector loops --------------------------------------------------------------------------------------

  /// Whether some run over the vector loop ends within `step` iterations.
  bool has_rest(std::int64_t begin_multiple, std::int64_t extent, std::int64_t step) const {
    if (begin_multiple == 0) return extent % step != 0;
    return begin_multiple % step != 0 || extent % step != 0;
  }
  /// body(vectors) for full steps of `unroll` vectors, then one masked vector at a time.
  template <class F>
  void vector_loop(Value* begin, Value* end, std::int64_t piece, F&& body) {
    const std::int64_t width = schedule_.width, step = width * schedule_.unroll;
    const bool rest = has_rest(piece, vector_->extent, step);
    const bool main = piece ? piece >= step : vector_->extent >= step;
    if (single_vector_) {
      base_ = number(0);
      variables_[vector_->variable.get()] = base_;
      body(schedule_.unroll);
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
      body(schedule_.unroll);
      close();
    }
    if (!rest) return;
    Value* from = main ? main_end : begin;
    const bool once = schedule_.unroll == 1;
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
  void over_vectors() {
    vector_loop(vector_begin_, vector_end_, schedule_.block, [&](int vectors) { run_passes(vectors); });
  }

  // Passes ----------------------------------------------------------------------------------------------

  void run_passes(int vectors) {
    for (const Pass& pass : kernel_.passes) {
      if (reduced_.empty() && pass.reductions.empty()) {
        store_all(pass.stores, vectors);
      } else {
        reduce(pass, vectors);
      }
      store_all(pass.rows, lanes_reduce_ ? 1 : vectors);
    }
  }

  struct Accumulator {
    const Reduce* reduce;
    std::vector<llvm::AllocaInst*> values, positions;  // one per vector in flight
  };

  void reduce(const Pass& pass, int vectors) {
    const int flight = lanes_reduce_ ? schedule_.unroll : vectors;
    std::vector<Accumulator> accumulators;
    for (const Reduce& r : pass.reductions) {
      Accumulator a{&r, {}, {}};
      for (int u = 0; u < flight; ++u) {
        a.values.push_back(nest_.slot(vector_of(register_type(context_, r.value->dtype), schedule_.width), "sum"));
        nest_.here().CreateStore(splat_constant(identity(r.op, r.value->dtype)), a.values.back());
        if (r.position) {
          a.positions.push_back(nest_.slot(vector_of(i64_, schedule_.width), "position"));
          nest_.here().CreateStore(splat_constant(number(std::numeric_limits<std::int64_t>::max())),
                                   a.positions.back());
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
      vector_loop(begin, end, vector_->length, body);
    } else {
      body(vectors);
    }
    for (; opened > 0; --opened) close();
    for (const Accumulator& a : accumulators) finish(a);
  }

  /// A reduction whose lanes are kept, over memory that is contiguous in them: rows of operands are added, one
  /// after the other, to a row of sums that stays in the cache.
  void sum_in_memory() {
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
    in_row_loop([&] {
      auto b = nest_.here();
      for (const Accumulator& a : rows)
        b.CreateAlignedStore(splat_constant(identity(a.reduce->op, a.reduce->value->dtype)), slot(b, a), llvm::Align(64));
    }, static_cast<int>(reduced_.size()));
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
    in_row_loop([&] {
      auto b = nest_.here();
      for (const Accumulator& a : rows) {
        llvm::Type* type = vector_of(register_type(context_, a.reduce->value->dtype), schedule_.width);
        results_[{a.reduce->result, 0}] = b.CreateAlignedLoad(type, slot(b, a), llvm::Align(64));
      }
      store_all(pass.rows, 1);
    }, static_cast<int>(reduced_.size()));
  }
  static std::int64_t round_up(std::int64_t n, std::int64_t step) { return (n + step - 1) / step * step; }
  template <class F>
  void over_vectors_with(F&& body) {
    vector_loop(vector_begin_, vector_end_, schedule_.block, body);
  }
  /// A vector loop outside the reduced loops, at the level of those inside: empty levels stand for the loops.
  template <class F>
  void in_row_loop(F&& body, int loops) {
    for (int k = 0; k < loops; ++k) open_if(llvm::ConstantInt::getTrue(context_));
    over_vectors_with([&](int) { body(); });
    for (int k = 0; k < loops; ++k) close();
  }

  std::pair<Value*, Value*> bounds(const Loop& l) {
    if (!l.piece) return {number(0), number(l.extent)};
    auto b = nest_.here();
    Value* begin = b.CreateMul(emit_scalar(l.piece), number(l.length));
    Value* end = b.CreateAdd(begin, number(l.length));
    return {begin, b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, end, number(l.extent))};
  }

  void accumulate(const Accumulator& a, int u) {
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
      combined = fused ? b.CreateIntrinsic(llvm::Intrinsic::fma, {type}, {x, y, old})
                       : combine(b, r.op, r.value->dtype, old, x);
      if (mask_) combined = b.CreateSelect(mask_, combined, old);
    }
    b.CreateStore(combined, a.values[u]);
  }

  /// The results of a pass, from the vectors in flight and, where lanes reduce, from the lanes.
  void finish(const Accumulator& a) {
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
          join(values[u], r.position ? positions[u] : none, values[u + n / 2],
               r.position ? positions[u + n / 2] : none);
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
  /// Half of the n lanes of v; one lane is a scalar.
  static Value* half(llvm::IRBuilder<>& b, Value* v, int n, bool high) {
    const int first = high ? n / 2 : 0;
    if (n == 2) return b.CreateExtractElement(v, static_cast<std::uint64_t>(first));
    std::vector<int> lanes;
    for (int k = 0; k < n / 2; ++k) lanes.push_back(first + k);
    return b.CreateShuffleVector(v, lanes);
  }

  static Value* combine(llvm::IRBuilder<>& b, ReduceOp op, DType dtype, Value* x, Value* y) {
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
      default:
        return b.CreateOr(x, y);
    }
  }
  /// argmax, argmin: whether (x, p) comes before (y, q). NaN is the extremum; ties go to the first position.
  static Value* is_better(llvm::IRBuilder<>& b, const Reduce& r, Value* x, Value* p, Value* y, Value* q) {
    const bool larger = r.op == ReduceOp::argmax;
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
  llvm::Constant* identity(ReduceOp op, DType dtype) {
    llvm::Type* type = register_type(context_, dtype);
    const bool real = is_floating(dtype);
    const unsigned bits = real ? 0 : type->getIntegerBitWidth();
    const bool sign = is_signed_integer(dtype);
    switch (op) {
      case ReduceOp::product:
        return real ? llvm::ConstantFP::get(type, 1.0) : llvm::ConstantInt::get(type, 1);
      case ReduceOp::max:
      case ReduceOp::argmax:
        if (real) return llvm::ConstantFP::getInfinity(type, true);
        return llvm::ConstantInt::get(type, sign ? llvm::APInt::getSignedMinValue(bits) : llvm::APInt(bits, 0));
      case ReduceOp::min:
      case ReduceOp::argmin:
        if (real) return llvm::ConstantFP::getInfinity(type, false);
        return llvm::ConstantInt::get(
            type, sign ? llvm::APInt::getSignedMaxValue(bits) : llvm::APInt::getMaxValue(bits));
      case ReduceOp::bit_and:
        return llvm::Constant::getAllOnesValue(type);
      default:
        return llvm::Constant::getNullValue(type);
    }
  }

  // Expressions -----------------------------------------------------------------------------------------

  llvm::Constant* splat_constant(llvm::Value* scalar) {
    auto* c = llvm::cast<llvm::Constant>(scalar);
    return schedule_.width == 1 ? c
                                : llvm::ConstantVector::getSplat(
                                      llvm::ElementCount::getFixed(static_cast<unsigned>(schedule_.width)), c);
  }
  Value* splat(llvm::IRBuilder<>& b, Value* x) {
    if (auto* c = llvm::dyn_cast<llvm::Constant>(x)) return splat_constant(c);
    return schedule_.width == 1 ? x : b.CreateVectorSplat(static_cast<unsigned>(schedule_.width), x);
  }
  llvm::Constant* lane_numbers() {
    std::vector<llvm::Constant*> lanes;
    for (int k = 0; k < schedule_.width; ++k) lanes.push_back(llvm::ConstantInt::get(i64_, static_cast<std::uint64_t>(k)));
    return llvm::ConstantVector::get(lanes);
  }

  /// All lanes of an expression, whether it differs between them or not.
  Value* emit_lanes(Expr e, int u) {
    Value* v = emit(e, u);
    if (schedule_.width == 1 || place_of(e).varying) return v;
    auto b = nest_.here();
    return splat(b, v);
  }
  Value* emit_scalar(Expr e) {
    internal_check(!place_of(e).varying, "an expression that differs between lanes is used as a scalar");
    return emit(e, 0);
  }

  /// A scalar where all lanes agree, else a vector.
  Value* emit(Expr e, int u) {
    if (e->op == Op::constant) return emit_constant(context_, *e.get());
    const Place place = place_of(e);
    const std::pair key{e.get(), place.varying ? u : 0};
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

  Value* emit_new(Expr e, int u, Place place) {
    if (e->op == Op::variable) {
      Value* v = variables_.at(e.get());
      if (!place.varying) return v;
      auto b = nest_.at(place.level);
      return b.CreateAdd(splat(b, b.CreateAdd(v, number(std::int64_t{u} * schedule_.width))), lane_numbers());
    }
    if (e->op == Op::load) return emit_load(e, u, place);
    std::vector<Value*> x;
    for (Expr operand : e->operands) x.push_back(emit(operand, u));
    auto b = nest_.at(place.level);
    if (place.varying)
      for (std::size_t k = 0; k < x.size(); ++k)
        if (!place_of(e->operands[k]).varying) x[k] = splat(b, x[k]);
    if (e->op == Op::call) return emit_call(b, *e.get(), x);
    if (e->op == Op::patch) return emit_patch(*e.get(), x, place);
    return emit_operation(b, *e.get(), x);
  }

  Value* emit_call(llvm::IRBuilder<>& b, const expr::Node& node, llvm::ArrayRef<Value*> x) {
    llvm::Type* type = register_type(context_, node.dtype);
    const std::vector<llvm::Type*> types(x.size(), type);
    const auto callee = module_.getOrInsertFunction(
        std::string(node.function->name) + (node.dtype == DType::f32 ? "_f32" : "_f64"),
        llvm::FunctionType::get(type, types, false));
    if (!x[0]->getType()->isVectorTy()) return b.CreateCall(callee, x);
    Value* out = llvm::PoisonValue::get(x[0]->getType());
    for (int lane = 0; lane < schedule_.width; ++lane) {
      std::vector<Value*> args;
      for (Value* v : x) args.push_back(b.CreateExtractElement(v, static_cast<std::uint64_t>(lane)));
      out = b.CreateInsertElement(out, b.CreateCall(callee, args), static_cast<std::uint64_t>(lane));
    }
    return out;
  }
  /// condition, usual value, then the operands of the call.
  Value* emit_patch(const expr::Node& node, llvm::ArrayRef<Value*> x, Place place) {
    auto b = nest_.at(place.level);
    Value* any = x[0]->getType()->isVectorTy() ? b.CreateOrReduce(x[0]) : x[0];
    auto& rare = nest_.begin_rare(place.level, any);
    Value* called = rare.CreateSelect(x[0], emit_call(rare, node, x.drop_front(2)), x[1]);
    return nest_.end_rare(place.level, called, x[1]);
  }

  // Memory ----------------------------------------------------------------------------------------------

  bool is_row_buffer(BufferId b) const { return program_.buffers[static_cast<std::size_t>(b)].storage == Storage::row; }

  Value* base(BufferId id) {
    if (const auto at = bases_.find(id); at != bases_.end()) return at->second;
    const compiler::Buffer& buffer = program_.buffers[static_cast<std::size_t>(id)];
    Value* pointer = nullptr;
    if (buffer.storage == Storage::row) {
      std::int64_t n = lanes_reduce_ || !vector_ ? 1 : std::int64_t{schedule_.width} * schedule_.unroll;
      for (const Loop* l : reduced_) n *= l->extent;
      pointer = nest_.slot(llvm::ArrayType::get(memory_type(context_, buffer.type.dtype), static_cast<std::uint64_t>(n)),
                           "row");
    } else {
      const auto at = std::find(arguments_.buffers.begin(), arguments_.buffers.end(), id);
      internal_check(at != arguments_.buffers.end(), "a kernel uses a buffer that it was not given");
      pointer = argument(llvm::PointerType::getUnqual(context_), static_cast<std::size_t>(at - arguments_.buffers.begin()));
    }
    bases_.emplace(id, pointer);
    return pointer;
  }

  Value* argument(llvm::Type* type, std::size_t k) {
    if (inlined_) return function_->getArg(static_cast<unsigned>(k));
    auto b = nest_.at(0);
    return b.CreateLoad(type, b.CreateConstInBoundsGEP1_64(llvm::PointerType::getUnqual(context_), function_->getArg(0), k));
  }

  llvm::Align align(DType t, bool vector_aligned = false) const {
    return llvm::Align(vector_aligned ? static_cast<std::uint64_t>(schedule_.width) * itemsize(t) : itemsize(t));
  }
  /// A load of plain memory. What a loop reads of the program's inputs, it never writes.
  Value* plain_load(llvm::IRBuilder<>& b, BufferId buffer, llvm::Type* type, Value* pointer, DType t) {
    llvm::LoadInst* load = b.CreateAlignedLoad(type, pointer, align(t));
    if (inlined_ && compiler::is_constant_memory(program_.buffers[static_cast<std::size_t>(buffer)]))
      load->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(context_, {}));
    return load;
  }
  /// From memory to registers and back.
  Value* loaded(llvm::IRBuilder<>& b, Value* v, DType t) {
    return t == DType::bool_ ? b.CreateICmpNE(v, llvm::Constant::getNullValue(v->getType())) : v;
  }
  Value* storable(llvm::IRBuilder<>& b, Value* v, DType t) {
    if (t != DType::bool_) return v;
    llvm::Type* byte = b.getInt8Ty();
    const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(v->getType());
    return b.CreateZExt(v, vector ? llvm::FixedVectorType::get(byte, vector->getNumElements()) : byte);
  }

  /// The address of the first lane of a contiguous access, or of the element.
  Value* address(llvm::IRBuilder<>& b, BufferId buffer, DType t, Value* offset) {
    return b.CreateInBoundsGEP(memory_type(context_, t), base(buffer), offset);
  }
  /// Row buffers of a kernel whose lanes are kept hold a vector per element of the row.
  Value* row_address(llvm::IRBuilder<>& b, BufferId buffer, DType t, Value* offset, int u) {
    const std::int64_t vectors = schedule_.unroll;
    Value* at = b.CreateAdd(b.CreateMul(offset, number(vectors * schedule_.width)), number(std::int64_t{u} * schedule_.width));
    return address(b, buffer, t, at);
  }
  bool in_lane_rows(BufferId buffer) const { return is_row_buffer(buffer) && vector_ && !lanes_reduce_; }

  Value* emit_load(Expr e, int u, Place place) {
    const auto buffer = static_cast<BufferId>(e->bits);
    const Expr offset = e->operands[0];
    const Expr predicate = e->operands.size() > 1 ? e->operands[1] : Expr();
    llvm::Type* element = memory_type(context_, e->dtype);
    if (in_lane_rows(buffer)) {
      Value* at = emit_scalar(offset);
      auto b = nest_.here();
      return loaded(b, b.CreateAlignedLoad(vector_of(element, schedule_.width), row_address(b, buffer, e->dtype, at, u), align(e->dtype)), e->dtype);
    }
    if (!place.varying) {
      Value* at = emit_scalar(offset);
      Value* when = predicate ? emit_scalar(predicate) : nullptr;
      auto b = nest_.at(place.level);
      Value* pointer = address(b, buffer, e->dtype, at);
      if (when) pointer = b.CreateSelect(when, pointer, base(buffer));
      Value* v = plain_load(b, buffer, element, pointer, e->dtype);
      if (when) v = b.CreateSelect(when, v, llvm::Constant::getNullValue(element));
      return loaded(b, v, e->dtype);
    }
    const auto affine = affine_in(offset, vector_->variable);
    Value* rest = affine && !place_of(affine->rest).varying ? emit_scalar(affine->rest) : nullptr;
    Value* offsets = rest ? nullptr : emit(offset, u);
    Value* when = predicate ? emit(predicate, u) : nullptr;
    auto b = nest_.at(place.level);
    // No lane may want the load: then its address may be anywhere, and masked loads of memory that is not there are
    // very slow.
    Value* wanted = !when ? nullptr : place_of(predicate).varying ? b.CreateOrReduce(when) : when;
    if (when && !place_of(predicate).varying) when = splat(b, when);
    if (mask_) when = when ? b.CreateAnd(when, mask_) : mask_;
    llvm::Type* type = vector_of(element, schedule_.width);
    Value* first = b.CreateAdd(base_, number(std::int64_t{u} * schedule_.width));
    if (rest && affine->coefficient == 0) {  // only the predicate differs
      Value* pointer = address(b, buffer, e->dtype, rest);
      pointer = b.CreateSelect(b.CreateOrReduce(when), pointer, base(buffer));
      Value* v = splat(b, b.CreateAlignedLoad(element, pointer, align(e->dtype)));
      return loaded(b, b.CreateSelect(when, v, llvm::Constant::getNullValue(type)), e->dtype);
    }
    if (rest && (affine->coefficient == 1 || affine->coefficient == -1)) {
      const bool backward = affine->coefficient == -1;
      Value* at = backward ? b.CreateSub(b.CreateSub(rest, first), number(schedule_.width - 1)) : b.CreateAdd(rest, first);
      Value* pointer = address(b, buffer, e->dtype, at);
      if (wanted) pointer = b.CreateSelect(wanted, pointer, base(buffer));
      if (when && backward) when = b.CreateVectorReverse(when);
      Value* v = nullptr;
      if (when)
        v = b.CreateMaskedLoad(type, pointer, align(e->dtype), when, llvm::Constant::getNullValue(type));
      else
        v = plain_load(b, buffer, type, pointer, e->dtype);
      return loaded(b, backward ? b.CreateVectorReverse(v) : v, e->dtype);
    }
    if (rest && !when)
      if (Value* column = transposed_column(b, buffer, e->dtype, affine->rest, affine->coefficient, u))
        return loaded(b, column, e->dtype);
    return loaded(b, gather(b, buffer, e->dtype, rest, affine ? affine->coefficient : 0, first, offsets, when), e->dtype);
  }

  /// A column of a small matrix at a known place, where lanes run down its rows. All columns of the square around it
  /// are made at once, by shuffles; what is not used falls away. nullptr where there is no such square.
  Value* transposed_column(llvm::IRBuilder<>& b, BufferId buffer, DType t, Expr rest, std::int64_t stride, int u) {
    const std::int64_t width = schedule_.width;
    const auto start = expr::as_integer(rest);
    if (!inlined_ || !once_ || !single_vector_ || !start || stride < width || (width & (width - 1)) || width < 4 ||
        written_.contains(buffer))
      return nullptr;
    const std::int64_t column = *start % stride, first = column / width * width;
    const std::int64_t corner = *start - column + first + std::int64_t{u} * width * stride;
    const std::int64_t end = corner + (width - 1) * stride + width;
    if (first + width > stride || end > program_.buffers[static_cast<std::size_t>(buffer)].type.size()) return nullptr;
    auto& columns = squares_[{buffer, corner, stride}];
    if (columns.empty()) {
      llvm::Type* type = vector_of(memory_type(context_, t), schedule_.width);
      for (std::int64_t row = 0; row < width; ++row)
        columns.push_back(plain_load(b, buffer, type, address(b, buffer, t, number(corner + row * stride)), t));
      transpose(b, columns);
    }
    return columns[static_cast<std::size_t>(column - first)];
  }
  /// Exchanges halves, quarters, … of pairs of vectors.
  void transpose(llvm::IRBuilder<>& b, std::vector<Value*>& rows) {
    const int n = static_cast<int>(rows.size());
    for (int step = n / 2; step >= 1; step /= 2) {
      std::vector<int> low, high;
      for (int i = 0; i < n; ++i) {
        low.push_back(i & step ? n + i - step : i);
        high.push_back(i & step ? n + i : i + step);
      }
      for (int i = 0; i < n; ++i) {
        if (i & step) continue;
        Value *x = rows[static_cast<std::size_t>(i)], *y = rows[static_cast<std::size_t>(i + step)];
        rows[static_cast<std::size_t>(i)] = b.CreateShuffleVector(x, y, low);
        rows[static_cast<std::size_t>(i + step)] = b.CreateShuffleVector(x, y, high);
      }
    }
  }

  /// Lane by lane: on today's CPUs no slower than gather instructions.
  Value* gather(llvm::IRBuilder<>& b, BufferId buffer, DType t, Value* rest, std::int64_t stride, Value* first,
                Value* offsets, Value* when) {
    llvm::Type* element = memory_type(context_, t);
    Value* start = rest ? address(b, buffer, t, b.CreateAdd(rest, b.CreateMul(first, number(stride)))) : nullptr;
    Value* out = llvm::PoisonValue::get(vector_of(element, schedule_.width));
    for (int lane = 0; lane < schedule_.width; ++lane) {
      const auto k = static_cast<std::uint64_t>(lane);
      Value* pointer = rest ? b.CreateConstInBoundsGEP1_64(element, start, static_cast<std::uint64_t>(stride * lane))
                            : address(b, buffer, t, b.CreateExtractElement(offsets, k));
      if (when) pointer = b.CreateSelect(b.CreateExtractElement(when, k), pointer, base(buffer));
      out = b.CreateInsertElement(out, plain_load(b, buffer, element, pointer, t), k);
    }
    return when ? b.CreateSelect(when, out, llvm::Constant::getNullValue(out->getType())) : out;
  }

  void store_all(const std::vector<Store>& stores, int vectors) {
    if (kernel_.results_are_apart) {
      for (const Store& s : stores)
        for (int u = 0; u < vectors; ++u) emit_store(s, u, stored_value(s, u));
      return;
    }
    // All values first: a store may overwrite the memory of an operand.
    std::vector<Value*> values;
    for (const Store& s : stores)
      for (int u = 0; u < vectors; ++u) values.push_back(stored_value(s, u));
    std::size_t k = 0;
    for (const Store& s : stores)
      for (int u = 0; u < vectors; ++u) emit_store(s, u, values[k++]);
  }
  /// Whether the store writes a vector: its place differs between lanes.
  bool stores_lanes(const Store& s) { return in_lane_rows(s.buffer) ? schedule_.width > 1 : place_of(s.offset).varying; }
  Value* stored_value(const Store& s, int u) {
    const DType to = program_.buffers[static_cast<std::size_t>(s.buffer)].type.dtype;
    Value* v = stores_lanes(s) ? emit_lanes(s.value, u) : emit_scalar(s.value);
    auto b = nest_.here();
    return emit_cast(b, v, s.value->dtype, to);
  }
  void emit_store(const Store& s, int u, Value* value) {
    const DType t = program_.buffers[static_cast<std::size_t>(s.buffer)].type.dtype;
    if (in_lane_rows(s.buffer)) {
      Value* at = emit_scalar(s.offset);
      auto b = nest_.here();
      b.CreateAlignedStore(storable(b, value, t), row_address(b, s.buffer, t, at, u), align(t));
      return;
    }
    if (!stores_lanes(s)) {
      Value* at = emit_scalar(s.offset);
      auto b = nest_.here();
      b.CreateAlignedStore(storable(b, value, t), address(b, s.buffer, t, at), align(t));
      return;
    }
    const auto affine = affine_in(s.offset, vector_->variable);
    if (affine && affine->coefficient == 1) {
      Value* rest = emit_scalar(affine->rest);
      auto b = nest_.here();
      Value* pointer = address(b, s.buffer, t, b.CreateAdd(b.CreateAdd(rest, base_), number(std::int64_t{u} * schedule_.width)));
      value = storable(b, value, t);
      if (mask_) {
        b.CreateMaskedStore(value, pointer, align(t), mask_);
      } else {
        const bool aligned = is_aligned(s.buffer, affine->rest);
        llvm::StoreInst* store = b.CreateAlignedStore(value, pointer, align(t, aligned));
        if (schedule_.stream && aligned && itemsize(t) * static_cast<std::size_t>(schedule_.width) >= 16) {
          store->setMetadata(llvm::LLVMContext::MD_nontemporal,
                             llvm::MDNode::get(context_, llvm::ConstantAsMetadata::get(b.getInt32(1))));
          streamed_ = true;
        }
      }
      return;
    }
    Value* offsets = emit(s.offset, u);
    auto b = nest_.here();
    value = storable(b, value, t);
    Value* pointers = b.CreateGEP(memory_type(context_, t), base(s.buffer), offsets);
    Value* all = llvm::Constant::getAllOnesValue(vector_of(b.getInt1Ty(), schedule_.width));
    b.CreateMaskedScatter(value, pointers, align(t), mask_ ? mask_ : all);
  }
  /// Whether an access at rest + (a multiple of the width) starts at a multiple of the width.
  bool is_aligned(BufferId buffer, Expr rest) const {
    if (program_.buffers[static_cast<std::size_t>(buffer)].storage == Storage::part) return false;
    const auto width = static_cast<std::int64_t>(schedule_.width);
    if (width & (width - 1)) return false;
    if (vector_->length % width) return false;  // pieces start in between
    if (const auto c = expr::as_integer(rest)) return *c % width == 0;
    if (rest->op == Op::linear) {
      for (auto c : rest->coefficients)
        if (c % width) return false;
      return rest->bits % width == 0;
    }
    return false;
  }

  llvm::Module& module_;
  llvm::LLVMContext& context_;
  const Program& program_;
  const Kernel& kernel_;
  const KernelSchedule& schedule_;
  llvm::Function* function_;
  Nest nest_;
  const KernelArguments& arguments_;
  const bool inlined_;
  llvm::Type* i64_;
  const bool lanes_reduce_;
  std::vector<const Loop*> kept_, reduced_;
  const Loop *vector_ = nullptr, *tiled_ = nullptr;
  int row_level_ = 1;  ///< where results of reductions are known
  int innermost_ = 1;
  std::set<BufferId> written_;

  std::unordered_map<const expr::Node*, int> levels_;  ///< of loop variables
  std::unordered_map<const expr::Node*, Place> places_;
  std::unordered_map<const expr::Node*, Value*> variables_;
  struct KeyHash {
    std::size_t operator()(const std::pair<const expr::Node*, int>& k) const {
      return std::hash<const void*>{}(k.first) ^ (static_cast<std::size_t>(k.second) << 4);
    }
  };
  /// By level: what has been computed there, per vector in flight.
  std::vector<std::unordered_map<std::pair<const expr::Node*, int>, Value*, KeyHash>> memo_;
  std::unordered_map<BufferId, Value*> bases_;
  std::unordered_map<BufferId, const Reduce*> reductions_;
  std::map<std::tuple<BufferId, std::int64_t, std::int64_t>, std::vector<Value*>> squares_;  ///< transposed
  std::map<std::pair<BufferId, int>, Value*> results_;
  Value *base_ = nullptr, *mask_ = nullptr;  ///< of the open vector loop: its index, and which lanes are in it
  Value *vector_begin_ = nullptr, *vector_end_ = nullptr, *tile_begin_ = nullptr, *tile_end_ = nullptr;
  bool streamed_ = false;
  bool once_ = false;           ///< there is one parallel iteration
  bool single_vector_ = false;  ///< and the vector loop is one step
};

}  // namespace

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
  return f;
}

}  // namespace cotan::native
