// Functions of any number of arguments that know the line of their call.
#pragma once
#include <concepts>
#include <cotan/call_site.hpp>

namespace cotan::detail {

/// The call operators of `Derived`, which has `at_line(line, arguments…)` and says by `takes<Arguments…>` which there
/// may be. A parameter after a pack is never left to its default, so each number of arguments has an operator of its
/// own; beyond eight the line is not known. The line's type is a template parameter so that a call with one argument
/// more is refused before `takes` is asked, which may compile the body of the user's function.
template <class Derived>
class LocatedCalls {
 public:
  template <class Line = CallLine, class Self = Derived>
    requires std::same_as<Line, CallLine> && (Self::template takes<>)
  auto operator()(Line line = CallLine(COTAN_HERE)) const {
    return self().at_line(line);
  }
  template <class A, class Line = CallLine>
    requires std::same_as<Line, CallLine> && (Derived::template takes<A>)
  auto operator()(const A& a, Line line = CallLine(COTAN_HERE)) const {
    return self().at_line(line, a);
  }
  template <class A, class B, class Line = CallLine>
    requires std::same_as<Line, CallLine> && (Derived::template takes<A, B>)
  auto operator()(const A& a, const B& b, Line line = CallLine(COTAN_HERE)) const {
    return self().at_line(line, a, b);
  }
  template <class A, class B, class C, class Line = CallLine>
    requires std::same_as<Line, CallLine> && (Derived::template takes<A, B, C>)
  auto operator()(const A& a, const B& b, const C& c, Line line = CallLine(COTAN_HERE)) const {
    return self().at_line(line, a, b, c);
  }
  template <class A, class B, class C, class D, class Line = CallLine>
    requires std::same_as<Line, CallLine> && (Derived::template takes<A, B, C, D>)
  auto operator()(const A& a, const B& b, const C& c, const D& d, Line line = CallLine(COTAN_HERE)) const {
    return self().at_line(line, a, b, c, d);
  }
  template <class A, class B, class C, class D, class E, class Line = CallLine>
    requires std::same_as<Line, CallLine> && (Derived::template takes<A, B, C, D, E>)
  auto operator()(const A& a, const B& b, const C& c, const D& d, const E& e, Line line = CallLine(COTAN_HERE)) const {
    return self().at_line(line, a, b, c, d, e);
  }
  template <class A, class B, class C, class D, class E, class F, class Line = CallLine>
    requires std::same_as<Line, CallLine> && (Derived::template takes<A, B, C, D, E, F>)
  auto operator()(const A& a, const B& b, const C& c, const D& d, const E& e, const F& f,
                  Line line = CallLine(COTAN_HERE)) const {
    return self().at_line(line, a, b, c, d, e, f);
  }
  template <class A, class B, class C, class D, class E, class F, class G, class Line = CallLine>
    requires std::same_as<Line, CallLine> && (Derived::template takes<A, B, C, D, E, F, G>)
  auto operator()(const A& a, const B& b, const C& c, const D& d, const E& e, const F& f, const G& g,
                  Line line = CallLine(COTAN_HERE)) const {
    return self().at_line(line, a, b, c, d, e, f, g);
  }
  template <class A, class B, class C, class D, class E, class F, class G, class H, class Line = CallLine>
    requires std::same_as<Line, CallLine> && (Derived::template takes<A, B, C, D, E, F, G, H>)
  auto operator()(const A& a, const B& b, const C& c, const D& d, const E& e, const F& f, const G& g, const H& h,
                  Line line = CallLine(COTAN_HERE)) const {
    return self().at_line(line, a, b, c, d, e, f, g, h);
  }
  template <class... Many>
    requires(sizeof...(Many) > 8) && (Derived::template takes<Many...>)
  auto operator()(const Many&... many) const {
    return self().at_line(CallLine({}), many...);
  }

 private:
  const Derived& self() const { return static_cast<const Derived&>(*this); }
};

}  // namespace cotan::detail
