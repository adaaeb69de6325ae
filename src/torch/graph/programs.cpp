#include "torch/graph/programs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cotan/transforms.hpp>

#include "torch/graph/hashing.hpp"
#include "torch/graph/op.hpp"

namespace cotan::torch::detail {

std::shared_ptr<Compiled> Programs::find(const std::vector<std::uint64_t>& key, bool& known) {
  std::size_t hash = key.size();
  for (const std::uint64_t word : key) hash = mixed(hash, word);
  const auto [first, last] = by_hash_.equal_range(hash);
  for (auto it = first; it != last; ++it)
    if ((*it->second)->key == key) {
      entries_.splice(entries_.begin(), entries_, it->second);
      known = true;
      return *it->second;
    }
  known = false;
  if (entries_.size() == most) drop_oldest();
  auto made = std::make_shared<Compiled>();
  made->key = key;
  made->hash = hash;
  made->cache = flat::make_jit_cache();
  entries_.push_front(made);
  by_hash_.emplace(hash, entries_.begin());
  return made;
}

void Programs::drop_oldest() {
  const auto oldest = std::prev(entries_.end());
  const auto [from, to] = by_hash_.equal_range((*oldest)->hash);
  for (auto it = from; it != to; ++it)
    if (it->second == oldest) {
      by_hash_.erase(it);
      break;
    }
  entries_.pop_back();
}

namespace {

std::string line_of(const std::source_location& where) {
  return where.line() == 0 ? "an unknown line" : fmt::format("{}:{}", where.file_name(), where.line());
}
std::string types(const std::vector<TypePtr>& list) {
  std::vector<std::string> out;
  for (const TypePtr t : list) out.push_back(t->str());
  return fmt::format("{}", fmt::join(out, ", "));
}
std::string operation(const Compiled::Note& n) {
  if (n.kind == Node::Kind::data) return fmt::format("a known {}", types(n.call->out));
  if (n.kind == Node::Kind::leaf) return fmt::format("a parameter {}", types(n.call->out));
  return fmt::format("{} at {}", n.kind == Node::Kind::backward ? "backward" : n.call->op->name, line_of(n.where));
}

std::span<const std::uint64_t> words(const Compiled& c, std::size_t node) {
  const std::size_t first = c.notes[node].start;
  const std::size_t last = node + 1 < c.notes.size() ? c.notes[node + 1].start : c.key.size();
  return std::span(c.key).subspan(first, last - first);
}
std::size_t equal_nodes(const Compiled& a, const Compiled& b) {
  std::size_t n = 0;
  while (n < a.notes.size() && n < b.notes.size() && std::ranges::equal(words(a, n), words(b, n))) ++n;
  return n;
}

/// What is other about one node, in words.
std::string difference_of(const Compiled& now, const Compiled& there, std::size_t i) {
  const Compiled::Note &a = now.notes[i], &b = there.notes[i];
  if (a.kind != b.kind || a.call->op != b.call->op) return fmt::format("there it is {}", operation(b));
  if (a.call != b.call) {
    if (a.call->in != b.call->in) return fmt::format("it takes {}, and {} there", types(a.call->in), types(b.call->in));
    if (a.call->out != b.call->out)
      return fmt::format("it gives {}, and {} there", types(a.call->out), types(b.call->out));
    return "its arguments that are part of the program are others there, such as a dimension or a whole number";
  }
  const std::uint64_t flags = now.key[a.start + 1] ^ there.key[b.start + 1], mine = now.key[a.start + 1];
  const auto said = [&](std::uint64_t bit, const char* yes, const char* no) { return mine & bit ? yes : no; };
  if (flags & 32) return said(32, "it is computed before, and not there", "there it is computed before");
  if (flags & 128)
    return said(128, "its result can be read later, and not there", "there its result can be read later");
  if (flags & 64) return said(64, "its memory is given up, and not there", "there its memory is given up");
  if (flags & (16 | 256)) return said(16, "it requires a gradient, and not there", "there it requires a gradient");
  return "its operands are others there";
}

}  // namespace

std::string Programs::difference(const Compiled& made) const {
  const Compiled* nearest = nullptr;
  std::size_t most_equal = 0, looked_at = 0;
  for (const auto& other : entries_) {
    if (other.get() == &made || other->notes.empty()) continue;
    if (const std::size_t n = equal_nodes(made, *other); !nearest || n > most_equal) {
      nearest = other.get();
      most_equal = n;
    }
    if (++looked_at == 32) break;
  }
  if (!nearest) return "it is the first one";
  if (most_equal == made.notes.size() || most_equal == nearest->notes.size())
    return fmt::format("it has {} operations and operands, the nearest program {}; up to there they are equal",
                       made.notes.size(), nearest->notes.size());
  return fmt::format("{} of its {} operations and operands are those of the nearest program; then {} differs: {}",
                     most_equal, made.notes.size(), operation(made.notes[most_equal]),
                     difference_of(made, *nearest, most_equal));
}

void Programs::describe(Compiled& made, const Program& p, std::span<const Array> arguments,
                        const std::vector<bool>& donated) const {
  made.device = p.device;
  made.donated = donated;
  for (const Array& a : arguments) made.like.push_back(shape_dtype(a.shape(), a.dtype()));
  for (std::size_t i = 0; i < p.nodes.size(); ++i) {
    const Node& n = *p.nodes[i];
    made.notes.push_back({n.call, n.kind, n.where, p.starts[i]});
    made.operations += n.kind == Node::Kind::call || n.kind == Node::Kind::backward;
  }
  made.arguments = p.arguments.size();
  made.results = p.outputs.size();
  for (const std::uint32_t i : p.outputs)
    made.kept.push_back(fmt::format("{} {}: {}", types(p.nodes[i]->call->out), operation(made.notes[i]),
                                    p.nodes[i]->holders > 0 ? "a tensor is alive" : "it is read, or kept for later"));
  made.reason = difference(made);
}

}  // namespace cotan::torch::detail
