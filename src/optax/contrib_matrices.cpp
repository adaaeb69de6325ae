// Optimizers that look at matrices: muon, galore; and sophia, at the Hessian's diagonal.
#include <algorithm>
#include <cmath>
#include <cotan/linalg.hpp>
#include <cotan/optax/contrib.hpp>

#include "optax/core.hpp"

namespace cotan::optax::contrib {

NewtonSchulzCoefficients newton_schulz_preset(const std::string& name) {
  if (name == "standard") return {{3.4445, -4.775, 2.0315}};
  if (name == "dion")
    return {{4.0848, -6.8946, 2.927},
            {3.9505, -6.3029, 2.6377},
            {3.7418, -5.5913, 2.3037},
            {2.8769, -3.1427, 1.2046},
            {2.8366, -3.0525, 1.2012}};
  throw_with_line<ValueError>(
      fmt::format("[muon] no coefficients are called \"{}\"; there are \"standard\" and \"dion\".", name));
}

namespace {

/// A leaf as a stack of matrices, and back.
struct Matrices {
  std::vector<int> order;
  Shape shape, permuted;
  std::int64_t batch = 1, rows = 1, columns = 1;

  Matrices(const Array& x, const MuonDimensionNumbers& d) {
    if (x.ndim() < 2)
      throw_with_line<ShapeError>(
          fmt::format("[muon] a parameter is {}; matrices have two axes or more.", x.aval().str()));
    const auto positive = [&](std::vector<int> axes) {
      for (int& a : axes) a = a < 0 ? a + x.ndim() : a;
      return axes;
    };
    const std::vector<int> in = positive(d.reduction_axis), out = positive(d.output_axis);
    for (int a = 0; a < x.ndim(); ++a)
      if (std::count(in.begin(), in.end(), a) + std::count(out.begin(), out.end(), a) == 0) {
        order.push_back(a);
        batch *= x.shape(a);
      }
    for (int a : in) {
      order.push_back(a);
      rows *= x.shape(a);
    }
    for (int a : out) {
      order.push_back(a);
      columns *= x.shape(a);
    }
    std::vector<int> sorted = order;
    std::sort(sorted.begin(), sorted.end());
    if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end())
      throw_with_line<ValueError>(
          fmt::format("[muon] of {} an axis is reduced and an output; axes must differ.", x.aval().str()));
    for (int a : order) permuted.push_back(x.shape(a));
  }
  Array stacked(const Array& x) const { return np::reshape(np::transpose(x, order), {batch, rows, columns}); }
  Array back(const Array& x) const {
    std::vector<int> inverse(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) inverse[static_cast<std::size_t>(order[i])] = static_cast<int>(i);
    return np::transpose(np::reshape(x, permuted), inverse);
  }
};
std::optional<MuonDimensionNumbers> dimensions_of(const WeightDimensions& given, const std::string& path,
                                                  const Array& x) {
  if (given) return given(path, x);
  return x.ndim() == 2 ? std::optional(MuonDimensionNumbers{}) : std::nullopt;
}
/// f(leaf, its dimensions), all of which must be matrices.
template <class F>
Arrays each_matrix(const Arrays& x, const Given& given, const WeightDimensions& dimensions, const F& f) {
  const std::vector<std::string> paths = dimensions ? given.paths() : std::vector<std::string>(x.size());
  Arrays out;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const auto d = dimensions_of(dimensions, paths[i], x[i]);
    if (!d)
      throw_with_line<ShapeError>(
          fmt::format("[scale_by_muon] a leaf is {}, and no matrix; use muon or a mask.", x[i].aval().str()));
    out.push_back(f(x[i], *d));
  }
  return out;
}

Array transposed(const Array& x) { return np::matrix_transpose(x); }
Array sums(const Array& x, const Axes& axes) { return np::sum(x, axes, true); }

