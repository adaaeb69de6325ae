// Effects: operations that do something beside computing their results, in the order of the program. A program is pure:
// each of them takes a token and gives the next one, so that what orders them is data flow, which every pass keeps. Who
// traces a function of the user's threads the token through it; functions themselves do not see it.
#pragma once
#include <cotan/flat.hpp>
#include <optional>
#include <string_view>

#include "core/primitive.hpp"

namespace cotan {

class Trace;
namespace effects {

/// How many effects have run: an i32. Nobody reads the number, but that it is one lets no pass drop or merge what makes
/// it.
Array first_token();
bool is_token_type(const AbstractValue& type);

/// A token itself. Loops and branches in which lanes go different ways give it a batch axis, which this takes away.
extern const Primitive join_tokens_p;

/// What the effects of a function do while it runs on this thread. The innermost one counts.
class Frame {
 public:
  enum class Kind : std::uint8_t {
    immediate,  ///< they run at once: nothing is recorded here
    watched,    ///< they are noticed: the function is traced again, with a token
    threaded,   ///< they take and give `token`
    forbidden,  ///< they raise: `where` says in what
  };
  explicit Frame(Kind kind, Array token = {}, std::string_view where = {});
  ~Frame();
  Frame(const Frame&) = delete;

  const Kind kind;
  Array token;
  const std::string_view where;
  const Trace* const home;  ///< the trace that the function runs under
  bool found = false;       ///< watched: there was one

 private:
  Frame* outer_;
};

/// The token that the next effect of the function that is running takes. Raises where there must not be one; `op` is
/// its name.
Array take_token(std::string_view op);
/// The one that it gave.
void give_token(const Array& token);

/// Calls f(token) -> token, results…: an operation with effects inside. Gives the results.
template <class F>
Arrays call(std::string_view op, F&& f) {
  Arrays out = f(take_token(op));
  give_token(out[0]);
  out.erase(out.begin());
  return out;
}

/// A function that is about to be traced, and whether it had effects.
class Watched {
 public:
  explicit Watched(const FlatFn& f) : f_(f) {}
  Arrays operator()(std::span<const Array> in) {
    Frame frame(Frame::Kind::watched);
    Arrays out = f_(in);
    found_ = found_ || frame.found;
    return out;
  }
  bool found() const { return found_; }

 private:
  FlatFn f_;
  bool found_ = false;
};

/// The same function as token, arguments… -> token, results….
class Threaded {
 public:
  explicit Threaded(const FlatFn& f) : f_(f) {}
  Arrays operator()(std::span<const Array> in) const {
    Frame frame(Frame::Kind::threaded, in[0]);
    Arrays out = f_(in.subspan(1));
    out.insert(out.begin(), frame.token);
    return out;
  }

 private:
  FlatFn f_;
};

Arrays with_token(const Array& token, std::span<const Array> args);
/// Of arguments with a token before them.
flat::Paths after_token(const flat::Paths& paths, std::size_t tokens = 1);

/// Of a batch in which not all lanes run what is being batched (branches, loops that have ended for some): a bool per
/// lane. Effects run for these lanes alone.
class RunningLanes {
 public:
  explicit RunningLanes(const Array& mask);
  ~RunningLanes();
  RunningLanes(const RunningLanes&) = delete;
  /// Undefined: all.
  static Array mask();

 private:
  Array saved_;
};

}  // namespace effects
}  // namespace cotan
