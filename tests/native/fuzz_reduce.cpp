// Reductions, what is built of them, and products, of the fuzzer's catalogue.
#include <algorithm>

#include "native/fuzz_program.hpp"

namespace fuzz {

namespace {

bool any(const Array&) { return true; }
bool is_number(const Array& a) { return a.dtype() != DType::bool_; }
bool has_axis(const Array& a) { return a.ndim() > 0; }
bool has_elements(const Array& a) { return a.size() > 0; }
bool is_real_matrix(const Array& a) { return is_real(a) && a.ndim() >= 1 && a.size() > 0; }

/// Some of the axes, now and then all or none of them.
std::vector<int> random_axes(const Pool& pool, const Array& a) {
  std::vector<int> axes;
  for (int k = 0; k < a.ndim(); ++k)
    if (pool.draw.one_in(2)) axes.push_back(k);
  if (axes.empty() && a.ndim() > 0 && !pool.draw.one_in(10)) axes.push_back(pool.axis_of(a));
  return axes;
}
std::string shown(const std::vector<int>& axes, bool keepdims) {
  return text({axes.begin(), axes.end()}) + (keepdims ? " keepdims" : "");
}

using Reduction = Array (*)(const Array&, const std::vector<int>&, bool);
struct NamedReduction {
  const char* name;
  Reduction f;
};
std::optional<Slot> reduction(const Pool& pool, std::optional<std::size_t> x, const NamedReduction& op,
                              Rounding rounding) {
  if (!x) return std::nullopt;
  const auto axes = random_axes(pool, pool.at(*x));
  const bool keepdims = pool.draw.one_in(2);
  return Slot{op.name + shown(axes, keepdims),
              {*x},
              [f = op.f, axes, keepdims](const Arrays& v) { return f(v[0], axes, keepdims); },
              rounding};
}

std::optional<Slot> sum(const Pool& pool) {
  static const std::vector<NamedReduction> ops{
      {"sum", [](const Array& x, const std::vector<int>& a, bool k) { return np::sum(x, a, k); }},
      {"sum", [](const Array& x, const std::vector<int>& a, bool k) { return np::sum(x, a, k); }},
      {"sum of squares", [](const Array& x, const std::vector<int>& a, bool k) { return np::sum(x * x, a, k); }},
      {"mean", [](const Array& x, const std::vector<int>& a, bool k) { return np::mean(x, a, k); }},
  };
  return reduction(pool, pool.pick(any), pool.draw.pick(ops), Rounding::sum);
}
/// Of few factors: more would overflow in one order and not in another.
std::optional<Slot> product(const Pool& pool) {
  const NamedReduction op{"prod", [](const Array& x, const std::vector<int>& a, bool k) { return np::prod(x, a, k); }};
  return reduction(pool, pool.pick([](const Array& a) { return a.size() <= 24; }), op, Rounding::sum);
}
std::optional<Slot> extremum(const Pool& pool) {
  static const std::vector<NamedReduction> ops{
      {"max", [](const Array& x, const std::vector<int>& a, bool k) { return np::max(x, a, k); }},
      {"min", [](const Array& x, const std::vector<int>& a, bool k) { return np::min(x, a, k); }},
  };
  return reduction(pool, pool.pick(has_elements), pool.draw.pick(ops), Rounding::exact);
}
std::optional<Slot> truth(const Pool& pool) {
  static const std::vector<NamedReduction> ops{
      {"all", [](const Array& x, const std::vector<int>& a, bool k) { return np::all(x, a, k); }},
      {"any", [](const Array& x, const std::vector<int>& a, bool k) { return np::any(x, a, k); }},
      {"count_nonzero", [](const Array& x, const std::vector<int>& a, bool k) { return np::count_nonzero(x, a, k); }},
  };
  return reduction(pool, pool.pick_exact(any), pool.draw.pick(ops), Rounding::exact);
}
std::optional<Slot> integer_sum(const Pool& pool) {
  static const std::vector<NamedReduction> ops{
      {"sum", [](const Array& x, const std::vector<int>& a, bool k) { return np::sum(x, a, k); }},
      {"prod", [](const Array& x, const std::vector<int>& a, bool k) { return np::prod(x, a, k); }},
  };
  return reduction(pool, pool.pick([](const Array& a) { return !is_real(a); }), pool.draw.pick(ops), Rounding::exact);
}
std::optional<Slot> position(const Pool& pool) {
  const auto x = pool.pick_exact([](const Array& a) { return a.ndim() > 0 && a.size() > 0; });
  if (!x) return std::nullopt;
  const int axis = pool.axis_of(pool.at(*x));
  const bool keepdims = pool.draw.one_in(2);
  if (pool.draw.one_in(2))
    return Slot{
        "argmax" + shown({axis}, keepdims), {*x}, [=](const Arrays& v) { return np::argmax(v[0], axis, keepdims); }};
  return Slot{
      "argmin" + shown({axis}, keepdims), {*x}, [=](const Arrays& v) { return np::argmin(v[0], axis, keepdims); }};
}

/// Patterns that are to become one kernel.
std::optional<Slot> row_pattern(const Pool& pool) {
  using Pattern = Array (*)(const Array&, int);
  struct Named {
    const char* name;
    Pattern f;
  };
  static const std::vector<Named> ops{
      {"softmax",
       [](const Array& x, int a) {
         const Array e = np::exp(x - np::max(x, a, true));
         return e / np::sum(e, a, true);
       }},
      {"log_softmax", [](const Array& x, int a) { return x - np::logsumexp(x, a, true); }},
      {"layer_norm",
       [](const Array& x, int a) {
         const Array m = np::mean(x, a, true);
         return (x - m) * lax::rsqrt(np::var(x, a, true) + 0.1);
       }},
      {"rms_norm", [](const Array& x, int a) { return x * lax::rsqrt(np::mean(x * x, a, true) + 0.1); }},
      {"var", [](const Array& x, int a) { return np::var(x, a); }},
      {"logsumexp", [](const Array& x, int a) { return np::logsumexp(x, a); }},
      {"x - max", [](const Array& x, int a) { return x - np::max(x, a, true); }},
      {"x / sum of abs", [](const Array& x, int a) { return x / (1 + np::sum(np::abs(x), a, true)); }},
  };
  const auto x = pool.pick([](const Array& a) { return is_real(a) && a.ndim() > 0 && a.size() > 0; });
  if (!x) return std::nullopt;
  const int axis = pool.axis_of(pool.at(*x));
  const Named& op = pool.draw.pick(ops);
  return Slot{op.name + (" " + std::to_string(axis)),
              {*x},
              [f = op.f, axis](const Arrays& v) { return f(v[0], axis); },
              Rounding::sum};
}
std::optional<Slot> cumulative(const Pool& pool) {
  const auto x = pool.pick([](const Array& a) { return is_number(a) && has_axis(a); });
  if (!x) return std::nullopt;
  const int axis = pool.axis_of(pool.at(*x));
  const bool reverse = pool.draw.one_in(3);
  const std::string how = " " + std::to_string(axis) + (reverse ? " reverse" : "");
  if (pool.draw.one_in(3))
    return Slot{"cummax" + how, {*x}, [=](const Arrays& v) { return lax::cummax(v[0], axis, reverse); }};
  return Slot{"cumsum" + how,
              {*x},
              [=](const Arrays& v) { return lax::cumsum(v[0], axis, reverse); },
              is_real(pool.at(*x)) ? Rounding::sum : Rounding::exact};
}

// Products --------------------------------------------------------------------------------------------

/// Multiplications that the reference does in reasonable time.
constexpr std::int64_t most_multiplications = 10'000'000;

bool fits_product(const Pool& pool, std::int64_t elements, std::int64_t contracted) {
  return elements <= pool.options.most_elements && elements * contracted <= most_multiplications;
}
/// Contracts one axis of each that is equally long, batches another pair where there is one.
std::optional<Slot> dot_general(const Pool& pool) {
  const auto x = pool.pick([](const Array& a) { return is_number(a) && has_axis(a); });
  if (!x) return std::nullopt;
  const Array& a = pool.at(*x);
  const int i = pool.axis_of(a);
  const auto axis_like = [&](const Array& b, std::int64_t size, int but) {
    for (int k = b.ndim(); k-- > 0;)
      if (k != but && b.shape(k) == size) return k;
    return -1;
  };
  const auto y = pool.pick([&](const Array& b) { return b.dtype() == a.dtype() && axis_like(b, a.shape(i), -1) >= 0; });
  const Array& b = pool.at(*y);
  const int j = axis_like(b, a.shape(i), -1);
  lax::DotDimensionNumbers d{{i}, {j}, {}, {}};
  if (pool.draw.one_in(2))
    for (int k = 0; k < a.ndim() && d.batch_lhs.empty(); ++k)
      if (const int other = axis_like(b, a.shape(k), j); k != i && other >= 0) {
        d.batch_lhs = {k};
        d.batch_rhs = {other};
      }
  std::int64_t elements = 1;
  for (int k = 0; k < a.ndim(); ++k)
    if (k != i) elements *= a.shape(k);
  for (int k = 0; k < b.ndim(); ++k)
    if (k != j && d.batch_rhs != std::vector<std::int64_t>{k}) elements *= b.shape(k);
  if (!fits_product(pool, elements, a.shape(i))) return std::nullopt;
  return Slot{"dot_general" + text(d.contract_lhs) + text(d.contract_rhs) + text(d.batch_lhs) + text(d.batch_rhs),
              {*x, *y},
              [d](const Arrays& v) { return lax::dot_general(v[0], v[1], d); },
              is_real(a) ? Rounding::sum : Rounding::exact};
}
/// With weights of its own that need no partner, large enough for a routine now and then.
std::optional<Slot> dense_layer(const Pool& pool) {
  const auto x = pool.pick(is_real_matrix);
  if (!x) return std::nullopt;
  const std::int64_t k = pool.at(*x).shape(pool.at(*x).ndim() - 1);
  const std::int64_t n = pool.options.corner_sizes ? random_size(pool.draw, pool.options)
                         : pool.draw.one_in(2)     ? pool.draw.between(1, 9)
                                                   : pool.draw.between(10, 40);
  if (!fits_product(pool, pool.at(*x).size() / k * n, k)) return std::nullopt;
  return Slot{"x @ weights " + std::to_string(n),
              {*x},
              [=](const Arrays& v) {
                const Array w =
                    np::sin(lax::iota(v[0].dtype() == DType::f64 ? DType::f64 : DType::f32, {k, n}, 0) * 0.7 +
                            lax::iota(DType::f32, {k, n}, 1)) /
                    4;
                return np::matmul(v[0], w.astype(v[0].dtype()));
              },
              Rounding::sum};
}
std::optional<Slot> gram(const Pool& pool) {
  const auto x = pool.pick([](const Array& a) { return is_real(a) && a.ndim() == 2 && a.size() > 0; });
  if (!x || !fits_product(pool, pool.at(*x).shape(0) * pool.at(*x).shape(0), pool.at(*x).shape(1))) return std::nullopt;
  return Slot{"x @ x.T / n",
              {*x},
              [](const Arrays& v) { return np::matmul(v[0], v[0].T()) / static_cast<double>(v[0].shape(1)); },
              Rounding::sum};
}
std::optional<Slot> cholesky(const Pool& pool) {
  const auto x = pool.pick([](const Array& a) {
    return (a.dtype() == DType::f32 || a.dtype() == DType::f64) && a.ndim() == 2 && a.size() > 0 && a.shape(0) <= 40;
  });
  if (!x) return std::nullopt;
  return Slot{
      "cholesky of x @ x.T + n",
      {*x},
      [](const Arrays& v) {
        const std::int64_t n = v[0].shape(0);
        const Array y = np::tanh(v[0]);
        return ct::linalg::cholesky(np::matmul(y, y.T()) + np::eye(n).astype(v[0].dtype()) * static_cast<double>(n));
      },
      Rounding::sum};
}
std::optional<Slot> outer(const Pool& pool) {
  const auto x = pool.pick([](const Array& a) { return is_number(a) && a.ndim() == 1; });
  const auto y = pool.pick([](const Array& a) { return is_number(a) && a.ndim() == 1; });
  if (!x || !y || pool.at(*x).size() * pool.at(*y).size() > pool.options.most_elements) return std::nullopt;
  return Slot{"outer", {*x, *y}, [](const Arrays& v) { return np::outer(v[0], v[1]); }};
}
std::optional<Slot> convolution(const Pool& pool) {
  const auto x = pool.pick([](const Array& a) { return is_real(a) && a.ndim() == 1 && a.size() > 0; });
  const auto y = pool.pick([](const Array& a) { return is_real(a) && a.ndim() == 1 && a.size() > 0; });
  if (!x || !y || pool.at(*x).size() * pool.at(*y).size() > most_multiplications / 10) return std::nullopt;
  const std::string mode = pool.draw.pick(std::vector<std::string>{"full", "same", "valid"});
  return Slot{
      "convolve " + mode, {*x, *y}, [mode](const Arrays& v) { return np::convolve(v[0], v[1], mode); }, Rounding::sum};
}

}  // namespace

std::vector<Op> reduction_ops() {
  return {{sum, false},        {sum, false},     {product, false},     {extremum, true},     {truth, true},
          {integer_sum, true}, {position, true}, {row_pattern, false}, {row_pattern, false}, {cumulative, false}};
}
std::vector<Op> product_ops() {
  return {{dot_general, false}, {dot_general, false}, {dense_layer, false}, {gram, false},
          {outer, true},        {convolution, false}, {cholesky, false}};
}

}  // namespace fuzz
