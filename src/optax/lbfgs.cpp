// L-BFGS: the inverse Hessian by the last steps and changes of the gradient.
#include "optax/core.hpp"

namespace cotan::optax {

namespace {

Arrays row(const Arrays& memory, const Array& index) {
  return each([&](const Array& m) { return np::take(m, index, 0); }, memory);
}
Array dot(const Arrays& a, const Arrays& b, DType dtype) { return tu::vdot(a, b).astype(dtype); }

/// The two loops over what is remembered, the oldest at `oldest`.
Arrays preconditioned(const Arrays& updates, const Arrays& steps, const Arrays& changes, const Array& weights,
                      const Array& scale, const Array& oldest) {
  const std::int64_t size = weights.shape(0);
  const DType dtype = weights.dtype();
  const Array indices = (oldest + np::arange(size)) % size;
  const auto [back, alphas] = lax::scan(
      [&](const Arrays& v, const Array& i) {
        const Array alpha = np::take(weights, i, 0) * dot(row(steps, i), v, dtype);
        return std::pair{tu::cast_like(tu::add_scale(v, Array(-alpha), row(changes, i)), v), alpha};
      },
      updates, indices, {.reverse = true});
  return lax::scan(
             [&](const Arrays& v, const std::pair<Array, Array>& in) {
               const auto& [i, alpha] = in;
               const Array beta = np::take(weights, i, 0) * dot(row(changes, i), v, dtype);
               return std::pair{tu::cast_like(tu::add_scale(v, Array(alpha - beta), row(steps, i)), v), none};
             },
             tu::scale(scale, back), std::pair{indices, alphas})
      .first;
}

}  // namespace

GradientTransformation scale_by_lbfgs(const ScaleByLbfgsOptions& o) {
  if (o.memory_size < 1)
    throw_with_line<ValueError>(
        fmt::format("[scale_by_lbfgs] a memory of {} steps; it must be at least 1.", o.memory_size));
  return with_fields(
      "scale_by_lbfgs",
      [o](const Arrays& p) {
        const auto memory = [&] { return zeros_like(tu::batch_shape(p, {o.memory_size})); };
        return Fields{{"count", {first_count()}},        {"params", zeros_like(p)},
                      {"updates", zeros_like(p)},        {"diff_params_memory", memory()},
                      {"diff_updates_memory", memory()}, {"weights_memory", {np::zeros({o.memory_size}, widest(p))}}};
      },
      [o](const Arrays& g, Fields& s, const Given& given) {
        const Arrays& params = params_of(given, "scale_by_lbfgs");
        const Array count = s["count"][0], started = count > 0;
        const DType dtype = s["weights_memory"][0].dtype();
        const Array newest = np::remainder(count - 1, o.memory_size), oldest = count % o.memory_size;
        const auto since = [&](const Arrays& now, const Arrays& before) {
          return each([&](const Array& a, const Array& b) { return np::where(started, a - b, np::zeros_like(a)); }, now,
                      before);
        };
        const Arrays step = since(params, s["params"]), change = since(g, s["updates"]);
        const Array product = dot(change, step, dtype);
        const Array weight = np::where(product == 0.0, np::zeros_like(product), 1.0 / product);
        const auto remember = [&](const Array& memory, const Array& what) { return memory.at(newest).set(what); };
        s["diff_params_memory"] = each(remember, s["diff_params_memory"], step);
        s["diff_updates_memory"] = each(remember, s["diff_updates_memory"], change);
        s["weights_memory"] = {remember(s["weights_memory"][0], weight)};
        Array scale = number(1, dtype);
        if (o.scale_init_precond) {
          const Array length = tu::norm(change, 2, true).astype(dtype);
          const Array curvature = np::where(length > 0.0, product / length, np::ones_like(length));
          const Array first = np::minimum(1.0, 1.0 / lax::stop_gradient(tu::norm(g)).astype(dtype));
          scale = np::where(started, curvature, first);
        }
        s["params"] = params;
        s["updates"] = g;
        s["count"] = {safe_increment(count)};
        return preconditioned(g, s["diff_params_memory"], s["diff_updates_memory"], s["weights_memory"][0], scale,
                              oldest);
      });
}

}  // namespace cotan::optax
