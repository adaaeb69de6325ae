// Program: what the compiler makes of a Jaxpr and what back ends run. Steps over buffers whose places are planned.
#pragma once
#include <variant>

#include "core/jaxpr.hpp"
#include "core/overloaded.hpp"
#include "expr/lowering.hpp"

namespace cotan::compiler {

using expr::Expr;
using BufferId = std::int32_t;  ///< index into Program::buffers

enum class Storage : std::uint8_t {
  none,    ///< never in memory: folded into kernels, or a value in registers
  input,   ///< the caller's array
  output,  ///< memory that the caller gets
  arena,   ///< at an offset of the program's temporary memory
  local,   ///< small, and of one step of a loop: on the stack, or altogether in registers
  part,    ///< a part of another buffer: `whole`, from `start` on
  row,     ///< one row of a kernel at a time, private to the thread
};

struct Buffer {
  AbstractValue type;
  Storage storage = Storage::none;
  std::int64_t place = 0;  ///< number of the input or output, or offset in the arena in bytes
  BufferId whole = -1;     ///< part: of which buffer
  Expr start = {};         ///< part: its first element there; may depend on the indices of loops around it
  int scope = -1;          ///< the loop whose steps it belongs to; 0: the program itself
  /// Arena: one for each piece of a parallel loop, `copies` of them, of which `copy` is the step's own.
  std::int64_t copies = 1;
  Expr copy = {};
  std::size_t item_bytes = 0;  ///< bytes per element on the device; 0: as on the host
  std::int64_t padded = 0;     ///< elements that it takes, where its rows are longer than they look; 0: its size
  std::size_t bytes() const {
    return static_cast<std::size_t>(padded ? padded : type.size()) * (item_bytes ? item_bytes : itemsize(type.dtype));
  }
};

/// A loop of a kernel. Reduced loops run inside the kept ones; kept ones may run in parallel.
struct Loop {
  Expr variable;
  std::int64_t extent;
  bool reduced;
  /// Where set, the loop runs over [piece * length, min(extent, (piece + 1) * length)): one piece of a reduction that
  /// is cut to run in parallel. `piece` is the variable of a kept loop.
  Expr piece = {};
  std::int64_t length = 0;
};

struct Store {
  BufferId buffer;
  Expr offset, value;
};
/// Combines `value` over the reduced loops. Later expressions read the result as load(result, …).
struct Reduce {
  expr::ReduceOp op;
  Expr value;
  Expr position;  ///< of an extremum whose place is the result: what is kept beside the value, an i64
  BufferId result;
};
/// One run over the reduced loops. A kernel without reduced loops has one pass, of stores alone.
struct Pass {
  std::vector<Reduce> reductions;
  std::vector<Store> stores;  ///< per element of the whole domain
  std::vector<Store> rows;    ///< per element of the kept domain, after the reductions
};

/// A fused loop nest.
struct Kernel {
  std::string name;  ///< of the primitives in it
  std::vector<Loop> loops;
  std::vector<Pass> passes;
  std::vector<BufferId> row_buffers;  ///< of storage row; offsets count from the start of the row
  /// Results overlap nothing that the kernel reads, so that each can be stored as soon as it is computed.
  bool results_are_apart = false;
};

/// An operand of a routine: memory as it lies, walked with strides; or a scalar constant.
struct Operand {
  BufferId buffer = -1;
  Expr offset = {};   ///< in elements; none: 0
  Ints strides = {};  ///< in elements, one per axis
  AbstractValue type = {};
  Array literal = {};  ///< where there is no buffer
};
/// A primitive on whole arrays.
struct Routine {
  const Primitive* primitive;
  Params params;
  std::vector<Operand> operands;
  std::vector<BufferId> results;
  /// It may run at the same time as the step before, which is a routine too: neither needs the other, nor its memory.
  bool beside_last = false;
};

struct Repeat;
struct Choice;
using Step = std::variant<Kernel, Routine, std::unique_ptr<Repeat>, std::unique_ptr<Choice>>;

/// A value that a loop hands from step to step.
struct Carried {
  BufferId start;    ///< the first value, which the loop may overwrite
  BufferId in, out;  ///< the value at the beginning and at the end of a step
  BufferId result;   ///< after the last step
  /// Two places that change roles with every step; -1: `in` is local, and `out` is copied there.
  BufferId spare = -1;
  bool in_place = false;  ///< all four are one: a step changes some of its elements
};
/// A loop: scan or while.
struct Repeat {
  std::string name;
  int scope = 0;
  Expr index;                ///< the number of the step
  std::int64_t length = -1;  ///< steps; -1: as long as the condition holds
  std::int64_t unroll = 1;
  std::vector<Carried> carries;
  std::vector<Step> condition;  ///< before each step …
  BufferId holds = -1;          ///< … gives this
  std::vector<Step> steps;
  bool parallel = false;             ///< its steps are independent of each other …
  std::int64_t grain = 1;            ///< … and run in pieces of so many
  std::vector<BufferId> kept_close;  ///< small arrays from outside that are copied to the stack for the loop
};
/// One of several lists of steps.
struct Choice {
  std::string name;
  BufferId index;
  std::vector<std::vector<Step>> branches;
};

/// Where an output of the program comes from.
struct Output {
  BufferId buffer = -1;  ///< of storage output, or input: then the caller's own array is the result
  Array literal;
  AbstractValue type;
};

struct Program {
  std::string name;
  expr::Graph graph;  ///< of all expressions below
  std::vector<Buffer> buffers;
  std::vector<BufferId> inputs;
  std::vector<Output> outputs;
  std::vector<Step> steps;
  bool small = false;  ///< all values fit into registers: kernels become one piece of straight-line code
  /// Loops, by the number of their scope, and in which scope each is.
  struct Scope {
    int loop, parent;
    std::int64_t copies;  ///< of its temporaries: where it is parallel, as many as it has pieces
    Expr index;
  };
  std::vector<Scope> loops;
  std::size_t arena_bytes = 0;
  std::size_t temporary_bytes = 0;  ///< what the arena would be without reuse
  std::size_t output_bytes = 0, input_bytes = 0;

