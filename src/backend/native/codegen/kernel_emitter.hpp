// The emitter of kernels, one class in three files: loops and expressions (emit_kernel.cpp), reductions
// (emit_reduction.cpp), loads and stores (emit_memory.cpp).
#pragma once
#include <llvm/ADT/STLFunctionalExtras.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "backend/native/codegen/emit_kernel.hpp"
#include "backend/native/codegen/nest.hpp"

namespace cotan::native {

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
  KernelEmitter(llvm::Module& module, const Program& program, const Kernel& kernel, const KernelArguments& arguments,
                const KernelSchedule& schedule, bool inlined, llvm::Function* function)
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
    columns_.resize(1);
    for (std::size_t k = 0; k < arguments.indices.size(); ++k) {
      const expr::Node* index = arguments.indices[k].get();
      levels_[index] = 0;
      variables_[index] = argument(i64_, arguments.buffers.size() + k);
    }
  }

  void emit();

 private:
  // Levels --------------------------------------------------------------------------------------------
  // 0: function. 1: parallel iterations. Then the tiled loop, the kept vector loop, the reduced loops. Loops
  // that run once are none.
  void assign_levels();

  Value* open_loop(Value* begin, Value* end, std::int64_t step, const char* name);
  void open_if(Value* condition);
  void close();
  Value* number(std::int64_t v) { return llvm::ConstantInt::getSigned(i64_, v); }

  /// Where an expression is computed, and whether it differs between lanes.
  struct Place {
    int level = 0;
    bool varying = false;
    bool tiled = false;  ///< and between the rows of a tile
  };
  Place place_of(Expr e);

  /// The indices of the kept loops from the number of the parallel iteration; the last one runs fastest.
  void decode(Value* t);
  static std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

  // Vector loops --------------------------------------------------------------------------------------
  /// Whether some run over the vector loop ends within `step` iterations.
  bool has_rest(std::int64_t begin_multiple, std::int64_t extent, std::int64_t step) const;
  /// body(vectors) for full steps of `unroll` vectors, then one masked vector at a time.
  void vector_loop(Value* begin, Value* end, std::int64_t piece, int unroll, llvm::function_ref<void(int)> body);
  void over_vectors();
  /// A tile, square by square, and what is left of it row by row.
  void over_squares();
  /// The index of the first lane of a vector in flight: those of a square are below each other.
  Value* first_lane(llvm::IRBuilder<>& b, int u) {
    return in_square_ ? base_ : b.CreateAdd(base_, number(std::int64_t{u} * schedule_.width));
  }

  // Passes ----------------------------------------------------------------------------------------------
  void run_passes(int vectors);

  struct Accumulator {
    const Reduce* reduce;
    std::vector<llvm::AllocaInst*> values, positions;  // one per vector in flight
  };

  /// Emits the pass with so many vectors in flight.
  void reduce(const Pass& pass, int vectors);

  /// A reduction whose lanes are kept, over memory that is contiguous along them: rows of operands are added, one after
  /// the other, to a row of sums that stays in the cache.
  void sum_in_memory();
  static std::int64_t round_up(std::int64_t n, std::int64_t step) { return (n + step - 1) / step * step; }
  template <class F>
  void over_vectors_with(F&& body);
  /// A vector loop outside the reduced loops, at the level of those inside: empty levels stand for the loops.
  template <class F>
  void in_row_loop(F&& body, int loops);

  std::pair<Value*, Value*> bounds(const Loop& l) {
    if (!l.piece) return {number(0), number(l.extent)};
    auto b = nest_.here();
    Value* begin = b.CreateMul(emit_scalar(l.piece), number(l.length));
    Value* end = b.CreateAdd(begin, number(l.length));
    return {begin, b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, end, number(l.extent))};
  }

  void accumulate(const Accumulator& a, int u);

  /// The results of a pass, from the vectors in flight and, where lanes reduce, from the lanes.
  void finish(const Accumulator& a);
  /// Half of the n lanes of v; one lane is a scalar.
  static Value* half(llvm::IRBuilder<>& b, Value* v, int n, bool high);

  static Value* combine(llvm::IRBuilder<>& b, ReduceOp op, DType dtype, Value* x, Value* y);
  /// Of extrema with positions: whether (x, p) comes before (y, q). NaN is the extremum; ties go to the first position.
  static Value* is_better(llvm::IRBuilder<>& b, const Reduce& r, Value* x, Value* p, Value* y, Value* q);
  llvm::Constant* identity(ReduceOp op, DType dtype);

  // Expressions -----------------------------------------------------------------------------------------
  llvm::Constant* splat_constant(llvm::Value* scalar);
  Value* splat(llvm::IRBuilder<>& b, Value* x);
  llvm::Constant* lane_numbers();

  /// All lanes of an expression, whether it differs between them or not.
  Value* emit_lanes(Expr e, int u);
  Value* emit_scalar(Expr e, int u = 0);

  /// A scalar where all lanes agree, else a vector.
  Value* emit(Expr e, int u);

  Value* emit_new(Expr e, int u, Place place);

  /// Divides a row by a number that all of it shares: a multiplication by the reciprocal and one correction, which give
  /// the bits of a division (Markstein). Divisors that are negative, tiny or huge are divided by; quotients of tiny
  /// dividends are off by one unit in the last place at most.
  bool divides_by_one_number(Expr e, Place place);
  Value* emit_quotient(Expr e, int u, Place place);

  /// condition, usual value, then the operands of the call.
  Value* emit_patch(const expr::Node& node, llvm::ArrayRef<Value*> x, Place place);

  // Memory ----------------------------------------------------------------------------------------------
  bool is_row_buffer(BufferId b) const { return program_.buffers[static_cast<std::size_t>(b)].storage == Storage::row; }

  bool is_streamed(BufferId b) const {
    return std::find(schedule_.streamed.begin(), schedule_.streamed.end(), b) != schedule_.streamed.end();
  }

  Value* base(BufferId id);

  Value* argument(llvm::Type* type, std::size_t k);

  llvm::Align align(DType t, bool vector_aligned = false) const;
  /// A load of plain memory. What a loop reads of the program's inputs, it never writes.
  Value* plain_load(llvm::IRBuilder<>& b, BufferId buffer, llvm::Type* type, Value* pointer, DType t);
  /// From memory to registers and back.
  Value* loaded(llvm::IRBuilder<>& b, Value* v, DType t);
  Value* storable(llvm::IRBuilder<>& b, Value* v, DType t);

  /// The address of the first lane of a contiguous access, or of the element.
  Value* address(llvm::IRBuilder<>& b, BufferId buffer, DType t, Value* offset);
  /// Row buffers of a kernel whose lanes are kept hold a vector per element of the row.
  Value* row_address(llvm::IRBuilder<>& b, BufferId buffer, DType t, Value* offset, int u);
  bool in_lane_rows(BufferId buffer) const { return is_row_buffer(buffer) && vector_ && !lanes_reduce_; }

  Value* emit_load(Expr e, int u, Place place);

  /// A column of a small matrix at a known place, where lanes run down its rows. All columns of the square around it
  /// are made at once, by shuffles; what is not used falls away. nullptr where there is no such square.
  Value* transposed_column(llvm::IRBuilder<>& b, BufferId buffer, DType t, Expr rest, std::int64_t stride, int u);
  /// A column of rows that are as short as a vector or shorter and lie one after the other, where lanes run down the
  /// rows: whole vectors are loaded and taken apart by shuffles, all columns at once. nullptr where that cannot be, or
  /// where too few columns are wanted.
  Value* interleaved_column(llvm::IRBuilder<>& b, Expr load, const expr::Affine& affine, int u, int level);
  /// A row of a square that is contiguous in the tiled loop. nullptr where the load is not.
  Value* square_row(llvm::IRBuilder<>& b, Expr load, const expr::Affine& affine, int u);
  /// Which columns of such rows the kernel reads.
  void find_columns();
  /// Exchanges halves, quarters, … of pairs of vectors.
  void transpose(llvm::IRBuilder<>& b, std::vector<Value*>& rows);

  /// Elements at every second place, of two vectors; `when` may be nullptr.
  Value* every_other(llvm::IRBuilder<>& b, BufferId buffer, DType t, Value* pointer, Value* when);
  /// Lane by lane: on today's CPUs no slower than gather instructions.
  Value* gather(llvm::IRBuilder<>& b, BufferId buffer, DType t, Value* rest, std::int64_t stride, Value* first,
                Value* offsets, Value* when);

  void store_all(const std::vector<Store>& stores, int vectors);
  /// Whether the store writes a vector: its place differs between lanes.
  bool stores_lanes(const Store& s) {
    return in_lane_rows(s.buffer) ? schedule_.width > 1 : place_of(s.offset).varying;
  }
  Value* stored_value(const Store& s, int u);
  void emit_store(const Store& s, int u, Value* value);
  /// Elements of two results in turns, of which `even` stores the first.
  void emit_interleaved(const Store& even, int u, Value* first, Value* second);
  /// Past the cache.
  void make_streamed(llvm::StoreInst* store, DType t);
  /// Whether an access at rest + (a multiple of the width) starts at a multiple of the width …
  bool starts_at_vectors(Expr rest) const;
  /// … and so does the memory.
  bool is_aligned(BufferId buffer, Expr rest) const;

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
  /// Rows, as the offset of their first column: (buffer, offset, columns).
  using Rows = std::tuple<BufferId, const expr::Node*, std::int64_t>;
  std::map<Rows, std::set<std::int64_t>> columns_read_;
  bool columns_found_ = false;
  /// By level: columns that have been made there, per vector in flight.
  std::vector<std::map<std::pair<Rows, int>, std::vector<Value*>>> columns_;
  std::map<Rows, std::vector<Value*>> square_rows_;  ///< of the square that is being computed
  std::map<std::pair<BufferId, int>, Value*> results_;
  Value *base_ = nullptr, *mask_ = nullptr;  ///< of the open vector loop: its index, and which lanes are in it
  Value *vector_begin_ = nullptr, *vector_end_ = nullptr, *tile_begin_ = nullptr, *tile_end_ = nullptr;
  bool streamed_ = false;
  bool in_square_ = false;
  bool loads_inside_ = false;   ///< of the vector loop, although all lanes read the same
  bool once_ = false;           ///< there is one parallel iteration
  bool single_vector_ = false;  ///< and the vector loop is one step
};

}  // namespace cotan::native
