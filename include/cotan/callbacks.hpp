// Functions on the host that compiled programs call: pure_callback, experimental::io_callback, debug::callback and
// debug::print. Arguments and results are pytrees. Compiled programs keep the function, and with it what it captures.
#pragma once
#include <cotan/control_flow.hpp>

namespace cotan {

namespace flat {
/// Without effects: it is called where its results are wanted, as often as they are. Results are like `like`.
Arrays pure_callback(FlatFunction function, std::span<const Array> like, std::span<const Array> args,
                     const std::string& vmap_method);
/// With effects, in the order of the program.
Arrays io_callback(FlatFunction function, std::span<const Array> like, std::span<const Array> args, bool ordered);
/// With effects and without results.
void debug_callback(FlatFunction function, std::span<const Array> args, std::string_view name = "debug::callback");
/// [name] the function returned one structure, but another was announced; `difference` is a sentence more.
[[noreturn]] void raise_callback_structure(std::string_view name, const std::string& announced,
                                           const std::string& returned, const std::string& difference);
}  // namespace flat

namespace detail {

/// A function on the host of arguments in a tuple, as one of lists of Arrays, which holds nothing of those.
template <class F, class Args>
FlatFunction host_function(F function, const Args& args) {
  return [function = std::move(function), like = tree::blank(args)](std::span<const Array> leaves) -> Arrays {
    const auto call = [&] { return std::apply(function, tree::unflatten(like, leaves)); };
    if constexpr (std::is_void_v<decltype(call())>) {
      call();
      return {};
    } else {
      return tree::leaves(lax::detail::traced(call()));
    }
  };
}
/// The same, whose results must have the structure of `announced`.
template <class F, class R, class Args>
FlatFunction host_function_like(std::string_view name, F function, const R& announced, const Args& args) {
  return host_function(
      [name, function = std::move(function), like = tree::blank(announced)](const auto&... a) {
        auto result = lax::detail::traced(function(a...));
        if (tree::structure(result) != tree::structure(like))
          flat::raise_callback_structure(name, tree::outline(like), tree::outline(result),
                                         tree::difference(like, result));
        return result;
      },
      args);
}

}  // namespace detail

/// Of pure_callback.
struct PureCallbackOptions {
  /// How it is called under vmap: "sequential" (or "sequential_unrolled"), once per element of the batch;
  /// "expand_dims", once with the batch as a new first axis, of size 1 where an argument has no batch; "broadcast_all",
  /// the same with all of the batch in its place; "legacy_vectorized", with no axis there. Empty: vmap raises.
  std::string vmap_method = {};
};
/// callback(args…) on the host, with arrays that have values, wherever the program runs; its results are a tree like
/// `result_shape_dtypes`, whose Arrays say shapes and dtypes (shape_dtype({3})). It must be a function of its arguments
/// alone: it is called as often as its results are wanted, in any order, and perhaps by several threads. It has no
/// derivative: give it one by custom_jvp. What it throws comes out of the call of the program. `jax.pure_callback`.
///
///     ct::pure_callback([](ct::Array v) { return host_sort(v); }, ct::shape_dtype({3}), x);
template <class F, class R, class... A>
R pure_callback(F callback, const R& result_shape_dtypes, const PureCallbackOptions& options, const A&... args) {
  const auto in = detail::call_arguments<F, A...>(args...);
  const Arrays out =
      flat::pure_callback(detail::host_function_like("pure_callback", std::move(callback), result_shape_dtypes, in),
                          tree::leaves(result_shape_dtypes), tree::leaves(in), options.vmap_method);
  return tree::unflatten(result_shape_dtypes, out);
}
/// Without options.
template <class F, class R, class... A>
R pure_callback(F callback, const R& result_shape_dtypes, const A&... args) {
  return pure_callback(std::move(callback), result_shape_dtypes, PureCallbackOptions{}, args...);
}

/// Returns when all effects of programs that were called have happened. `jax.effects_barrier`. A call returns after its
/// effects here, on every device, so there is nothing to wait for; programs that are written for JAX may keep it.
void effects_barrier();

namespace experimental {

/// Of io_callback.
struct IoCallbackOptions {
  bool ordered = false;  ///< vmap raises, since lanes have no order. Calls are in the order of the program either way
};
/// callback(args…) on the host, once for each time that the program comes by, in the order of the program, and that
/// also where nobody reads the results; else as pure_callback. Under vmap it is called for each lane that runs, unless
/// it is ordered. It has no derivative. `jax.experimental.io_callback`.
///
///     ct::experimental::io_callback([&](ct::Array v) { file << v; return 0; }, ct::shape_dtype({}, ct::i32), x);
template <class F, class R, class... A>
R io_callback(F callback, const R& result_shape_dtypes, const IoCallbackOptions& options, const A&... args) {
  const auto in = detail::call_arguments<F, A...>(args...);
  const Arrays out =
      flat::io_callback(detail::host_function_like("io_callback", std::move(callback), result_shape_dtypes, in),
                        tree::leaves(result_shape_dtypes), tree::leaves(in), options.ordered);
  return tree::unflatten(result_shape_dtypes, out);
}
/// Without options; result_shape_dtypes may be none.
template <class F, class R, class... A>
R io_callback(F callback, const R& result_shape_dtypes, const A&... args) {
  return io_callback(std::move(callback), result_shape_dtypes, IoCallbackOptions{}, args...);
}

}  // namespace experimental

/// `jax.debug`: looking into programs while they run.
namespace debug {

/// callback(args…) on the host each time that the program comes by, in the order of the program; what it returns is
/// dropped. Derivatives call it with primal values, once; vmap calls it lane after lane, for those lanes that run (JAX
/// calls it for all of them, also in branches that they did not take). `jax.debug.callback`.
///
///     ct::debug::callback([&](ct::Array loss) { losses.push_back(loss.item<float>()); }, loss);
template <class F, class... A>
void callback(F function, const A&... args) {
  const auto in = cotan::detail::call_arguments<F, A...>(args...);
  flat::debug_callback(
      cotan::detail::host_function([function = std::move(function)](const auto&... a) { (void)function(a...); }, in),
      tree::leaves(in));
}

/// A text with fields, and the line that it is on.
struct Format {
  std::string text;
  std::source_location where;
  template <class T>
    requires std::is_convertible_v<const T&, std::string>
  Format(const T& words, const std::source_location& line = COTAN_HERE) : text(words), where(line) {}
};
/// What is printed: an Array, a number or a string, under a name if arg() gave it one.
class Printed {
 public:
  Printed(const Array& array, std::string name = {}) : name_(std::move(name)), value_(array) {}
  Printed(const char* text, std::string name = {}) : name_(std::move(name)), value_(std::string(text)) {}
  Printed(const std::string& text, std::string name = {}) : name_(std::move(name)), value_(text) {}
  template <class T>
    requires std::is_arithmetic_v<T>
  Printed(T number, std::string name = {}) : name_(std::move(name)) {
    if constexpr (std::is_same_v<T, bool>)
      value_ = number;
    else if constexpr (std::is_floating_point_v<T>)
      value_ = static_cast<double>(number);
    else
      value_ = static_cast<std::int64_t>(number);
  }
  /// What it can be.
  using Value = std::variant<Array, std::string, double, std::int64_t, bool>;
  /// Empty: it has none.
  const std::string& name() const { return name_; }
  /// What it is.
  const Value& value() const { return value_; }

 private:
  std::string name_;
  Value value_;
};
/// A value under a name, for fields like {x}.
template <class T>
Printed arg(std::string name, const T& value) {
  return Printed(value, std::move(name));
}

}  // namespace debug

namespace flat {
/// Prints to std::cout, or to std::clog.
void debug_print(const debug::Format& format, std::vector<debug::Printed> args, bool log);
}  // namespace flat

namespace debug {

/// Prints a line to std::cout each time that the program comes by, in the order of the program. Fields are {} or {0},
/// or {x} for arg("x", …); of scalars also with a format, {x:.3f}. Derivatives and vmap as of callback.
/// `jax.debug.print`.
///
///     ct::debug::print("step {}: loss {loss:.4f}", i, ct::debug::arg("loss", loss));
template <class... A>
void print(const Format& format, const A&... args) {
  flat::debug_print(format, {Printed(args)...}, false);
}
/// The same to std::clog. `jax.debug.log`.
template <class... A>
void log(const Format& format, const A&... args) {
  flat::debug_print(format, {Printed(args)...}, true);
}

}  // namespace debug
}  // namespace cotan