  /// The buffer whose memory `b` lies in: `b` itself unless it is a part of another.
  BufferId root(BufferId b) const {
    while (buffers[static_cast<std::size_t>(b)].storage == Storage::part)
      b = buffers[static_cast<std::size_t>(b)].whole;
    return b;
  }
  std::size_t peak_bytes() const { return input_bytes + output_bytes + arena_bytes; }
  int count(Storage) const;
};

/// What a back end can do itself: decides which operations are routines and which become loops.
struct Target {
  /// Whether the operation runs as a routine although it could be lowered (a large matrix product).
  bool (*prefers_routine)(const Primitive&, std::span<const AbstractValue>, const Params&) = nullptr;
  /// Whether the routine takes operands with any strides, and not dense ones alone.
  bool (*takes_strides)(const Primitive&, const AbstractValue&) = nullptr;
  /// Bytes that the lanes of a loop per lane may take together, side by side; 0: the device has no such lanes.
  int lane_bytes = 0;
  std::int64_t lane_equations = 200;  ///< of a step, at most: all values of such lanes have to fit into registers
  /// Raises for a value that the device cannot hold, even where fusion would not store it: a loop over it would not
  /// end.
  void (*check_size)(const AbstractValue&) = nullptr;
  /// Bytes of an element in the device's memory; nullptr: as on the host.
  std::size_t (*item_bytes)(DType) = nullptr;
  /// Whether kernels may keep a row of values that a later pass needs again.
  bool keeps_rows = true;
  /// A loop with independent steps runs in parallel if it has at least so many operations …
  double parallel_work = 1 << 21;
  /// … in at most so many pieces; 0: by the number of cores.
  std::int64_t parallel_pieces = 0;
  /// Values of loops of up to `small_bytes` are kept close: on the stack, or in memory that a group of threads shares,
  /// as long as there is room for them and for copies of small arrays that loops read.
  std::size_t small_bytes = 2048, local_bytes = 64 << 10, kept_close_bytes = 32 << 10;
  /// The device has temporary memory in blocks of so many bytes, and every array lies within one of them; 0: one block
  /// of any size.
  std::int64_t block_bytes = 0;
  /// Rows of temporary matrices begin at multiples of four elements.
  bool pads_rows = false;
  /// Kernels that are alike run as one where they follow each other.
  bool joins_alike = false;
  /// Reductions of this many elements to few results are cut into pieces.
  struct Cut {
    std::int64_t long_reduction = 1 << 17, few_results = 1024, piece_elements = 1 << 16, most_pieces = 256;
  } cut = {};
};

std::string to_string(const Program& program);
std::string to_string(const Program& program, const Kernel& kernel);
std::string to_string(const Program& program, const Routine& routine);
std::string to_string(const Program& program, const Step& step);
std::string heading_of(const Program& program, const Repeat& loop);

/// Calls f with what the step is: visit_step(step, Overloaded{[](const Kernel&) {…}, …, [](Repeat&) {…}, [](const
/// auto&) {…}}).
template <class F>
decltype(auto) visit_step(const Step& step, F&& f) {
  return std::visit(Overloaded{[&](const std::unique_ptr<Repeat>& loop) -> decltype(auto) { return f(*loop); },
                               [&](const std::unique_ptr<Choice>& choice) -> decltype(auto) { return f(*choice); },
                               [&](const auto& other) -> decltype(auto) { return f(other); }},
                    step);
}
/// f(steps) for each list of steps inside a step: those of a loop, or of branches.
template <class F>
void for_each_list(const Step& step, F&& f) {
  visit_step(step, Overloaded{[&](Repeat& loop) {
                                f(loop.condition);
                                f(loop.steps);
                              },
                              [&](Choice& choice) {
                                for (auto& branch : choice.branches) f(branch);
                              },
                              [](const auto&) {}});
}
/// f(step) for every step, those of loops and branches after the step that holds them.
template <class F>
void for_each_step(const std::vector<Step>& steps, F&& f) {
  for (const Step& step : steps) {
    f(step);
    for_each_list(step, [&](const std::vector<Step>& inside) { for_each_step(inside, f); });
  }
}

}  // namespace cotan::compiler
