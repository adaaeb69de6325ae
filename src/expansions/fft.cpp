// Fourier transforms as stages of small ones (Stockham's order: nothing is ever permuted). A stage reads the state
// [before, done, radix, rest], multiplies by twiddle factors, transforms along `radix` and leaves [before, radix, done,
// rest]: results lie one after the other, so that each is written where it belongs.
#include "ops/fft.hpp"

#include "expansions/tools.hpp"

namespace cotan::expansions {

namespace {

struct Pair {
  Array re, im;
};

class Stage {
 public:
  /// The last stage leaves the shape that is wanted: its results are not just reshaped.
  Stage(const ops::FftStage& stage, const Array& tables, const Shape& wanted, std::size_t axis)
      : s_(stage), tables_(tables) {
    for (std::size_t k = 0; k < wanted.size(); ++k) (k < axis ? before_ : rest_) *= k == axis ? stage.rest : wanted[k];
    if (stage.rest > 1) return;
    part_ = wanted;
    part_[axis] = stage.done;
    axis_ = static_cast<int>(axis);
  }

  Pair run(const Pair& x) {
    if (part_.empty()) part_ = {before_, s_.done, rest_};
    const Shape shape{before_, s_.done, s_.radix, rest_};
    const Pair state{ops::reshape(x.re, shape), ops::reshape(x.im, shape)};
    return s_.is_dense() ? product(state) : butterfly(state);
  }

 private:
  Array table(std::int64_t first, std::int64_t rows, std::int64_t columns) const {
    return ops::reshape(ops::slice_axis(tables_, 0, first, first + rows * columns), {rows, columns});
  }
  Pair table_pair(std::int64_t first, std::int64_t rows, std::int64_t columns) const {
    return {table(first, rows, columns), table(first + rows * columns, rows, columns)};
  }
  /// A table [radix, done / split], or [radix, split], as [radix, done].
  Array spread(const Array& table, bool coarse) const {
    const Shape shape{s_.radix, s_.done / s_.split, s_.split};
    return ops::reshape(ops::broadcast_in_dim(table, shape, coarse ? Ints{0, 1} : Ints{0, 2}), {s_.radix, s_.done});
  }
  /// Tables whose product is the twiddle factors [radix, done].
  std::vector<Pair> twiddles() const {
    std::vector<Pair> out;
    if (!s_.has_twiddles()) return out;
    const auto add = [&](std::int64_t first, std::int64_t columns, bool coarse) {
      const Pair t = table_pair(first, s_.radix, columns);
      out.push_back({spread(t.re, coarse), spread(t.im, coarse)});
    };
    add(s_.coarse, s_.done / s_.split, true);
    if (s_.split > 1) add(s_.fine, s_.split, false);
    return out;
  }

  Pair butterfly(const Pair& x) const {
    Arrays operands;
    const auto add = [&](const Pair& pair, const auto& part) {
      operands.push_back(part(pair.re));
      operands.push_back(part(pair.im));
    };
    for (std::int64_t j = 0; j < s_.radix; ++j)
      add(x, [&](const Array& a) { return ops::reshape(ops::slice_axis(a, 2, j, j + 1), part_); });
    const std::vector<Pair> factors = twiddles();
    for (const Pair& f : factors)
      for (std::int64_t j = 1; j < s_.radix; ++j)
        add(f, [&](const Array& a) {
          return ops::broadcast_in_dim(ops::reshape(ops::slice_axis(a, 0, j, j + 1), {s_.done}), part_, {axis_});
        });
    const Arrays y =
        bind(ops::butterfly_p, operands, {{"radix", s_.radix}, {"factors", static_cast<std::int64_t>(factors.size())}});
    Arrays re, im;
    for (std::size_t k = 0; k < y.size(); ++k) (k % 2 ? im : re).push_back(y[k]);
    return {ops::concatenate(re, axis_), ops::concatenate(im, axis_)};
  }

  static Pair times(const Pair& a, const Pair& b) { return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}; }

  Pair product(Pair x) const {
    for (const Pair& f : twiddles()) {
      const auto wide = [&](const Array& a) { return ops::broadcast_in_dim(a, x.re.shape(), {2, 1}); };
      x = times(x, {wide(f.re), wide(f.im)});
    }
    const Pair w = table_pair(s_.matrix, s_.radix, s_.radix);
    const auto dot = [&](const Array& matrix, const Array& a) {
      return ops::transpose(ops::dot_general(matrix, a, {1}, {2}, {}, {}), {1, 0, 2, 3});
    };
    return {dot(w.re, x.re) - dot(w.im, x.im), dot(w.re, x.im) + dot(w.im, x.re)};
  }

  const ops::FftStage& s_;
  const Array& tables_;
  std::int64_t before_ = 1, rest_ = 1;
  Shape part_;  ///< of one of the results
  int axis_ = 1;
};

Arrays fft(const Primitive&, std::span<const Array> x, const Params& params) {
  const Shape& shape = x[0].shape();
  if (x[0].size() == 0) return {x[0], x[1]};
  const auto axis = static_cast<std::size_t>(params.integer("axis"));
  const ops::FftPlan plan = ops::fft_plan(shape[axis]);
  Pair state{x[0], x[1]};
  for (const ops::FftStage& stage : plan.stages) state = Stage(stage, x[2], shape, axis).run(state);
  return {ops::reshape(state.re, shape), ops::reshape(state.im, shape)};
}

}  // namespace

const RuleFor<Expansion> expands_fft{{&ops::fft_p}, {fft}};

}  // namespace cotan::expansions
