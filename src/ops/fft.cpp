// fft: the Fourier transform of complex arrays along an axis, as pairs of real arrays; and butterfly, which is the
// transform of a few elements as straight-line code. There is no inverse: exchanging real and imaginary parts before
// and after makes one.
#include "ops/fft.hpp"

#include <cmath>
#include <complex>
#include <numbers>

#include "expr/expr.hpp"
#include "ops/elementwise.hpp"

namespace cotan::ops {

namespace {

// fft -------------------------------------------------------------------------------------------

struct Extents {
  std::int64_t before = 1, length, after = 1;
  Extents(const Shape& shape, std::int64_t axis) : length(shape[static_cast<std::size_t>(axis)]) {
    for (std::int64_t k = 0; k < static_cast<std::int64_t>(shape.size()); ++k)
      (k < axis ? before : after) *= k == axis ? 1 : shape[static_cast<std::size_t>(k)];
  }
};

/// Operands: real parts, imaginary parts, and the tables of the length's plan.
Types fft_type(const Primitive& self, std::span<const AbstractValue> x, const Params& params) {
  const std::int64_t axis = params.integer("axis");
  if (axis < 0 || axis >= x[0].ndim())
    raise<IndexError>("[fft] axis {} is out of range for {}; axes count from 0.", axis, x[0]);
  if (x[0].shape != x[1].shape)
    raise<ShapeError>("[fft] real parts are {} but imaginary ones {}; give them one shape.", x[0], x[1]);
  check_dtype(self, x[0].dtype, Accepts::floating);
  if (x[0].dtype != x[1].dtype || x[0].dtype != x[2].dtype)
    raise<TypeError>("[fft] operands are {}, {} and {}; give them one dtype with astype.", x[0], x[1], x[2]);
  const FftPlan plan = fft_plan(x[0].shape[static_cast<std::size_t>(axis)]);
  if (x[2].shape != Shape{plan.table_size})
    raise<ShapeError>("[fft] tables are {}, not {} long; this is a bug in cotan.", x[2], plan.table_size);
  const AbstractValue type{x[0].dtype, x[0].shape, false};
  return {type, type};
}

/// In double and by another algorithm than compiled programs: the oracle.
Arrays fft_eval(const Primitive& self, std::span<const Array> x, const Params& params) {
  const AbstractValue type{x[0].dtype(), x[0].shape(), false};
  auto [re, re_buffer] = allocate_like(x, type);
  auto [im, im_buffer] = allocate_like(x, type);
  const Extents e(type.shape, params.integer("axis"));
  dispatch_floating(type.dtype, self.name, [&, &r = re_buffer, &i = im_buffer]<class T>() {
    const T *in_re = data<T>(x[0]), *in_im = data<T>(x[1]);
    T *out_re = reinterpret_cast<T*>(r->data()), *out_im = reinterpret_cast<T*>(i->data());
    const auto roots = roots_of_unity(e.length);
    std::vector<std::complex<double>> line(static_cast<std::size_t>(e.length));
    for (std::int64_t b = 0; b < e.before; ++b)
      for (std::int64_t a = 0; a < e.after; ++a) {
        const auto at = [&](std::size_t k) { return (b * e.length + static_cast<std::int64_t>(k)) * e.after + a; };
        for (std::size_t k = 0; k < line.size(); ++k)
          line[k] = {static_cast<double>(static_cast<Compute<T>>(in_re[at(k)])),
                     static_cast<double>(static_cast<Compute<T>>(in_im[at(k)]))};
        const auto result = fft_on_host(line, roots);
        for (std::size_t k = 0; k < line.size(); ++k) {
          out_re[at(k)] = convert<T>(result[k].real());
          out_im[at(k)] = convert<T>(result[k].imag());
        }
      }
  });
  return {re, im};
}

JvpResult fft_jvp(const Primitive& self, std::span<const Array> x, std::span<const Array> t, const Params& params) {
  Arrays y = bind(self, x, params);
  if (!t[0].defined() && !t[1].defined()) return {y, {Array(), Array()}};
  const auto tangent = [&](int k) { return t[k].defined() ? t[k] : zeros_like(x[k]); };
  return {y, bind(self, {tangent(0), tangent(1), x[2]}, params)};
}

/// With C and S the matrices of cosines and sines, the results are C re + S im and C im - S re. Both are symmetric, so
/// that the transpose is the inverse but for its scale.
Arrays fft_transpose(const Primitive& self, std::span<const Array> ct, std::span<const LinearInput> in,
                     const Params& params) {
  if (!ct[0].defined() && !ct[1].defined()) return Arrays(3);
  const auto cotangent = [&](int k) { return ct[k].defined() ? ct[k] : zeros_of(in[k].aval); };
  const Arrays y = bind(self, {cotangent(1), cotangent(0), in[2].value}, params);
  return {in[0].linear ? y[1] : Array(), in[1].linear ? y[0] : Array(), Array()};
}

BatchResult fft_batch(const Primitive& self, std::span<const Array> x, std::span<const int> dims, std::int64_t size,
                      const Params& params) {
  // Tables are constants; if they are batched all the same, all rows are equal and the first one is taken.
  const Array tables = dims[2] == not_batched ? x[2] : reshape(slice_axis(x[2], dims[2], 0, 1), {x[2].size() / size});
  return {bind(self, {batch_at_front(x[0], dims[0], size), batch_at_front(x[1], dims[1], size), tables},
               params.with("axis", params.integer("axis") + 1)),
          {0, 0}};
}

// fft_pairs -----------------------------------------------------------------------------------------

/// Operands: real parts, imaginary parts. The result has both along a last axis of size 2, in the other order if
/// "swapped".
Types fft_pairs_type(const Primitive& self, std::span<const AbstractValue> x, const Params& params) {
  check_dtype(self, x[0].dtype, Accepts::floating);
  internal_check(x[0].shape == x[1].shape && x[0].dtype == x[1].dtype && params.integer("axis") < x[0].ndim(),
                 "parts of a transform are of two kinds");
  AbstractValue type{x[0].dtype, x[0].shape, false};
  type.shape.push_back(2);
  return {type};
}
Arrays fft_pairs_eval(const Primitive&, std::span<const Array> x, const Params& params) {
  const Arrays y = fft_eval(fft_p, x, params);  // which does not look at tables
  Shape part = x[0].shape();
  part.push_back(1);
  Arrays parts{reshape(y[0], part), reshape(y[1], part)};
  if (params.flag("swapped")) std::swap(parts[0], parts[1]);
  return {concatenate(parts, static_cast<int>(part.size()) - 1)};
}
BatchResult fft_pairs_batch(const Primitive& self, std::span<const Array> x, std::span<const int> dims,
                            std::int64_t size, const Params& params) {
  return {bind(self, {batch_at_front(x[0], dims[0], size), batch_at_front(x[1], dims[1], size)},
               params.with("axis", params.integer("axis") + 1)),
          {0}};
}

}  // namespace

std::optional<WholeTransform> whole_transform(const Jaxpr& program, const DefUse& values, const Equation& e) {
  if (e.primitive != &concatenate_p || e.inputs.size() != 2) return std::nullopt;
  const Equation* transforms[2] = {};
  std::size_t parts[2] = {};
  for (std::size_t k = 0; k < 2; ++k) {
    Atom a = e.inputs[k];
    const Equation* home = values.definition(a);
    for (; home && home->primitive == &reshape_p; home = values.definition(a)) a = home->inputs[0];
    if (!home || home->primitive != &fft_p) return std::nullopt;
    transforms[k] = home;
    parts[k] = home->outputs[0] == std::get<Var>(a) ? 0 : 1;
  }
  Shape shape = program.type(transforms[0]->outputs[0]).shape;
  shape.push_back(2);
  const bool is_last = e.params.integer("dimension") + 1 == static_cast<std::int64_t>(shape.size());
  if (transforms[0] != transforms[1] || parts[0] == parts[1] || !is_last || program.type(e.outputs[0]).shape != shape)
    return std::nullopt;
  return WholeTransform{transforms[0], parts[0] == 1};
}

namespace {

// butterfly ---------------------------------------------------------------------------------------

double fused(double a, double b, double c) { return std::fma(a, b, c); }
expr::Expr fused(expr::Expr a, double b, expr::Expr c) { return expr::fma(a, expr::like(a, b), c); }
expr::Expr fused(expr::Expr a, expr::Expr b, expr::Expr c) { return expr::fma(a, b, c); }

/// A complex number of doubles, or of expressions.
template <class S>
struct Number {
  S re, im;
  Number operator+(const Number& o) const { return {re + o.re, im + o.im}; }
  Number operator-(const Number& o) const { return {re - o.re, im - o.im}; }
  Number operator*(const Number& o) const { return {fused(re, o.re, -(im * o.im)), fused(re, o.im, im * o.re)}; }
  Number times_minus_i() const { return {im, -re}; }
};

/// x times the k-th root of unity of order n; most of those that small transforms want are simple.
template <class S>
Number<S> times_root(const Number<S>& x, std::int64_t k, std::int64_t n) {
  if (k == 0) return x;
  if (4 * k == n) return x.times_minus_i();
  constexpr double root_of_half = std::numbers::sqrt2 / 2;
  if (8 * k == n) return {(x.re + x.im) * root_of_half, (x.im - x.re) * root_of_half};
  if (8 * k == 3 * n) return {(x.im - x.re) * root_of_half, (x.re + x.im) * -root_of_half};
  const std::complex<double> w = root_of_unity(k, n);
  return {fused(x.re, w.real(), x.im * -w.imag()), fused(x.im, w.real(), x.re * w.imag())};
}

/// The transform of an odd prime number of elements: of sums and differences of opposite ones.
template <class S>
std::vector<Number<S>> prime_transform(const std::vector<Number<S>>& x) {
  const auto n = static_cast<std::int64_t>(x.size());
  std::vector<Number<S>> sums, differences, out(x.size());
  Number<S> total = x[0];
  for (std::size_t j = 1; 2 * j < x.size(); ++j) {
    sums.push_back(x[j] + x[x.size() - j]);
    differences.push_back(x[j] - x[x.size() - j]);
    total = total + sums.back();
  }
  out[0] = total;
  for (std::int64_t k = 1; 2 * k < n; ++k) {
    Number<S> even = x[0], odd = x[0];
    for (std::size_t j = 0; j < sums.size(); ++j) {
      const std::complex<double> w = root_of_unity((static_cast<std::int64_t>(j) + 1) * k, n);
      even = {fused(sums[j].re, w.real(), even.re), fused(sums[j].im, w.real(), even.im)};
      odd = j == 0
                ? Number<S>{differences[j].re * -w.imag(), differences[j].im * -w.imag()}
                : Number<S>{fused(differences[j].re, -w.imag(), odd.re), fused(differences[j].im, -w.imag(), odd.im)};
    }
    out[static_cast<std::size_t>(k)] = even + odd.times_minus_i();
    out[static_cast<std::size_t>(n - k)] = even - odd.times_minus_i();
  }
  return out;
}

template <class S>
std::vector<Number<S>> small_transform(const std::vector<Number<S>>& x) {
  const std::size_t n = x.size();
  if (n == 1) return x;
  if (n == 2) return {x[0] + x[1], x[0] - x[1]};
  if (n == 4) {
    const Number<S> a = x[0] + x[2], b = x[0] - x[2], c = x[1] + x[3], d = (x[1] - x[3]).times_minus_i();
    return {a + c, b + d, a - c, b - d};
  }
  std::size_t outer = n > 8 && n % 4 == 0 ? 4 : 2;
  while (n % outer != 0) ++outer;
  if (outer == n) return prime_transform(x);
  const std::size_t inner = n / outer;
  std::vector<std::vector<Number<S>>> columns(inner, std::vector<Number<S>>(outer));
  for (std::size_t j = 0; j < outer; ++j) {
    std::vector<Number<S>> part;
    for (std::size_t k = 0; k < inner; ++k) part.push_back(x[j + outer * k]);
    part = small_transform(part);
    for (std::size_t k = 0; k < inner; ++k)
      columns[k][j] = times_root(part[k], static_cast<std::int64_t>(j * k), static_cast<std::int64_t>(n));
  }
  std::vector<Number<S>> out(n);
  for (std::size_t k = 0; k < inner; ++k) {
    const auto column = small_transform(columns[k]);
    for (std::size_t j = 0; j < outer; ++j) out[k + inner * j] = column[j];
  }
  return out;
}

/// Operands: the elements; then, for all but the first of them, factors that they are multiplied by: as many as
/// "factors" says. Each is a real and an imaginary part.
template <class S>
std::vector<S> butterfly(std::span<const S> x, const Params& params) {
  const auto radix = static_cast<std::size_t>(params.integer("radix"));
  std::vector<Number<S>> elements;
  for (std::size_t j = 0; j < radix; ++j) elements.push_back({x[2 * j], x[2 * j + 1]});
  const auto factor = [&](std::size_t set, std::size_t j) {
    const std::size_t at = 2 * (radix + set * (radix - 1) + j - 1);
    return Number<S>{x[at], x[at + 1]};
  };
  const auto factors = params.integer("factors");
  for (std::size_t j = 1; j < radix && factors > 0; ++j)
    elements[j] = elements[j] * (factors == 2 ? factor(0, j) * factor(1, j) : factor(0, j));
  std::vector<S> out;
  for (const Number<S>& y : small_transform(elements)) {
    out.push_back(y.re);
    out.push_back(y.im);
  }
  return out;
}

Types butterfly_type(const Primitive& self, std::span<const AbstractValue> x, const Params& params) {
  const AbstractValue type = elementwise_type<Accepts::floating>(self, x, params)[0];
  return Types(static_cast<std::size_t>(2 * params.integer("radix")), type);
}
Arrays butterfly_eval(const Primitive& self, std::span<const Array> x, const Params& params) {
  const AbstractValue type = result_type(self, x, params);
  Arrays out;
  std::vector<BufferPtr> buffers;
  for (std::int64_t k = 0; k < 2 * params.integer("radix"); ++k) {
    auto [array, buffer] = allocate_like(x, type);
    out.push_back(array);
    buffers.push_back(buffer);
  }
  dispatch_floating(type.dtype, self.name, [&]<class T>() {
    std::vector<double> operands(x.size());
    for (std::int64_t i = 0; i < type.size(); ++i) {
      for (std::size_t k = 0; k < x.size(); ++k)
        operands[k] = static_cast<double>(static_cast<Compute<T>>(data<T>(x[k])[i * step(x[k], type.size())]));
      const std::vector<double> y = butterfly<double>(operands, params);
      for (std::size_t k = 0; k < y.size(); ++k) reinterpret_cast<T*>(buffers[k]->data())[i] = convert<T>(y[k]);
    }
  });
  return out;
}

}  // namespace

const Primitive fft_p{.name = "fft",
                      .op_class = OpClass::routine,
                      .type = fft_type,
                      .eval = fft_eval,
                      .jvp = fft_jvp,
                      .transpose = fft_transpose,
                      .batch = fft_batch};

// Only programs that are being compiled have these: nothing differentiates them.
const Primitive fft_pairs_p{.name = "fft_pairs",
                            .op_class = OpClass::routine,
                            .type = fft_pairs_type,
                            .eval = fft_pairs_eval,
                            .batch = fft_pairs_batch,
                            .not_differentiable = true};
const Primitive butterfly_p{
    .name = "butterfly",
    .op_class = OpClass::elementwise,
    .type = butterfly_type,
    .eval = butterfly_eval,
    .batch = elementwise_batch,
    .not_differentiable = true,
    .scalars = [](std::span<const expr::Expr> x, const Params& params) { return butterfly<expr::Expr>(x, params); }};
const Listed fft_listed{&fft_p, &fft_pairs_p, &butterfly_p};

}  // namespace cotan::ops