/// One step towards singular values of 1; the first of some kinds scales too.
Array newton_schulz_step(Array x, const std::array<double, 3>& c, bool first, const ScaleByMuonOptions& o) {
  Array a = np::matmul(x, transposed(x));
  if (first && o.preconditioning == Preconditioning::aol) {
    const Array s = lax::rsqrt(max(sums(np::abs(a), -1), 1e-8));
    x = x * s;
    a = a * s * transposed(s);
  } else if (first && o.preconditioning == Preconditioning::schatten) {
    const Array s = lax::rsqrt(max(np::sqrt(sums(a * a, {-2, -1})), 1e-8));
    x = x * s;
    a = a * s * s;
  }
  return c[0] * x + np::matmul(c[1] * a + np::matmul(c[2] * a, a), x);
}
Array orthogonal(const Array& leaf, const MuonDimensionNumbers& d, const ScaleByMuonOptions& o) {
  const Matrices form(leaf, d);
  const bool tall = form.rows > form.columns;
  Array x = tall ? transposed(form.stacked(leaf)) : form.stacked(leaf);
  if (o.preconditioning == Preconditioning::frobenius) x = x / (np::sqrt(sums(x * x, {-2, -1})) + o.eps);
  if (o.preconditioning == Preconditioning::spectral)
    x = x / (np::reshape(np::max(linalg::svdvals(x), -1), {form.batch, 1, 1}) + o.eps);
  const auto& all = o.ns_coeffs;
  for (int i = 0; i < o.ns_steps; ++i)
    x = newton_schulz_step(x, all.size() == 1 ? all[0] : all[all.size() - static_cast<std::size_t>(o.ns_steps - i)],
                           i == 0, o);
  return form.back(tall ? transposed(x) : x);
}

}  // namespace

Array newton_schulz(const Array& x, const ScaleByMuonOptions& options) { return orthogonal(x, {}, options); }

GradientTransformation scale_by_muon(const ScaleByMuonOptions& o) {
  if (o.ns_coeffs.empty() || (o.ns_coeffs.size() > 1 && o.ns_coeffs.size() < static_cast<std::size_t>(o.ns_steps)))
    throw_with_line<ValueError>(
        fmt::format("[scale_by_muon] {} rows of coefficients for {} steps; give one, or as many as steps.",
                    o.ns_coeffs.size(), o.ns_steps));
  return with_fields(
      "scale_by_muon",
      [o](const Arrays& p) { return Fields{{"count", {first_count()}}, {"mu", zeros_like(p, o.mu_dtype)}}; },
      [o](const Arrays& g, Fields& s, const Given& given) {
        const Arrays mu = tu::update_moment(g, s["mu"], o.beta, 1);
        const Array count = s["count"][0] = safe_increment(s["count"][0]);
        const Arrays mean =
            o.nesterov
                ? each([&](const Array& m, const Array& u) { return o.beta * m + one_minus(o.beta) * u; },
                       tu::bias_correction(mu, o.beta, safe_increment(count)), tu::bias_correction(g, o.beta, count))
                : tu::bias_correction(mu, o.beta, count);
        s["mu"] = tu::cast(mu, o.mu_dtype);
        return each_matrix(mean, given, o.weight_dimension_numbers, [&](const Array& x, const MuonDimensionNumbers& d) {
          const Array y = orthogonal(x, d, o);
          return o.adaptive ? np::sum(x * y) * y : y;
        });
      });
}

