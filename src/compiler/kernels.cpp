#include "compiler/kernels.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "core/error.hpp"

namespace cotan::compiler {

namespace {

/// A value that later passes need again is kept for the row if computing it again in all of them costs more than this.
constexpr int worth_keeping = 4;

/// Kept values live on the stack, and should fit into the cache.
constexpr std::int64_t most_row_bytes = 512 << 10;

DType accumulator(DType t) { return t == DType::f16 || t == DType::bf16 ? DType::f32 : t; }

class KernelBuilder {
 public:
  KernelBuilder(const Group& group, Definitions& definitions, const std::vector<bool>& materialized,
                const Target& target, Program& program)
      : group_(group), definitions_(definitions), materialized_(materialized), target_(target), program_(program) {}

  Kernel build() {
    for (std::size_t k = 0; k < group_.extents.size(); ++k)
      kernel_.loops.push_back({group_.variables[k], group_.extents[k], group_.reduced[k]});
    std::stable_sort(kernel_.loops.begin(), kernel_.loops.end(),
                     [](const Loop& a, const Loop& b) { return a.reduced < b.reduced; });
    int last = 0;
    for (const Member& m : group_.members) last = std::max(last, pass_of(m));
    kernel_.passes.resize(static_cast<std::size_t>(last) + 1);
    std::vector<BufferId> loaded_views;  // where what they look at changes later
    for (const Member& m : group_.members)
      if (definitions_.kind(m.value) == Kind::inlined && definitions_.loaded(m.value)) loaded_views.push_back(m.value);
    // While every value of the group is a load, expressions show which values read which.
    for (const Member& m : group_.members)
      if (definitions_.kind(m.value) == Kind::pointwise) definitions_.set_loaded(m.value, true);
    definitions_.forget();
    if (target_.keeps_rows) {
      const std::set<BufferId> costly = costly_again();
      std::int64_t room = most_row_bytes;
      for (const Member& m : group_.members)
        if (costly.contains(m.value) && room >= row_bytes(m.value)) {
          room -= row_bytes(m.value);
          kept_.insert(m.value);
        }
    }
    // Values of the group are part of the expressions that read them …
    for (const Member& m : group_.members)
      if (definitions_.kind(m.value) != Kind::reduction) definitions_.set_loaded(m.value, false);
    for (int pass = 0; pass <= last; ++pass) {
      definitions_.forget();
      for (const Member& m : group_.members)
        if (pass_of(m) == pass) add(m);
      // … but in later passes what this one has stored is loaded. (Inlined values are not: they may be read at
      // other places than their own.)
      for (const Member& m : group_.members)
        if (pass_of(m) == pass && !m.row && in_memory(m.value) && definitions_.kind(m.value) == Kind::pointwise)
          definitions_.set_loaded(m.value, true);
    }
    for (const Member& m : group_.members)
      if (definitions_.kind(m.value) == Kind::pointwise) definitions_.set_loaded(m.value, materialized_[m.value]);
    for (BufferId v : loaded_views) definitions_.set_loaded(v, true);
    definitions_.forget();
    name();
    return std::move(kernel_);
  }

 private:
  const AbstractValue& type(BufferId v) const { return definitions_.type(v); }
  bool is_reduction(BufferId v) const { return definitions_.kind(v) == Kind::reduction; }
  /// The pass that computes it.
  static int pass_of(const Member& m) { return m.row ? std::max(m.level - 1, 0) : m.level; }
  bool in_memory(BufferId v) const { return materialized_[v] || kept_.contains(v); }
  std::vector<Expr> full_index(BufferId v) const {
    return group_.index(is_reduction(v) ? definitions_.reduction(v).shape : type(v).shape, false);
  }
  Expr home(const Member& m) const { return definitions_.offset(m.value, group_.index(type(m.value).shape, m.row)); }

  /// How much memory keeping a value for the row takes; where lanes keep values, a few vectors of rows.
  std::int64_t row_bytes(BufferId v) const {
    constexpr std::int64_t most_lanes = 64;
    const bool lanes_reduce = !group_.reduced.empty() && group_.reduced.back();
    return group_.row_size() * static_cast<std::int64_t>(itemsize(type(v).dtype)) * (lanes_reduce ? 1 : most_lanes);
  }

