// A device in one file: "toy" lets the shared compiler make kernels of a program and runs them by evaluating their
// expressions, element by element. docs/add_a_device.md walks through it; the case table is its test.
#include <cotan/debug.hpp>

#include "backend/program_cache.hpp"
#include "compiler/memory.hpp"
#include "core/backend.hpp"
#include "core/trace.hpp"
#include "core/typed.hpp"
#include "support/expr_interpreter.hpp"

namespace cotan::toy {

namespace {

using namespace cotan::compiler;
using compiler::Program;  // and not the user's
using expr::Expr;
using expr::ReduceOp;
using expr_test::Interpreter;
using Bits = std::uint64_t;  // an element of any type, in the low bytes

Bits read(const std::byte* at, DType dtype) {
  Bits out = 0;
  std::memcpy(&out, at, itemsize(dtype));
  return out;
}
/// What a reduction of nothing is.
Bits identity(ReduceOp op, DType dtype) {
  return dispatch(dtype, [&]<class T>() {
    using C = Compute<T>;
    using Limits = std::numeric_limits<C>;
    const C most = Limits::has_infinity ? Limits::infinity() : Limits::max(),
            least = Limits::has_infinity ? static_cast<C>(-Limits::infinity()) : Limits::lowest();
    const C by_op[] = {C(0), C(1), least, most, C(-1), C(0), C(0)};  // in the order of ReduceOp
    return Interpreter::to_bits(convert<T>(by_op[static_cast<int>(op)]));
  });
}

/// An operation on operands of the type of `like`.
Bits apply(expr::Op op, DType to, Expr like, std::span<const Bits> x) {
  return expr_test::evaluate({.op = op, .dtype = to, .id = 0, .operands = std::vector(x.size(), like)}, x);
}

/// Two results as one, by the operation that expressions have for it.
Bits combine(ReduceOp op, Expr like, Bits x, Bits y) {
  using expr::Op;
  const bool logical = like->dtype == DType::bool_;
  if (op == ReduceOp::bit_xor) return apply(Op::bit_xor, like->dtype, like, std::array{x, y});
  const Op ops[] = {
      logical ? Op::bit_or : Op::add, logical ? Op::bit_and : Op::mul, Op::max, Op::min, Op::bit_and, Op::bit_or};
  return apply(ops[static_cast<int>(op)], like->dtype, like, std::array{x, y});
}

/// In a search for the largest or the smallest: NaN wins, and of equal ones the first.
bool is_better(ReduceOp op, DType dtype, Bits x, Bits y) {
  return dispatch(dtype, [&]<class T>() {
    const auto a = static_cast<Compute<T>>(Interpreter::from_bits<T>(x)),
               b = static_cast<Compute<T>>(Interpreter::from_bits<T>(y));
    if (a != a || b != b) return a != a && b == b;
    return op == ReduceOp::max ? a > b : a < b;
  });
}

// A call --------------------------------------------------------------------------------------------------

/// Runs the steps of a program on memory that is there: its inputs and outputs, and temporaries of its own.
class Call {
 public:
  Call(const Program& program, Backend& backend, std::vector<std::byte*> inputs, std::vector<std::byte*> outputs)
      : program_(program),
        backend_(backend),
        inputs_(std::move(inputs)),
        outputs_(std::move(outputs)),
        arena_(program.arena_bytes) {}

  void run(const std::vector<Step>& steps) {
    for (const Step& step : steps) std::visit([&](const auto& s) { run(s); }, step);
  }

 private:
  /// Of a reduction, and of which type; in a search also where it was found.
  struct Result {
    Expr what;
    Bits value, position = none;
  };
  static constexpr Bits none = ~Bits{0};

  const compiler::Buffer& buffer(BufferId b) const { return program_.buffers[static_cast<std::size_t>(b)]; }
  std::int64_t index(Expr e) { return static_cast<std::int64_t>(value(e)); }

  /// Where a value begins.
  std::byte* place(BufferId id) {
    if (const auto at = moved_.find(id); at != moved_.end()) return at->second;
    const compiler::Buffer& b = buffer(id);
    switch (b.storage) {
      case Storage::input:
        return inputs_[static_cast<std::size_t>(b.place)];
      case Storage::output:
        return outputs_[static_cast<std::size_t>(b.place)];
      case Storage::arena:
        return arena_.data() + b.place + (b.copies > 1 ? index(b.copy) * stride_of(b) : 0);
      case Storage::part:
        return place(b.whole) + index(b.start) * static_cast<std::int64_t>(itemsize(b.type.dtype));
      default: {  // small and of a loop, or wanted by nobody
        std::vector<std::byte>& own = locals_[id];
        own.resize(std::max<std::size_t>(b.bytes(), 1));
        return own.data();
      }
    }
  }
  std::byte* place(BufferId id, Expr offset, DType dtype) {
    return place(id) + (offset ? index(offset) : 0) * static_cast<std::int64_t>(itemsize(dtype));
  }