GradientTransformation muon(const MuonOptions& o) {
  const WeightDimensions dimensions = o.muon_weight_dimension_numbers;
  const auto by_shape = without_state("scale_by_shape", [=](const Arrays& g, const Given& given) {
    return each_matrix(g, given, dimensions, [&](const Array& x, const MuonDimensionNumbers& d) {
      const Matrices form(x, d);
      const auto in = static_cast<double>(form.rows), out = static_cast<double>(form.columns);
      if (o.consistent_rms) return times(*o.consistent_rms, std::sqrt(std::max(in, out))) * x;
      return std::sqrt(std::max(1.0, out / in)) * x;
    });
  });
  const auto of_matrices = chain(scale_by_muon({.ns_coeffs = o.ns_coeffs,
                                                .ns_steps = o.ns_steps,
                                                .beta = o.beta,
                                                .eps = o.eps,
                                                .mu_dtype = o.mu_dtype,
                                                .nesterov = o.nesterov,
                                                .adaptive = o.adaptive,
                                                .preconditioning = o.preconditioning,
                                                .weight_dimension_numbers = dimensions}),
                                 by_shape, add_decayed_weights(o.weight_decay, o.weight_decay_mask),
                                 scale_by_learning_rate(o.learning_rate));
  const auto of_others = adamw({.learning_rate = o.adam_learning_rate.value_or(o.learning_rate),
                                .b1 = o.adam_b1,
                                .b2 = o.adam_b2,
                                .eps = o.eps,
                                .eps_root = o.adam_eps_root,
                                .mu_dtype = o.mu_dtype,
                                .weight_decay = o.adam_weight_decay,
                                .nesterov = o.nesterov});
  const auto label = [dimensions](const std::string& path, const Array& x) -> std::string {
    return dimensions_of(dimensions, path, x) ? "muon" : "adam";
  };
  return partition({{"muon", of_matrices}, {"adam", of_others}}, Labels(label));
}

GradientTransformation scale_by_galore(const GaloreOptions& o) {
  const std::string name = "scale_by_galore";
  if (o.rank <= 0) throw_with_line<ValueError>(fmt::format("[{}] the rank is {}; it must be positive.", name, o.rank));
  const GradientTransformation base = o.base_optimizer.value_or(scale_by_adam());
  const auto rank_of = [rank = o.rank](const Array& x) { return std::min({rank, x.shape(0), x.shape(1)}); };
  const auto init = [=](const Given& given) {
    Arrays projectors, small;
    for (const Array& p : *given.params) {
      const bool matrix = p.ndim() == 2, left = matrix && p.shape(0) >= p.shape(1);
      projectors.push_back(matrix ? np::zeros({p.shape(left ? 0 : 1), rank_of(p)}, p.dtype())
                                  : np::zeros({0, 0}, p.dtype()));
      small.push_back(!matrix ? np::zeros_like(p)
                      : left  ? np::zeros({rank_of(p), p.shape(1)}, p.dtype())
                              : np::zeros({p.shape(0), rank_of(p)}, p.dtype()));
    }
    Given inside = given;
    inside.params = small;
    return State{.name = name,
                 .fields = {{"count", {first_count()}}, {"projector", projectors}},
                 .parts = {base.init_flat(inside)}};
  };
  const auto update = [=](const Arrays& g, const State& state, const Given& given) {
    check_state(state, name, 1);
    const Array count = state["count"], anew = count % o.update_proj_gap == 0;
    Arrays projectors = state.fields.at("projector"), small = g;
    for (std::size_t i = 0; i < g.size(); ++i) {
      if (g[i].ndim() != 2) continue;
      const bool left = g[i].shape(0) >= g[i].shape(1);
      const std::int64_t rank = rank_of(g[i]);
      projectors[i] = choose(
          anew,
          [&] {
            const auto svd = linalg::svd(g[i].astype(f32), false);
            return (left ? svd.u(all, range(rank)) : svd.vh(range(rank)).T()).astype(g[i].dtype());
          },
          [&] { return projectors[i]; });
      small[i] = left ? np::matmul(projectors[i].T(), g[i]) : np::matmul(g[i], projectors[i]);
    }
    Given inside = given;
    inside.params = std::nullopt;
    auto [updates, next] = base.update_flat(small, state.parts[0], inside);
    for (std::size_t i = 0; i < g.size(); ++i)
      if (g[i].ndim() == 2)
        updates[i] = (o.scale * (g[i].shape(0) >= g[i].shape(1) ? np::matmul(projectors[i], updates[i])
                                                                : np::matmul(updates[i], projectors[i].T())))
                         .astype(g[i].dtype());
    State out = state;
    out.fields = {{"count", {safe_increment(count)}}, {"projector", projectors}};
    out.parts[0] = std::move(next);
    return std::pair{updates, std::move(out)};
  };
  return {name, init, update};
}
GradientTransformation galore(const GaloreOptions& o) {
  return chain(scale_by_galore(o), add_decayed_weights(o.weight_decay, o.mask),
               scale_by_learning_rate(o.learning_rate));
}