  /// Values of the whole domain that several passes would compute, at some cost.
  std::set<BufferId> costly_again() {
    std::set<BufferId> costly;
    std::map<BufferId, std::set<int>> passes;  // the passes that compute it
    for (auto m = group_.members.rbegin(); m != group_.members.rend(); ++m) {
      if (m->row && !is_reduction(m->value)) continue;
      const int again = static_cast<int>(passes[m->value].size()) - 1;
      if (!m->row && !materialized_[m->value] && again > 0 && again * definitions_.cost(m->value) >= worth_keeping)
        costly.insert(m->value);
      const bool once = m->row || materialized_[m->value] || costly.contains(m->value);
      const std::set<int> here = once ? std::set{pass_of(*m)} : passes[m->value];
      std::vector<Expr> loads;
      collect_loads(definitions_.expand(m->value, full_index(m->value)), loads);
      for (Expr load : loads) passes[static_cast<BufferId>(load->bits)].insert(here.begin(), here.end());
    }
    return costly;
  }

  void add(const Member& m) {
    Pass& pass = kernel_.passes[static_cast<std::size_t>(pass_of(m))];
    if (is_reduction(m.value)) {
      add_reduction(m, pass);
    } else if (materialized_[m.value]) {
      const Expr value = with_row_buffers(definitions_.expand(m.value, group_.index(type(m.value).shape, m.row)));
      (m.row ? pass.rows : pass.stores).push_back({m.value, home(m), value});
    } else if (kept_.contains(m.value)) {
      program_.buffers[m.value].storage = Storage::row;
      kernel_.row_buffers.push_back(m.value);
      const Expr value = with_row_buffers(definitions_.expand(m.value, group_.index(type(m.value).shape, false)));
      pass.stores.push_back({m.value, row_offset(), value});
    }
  }

  void add_reduction(const Member& m, Pass& pass) {
    const expr::Reduction& r = definitions_.reduction(m.value);
    const auto index = full_index(m.value);
    const Expr term = with_row_buffers(definitions_.expand(m.value, index));
    Expr position;
    if (r.gives_position) {
      for (std::size_t k = 0; k < r.shape.size(); ++k)
        if (r.reduced[k]) position = index[k];
    }
    pass.reductions.push_back({r.op, expr::cast(term, accumulator(term->dtype)), position, m.value});
    if (materialized_[m.value])
      pass.rows.push_back({m.value, home(m), expr::load(m.value, type(m.value).dtype, home(m))});
  }

  /// Loads of kept values count from the start of the row.
  Expr with_row_buffers(Expr e) {
    expr::Substitution map;
    for (BufferId v : kernel_.row_buffers) {
      const Member& m = *group_.find(v);
      map.emplace(expr::load(v, type(v).dtype, home(m)).get(), expr::load(v, type(v).dtype, row_offset()));
    }
    return map.empty() ? e : substitute(e, map);
  }
  Expr row_offset() const {
    Expr offset = expr::integer(0);
    std::int64_t stride = 1;
    for (std::size_t k = group_.extents.size(); k-- > 0;)
      if (group_.reduced[k]) {
        offset = offset + group_.variables[k] * expr::integer(stride);
        stride *= group_.extents[k];
      }
    return offset;
  }

  void name() {
    constexpr std::size_t most_names = 6;
    std::vector<std::string_view> names;
    const std::string* scope = nullptr;  // of the last that has one: what the kernel is for
    for (const Member& m : group_.members) {
      const Equation& e = *definitions_.equation(m.value);
      const std::string_view n = e.primitive->name;
      if (e.where.scope) scope = e.where.scope;
      if (std::find(names.begin(), names.end(), n) == names.end()) names.push_back(n);
    }
    if (names.size() > most_names) {
      names.resize(most_names);
      names.push_back("...");
    }
    kernel_.name = fmt::format("{}{}{}", scope ? *scope : "", scope ? ": " : "", fmt::join(names, "+"));
  }

