// What numpy.linalg and lax.linalg have beside decompositions.
#include <cotan/cotan.hpp>

#include "cases/case_ops.hpp"

namespace cases {

namespace np = cotan::numpy;
namespace linalg = cotan::linalg;

namespace {

linalg::NormOrder order_by(const Params& p, const char* key) {
  if (!p.has(key)) return {};
  if (p[key].is_number()) return p.real(key);
  const std::string name = p.text(key);
  if (name == "inf" || name == "-inf") return name == "inf" ? np::inf : -np::inf;
  return linalg::NormOrder(name);
}
Array adjoint(const Array& a) { return np::conj(np::matrix_transpose(a)); }

std::optional<Array> number(const Params& p, const char* key) {
  return p.has(key) ? std::optional<Array>(p.real(key)) : std::nullopt;
}

void add_norms(OpTable& t) {
  t["linalg.vector_norm"] = one([](Args x, const Params& p) {
    return linalg::vector_norm(x[0], {.axis = p.axes(), .keepdims = p.flag("keepdims"), .ord = order_by(p, "ord")});
  });
  t["linalg.matrix_norm"] = one([](Args x, const Params& p) {
    return linalg::matrix_norm(x[0], {.keepdims = p.flag("keepdims"), .ord = order_by(p, "ord")});
  });
  t["linalg.cond"] = one([](Args x, const Params& p) { return linalg::cond(x[0], order_by(p, "p")); });
  t["linalg.matrix_rank"] = one([](Args x, const Params& p) {
    return linalg::matrix_rank(x[0], {.rtol = number(p, "rtol"), .tol = number(p, "tol")});
  });
}

void add_products(OpTable& t) {
  t["linalg.multi_dot"] = one([](Args x, const Params&) { return linalg::multi_dot(Arrays(x.begin(), x.end())); });
  t["linalg.tensorinv"] = one([](Args x, const Params& p) { return linalg::tensorinv(x[0], p.axis("ind")); });
  t["linalg.tensorsolve"] = one([](Args x, const Params& p) {
    return linalg::tensorsolve(x[0], x[1], p.has("axes") ? p.ints("axes") : std::vector<int>());
  });
  t["linalg.vecdot"] = one([](Args x, const Params& p) { return linalg::vecdot(x[0], x[1], p.axis("axis", -1)); });
  t["linalg.symmetric_product"] = one([](Args x, const Params& p) {
    return linalg::symmetric_product(
        x[0], x[1],
        {.alpha = p.real("alpha"), .beta = p.real("beta"), .symmetrize_output = p.flag("symmetrize_output")});
  });
}

void add_variants(OpTable& t) {
  t["linalg.cholesky_upper"] = one([](Args x, const Params&) { return linalg::cholesky(x[0], {.upper = true}); });
  t["linalg.lstsq_all"] = [](Args x, const Params&) {
    const auto [solution, residuals, rank, s] = linalg::lstsq(x[0], x[1]);
    return Arrays{solution, residuals, rank, s};
  };
  t["linalg.qr_complete"] = [](Args x, const Params&) {
    const auto [q, r] = linalg::qr(x[0], "complete");
    return Arrays{q, r};
  };
  t["linalg.qr_raw"] = [](Args x, const Params&) {
    const auto [h, tau] = linalg::qr(x[0], "raw");
    return Arrays{h, tau};
  };
  t["linalg.qr_r"] = one([](Args x, const Params&) { return np::abs(linalg::qr(x[0], "r").r); });
}

void add_forms(OpTable& t) {
  t["linalg.householder_product"] = one([](Args x, const Params&) { return linalg::householder_product(x[0], x[1]); });
  t["linalg.ormqr"] = one([](Args x, const Params& p) {
    return linalg::ormqr(x[0], x[1], x[2], {.left = p.flag("left"), .transpose = p.flag("transpose")});
  });
  t["linalg.cholesky_update"] = one([](Args x, const Params&) { return linalg::cholesky_update(x[0], x[1]); });
  t["linalg.hessenberg"] = [](Args x, const Params&) {
    const auto [a, taus] = linalg::hessenberg(x[0]);
    return Arrays{a, taus};
  };
  t["linalg.tridiagonal"] = [](Args x, const Params& p) {
    const auto [a, d, e, taus] = linalg::tridiagonal(x[0], {.lower = p.flag("lower")});
    return Arrays{a, d, e, taus};
  };
  t["linalg.tridiagonal_solve"] = one([](Args x, const Params& p) {
    return linalg::tridiagonal_solve(x[0], x[1], x[2], x[3], {.perturb_singular = p.flag("perturb_singular")});
  });
  t["linalg.lu_pivots_to_permutation"] = one(
      [](Args x, const Params& p) { return linalg::lu_pivots_to_permutation(x[0], p.integer("permutation_size")); });
  t["linalg.schur_products"] = [](Args x, const Params&) {
    const auto [form, z] = linalg::schur(x[0]);
    return Arrays{np::matmul(np::matmul(z, form), adjoint(z)), np::matmul(adjoint(z), z)};
  };
  t["linalg.qdwh"] = [](Args x, const Params&) {
    const auto [u, h, steps, converged] = linalg::qdwh(x[0]);
    return Arrays{u, h};
  };
}

}  // namespace

void add_linalg_more_ops(OpTable& t) {
  add_norms(t);
  add_products(t);
  add_variants(t);
  add_forms(t);
}

}  // namespace cases
