// Small programs of several ops; tools/golden/jax_ops.py has the same in JAX.
#include <cotan/cotan.hpp>

#include "cases/case_ops.hpp"

namespace cases {

namespace np = cotan::numpy;
namespace lax = cotan::lax;
namespace linalg = cotan::linalg;
using cotan::all;
using cotan::newaxis;

namespace {

Array softmax(const Array& x, int axis) {
  const Array e = np::exp(x - lax::stop_gradient(np::max(x, axis, true)));
  return e / np::sum(e, axis, true);
}

Array layer_norm(Args x, const Params&) {
  const Array mean = np::mean(x[0], -1, true);
  const Array variance = np::mean(np::square(x[0] - mean), -1, true);
  return (x[0] - mean) * lax::rsqrt(variance + 1e-5) * x[1] + x[2];
}

Array attention(Args x, const Params&) {
  const Array scores = np::einsum("hid,hjd->hij", {x[0], x[1]}) / std::sqrt(static_cast<double>(x[0].shape(-1)));
  const Array mask = np::tril(np::ones({scores.shape(-2), scores.shape(-1)}, cotan::bool_));
  return np::einsum("hij,hjd->hid", {softmax(np::where(mask, scores, -1e9), -1), x[2]});
}

Array mlp_loss(Args x, const Params&) {
  const Array hidden = np::tanh(np::matmul(x[0], x[1]) + x[2]);
  return np::mean(np::square(np::matmul(hidden, x[3]) - x[4]));
}

Array cross_entropy(Args x, const Params&) {
  const Array chosen = np::take_along_axis(x[0], x[1](all, newaxis), -1)(all, 0);
  return np::mean(np::logsumexp(x[0], -1) - chosen);
}

Array gaussian_logpdf(Args x, const Params&) {
  const Array chol = linalg::cholesky(x[2]);
  const Array z = linalg::triangular_solve(chol, (x[0] - x[1])(all, newaxis), {.lower = true});
  return -0.5 * np::sum(np::square(z)) - np::sum(np::log(np::diagonal(chol))) -
         0.5 * static_cast<double>(x[0].shape(0)) * std::log(2 * np::pi);
}

Arrays kalman_step(Args x, const Params&) {
  const Array &a = x[2], &q = x[3], &h = x[4], &r = x[5], &y = x[6];
  const Array m = np::matmul(a, x[0]), cov = np::matmul(np::matmul(a, x[1]), a.T()) + q;
  const Array s = np::matmul(np::matmul(h, cov), h.T()) + r;
  const Array gain = linalg::solve(s, np::matmul(h, cov)).T();
  const Array innovation = y - np::matmul(h, m);
  return {m + np::matmul(gain, innovation), cov - np::matmul(np::matmul(gain, s), gain.T()),
          linalg::slogdet(s).logabsdet};
}

Array pairwise_distances(Args x, const Params&) {
  return np::sqrt(np::sum(np::square(x[0](all, newaxis, all) - x[1](newaxis, all, all)), -1));
}

Array segment_sum(Args x, const Params& p) {
  return np::zeros({p.integer("num_segments"), x[0].shape(1)}, x[0].dtype()).at(x[1]).add(x[0]);
}

}  // namespace

void add_composite_ops(OpTable& t) {
  t["composite.softmax"] = one([](Args x, const Params& p) { return softmax(x[0], p.axis()); });
  t["composite.layer_norm"] = one(layer_norm);
  t["composite.attention"] = one(attention);
  t["composite.mlp_loss"] = one(mlp_loss);
  t["composite.cross_entropy"] = one(cross_entropy);
  t["composite.gaussian_logpdf"] = one(gaussian_logpdf);
  t["composite.kalman_step"] = kalman_step;
  t["composite.pairwise_distances"] = one(pairwise_distances);
  t["composite.segment_sum"] = one(segment_sum);
}

}  // namespace cases
