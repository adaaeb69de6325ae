// Names of mapped axes: what vmap(f, {.axis_name = "i"}) binds while it runs f, and what collectives look up.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "core/primitive.hpp"

namespace cotan::axes {

/// While it lives, the name stands for a mapped axis of that size on this thread, in front of others of that name. An
/// empty name binds nothing.
class Binding {
 public:
  Binding(std::string_view name, std::int64_t size);
  ~Binding();
  Binding(const Binding&) = delete;

  const std::string name;
  const std::int64_t size;
  const Binding* const outer;
};

/// Raises ValueError, with the names that are bound, where this one is not; `op` is who asks.
std::int64_t size_of(std::string_view name, std::string_view op);
/// The names that are bound with their sizes, in order; empty where there are none. Programs traced under different
/// ones are different programs.
std::string environment();

/// While it lives, batching rules on this thread are those of an axis with this name. Rules of nested programs batch
/// them over the same axis, so that collectives inside find it.
class OfRule {
 public:
  explicit OfRule(const std::string& name);
  ~OfRule();
  OfRule(const OfRule&) = delete;

 private:
  const std::string* outer_;
};
/// The name of the axis of the batching rule that is running; empty: it has none.
const std::string& of_rule();

/// What a collective is on a batch over the axis that it names: attached with RuleFor. `x` is its operand, undefined
/// where it takes none, and `dim` the batch axis of that or not_batched.
struct AcrossAxis {
  BatchResult (*apply)(const Array& x, int dim, std::int64_t size, const Params& params);
};
/// Whether the operation is a collective over the axis of that name.
bool names_axis(const Primitive& p, const Params& params, std::string_view name);
/// The same of some operation in nested programs.
bool nested_names_axis(const Params& params, std::string_view name);

}  // namespace cotan::axes