GradientTransformation hutchinson_estimator_diag_hessian(const Array& random_seed) {
  const std::string name = "hutchinson_estimator_diag_hessian";
  return with_fields(
      name, [=](const Arrays&) { return Fields{{"key", {random_seed.defined() ? random_seed : random::key(0)}}}; },
      [=](const Arrays&, Fields& s, const Given& given) {
        const Arrays& params = params_of(given, name);
        if (!given.value_fn)
          throw_with_line<ValueError>(
              fmt::format("[{}] needs the loss as a function; give it as Extra::value_fn.", name));
        const Array keys = random::split(s["key"][0]);
        s["key"] = {keys[0]};
        const Arrays signs = each(
            [](const Array& p, const Array& key) { return random::rademacher(key, p.shape(), i32).astype(p.dtype()); },
            params, tu::split_key(keys[1], params.size()));
        const flat::Paths paths = [](std::size_t i) { return fmt::format("leaf {}", i); };
        const auto gradient = [&](std::span<const Array> x) {
          return flat::value_and_grad([&](std::span<const Array> in) { return Arrays{given.value_fn(in)}; }, x, "grad",
                                      paths)
              .grads;
        };
        return tu::mul(flat::jvp(gradient, params, signs, paths).second, signs);
      });
}

GradientTransformation scale_by_sophia(const SophiaOptions& o) {
  const std::string name = "scale_by_sophia";
  const auto init = [=](const Given& given) {
    return State{.name = name,
                 .fields = {{"count", {first_count()}},
                            {"mu", zeros_like(*given.params, o.mu_dtype)},
                            {"nu", zeros_like(*given.params)}},
                 .parts = {o.hessian_diagonal_fn.init_flat(given)}};
  };
  const auto update = [=](const Arrays& g, const State& state, const Given& given) {
    check_state(state, name, 1);
    params_of(given, name);
    const Array count = state["count"], next_count = safe_increment(count);
    const Arrays mu = tu::update_moment(g, state.fields.at("mu"), o.b1, 1), &nu = state.fields.at("nu");
    Arrays updates = each([&](const Array& m, const Array& h) { return m / max(o.gamma * h, o.eps); },
                          tu::bias_correction(mu, o.b1, next_count), nu);
    if (o.clip_threshold) updates = tu::clip(updates, minus(*o.clip_threshold), *o.clip_threshold);
    Step estimate = choose(
        count % o.update_interval == 0,
        [&] {
          auto [diagonal, next] = o.hessian_diagonal_fn.update_flat(g, state.parts[0], given);
          return Step{tu::cast_like(tu::update_moment(diagonal, nu, o.b2, 1), nu), std::move(next)};
        },
        [&] { return Step{nu, state.parts[0]}; });
    State out = state;
    out.fields = {{"count", {next_count}}, {"mu", tu::cast(mu, o.mu_dtype)}, {"nu", std::move(estimate.first)}};
    out.parts[0] = std::move(estimate.second);
    return std::pair{updates, std::move(out)};
  };
  return {name, init, update};
}
GradientTransformation sophia(const SophiaOptions& o) {
  return chain(scale_by_sophia(o), add_decayed_weights(o.weight_decay, o.weight_decay_mask),
               scale_by_learning_rate(o.learning_rate));
}

}  // namespace cotan::optax::contrib
