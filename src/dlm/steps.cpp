#include "dlm/steps.hpp"

#include "dlm/errors.hpp"

namespace cotan::dlm {

namespace np = numpy;

namespace {

std::string described(const Array& a) { return a.aval().str(); }

/// [rows, columns], or the same with a leading axis of at least `steps`.
void check_matrix(const char* name, const Array& a, std::int64_t rows, std::int64_t columns, std::int64_t steps) {
  const Shape& s = a.shape();
  const std::size_t k = s.size();
  const bool fits = (k == 2 || k == 3) && s[k - 2] == rows && s[k - 1] == columns;
  if (!fits)
    raise<ShapeError>("[dlm] {} is {}; it must be [{}, {}], or have a leading axis of steps before that.", name,
                      described(a), rows, columns);
  if (k == 3 && s[0] < steps)
    raise<ShapeError>("[dlm] {} is {} but the series has {} steps; give one matrix for each step (or one for all).",
                      name, described(a), steps);
}

}  // namespace

StateSpace checked(const StateSpace& model, const Array& y) {
  StateSpace s = model;
  for (const auto& [name, a] :
       {std::pair{"G", &s.G}, {"F", &s.F}, {"W", &s.W}, {"V", &s.V}, {"x0", &s.x0}, {"C0", &s.C0}}) {
    if (!a->defined()) raise<ShapeError>("[dlm] the model has no {}; a StateSpace needs G, F, W, V, x0 and C0.", name);
    if (a->dtype() != f32 && a->dtype() != f64)
      raise<TypeError>("[dlm] {} is {}; state-space models are in f32 or f64: use astype.", name, described(*a));
    if (a->dtype() != s.G.dtype())
      raise<TypeError>("[dlm] {} is {} but G is {}; give all matrices one dtype with astype.", name, described(*a),
                       described(s.G));
  }
  if (y.ndim() != 1 && y.ndim() != 2)
    raise<ShapeError>("[dlm] the series is {}; it must be [steps] or [steps, observed values].", described(y));
  if (s.x0.ndim() != 1) raise<ShapeError>("[dlm] x0 is {}; it must have one axis, of states.", described(s.x0));
  const std::int64_t n = y.shape()[0], m = s.x0.shape()[0], p = y.ndim() == 1 ? 1 : y.shape()[1];
  if (n == 0 || m == 0 || p == 0)
    raise<ShapeError>("[dlm] the series is {} and there are {} states; neither can be empty.", described(y), m);
  check_matrix("G", s.G, m, m, n);
  check_matrix("F", s.F, p, m, n);
  check_matrix("W", s.W, m, m, n);
  check_matrix("V", s.V, p, p, n);
  if (s.C0.ndim() != 2) raise<ShapeError>("[dlm] C0 is {}; it must be [{}, {}].", described(s.C0), m, m);
  check_matrix("C0", s.C0, m, m, n);
  if (s.D0) {
    const Array& D = *s.D0;
    if (!D.defined() || D.ndim() != 2 || D.shape(0) != m || D.shape(1) < 1 || D.dtype() != s.G.dtype())
      raise<ShapeError>("[dlm] D0 is {}; it must be [{}, directions] of {}, or left out.",
                        D.defined() ? described(D) : "empty", m, name(s.G.dtype()));
  }
  return between(s, 0, n);
}
StateSpace between(const StateSpace& model, std::int64_t from, std::int64_t to) {
  StateSpace s = model;
  for (Array* a : {&s.G, &s.F, &s.W, &s.V})
    if (a->ndim() == 3 && (from > 0 || a->shape()[0] > to)) *a = (*a)(range(from, to));
  return s;
}

Observations observations(const StateSpace& model, const Array& y) {
  const Array all = (y.ndim() == 1 ? np::expand_dims(y, -1) : y).astype(model.G.dtype());
  const Array missing = np::isnan(all);
  return {np::where(missing, 0.0, all), np::where(missing, 0.0, np::ones_like(all))};
}

StepMatrices::StepMatrices(const StateSpace& model) : all_{model.G, model.F, model.W, model.V} {}
std::vector<Array> StepMatrices::inputs(std::int64_t steps) const {
  std::vector<Array> out;
  for (const Array* a : {&all_.G, &all_.F, &all_.W, &all_.V})
    if (a->ndim() == 3) out.push_back(a->shape()[0] == steps ? *a : (*a)(range(0, steps)));
  return out;
}
Matrices StepMatrices::of(const std::vector<Array>& slices) const {
  Matrices out = all_;
  std::size_t k = 0;
  for (Array* a : {&out.G, &out.F, &out.W, &out.V})
    if (a->ndim() == 3) *a = slices[k++];
  return out;
}

Array of_steps(const Array& matrix, std::int64_t from, std::int64_t to) {
  return matrix.ndim() == 3 ? matrix(range(from, to)) : matrix;
}

Matrices only_seen(const Matrices& m, const Array& seen) {
  const Array both = outer(seen, seen);
  return {m.G, np::expand_dims(seen, -1) * m.F, m.W, both * m.V + np::expand_dims(1.0 - seen, -1) * identity_like(m.V)};
}

Array solve_positive(const Array& s, const Array& b) {
  if (s.shape().back() == 1) return b / s;
  return linalg::cho_solve(linalg::cholesky(s, false), b);
}

Array minus2_log_terms(const Array& v, const Array& S, const Array& seen) {
  if (seen.shape().back() == 1) {
    const Array one_v = np::squeeze(v, -1), one_S = np::squeeze(S, {-2, -1});
    return np::squeeze(seen, -1) * (one_v * one_v / one_S + np::log(one_S));
  }
  const Array of_seen = outer(seen, seen) * S + np::expand_dims(1.0 - seen, -1) * identity_like(S);
  const Array root = linalg::cholesky(of_seen, false);
  const Array scaled = linalg::triangular_solve(root, np::expand_dims(v, -1), {.lower = true});
  return np::sum(scaled * scaled, {-2, -1}) + 2.0 * np::sum(np::log(np::diagonal(root, 0, -2, -1)), -1);
}

Array path_a_step_later(const StateSpace& model, std::int64_t n) {
  const Array later = (np::arange(n) > 1)(all, newaxis, newaxis);
  const Array G = np::where(later, matrix_a_step_later(matrix_a_step_later(model.G)), identity_like(model.C0));
  const auto then = [](const Array& a, const Array& b) { return np::matmul(b, a); };
  return times(lax::associative_scan(then, G), model.x0);
}

Filtered with_innovations(const StateSpace& model, const Observations& o, const Array& x, const Array& C) {
  const Matrices m = only_seen({model.G, model.F, model.W, model.V}, o.seen);
  const Array CF = np::matmul(C, transposed(m.F));
  const Array S_seen = np::matmul(m.F, CF) + m.V;
  const Array K = transposed(solve_positive(S_seen, transposed(np::matmul(m.G, CF))));
  return {x, C, o.y - times(m.F, x), sandwich(model.F, C) + model.V, K};
}

}  // namespace cotan::dlm
