// Projections of a tree as one vector.
#include <cotan/optax/projections.hpp>

#include "optax/core.hpp"

namespace cotan::optax::projections::flat {

namespace {

Array joined(const Arrays& x) {
  return np::concatenate(each([](const Array& a) { return np::ravel(a); }, x), 0);
}
Arrays split_like(const Array& all, const Arrays& like) {
  Arrays out;
  std::int64_t at = 0;
  for (const Array& a : like) {
    out.push_back(np::reshape(all(range(at, at + a.size())), a.shape()).astype(a.dtype()));
    at += a.size();
  }
  return out;
}

/// The nearest point of the simplex of size 1. Its derivative is that of the mean over what is not 0.
Array unit_simplex(const Array& x) {
  const auto value = [](const Array& v) {
    const std::int64_t n = v.shape(0);
    const Array sorted = np::sort(v, -1, true), sums = np::cumsum(sorted, 0),
                rank = np::arange(1, n + 1).astype(v.dtype());
    const Array used = 1.0 / rank + (sorted - sums / rank) > 0.0;
    const Array count = np::sum(used.astype(i32)), last = np::take(sums, count - 1, 0);
    const Array size = count.astype(v.dtype());
    return np::maximum(1.0 / size + (v - last / size), 0.0);
  };
  return custom_jvp(value, [value](const std::tuple<Array>& primals, const std::tuple<Array>& tangents) {
    const Array out = value(std::get<0>(primals)), used = (out > 0.0).astype(out.dtype()), t = std::get<0>(tangents);
    return std::pair<Array, Array>{out, used * t - np::sum(used * t) / np::sum(used) * used};
  })(x);
}

}  // namespace

Arrays non_negative(const Arrays& x) {
  return each([](const Array& a) { return np::where(a <= 0.0, np::zeros_like(a), a); }, x);
}
Arrays box(const Arrays& x, const Arrays& lower, const Arrays& upper) {
  return each([](const Array& a, const Array& l, const Array& u) { return np::clip(a, l, u); }, x, lower, upper);
}
Arrays hypercube(const Arrays& x, const Hyperparameter& scale) { return tu::clip(x, 0.0, scale); }
Arrays simplex(const Arrays& x, const Hyperparameter& scale) {
  const Array all = joined(x);
  return split_like(scale * unit_simplex(all / scale), x);
}
Arrays l1_sphere(const Arrays& x, const Hyperparameter& scale) {
  const Arrays sizes = simplex(each([](const Array& a) { return np::abs(a); }, x), scale);
  return each([](const Array& a, const Array& size) { return np::sign(a) * size; }, x, sizes);
}
Arrays l1_ball(const Arrays& x, const Hyperparameter& scale) {
  const Array norm = tu::norm(x, 1);
  return choose(norm <= scale.like(norm), [&] { return x; }, [&] { return l1_sphere(x, scale); });
}
Arrays l2_sphere(const Arrays& x, const Hyperparameter& scale) {
  const Array norm = tu::norm(x);
  return tu::scale(Array(scale.like(norm) / norm), x);
}
Arrays l2_ball(const Arrays& x, const Hyperparameter& scale) {
  const Array square = tu::norm(x, 2, true), size = scale.like(square);
  return tu::scale(Array(size / np::sqrt(np::maximum(square, size * size))), x);
}
Arrays linf_ball(const Arrays& x, const Hyperparameter& scale) { return tu::clip(x, minus(scale), scale); }
Arrays vector(const Arrays& x, const Arrays& a) { return tu::scale(Array(tu::vdot(x, a) / tu::vdot(a, a)), a); }
Arrays hyperplane(const Arrays& x, const Arrays& a, const Hyperparameter& b) {
  const Array product = tu::vdot(x, a);
  return tu::add_scale(x, Array((b.like(product) - product) / tu::vdot(a, a)), a);
}
Arrays halfspace(const Arrays& x, const Arrays& a, const Hyperparameter& b) {
  const Array product = tu::vdot(x, a);
  return tu::add_scale(x, Array(np::minimum((b.like(product) - product) / tu::vdot(a, a), 0.0)), a);
}

}  // namespace cotan::optax::projections::flat