  /// The value of an expression as things stand; every node once, until `forget`.
  Bits value(Expr e) {
    if (const auto at = known_.find(e.get()); at != known_.end()) return at->second;
    Bits out = 0;
    if (e->op == expr::Op::variable) return indices_.at(e.get());
    if (e->op == expr::Op::load) {
      const auto b = static_cast<BufferId>(e->bits);
      if (const auto result = results_.find(b); result != results_.end())
        out = apply(expr::Op::cast, e->dtype, result->second.what, std::array{result->second.value});
      else if (e->operands.size() < 2 || value(e->operands[1]))  // elsewhere there may be no memory
        out = read(place(b, e->operands[0], e->dtype), e->dtype);
    } else {
      std::vector<Bits> operands;
      for (Expr operand : e->operands) operands.push_back(value(operand));
      out = expr_test::evaluate(*e.get(), operands);
    }
    return known_[e.get()] = out;
  }
  void forget() { known_.clear(); }

  void run(const Kernel& kernel) {
    each_index(kernel, false, 0, [&] {
      for (const Pass& pass : kernel.passes) run(kernel, pass);
      results_.clear();
    });
    forget();
  }
  void run(const Kernel& kernel, const Pass& pass) {
    std::vector<Result> all;
    for (const Reduce& r : pass.reductions) all.push_back({r.value, identity(r.op, r.value->dtype)});
    each_index(kernel, true, 0, [&] {
      for (std::size_t k = 0; k < all.size(); ++k) {
        const Reduce& r = pass.reductions[k];
        Result& so_far = all[k];
        const Bits x = value(r.value);
        if (!r.position)
          so_far.value = combine(r.op, r.value, so_far.value, x);
        else if (so_far.position == none || is_better(r.op, r.value->dtype, x, so_far.value))
          so_far = {r.value, x, value(r.position)};
      }
      store(pass.stores);
    });
    for (std::size_t k = 0; k < all.size(); ++k) {
      const Reduce& r = pass.reductions[k];
      results_[r.result] = r.position ? Result{r.position, all[k].position} : all[k];
    }
    forget();
    store(pass.rows);
  }
  /// All values before the first store, which may overwrite what is read.
  void store(const std::vector<Store>& stores) {
    std::vector<std::pair<std::byte*, Bits>> ready;
    for (const Store& s : stores) ready.emplace_back(place(s.buffer, s.offset, s.value->dtype), value(s.value));
    for (std::size_t k = 0; k < stores.size(); ++k)
      std::memcpy(ready[k].first, &ready[k].second, itemsize(stores[k].value->dtype));
  }
  /// Calls f for all values of the indices of the kept or the reduced loops, from number k on, in order.
  template <class F>
  void each_index(const Kernel& kernel, bool reduced, std::size_t k, F&& f) {
    while (k < kernel.loops.size() && kernel.loops[k].reduced != reduced) ++k;
    forget();
    if (k == kernel.loops.size()) return f();
    const Loop& loop = kernel.loops[k];
    const std::int64_t begin = loop.piece ? index(loop.piece) * loop.length : 0,
                       end = loop.piece ? std::min(loop.extent, begin + loop.length) : loop.extent;
    for (std::int64_t i = begin; i < end; ++i) {
      indices_[loop.variable.get()] = static_cast<Bits>(i);
      each_index(kernel, reduced, k + 1, f);
    }
  }

  /// By the primitive's own rule, on arrays that borrow the memory.
  void run(const Routine& routine) {
    Arrays args;
    for (const Operand& o : routine.operands) {
      if (o.buffer < 0) {
        args.push_back(copy_to_backend(o.literal, backend_));
        continue;
      }
      const std::size_t bytes = static_cast<std::size_t>(o.type.size()) * itemsize(o.type.dtype);
      args.push_back(Array(std::make_shared<detail::Concrete>(
          o.type, std::make_shared<cotan::Buffer>(backend_, place(o.buffer, o.offset, o.type.dtype), bytes))));
    }
    const TraceScope scope(eval_trace());
    const Arrays results = routine.primitive->eval(*routine.primitive, args, routine.params);
    for (std::size_t k = 0; k < results.size(); ++k)
      if (buffer(program_.root(routine.results[k])).storage != Storage::none)
        std::memcpy(place(routine.results[k]), concrete(results[k])->buffer->data(), results[k].nbytes());
    forget();
  }

