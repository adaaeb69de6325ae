// Steps are doubled until an interval is known that holds a point with both conditions; then the interval is narrowed,
// by cubics and parabolas through what is known, or by halves (Nocedal and Wright, algorithms 3.5 and 3.6).
#include "scipy/optimize/line_search.hpp"

namespace cotan::scipy::optimize {

namespace {

namespace np = numpy;

constexpr double decrease = 1e-4, curvature = 0.9;
constexpr int most_narrowings = 30;

Array dot(const Array& a, const Array& b) { return np::sum(a * b); }
template <class T>
T select(const Array& condition, const T& a, const T& b) {
  return tree::map([&](const Array& x, const Array& y) { return np::where(condition, x, y); }, a, b);
}

/// The line, and what is known of its start.
struct Line {
  const ValueAndGradient& f;
  Array x, direction;
  Trial start;

  Trial at(const Array& step) const {
    const auto [value, gradient] = f(x + step * direction);
    return {step, value, dot(gradient, direction), gradient};
  }
  /// The value is not lower by enough.
  Array too_high(const Trial& t) const { return t.value > start.value + decrease * t.step * start.slope; }
  /// The slope is small enough.
  Array flat(const Trial& t) const { return np::abs(t.slope) <= -curvature * start.slope; }
};

/// The minimum of the cubic through three values, with the slope at the first.
Array cubic_minimum(const Trial& a, const Trial& b, const Array& c, const Array& value_c) {
  const Array db = b.step - a.step, dc = c - a.step, rise_b = b.value - a.value - a.slope * db,
              rise_c = value_c - a.value - a.slope * dc;
  const Array denominator = np::square(db * dc) * (db - dc);
  const Array third = (dc * dc * rise_b - db * db * rise_c) / denominator;
  const Array second = (db * db * db * rise_c - dc * dc * dc * rise_b) / denominator;
  return a.step + (-second + np::sqrt(second * second - 3.0 * third * a.slope)) / (3.0 * third);
}
/// The minimum of the parabola through two values, with the slope at the first.
Array parabola_minimum(const Trial& a, const Trial& b) {
  const Array d = b.step - a.step, second = (b.value - a.value - a.slope * d) / (d * d);
  return a.step - a.slope / (2.0 * second);
}

/// An interval that holds a point to take: `low` is the better end. `last` is an end that it had before.
struct Narrowing {
  Trial low, high;
  Array last, last_value;
  Trial found;
  Array done, failed, number;
};

/// The next point to try: inside, and not too near to the ends.
Array next_step(const Narrowing& s) {
  const Array width = np::abs(s.high.step - s.low.step);
  const Array from = np::minimum(s.high.step, s.low.step), to = np::maximum(s.high.step, s.low.step);
  const auto well_inside = [&](const Array& step, double share) {
    return (step > from + share * width) & (step < to - share * width);
  };
  const Array cubic = cubic_minimum(s.low, s.high, s.last, s.last_value), parabola = parabola_minimum(s.low, s.high);
  const Array by_cubic = (s.number > 0) & well_inside(cubic, 0.2), by_parabola = well_inside(parabola, 0.1);
  return np::where(by_cubic, cubic, np::where(by_parabola, parabola, (s.low.step + s.high.step) / 2.0));
}

Narrowing narrowed(const Line& line, const Narrowing& s) {
  const Array width = s.high.step - s.low.step;
  const double least = width.dtype() == f64 ? 1e-10 : 1e-5;
  const Trial t = line.at(next_step(s));
  const Array high = line.too_high(t) | (t.value >= s.low.value);
  const Array take = line.flat(t) & ~high;
  const Array turn = (t.slope * width >= 0.0) & ~high & ~take;  // the better end is on the other side of it
  const Array low = ~high & ~take;
  Narrowing next = s;
  next.last = np::where(high | turn, s.high.step, np::where(low, s.low.step, s.last));
  next.last_value = np::where(high | turn, s.high.value, np::where(low, s.low.value, s.last_value));
  next.high = select(high, t, select(turn, s.low, s.high));
  next.low = select(low, t, s.low);
  next.found = select(take, t, s.found);
  next.number = s.number + 1;
  next.done = s.done | take;
  next.failed = s.failed | (np::abs(width) <= least) | (next.number >= most_narrowings);
  return next;
}

/// A search between two points, where `needed` says so. One that fails has found the better end.
Narrowing searched_between(const Line& line, const Trial& low, const Trial& high, const Array& needed) {
  const Array no = np::zeros({}, bool_);
  const Narrowing start{
      low, high, (low.step + high.step) / 2.0, (low.value + high.value) / 2.0, low, no, no, np::zeros({}, i32)};
  Narrowing end = lax::while_loop([&](const Narrowing& s) { return needed & ~s.done & ~s.failed; },
                                  [&](const Narrowing& s) { return narrowed(line, s); }, start);
  end.found = select(end.done, end.found, end.low);
  return end;
}

struct Widening {
  Trial last, found;
  Array done, failed, number, evaluations;
};

Widening widened(const Line& line, const Array& first_step, const Widening& s) {
  const Trial t = line.at(np::where(s.number == 1, first_step, s.last.step * 2.0));
  const Array behind = line.too_high(t) | ((t.value >= s.last.value) & (s.number > 1));
  const Array take = line.flat(t) & ~behind;
  const Array rises = (t.slope >= 0.0) & ~behind & ~take;
  const Array between = behind | rises;
  const Narrowing inside = searched_between(line, select(behind, s.last, t), select(behind, t, s.last), between);
  Widening next = s;
  next.done = s.done | between | take;
  next.failed = s.failed | (between & inside.failed);
  next.found = select(between, inside.found, select(take, t, s.found));
  next.last = t;
  next.number = s.number + 1;
  next.evaluations = s.evaluations + 1 + inside.number;
  return next;
}

}  // namespace

LineSearchResult line_search(const ValueAndGradient& f, const Array& x, const Array& direction, const Array& value,
                             const Array& last_value, const Array& gradient, std::int64_t maxiter) {
  const Array zero = np::zeros_like(value), no = np::zeros({}, bool_);
  const Line line{f, x, direction, {zero, value, dot(gradient, direction), gradient}};
  const Array guess = 1.01 * 2.0 * (value - last_value) / line.start.slope, first = np::where(guess > 1.0, 1.0, guess);
  const Widening start{line.start, line.start, no, no, np::ones({}, i32), np::zeros({}, i32)};
  const Widening end = lax::while_loop([&](const Widening& s) { return ~s.done & (s.number <= maxiter) & ~s.failed; },
                                       [&](const Widening& s) { return widened(line, first, s); }, start);
  LineSearchResult out{end.failed | ~end.done, end.evaluations,
                       np::where(end.failed, 1, np::where(end.number > maxiter, 3, 0)), end.found};
  // Numbers with few digits: a step that is not seen is made a little longer.
  Array& step = out.found.step;
  if (step.dtype() != f64) step = np::where(np::abs(step) < 1e-8, np::sign(step) * 1e-8, step);
  return out;
}

}  // namespace cotan::scipy::optimize
