// A recorded program as a function of Arrays: what the shared compiler traces, once per program.
#include <fmt/format.h>

#include <cotan/lax.hpp>
#include <cotan/numpy.hpp>
#include <cotan/random.hpp>
#include <cotan/transforms.hpp>
#include <map>
#include <set>

#include "torch/graph/op.hpp"
#include "torch/graph/program.hpp"

namespace cotan::torch::detail {

namespace {

using Position = std::uint32_t;

std::string path(std::size_t i) { return fmt::format("value {}", i); }

/// What is known of a program before it is evaluated: where numbers and draws are, what each backward pass goes
/// through.
class Plan {
 public:
  explicit Plan(const Program& p)
      : program(p), number(p.nodes.size()), draw(p.nodes.size()), argument(p.nodes.size(), none) {
    std::size_t numbers = 0, draws = 0;
    for (Position i = 0; i < p.nodes.size(); ++i) {
      number[i] = numbers;
      draw[i] = draws;
      if (!p.evaluated[i] || p.nodes[i]->kind != Node::Kind::call) continue;
      numbers += p.nodes[i]->numbers.size();
      draws += p.nodes[i]->call->op->draws;
    }
    std::size_t first = 0;
    for (const Position i : p.arguments) {
      argument[i] = first;
      first += p.nodes[i]->results.size();
    }
    arguments = first;
    owner.assign(p.nodes.size(), none);
    for (Position i = 0; i < p.nodes.size(); ++i)
      if (p.nodes[i]->kind == Node::Kind::backward && p.evaluated[i]) {
        passes[i] = between(i);
        for (const Position n : passes[i])
          if (owner[n] == none && p.nodes[n]->kind != Node::Kind::backward && !p.nodes[n]->computed()) owner[n] = i;
      }
  }

  static constexpr std::size_t none = ~std::size_t{0};
  const Program& program;
  std::vector<std::size_t> number, draw,
      argument;  ///< per node: the first of its numbers, its draw, its first argument
  std::size_t arguments = 0;
  std::map<Position, std::set<Position>> passes;  ///< of a backward pass: the nodes that it goes through
  std::vector<std::size_t> owner;                 ///< the first such pass, which gives the values too

 private:
  /// Nodes that depend on what the pass differentiates with respect to, and that its roots depend on.
  std::set<Position> between(Position pass) const {
    const Node& b = *program.nodes[pass];
    std::set<std::pair<Position, std::uint32_t>> wrt;
    for (std::size_t i = 2 * b.roots; i < b.inputs().size(); ++i)
      wrt.emplace(b.inputs()[i].node->position, b.inputs()[i].index);
    std::set<Position> reached;
    std::vector<Position> waiting;
    const auto reach = [&](const Value& v) {
      if (!v.requires_grad() || wrt.contains({v.node->position, v.index})) return;
      if (program.evaluated[v.node->position] && reached.insert(v.node->position).second)
        waiting.push_back(v.node->position);
    };
    for (std::size_t i = 0; i < b.roots; ++i) reach(b.inputs()[i]);
    while (!waiting.empty()) {
      const Node& n = *program.nodes[waiting.back()];
      waiting.pop_back();
      for (const Value& v : n.inputs()) reach(v);
    }
    std::set<Position> out;
    for (const Position i : reached)  // ascending: operands first
      for (const Value& v : program.nodes[i]->inputs())
        if (v.requires_grad() && (wrt.contains({v.node->position, v.index}) || out.contains(v.node->position))) {
          out.insert(i);
          break;
        }
    return out;
  }
};

/// Values under one trace: of the program itself, or of what a backward pass differentiates, inside of another.
class Frame {
 public:
  Frame(const Plan& plan, std::span<const Array> arguments) : plan_(plan), arguments_(arguments) {}
  Frame(Frame& outer, const std::set<Position>& inside)
      : plan_(outer.plan_), arguments_(outer.arguments_), outer_(&outer), inside_(&inside) {}

  void override_value(const Value& v, const Array& a) { overrides_[{v.node->position, v.index}] = a; }

  Array value(const Value& v) {
    if (const Array* given = override_of(v.node->position, v.index)) return *given;
    if (inside_ && !inside_->contains(v.node->position)) return outer_->value(v);
    return results(v.node->position)[v.index];
  }

