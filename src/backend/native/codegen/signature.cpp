// What makes two kernels the same code: everything but the identity of buffers.
#include <algorithm>

#include "backend/native/codegen/emit_kernel.hpp"
#include "backend/native/codegen/interleaved.hpp"
#include "compiler/memory.hpp"
#include "core/error.hpp"

namespace cotan::native {

namespace {

using compiler::BufferId;
using compiler::Kernel;
using compiler::Program;
using expr::Expr;

/// Walks a kernel in a fixed order, numbering nodes, variables and buffers as they come.
class Walk {
 public:
  Walk(const Program& program, const Kernel& kernel) : program_(program) {
    for (const auto& loop : kernel.loops) {
      note(-1, number(loop.variable), loop.extent, loop.reduced, loop.length);
      if (loop.piece) note(-2, number(loop.piece));
    }
    own_loops_ = false;
    for (const auto& pass : kernel.passes)
      for (const auto& r : pass.reductions) results_.push_back(r.result);
    for (const auto& pass : kernel.passes) {
      note(-3);
      for (const auto& r : pass.reductions)
        note(-4, static_cast<int>(r.op), number(r.value), r.position ? number(r.position) : -1, buffer(r.result));
      for (const auto* stores : {&pass.stores, &pass.rows}) {
        note(-5);
        for (const auto& s : *stores) note(buffer(s.buffer), number(s.offset), number(s.value));
      }
    }
  }
  const std::vector<BufferId>& buffers() const { return buffers_; }
  const std::vector<Expr>& indices() const { return indices_; }
  const std::string& text() const { return text_; }

 private:
  template <class... T>
  void note(const T&... parts) {
    (append(static_cast<std::int64_t>(parts)), ...);
  }
  void append(std::int64_t number) { text_.append(reinterpret_cast<const char*>(&number), sizeof number); }
  std::int64_t buffer(BufferId id) {
    const auto& b = program_.buffers[static_cast<std::size_t>(id)];
    const bool is_result = std::find(results_.begin(), results_.end(), id) != results_.end();
    auto [at, is_new] = number_of_.try_emplace(id, static_cast<std::int64_t>(number_of_.size()));
    if (is_new) {
      const bool in_memory = b.storage != compiler::Storage::row && b.storage != compiler::Storage::none;
      note(-6, at->second, static_cast<int>(b.type.dtype), b.storage == compiler::Storage::row,
           b.storage == compiler::Storage::part, compiler::is_constant_memory(b), is_result);
      if (in_memory) buffers_.push_back(id);
      note_place(id);
    }
    return at->second;
  }
  /// Parts of one array may lie between each other.
  void note_place(BufferId id) {
    constexpr std::int64_t most_lanes = 64;
    const auto part = part_start(program_, id);
    if (!part) return;
    const auto [at, is_new] = first_parts_.try_emplace(part->whole, static_cast<int>(first_parts_.size()), part->start);
    note(-8, at->second.first, part->start - at->second.second, part->start % most_lanes);
  }
  int number(Expr e) {
    if (const auto at = numbers_.find(e.get()); at != numbers_.end()) return at->second;
    std::vector<int> operands;
    for (Expr x : e->operands) operands.push_back(number(x));
    std::int64_t bits = e->bits;
    if (e->op == expr::Op::load) bits = buffer(static_cast<BufferId>(bits));
    if (e->op == expr::Op::variable) {
      bits = own_loops_ ? 0 : 1;
      if (!own_loops_) indices_.push_back(e);
    }
    const int n = static_cast<int>(numbers_.size());
    numbers_.emplace(e.get(), n);
    note(-7, n, e->op, e->dtype, bits, e->range.lo, e->range.hi, operands.size(), e->coefficients.size());
    for (int x : operands) append(x);
    for (auto c : e->coefficients) append(c);
    if (e->function) text_ += e->function->name;
    return n;
  }

  const Program& program_;
  bool own_loops_ = true;
  std::vector<Expr> indices_;
  std::vector<BufferId> buffers_, results_;
  std::unordered_map<BufferId, std::int64_t> number_of_;
  std::unordered_map<BufferId, std::pair<int, std::int64_t>>
      first_parts_;  ///< by the array: its number, where it starts
  std::unordered_map<const expr::Node*, int> numbers_;
  std::string text_;
};

}  // namespace

KernelArguments arguments_of(const Program& program, const Kernel& kernel) {
  const Walk walk(program, kernel);
  return {walk.buffers(), walk.indices()};
}
std::string signature_of(const Program& program, const Kernel& kernel) { return Walk(program, kernel).text(); }

}  // namespace cotan::native