  void run(const std::unique_ptr<Repeat>& repeat) {
    const Repeat& loop = *repeat;
    // What lies where it is wanted is copied onto itself.
    for (const Carried& c : loop.carries) copy(c.in, c.start);
    for (std::int64_t i = 0; loop.length < 0 || i < loop.length; ++i) {
      indices_[loop.index.get()] = static_cast<Bits>(i);
      forget();
      run(loop.condition);
      if (loop.holds >= 0 && !read(place(loop.holds), DType::bool_)) break;
      run(loop.steps);
      for (const Carried& c : loop.carries) {
        if (c.spare < 0) {
          copy(c.in, c.out);
        } else {  // two places change roles
          std::byte *in = place(c.in), *out = place(c.out);
          moved_[c.in] = out, moved_[c.out] = in;
        }
      }
    }
    for (const Carried& c : loop.carries) {
      copy(c.result, c.in);
      moved_.erase(c.in), moved_.erase(c.out);
    }
  }
  void copy(BufferId to, BufferId from) {
    std::memmove(place(to), place(from), buffer(from).bytes());
    forget();
  }
  void run(const std::unique_ptr<Choice>& choice) {
    run(choice->branches[read(place(choice->index), buffer(choice->index).type.dtype)]);
  }

  const Program& program_;
  Backend& backend_;
  const std::vector<std::byte*> inputs_, outputs_;
  std::vector<std::byte> arena_;
  std::unordered_map<BufferId, std::vector<std::byte>> locals_;
  std::unordered_map<BufferId, std::byte*> moved_;  ///< carries of loops that are running
  std::unordered_map<BufferId, Result> results_;    ///< of reductions, until the next element
  std::unordered_map<const expr::Node*, Bits> indices_, known_;
};

// The device ----------------------------------------------------------------------------------------------

/// What it wants of the compiler: nothing is a routine that can be a loop, and rows are computed again.
constexpr lowering::Target target{.compiler = {.keeps_rows = false}};

class ToyBackend final : public Backend {
 public:
  std::string_view name() const override { return "toy"; }
  std::byte* allocate(std::size_t bytes) override { return new (std::nothrow) std::byte[bytes + 1]; }
  void release(std::byte* data, std::size_t) override { delete[] data; }
  Arrays run(const Primitive& p, std::span<const Array> args, const Params& params) override {
    return p.eval(p, args, params);
  }
  Arrays run_program(const JaxprPtr& jaxpr, std::span<const Array> args, const std::vector<bool>*) override {
    const Program& program =
        programs_.find(jaxpr, *this, [](const JaxprPtr& source) { return lowering::lower(source, target).program; });
    std::vector<std::byte*> inputs, outputs;
    for (const Array& a : args) inputs.push_back(concrete(a)->buffer->data());
    Arrays out;
    for (const Output& o : program.outputs) {
      out.push_back(output(program, o, args, out));
      outputs.push_back(concrete(out.back())->buffer->data());
    }
    Call(program, *this, std::move(inputs), std::move(outputs)).run(program.steps);
    return out;
  }
  void explain(const JaxprPtr& jaxpr, const std::vector<bool>*, Explanation& out) override {
    out.steps = to_string(*lowering::lower(lowering::without_calls(jaxpr, &out), target, &out).program);
  }
  void clear_caches() override { programs_.clear(); }

 private:
  /// An output is the caller's own array, a constant, one that is there already, or new.
  Array output(const Program& program, const Output& o, std::span<const Array> args, const Arrays& before) {
    if (o.buffer < 0) return copy_to_backend(o.literal, *this);
    const compiler::Buffer& b = program.buffers[static_cast<std::size_t>(o.buffer)];
    const auto place = static_cast<std::size_t>(b.place);
    if (b.storage == Storage::input) return args[place];
    return place < before.size() ? before[place] : cotan::allocate(*this, o.type).first;
  }
  ProgramCache<Program> programs_;
};

Backend& toy() {
  static ToyBackend& made = *new ToyBackend;
  return made;
}
const RegisterBackend registered(0, toy);

}  // namespace

}  // namespace cotan::toy