  const Arrays& results(Position i) {
    if (const auto it = values_.find(i); it != values_.end()) return it->second;
    if (inside_ && !inside_->contains(i)) return outer_->results(i);
    if (!inside_ && plan_.argument[i] != Plan::none) {
      const auto first = arguments_.begin() + static_cast<std::ptrdiff_t>(plan_.argument[i]);
      const auto count = plan_.program.nodes[i]->results.size();
      return values_[i] = Arrays(first, first + static_cast<std::ptrdiff_t>(count));
    }
    const Node& node = *plan_.program.nodes[i];
    if (const std::size_t pass = plan_.owner[i]; pass != Plan::none && may_begin(static_cast<Position>(pass))) {
      forward(static_cast<Position>(pass));
      if (const auto it = values_.find(i); it != values_.end()) return it->second;
    }
    if (const Region* region = inside_ && node.region ? next_region(*node.region) : nullptr) {
      evaluate_region(*region);
      return values_.at(i);
    }
    return values_[i] = as_outside(i, evaluate(i));
  }

 private:
  struct Pass {
    flat::Pullback pullback;
    Arrays zeros;  ///< cotangents of what it gives besides its roots
  };

  const Array* override_of(Position i, std::uint32_t index) const {
    const auto it = overrides_.find({i, index});
    return it == overrides_.end() ? nullptr : &it->second;
  }
  /// Where a pass around this one is differentiated with respect to a value on the way of this one, this one takes its
  /// derivatives at that value: the elements are those outside, the derivative is that of what was computed here.
  Arrays as_outside(Position i, Arrays results) const {
    for (std::uint32_t k = 0; k < results.size(); ++k)
      for (const Frame* f = outer_; f; f = f->outer_)
        if (const Array* given = f->override_of(i, k)) {
          results[k] = with_derivative_of(results[k], *given);
          break;
        }
    return results;
  }

  Arrays evaluate(Position i) {
    const Node& node = *plan_.program.nodes[i];
    Arrays out;
    switch (node.kind) {
      case Node::Kind::data:
        throw InternalError("[torch] data without elements in a program");
      case Node::Kind::leaf:
        return {value(node.inputs()[0])};
      case Node::Kind::backward:
        out = gradients(i);
        break;
      case Node::Kind::call: {
        const cotan::detail::CallSite site(node.where);  // errors of the rule name this line
        out = node.call->op->lower(*node.call, operands(i));
      }
    }
    // Outside of passes nothing is differentiated; a gradient would be copied for it.
    if (!node.requires_grad && inside_)
      for (Array& a : out) a = stop_gradient(a);
    return out;
  }

  Arrays operands(Position i) {
    const Node& node = *plan_.program.nodes[i];
    Arrays out;
    for (const Value& v : node.inputs()) out.push_back(value(v));
    std::size_t next = plan_.arguments;
    if (!plan_.program.numbers.empty()) {
      for (std::size_t n = 0; n < node.numbers.size(); ++n)
        out.push_back(arguments_[next][static_cast<std::int64_t>(plan_.number[i] + n)]);
      ++next;
    }
    if (node.call->op->draws) {
      const Array words = arguments_[next][static_cast<std::int64_t>(plan_.draw[i])];
      out.push_back(random::fold_in(random::fold_in(words(range(0, 2)), words[2]), words[3]));
    }
    return out;
  }

  /// A pass gives values only where nothing around is differentiated: what it gives has no derivative.
  bool may_begin(Position pass) const { return !inside_ && !plan_.program.traced && !running_.contains(pass); }

  /// The forward half of a backward pass: gives the values on its way, and keeps the way back.
  Pass& forward(Position i) {
    if (const auto it = passes_.find(i); it != passes_.end()) return it->second;
    running_.insert(i);
    const Node& b = *plan_.program.nodes[i];
    const std::set<Position>& way = plan_.passes.at(i);
    Arrays at;
    for (std::size_t k = 2 * b.roots; k < b.inputs().size(); ++k) at.push_back(value(b.inputs()[k]));
    std::vector<std::pair<Position, std::size_t>> given;  // which values there are besides the roots
    const auto f = [&](std::span<const Array> in) {
      Frame frame(*this, way);
      for (std::size_t k = 0; k < in.size(); ++k) frame.override_value(b.inputs()[2 * b.roots + k], in[k]);
      for (const Position n : way) frame.results(n);  // operands first, so that calls do not nest deeply
      Arrays out;
      for (std::size_t k = 0; k < b.roots; ++k) out.push_back(frame.value(b.inputs()[k]));
      given.clear();
      for (const auto& [position, values] : frame.values_) {
        if (plan_.program.nodes[position]->kind == Node::Kind::backward) continue;
        given.emplace_back(position, values.size());
        for (const Array& a : values) out.push_back(stop_gradient(a));
      }
      return out;
    };
    auto [out, pullback] = flat::vjp(f, at, "backward", path);
    running_.erase(i);
    Pass pass{std::move(pullback), {}};
    std::size_t next = b.roots;
    for (const auto& [position, count] : given) {
      const auto first = out.begin() + static_cast<std::ptrdiff_t>(next);
      if (!plan_.program.nodes[position]->computed())
        values_.try_emplace(position, first, first + static_cast<std::ptrdiff_t>(count));
      for (std::size_t k = 0; k < count; ++k) pass.zeros.push_back(numpy::zeros_like(out[next + k]));
      next += count;
    }
    return passes_[i] = std::move(pass);
  }

