#include "backend/single_operation.hpp"

#include <mutex>
#include <unordered_map>

#include "core/trace.hpp"

namespace cotan {

namespace {

/// A program of one equation.
JaxprPtr make_program(const Primitive& p, const Types& types, const Params& params) {
  JaxprBuilder builder;
  std::vector<Atom> inputs;
  for (const AbstractValue& t : types) inputs.push_back(builder.add_input(t));
  std::vector<Atom> outputs;
  for (Var v : builder.add_equation(p, std::move(inputs), p.type(p, types, params), params)) outputs.push_back(v);
  return builder.finish(std::move(outputs), std::string(p.name)).jaxpr;
}

/// Programs of single operations, by primitive, types and parameters.
class Programs {
 public:
  JaxprPtr find(const Primitive& p, const Types& types, const Params& params) {
    std::size_t hash = std::hash<const void*>{}(&p);
    for (const AbstractValue& t : types) hash_combine(hash, hash_value(t));
    hash_combine(hash, params.hash());
    std::lock_guard lock(mutex_);
    for (auto [at, end] = entries_.equal_range(hash); at != end; ++at) {
      const Equation& e = at->second->equations[0];
      if (e.primitive == &p && e.params == params && at->second->input_types() == types) return at->second;
    }
    constexpr std::size_t most = 512;
    if (entries_.size() >= most) entries_.clear();
    return entries_.emplace(hash, make_program(p, types, params))->second;
  }

 private:
  std::mutex mutex_;
  std::unordered_multimap<std::size_t, JaxprPtr> entries_;
};
Programs& programs() {
  static Programs& p = *new Programs;
  return p;
}

}  // namespace

JaxprPtr program_of(const Primitive& p, const Types& types, const Params& params) {
  return programs().find(p, types, params);
}

}  // namespace cotan
