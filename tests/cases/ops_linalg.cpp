// Decompositions, and jax.random.
#include <cotan/cotan.hpp>

#include "cases/case_ops.hpp"

namespace cases {

namespace np = cotan::numpy;
namespace linalg = cotan::linalg;
namespace random = cotan::random;
using cotan::all;
using cotan::ArrayLike;
using cotan::ellipsis;
using cotan::newaxis;

namespace {

/// Scales columns, or rows, of a matrix by a vector.
Array scale_columns(const Array& a, const Array& s) { return a * s(ellipsis, newaxis, all); }
Array scale_rows(const Array& a, const Array& s) { return a * s(ellipsis, all, newaxis); }

Arrays qr_normalized(Args x, const Params&) {
  const auto [q, r] = linalg::qr(x[0]);
  const Array sign = np::sign(np::diagonal(r, 0, -2, -1));
  return {scale_columns(q, sign), scale_rows(r, sign)};
}

/// Signs, or phases, that make sum_i (i + 1) v[i, j] positive; the derivative of `sign` is zero, that of a phase is
/// not.
Array column_sign(const Array& v) {
  const Array total = np::einsum("i,...ij->...j", {np::arange(1, v.shape(-2) + 1, 1, v.dtype()), v});
  return np::iscomplexobj(v) ? total / np::abs(total) : np::sign(total);
}

Arrays eigh_normalized(Args x, const Params&) {
  const auto [w, v] = linalg::eigh(x[0]);
  return {w, scale_columns(v, np::conj(column_sign(v)))};
}

Arrays svd_normalized(Args x, const Params&) {
  const auto [u, s, vh] = linalg::svd(x[0], false);
  const Array sign = column_sign(u);
  return {scale_columns(u, np::conj(sign)), s, scale_rows(vh, sign)};
}

Arrays svd_hermitian_normalized(Args x, const Params&) {
  const auto [u, s, vh] = linalg::svd(x[0], true, true, true);
  const Array sign = column_sign(u);
  return {scale_columns(u, sign), s, scale_rows(vh, sign)};
}

Arrays eig_products(Args x, const Params&) {
  const auto [w, v] = linalg::eig(x[0]);
  return {np::sort(w), np::matmul(scale_columns(v, w), linalg::inv(v))};
}

linalg::NormOrder order_of(const Params& p) {
  if (!p.has("ord")) return {};
  if (p["ord"].is_number()) return p.real("ord");
  const std::string name = p.text("ord");
  if (name == "inf") return np::inf;
  if (name == "-inf") return -np::inf;
  return linalg::NormOrder(name);
}

Arrays qr_complete_products(Args x, const Params&) {
  const auto [q, r] = linalg::qr(x[0], true);
  return {np::matmul(q, r), np::matmul(np::matrix_transpose(q), q)};
}

Arrays svd_full_products(Args x, const Params&) {
  const auto [u, s, vh] = linalg::svd(x[0]);
  const std::int64_t k = s.shape(-1);
  const Array thin_u = u(ellipsis, all, cotan::range(0, k)), thin_vh = vh(ellipsis, cotan::range(0, k), all);
  return {np::matmul(scale_columns(thin_u, s), thin_vh), s, np::matmul(np::matrix_transpose(u), u),
          np::matmul(np::matrix_transpose(vh), vh)};
}

}  // namespace

void add_linalg_ops(OpTable& t) {
  const std::pair<const char*, Array (*)(const ArrayLike&)> unary[] = {
      {"linalg.svdvals", linalg::svdvals}, {"linalg.inv", linalg::inv}, {"linalg.det", linalg::det}};
  for (const auto& [name, f] : unary) t[name] = one([f = f](Args x, const Params&) { return f(x[0]); });
  t["linalg.eigvalsh"] = one([](Args x, const Params& p) {
    return linalg::eigvalsh(x[0], p.text("UPLO", "L").c_str(), p.flag("symmetrize_input", true));
  });
  t["linalg.pinv"] = one([](Args x, const Params& p) {
    const std::optional<Array> rtol = p.has("rtol") ? std::optional<Array>(p.real("rtol")) : std::nullopt;
    return linalg::pinv(x[0], rtol, p.flag("hermitian"));
  });
  t["linalg.cholesky"] = one([](Args x, const Params&) { return linalg::cholesky(x[0]); });
  t["linalg.triangular_solve"] = one([](Args x, const Params& p) {
    return linalg::triangular_solve(
        x[0], x[1], {p.flag("left_side"), p.flag("lower"), p.flag("transpose_a"), p.flag("unit_diagonal")});
  });
  t["linalg.lu"] = [](Args x, const Params&) {
    const auto [lu, pivots, permutation] = linalg::lu(x[0]);
    return Arrays{lu, pivots, permutation};
  };
  t["linalg.eigvals_sorted"] = one([](Args x, const Params&) { return np::sort(linalg::eigvals(x[0])); });
  t["linalg.eig_products"] = eig_products;
  t["roots_sorted"] = one([](Args x, const Params&) { return np::sort(np::roots(x[0])); });
  t["linalg.qr_normalized"] = qr_normalized;
  t["linalg.qr_complete_products"] = qr_complete_products;
  t["linalg.eigh_normalized"] = eigh_normalized;
  t["linalg.svd_normalized"] = svd_normalized;
  t["linalg.svd_hermitian_normalized"] = svd_hermitian_normalized;
  t["linalg.norm"] =
      one([](Args x, const Params& p) { return linalg::norm(x[0], order_of(p), p.axes(), p.flag("keepdims")); });
  t["linalg.svd_full_products"] = svd_full_products;
  t["linalg.solve"] = one([](Args x, const Params&) { return linalg::solve(x[0], x[1]); });
  t["linalg.cho_solve"] = one([](Args x, const Params& p) { return linalg::cho_solve(x[0], x[1], p.flag("lower")); });
  t["linalg.lstsq"] = one([](Args x, const Params&) { return linalg::lstsq(x[0], x[1]).x; });
  t["linalg.slogdet"] = [](Args x, const Params& p) {
    const auto [sign, logabsdet] = linalg::slogdet(x[0], p.text("method", "lu"));
    return Arrays{sign, logabsdet};
  };
  t["linalg.matrix_power"] = one([](Args x, const Params& p) { return linalg::matrix_power(x[0], p.axis("n")); });
}

void add_random_ops(OpTable& t) {
  t["random.key"] =
      one([](Args, const Params& p) { return random::key(static_cast<std::uint64_t>(p.integer("seed"))); });
  t["random.split"] = one([](Args x, const Params& p) { return random::split(x[0], p.integer("num")); });
  t["random.fold_in"] = one([](Args x, const Params&) { return random::fold_in(x[0], x[1]); });
  t["random.bits"] = one([](Args x, const Params& p) { return random::bits(x[0], p.shape(), p.dtype()); });
  t["random.uniform"] = one([](Args x, const Params& p) {
    return random::uniform(x[0], p.shape(), p.dtype(), p.real("minval", 0), p.real("maxval", 1));
  });
  t["random.bernoulli"] = one([](Args x, const Params& p) { return random::bernoulli(x[0], x[1], p.maybe_shape()); });
  t["random.randint"] = one([](Args x, const Params& p) {
    return random::randint(x[0], p.shape(), p.integer("minval"), p.integer("maxval"), p.dtype());
  });
  t["random.categorical"] =
      one([](Args x, const Params& p) { return random::categorical(x[0], x[1], p.axis("axis", -1), p.maybe_shape()); });
  t["random.permutation"] = one([](Args x, const Params& p) {
    return p.has("x") ? random::permutation(x[0], p.integer("x")) : random::permutation(x[0], x[1], p.axis("axis", 0));
  });
  const std::pair<const char*, Array (*)(const ArrayLike&, const cotan::Shape&, DType)> samplers[] = {
      {"random.normal", random::normal},
      {"random.exponential", random::exponential},
      {"random.laplace", random::laplace}};
  for (const auto& [name, f] : samplers)
    t[name] = one([f = f](Args x, const Params& p) { return f(x[0], p.shape(), p.dtype()); });
  t["random.gumbel"] = one([](Args x, const Params& p) { return random::gumbel(x[0], p.shape(), p.dtype()); });
  t["random.truncated_normal"] = one([](Args x, const Params& p) {
    return random::truncated_normal(x[0], p.real("lower"), p.real("upper"), p.shape(), p.dtype());
  });
}

}  // namespace cases