  Arrays gradients(Position i) {
    const Node& b = *plan_.program.nodes[i];
    Pass& pass = forward(i);
    Arrays cotangents;
    for (std::size_t k = 0; k < b.roots; ++k) cotangents.push_back(value(b.inputs()[b.roots + k]));
    cotangents.insert(cotangents.end(), pass.zeros.begin(), pass.zeros.end());
    return pass.pullback.apply(cotangents, path);
  }

  /// The outermost region around a node that is not entered here yet.
  const Region* next_region(const Region& innermost) const {
    for (const Region* r = &innermost; r; r = r->outer.get())
      if (r->outer.get() == region_) return r;
    return nullptr;
  }
  static bool is_within(const Node& node, const Region& region) {
    for (const Region* r = node.region.get(); r; r = r->outer.get())
      if (r == &region) return true;
    return false;
  }
  /// What is computed again: nodes on the way of the pass, and those beside it that give them their operands (masks).
  std::set<Position> members_of(const Region& region) const {
    std::set<Position> out;
    for (Position i = 0; i < plan_.program.nodes.size(); ++i) {
      const Node& node = *plan_.program.nodes[i];
      if (!is_within(node, region) || node.kind != Node::Kind::call || values_.contains(i)) continue;
      if (inside_->contains(i) || (plan_.program.evaluated[i] && !node.computed() && !node.requires_grad))
        out.insert(i);
    }
    return out;
  }

  /// All nodes of a checkpoint at once: what is inside of it is computed again for the derivative.
  void evaluate_region(const Region& region) {
    if (!entered_.insert(&region).second)
      throw_with_line<ValueError>(
          "[checkpoint] what is inside depends on a gradient taken inside of it; take gradients outside.");
    const std::set<Position> members = members_of(region);
    std::vector<Value> from;
    for (const Position i : members)
      for (const Value& v : plan_.program.nodes[i]->inputs())
        if (!members.contains(v.node->position) && std::find(from.begin(), from.end(), v) == from.end())
          from.push_back(v);
    Arrays at;
    for (const Value& v : from) at.push_back(value(v));
    std::vector<std::size_t> counts;
    const auto f = [&](std::span<const Array> in) {
      Frame frame(*this, members);
      frame.region_ = &region;
      for (std::size_t k = 0; k < in.size(); ++k) frame.override_value(from[k], in[k]);
      Arrays out;
      counts.clear();
      for (const Position i : members) {
        const Arrays& values = frame.results(i);
        counts.push_back(values.size());
        out.insert(out.end(), values.begin(), values.end());
      }
      return out;
    };
    const Arrays out = flat::checkpoint(f, at, region.policy);
    std::size_t next = 0, k = 0;
    for (const Position i : members) {
      Arrays& values = values_[i];
      for (std::size_t n = 0; n < counts[k]; ++n) values.push_back(out[next++]);
      ++k;
    }
  }

  const Plan& plan_;
  std::span<const Array> arguments_;
  Frame* outer_ = nullptr;
  const std::set<Position>* inside_ = nullptr;  ///< the nodes that are evaluated here; nullptr: all
  const Region* region_ = nullptr;              ///< the one that is evaluated here
  std::set<const Region*> entered_;             ///< regions that are, or were
  std::map<std::pair<Position, std::uint32_t>, Array> overrides_;
  std::map<Position, Arrays> values_;
  std::map<Position, Pass> passes_;
  std::set<Position> running_;
};

}  // namespace

Array with_derivative_of(const Array& history, const Array& elements) {
  const Array args[] = {elements, history};
  return flat::custom_vjp([](std::span<const Array> in) { return Arrays{in[0]}; },
                          [](std::span<const Array> in) { return std::pair{Arrays{in[0]}, Arrays{}}; },
                          [](std::span<const Array> in) { return Arrays{numpy::zeros_like(in[0]), in[0]}; }, args,
                          "with_derivative_of")[0];
}

Arrays evaluate(const Program& program, std::span<const Array> arguments) {
  const Plan plan(program);
  Frame frame(plan, arguments);
  for (Position i = 0; i < program.nodes.size(); ++i)  // operands first, so that calls do not nest deeply
    if (!program.nodes[i]->computed()) frame.results(i);
  Arrays out;
  for (const Position i : program.outputs) {
    const Arrays& results = frame.results(i);
    out.insert(out.end(), results.begin(), results.end());
  }
  return out;
}

}  // namespace cotan::torch::detail
