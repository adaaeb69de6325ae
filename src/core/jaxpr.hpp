// Jaxpr: the one intermediate representation. A typed, pure program in A-normal form.
//
// A Jaxpr has no captured arrays: constants are scalar Literals or leading inputs whose values a
// ClosedJaxpr holds. So nested programs depend on their operands alone and hash by structure.
#pragma once
#include <atomic>
#include <cotan/call_site.hpp>
#include <mutex>
#include <optional>
#include <source_location>
#include <variant>

#include "core/buffer.hpp"
#include "core/primitive.hpp"

namespace cotan {

struct Var {
  std::int32_t id = -1;
  bool operator==(const Var&) const = default;
};
/// A scalar constant inside a program.
struct Literal {
  Array value;  // concrete, 0-d
};
using Atom = std::variant<Var, Literal>;

struct Equation {
  const Primitive* primitive = nullptr;
  std::vector<Atom> inputs;
  std::vector<Var> outputs;
  Params params;
  std::source_location where;
};

/// What a back end has compiled a program to. Copies of a program start without.
class CompiledSlot {
 public:
  CompiledSlot() = default;
  CompiledSlot(const CompiledSlot&) {}
  CompiledSlot& operator=(const CompiledSlot&) { return *this; }
  /// Never changes once it is there, so it can be read without a lock.
  const void* get() const { return ready_.load(std::memory_order_acquire); }
  void set(std::shared_ptr<const void> compiled) const {
    std::lock_guard lock(mutex_);
    if (owner_) return;
    owner_ = std::move(compiled);
    ready_.store(owner_.get(), std::memory_order_release);
  }

 private:
  mutable std::mutex mutex_;
  mutable std::shared_ptr<const void> owner_;
  mutable std::atomic<const void*> ready_{nullptr};
};

struct Jaxpr {
  std::string name;  ///< of the function it came from, for printing
  Types types;       ///< type of each Var, by id
  std::vector<Var> inputs;
  std::vector<Equation> equations;
  std::vector<Atom> outputs;
  CompiledSlot native = {}, webgpu = {};  ///< filled by the back ends of these names

  const AbstractValue& type(Var v) const { return types[v.id]; }
  const AbstractValue& type(const Atom& a) const {
    if (const Var* v = std::get_if<Var>(&a)) return types[v->id];
    return std::get<Literal>(a).value.aval();
  }
  Types input_types() const;
  Types output_types() const;
};

struct ClosedJaxpr {
  JaxprPtr jaxpr;
  Arrays consts;  ///< values of the first inputs
};

/// JAX's style: { lambda ; a:f32[3]. let b:f32[3] = sin a in (b,) }
std::string to_string(const Jaxpr& jaxpr, int consts = 0);

/// Raises InternalError where the program is not well formed or not well typed.
void verify(const Jaxpr& jaxpr, std::string_view after);
/// In debug builds and where COTAN_VERIFY=1.
bool verification_enabled();
void verify_if_enabled(const Jaxpr& jaxpr, std::string_view after);

/// Equality and hash up to renaming of variables; source lines and names do not count.
bool structurally_equal(const Jaxpr& a, const Jaxpr& b);
std::size_t structural_hash(const Jaxpr& jaxpr);

/// The lines that equations were traced at, for whoever has something to say about one.
class EquationLines {
 public:
  void move_to(const Equation& e) {
    if (e.where.line() == 0) return;
    if (site_)
      site_->move_to(e.where);
    else
      site_.emplace(e.where);
  }

 private:
  std::optional<detail::CallSite> site_;
};

/// Applies the program to `args` under the current trace.
Arrays eval_jaxpr(const Jaxpr& jaxpr, std::span<const Array> args);

}  // namespace cotan