  const Group& group_;
  Definitions& definitions_;
  const std::vector<bool>& materialized_;
  const Target& target_;
  Program& program_;
  Kernel kernel_;
  std::set<BufferId> kept_;
};

// Long reductions to few results -----------------------------------------------------------------------

std::int64_t count(const Kernel& kernel, bool reduced) {
  std::int64_t n = 1;
  for (const Loop& l : kernel.loops)
    if (l.reduced == reduced) n *= l.extent;
  return n;
}

/// The reduced loop to cut into `pieces`: the first that has so many steps, or else the longest of those outside. (What
/// zeros pad is a short loop around long ones.)
std::vector<Loop>::iterator loop_to_cut(Kernel& kernel, std::int64_t pieces) {
  auto best = kernel.loops.end();
  for (auto l = kernel.loops.begin(); l != kernel.loops.end(); ++l)
    if (l->reduced && (best == kernel.loops.end() ||
                       (best->extent < pieces && l->extent > best->extent && &*l != &kernel.loops.back())))
      best = l;
  return best;
}

/// Cuts a reduced loop into pieces that run in parallel; a second kernel combines their results.
std::optional<Kernel> cut(Kernel& kernel, const Target::Cut& how, Program& program) {
  if (kernel.passes.size() != 1 || kernel.passes[0].reductions.empty()) return std::nullopt;
  for (const Reduce& r : kernel.passes[0].reductions)
    if (r.position) return std::nullopt;
  const std::int64_t kept = count(kernel, false), reduced = count(kernel, true);
  if (kept > how.few_results || reduced < kept || kept * reduced < how.long_reduction) return std::nullopt;
  constexpr std::int64_t most_partial_results = 1 << 18, shortest_piece = 64;
  std::int64_t pieces = std::min(
      {how.most_pieces, kept * reduced / how.piece_elements, most_partial_results / kept, reduced / shortest_piece});
  const auto first = loop_to_cut(kernel, pieces);
  pieces = std::min(pieces, first->extent);
  if (pieces < 2) return std::nullopt;
  first->length = (first->extent + pieces - 1) / pieces;
  if (constexpr std::int64_t whole_vectors = 64; first->length > whole_vectors)
    first->length = (first->length + whole_vectors - 1) / whole_vectors * whole_vectors;
  pieces = (first->extent + first->length - 1) / first->length;
  first->piece = expr::variable(pieces);

  Kernel combine{.name = "combine " + kernel.name, .loops = {}, .passes = {Pass{}}, .row_buffers = {}};
  Expr row = expr::integer(0);  // the number of the result, whatever its shape
  Shape kept_shape;
  std::vector<Expr> kept_index;
  for (const Loop& l : kernel.loops)
    if (!l.reduced) {
      combine.loops.push_back(l);
      kept_shape.push_back(l.extent);
      kept_index.push_back(l.variable);
    }
  row = expr::offset_of(kept_shape, kept_index);
  const Expr over_pieces = expr::variable(pieces);
  combine.loops.push_back({over_pieces, pieces, true});
  combine.passes[0].rows = std::move(kernel.passes[0].rows);
  kernel.passes[0].rows.clear();
  for (Reduce& r : kernel.passes[0].reductions) {
    const auto partial = static_cast<BufferId>(program.buffers.size());
    program.buffers.push_back({.type = {r.value->dtype, {pieces, kept}, false}, .storage = Storage::arena});
    // The piece's result is read like the whole one's, but under its own number and dtype.
    kernel.passes[0].rows.push_back(
        {partial, first->piece * expr::integer(kept) + row, expr::load(partial, r.value->dtype, expr::integer(0))});
    combine.passes[0].reductions.push_back(
        {r.op, expr::load(partial, r.value->dtype, over_pieces * expr::integer(kept) + row), {}, r.result});
    r.result = partial;
  }
  const Loop piece_loop{first->piece, pieces, false};
  kernel.loops.insert(kernel.loops.begin(), piece_loop);
  return combine;
}

}  // namespace

void build_kernels(const Group& group, Definitions& definitions, const std::vector<bool>& materialized,
                   const Target& target, Program& program, std::vector<Step>& steps) {
  Kernel kernel = KernelBuilder(group, definitions, materialized, target, program).build();
  const bool stores_something = std::any_of(kernel.passes.begin(), kernel.passes.end(),
                                            [](const Pass& p) { return !p.stores.empty() || !p.rows.empty(); });
  if (!stores_something) return;
  simplify_loops(kernel);
  auto combine = cut(kernel, target.cut, program);
  steps.emplace_back(std::move(kernel));
  if (combine) steps.emplace_back(std::move(*combine));
}

}  // namespace cotan::compiler
