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

/// Where an equation comes from: the user's line, and the named scopes around it ("encoder/layer0"), or nullptr.
struct Origin : std::source_location {
  Origin() = default;
  Origin(const std::source_location& line, const std::string* scope = nullptr)
      : std::source_location(line), scope(scope) {}
  const std::string* scope = nullptr;
};
/// The named scopes around what runs now; interned, so that equal ones are one.
const std::string* current_scope();
/// While it lives, `scope` is the current one.
class ScopeOf {
 public:
  explicit ScopeOf(const std::string* scope);
  ~ScopeOf();
  ScopeOf(const ScopeOf&) = delete;

 private:
  const std::string* outer_;
};

struct Equation {
  const Primitive* primitive = nullptr;
  std::vector<Atom> inputs;
  std::vector<Var> outputs;
  Params params;
  Origin where;
};

/// What back ends have compiled a program to, a form for each of them. Copies of a program start without.
class CompiledForms {
 public:
  CompiledForms() = default;
  CompiledForms(const CompiledForms&) {}
  CompiledForms& operator=(const CompiledForms&) { return *this; }
  /// The form that `by` has set, or nullptr. It never changes once it is there, so it can be read without a lock.
  const void* get(const Backend& by) const {
    const Form* form = first_.load(std::memory_order_acquire);
    while (form && form->by != &by) form = form->next.get();
    return form ? form->compiled.get() : nullptr;
  }
  /// Sets the form of `by` if it has none yet; gives the form that is there now.
  const void* set(const Backend& by, std::shared_ptr<const void> compiled) const {
    std::lock_guard lock(mutex_);
    if (const void* known = get(by)) return known;
    forms_ = std::make_unique<const Form>(&by, std::move(compiled), std::move(forms_));
    first_.store(forms_.get(), std::memory_order_release);
    return forms_->compiled.get();
  }

 private:
  struct Form {
    const Backend* by;
    std::shared_ptr<const void> compiled;
    std::unique_ptr<const Form> next;
    Form(const Backend* by, std::shared_ptr<const void> compiled, std::unique_ptr<const Form> next)
        : by(by), compiled(std::move(compiled)), next(std::move(next)) {}
  };
  mutable std::mutex mutex_;
  mutable std::unique_ptr<const Form> forms_;
  mutable std::atomic<const Form*> first_{nullptr};  ///< of forms_, for those who read
};

/// The same program on the parts of complex values, made when it is first asked for. Copies of a program start without.
class RealForm {
 public:
  RealForm() = default;
  RealForm(const RealForm&) {}
  RealForm& operator=(const RealForm&) { return *this; }
  /// What `make()` gave the first time: nullptr where there is nothing complex.
  template <class Make>
  const JaxprPtr& get(Make&& make) const {
    std::call_once(once_, [&] { form_ = make(); });
    return form_;
  }

 private:
  mutable std::once_flag once_;
  mutable JaxprPtr form_;
};

struct Jaxpr {
  std::string name;  ///< of the function it came from, for printing
  Types types;       ///< type of each Var, by id
  std::vector<Var> inputs;
  std::vector<Equation> equations;
  std::vector<Atom> outputs;
  CompiledForms compiled = {};
  RealForm real = {};  ///< of the whole program, for devices (core/complex.hpp)

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

/// Says at which line of the user's each equation was traced, for errors that come up while a program is processed.
class EquationLines {
 public:
  void move_to(const Equation& e) {
    if (e.where.scope) scope_.emplace(e.where.scope);
    if (!e.where.scope) scope_.reset();
    if (e.where.line() == 0) return;
    if (site_)
      site_->move_to(e.where);
    else
      site_.emplace(e.where);
  }

 private:
  std::optional<detail::CallSite> site_;
  std::optional<ScopeOf> scope_;
};

/// Applies the program to `args` under the current trace.
Arrays eval_jaxpr(const Jaxpr& jaxpr, std::span<const Array> args);

}  // namespace cotan
