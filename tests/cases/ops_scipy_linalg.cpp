// scipy.linalg.
#include <cotan/cotan.hpp>

#include "cases/case_ops.hpp"

namespace cases {

namespace np = cotan::numpy;
namespace sl = cotan::scipy::linalg;
using cotan::all;
using cotan::ellipsis;
using cotan::newaxis;

namespace {

Array conjugate_transpose(const Array& a) { return np::conj(np::matrix_transpose(a)); }
/// t, z as z t zᴴ and zᴴ z, which are unique.
Arrays products_of(const cotan::linalg::Schur& s) {
  return {np::matmul(np::matmul(s.z, s.t), conjugate_transpose(s.z)), np::matmul(conjugate_transpose(s.z), s.z)};
}
/// Values, and v diag(w) vᴴ.
Arrays products_of(const cotan::linalg::Eigh& e) {
  return {e.eigenvalues, np::matmul(e.eigenvectors * e.eigenvalues, conjugate_transpose(e.eigenvectors))};
}

void add_factors(OpTable& t) {
  t["scipy_linalg.cholesky"] =
      one([](Args x, const Params& p) { return sl::cholesky(x[0], {.lower = p.flag("lower")}); });
  t["scipy_linalg.cho_solve"] = one(
      [](Args x, const Params& p) { return sl::cho_solve(sl::cho_factor(x[0], {.lower = p.flag("lower")}), x[1]); });
  t["scipy_linalg.lu"] = [](Args x, const Params& p) {
    const auto [permutation, l, u] = sl::lu(x[0], {.permute_l = p.flag("permute_l")});
    return p.flag("permute_l") ? Arrays{l, u} : Arrays{permutation, l, u};
  };
  t["scipy_linalg.lu_solve"] =
      one([](Args x, const Params& p) { return sl::lu_solve(sl::lu_factor(x[0]), x[1], p.axis("trans")); });
  t["scipy_linalg.qr_pivoted"] = [](Args x, const Params&) {
    const auto [q, r, order] = sl::qr(x[0], {.mode = "economic", .pivoting = true});
    const Array sign = np::sign(np::diagonal(r, 0, -2, -1));
    return Arrays{q * sign(ellipsis, newaxis, all), r * sign(ellipsis, all, newaxis), order};
  };
  t["scipy_linalg.qr_multiply"] = one([](Args x, const Params& p) {
    const std::string mode = p.text("mode");
    const Array sign = np::sign(np::diagonal(sl::qr(x[0], {.mode = "economic"}).r));
    const bool left = mode == "left";
    const Array c = left ? x[1] * sign(all, newaxis) : x[1];
    const Array product = sl::qr_multiply(x[0], c, {.mode = mode, .conjugate = p.flag("conjugate")}).cq;
    return left ? product : product * sign;
  });
  t["scipy_linalg.hessenberg"] = [](Args x, const Params&) {
    const auto [h, q] = sl::hessenberg(x[0], {.calc_q = true});
    return Arrays{h, q};
  };
  t["scipy_linalg.polar"] = [](Args x, const Params& p) {
    const std::string side = p.text("side", "right"), method = p.text("method", "qdwh");
    const auto [u, h] = sl::polar(x[0], {.side = side, .method = method});
    return Arrays{u, h};
  };
}

void add_systems(OpTable& t) {
  t["scipy_linalg.solve"] = one([](Args x, const Params& p) {
    const std::string kind = p.text("assume_a", "gen");
    return sl::solve(x[0], x[1], {.lower = p.flag("lower"), .assume_a = kind});
  });
  t["scipy_linalg.solve_triangular"] = one([](Args x, const Params& p) {
    return sl::solve_triangular(
        x[0], x[1], {.trans = p.axis("trans", 0), .lower = p.flag("lower"), .unit_diagonal = p.flag("unit_diagonal")});
  });
  t["scipy_linalg.solve_sylvester"] = one([](Args x, const Params& p) {
    const std::string method = p.text("method");
    return sl::solve_sylvester(x[0], x[1], x[2], {.method = method});
  });
}

void add_eigenvalues(OpTable& t) {
  t["scipy_linalg.eigh_values"] =
      one([](Args x, const Params&) { return sl::eigh(x[0], {.eigvals_only = true}).eigenvalues; });
  t["scipy_linalg.eigh_pair"] = [](Args x, const Params& p) {
    return products_of(sl::eigh(x[0], x[1], {.type = p.axis("type")}));
  };
  t["scipy_linalg.eigh_tridiagonal"] = one([](Args x, const Params& p) {
    sl::EighTridiagonalOptions options{.eigvals_only = true};
    if (p.has("select_range")) {
      options.select = 'i';
      options.select_range = {p.ints("select_range")[0], p.ints("select_range")[1]};
    }
    return sl::eigh_tridiagonal(x[0], x[1], options).eigenvalues;
  });
  t["scipy_linalg.eigh_tridiagonal_products"] = [](Args x, const Params&) {
    return products_of(sl::eigh_tridiagonal(x[0], x[1]));
  };
  t["scipy_linalg.schur_products"] = [](Args x, const Params& p) {
    return products_of(sl::schur(x[0], p.text("output", "real")));
  };
  t["scipy_linalg.rsf2csf_products"] = [](Args x, const Params&) {
    const auto [form, z] = sl::schur(x[0]);
    const auto triangular = sl::rsf2csf(form, z);
    return products_of(cotan::linalg::Schur{np::triu(triangular.t), triangular.z});
  };
}

void add_functions(OpTable& t) {
  t["scipy_linalg.expm"] = one([](Args x, const Params& p) {
    return sl::expm(x[0], {.upper_triangular = p.flag("upper_triangular"),
                           .max_squarings = static_cast<int>(p.integer("max_squarings", 16))});
  });
  t["scipy_linalg.expm_frechet"] = [](Args x, const Params&) {
    const auto [e, d] = sl::expm_frechet(x[0], x[1]);
    return Arrays{e, d};
  };
  t["scipy_linalg.sqrtm"] = one([](Args x, const Params&) { return sl::sqrtm(x[0]); });
  t["scipy_linalg.funm"] =
      one([](Args x, const Params&) { return sl::funm(x[0], [](const Array& v) { return np::sin(v); }); });
}

void add_special_matrices(OpTable& t) {
  const auto maybe = [](Args x) { return x.size() > 1 ? std::optional<Array>(x[1]) : std::nullopt; };
  t["scipy_linalg.toeplitz"] = one([=](Args x, const Params&) { return sl::toeplitz(x[0], maybe(x)); });
  t["scipy_linalg.hankel"] = one([=](Args x, const Params&) { return sl::hankel(x[0], maybe(x)); });
  t["scipy_linalg.circulant"] = one([](Args x, const Params&) { return sl::circulant(x[0]); });
  t["scipy_linalg.leslie"] = one([](Args x, const Params&) { return sl::leslie(x[0], x[1]); });
  t["scipy_linalg.companion"] = one([](Args x, const Params&) { return sl::companion(x[0]); });
  t["scipy_linalg.fiedler"] = one([](Args x, const Params&) { return sl::fiedler(x[0]); });
  t["scipy_linalg.fiedler_companion"] = one([](Args x, const Params&) { return sl::fiedler_companion(x[0]); });
  t["scipy_linalg.convolution_matrix"] =
      one([](Args x, const Params& p) { return sl::convolution_matrix(x[0], p.integer("n"), p.text("mode", "full")); });
  t["scipy_linalg.block_diag"] = one([](Args x, const Params&) { return sl::block_diag(Arrays(x.begin(), x.end())); });
  t["scipy_linalg.hilbert"] = one([](Args, const Params& p) { return sl::hilbert(p.integer("n"), p.dtype()); });
  t["scipy_linalg.invhilbert"] = one([](Args, const Params& p) { return sl::invhilbert(p.integer("n"), p.dtype()); });
  t["scipy_linalg.pascal"] =
      one([](Args, const Params& p) { return sl::pascal(p.integer("n"), p.text("kind", "symmetric"), p.dtype()); });
  t["scipy_linalg.invpascal"] =
      one([](Args, const Params& p) { return sl::invpascal(p.integer("n"), p.text("kind", "symmetric"), p.dtype()); });
  t["scipy_linalg.helmert"] =
      one([](Args, const Params& p) { return sl::helmert(p.integer("n"), p.flag("full"), p.dtype()); });
  t["scipy_linalg.hadamard"] = one([](Args, const Params& p) { return sl::hadamard(p.integer("n"), p.dtype()); });
  t["scipy_linalg.dft"] = one([](Args, const Params& p) {
    const std::string scale = p.text("scale");
    return sl::dft(p.integer("n"), scale.empty() ? std::nullopt : std::optional<std::string_view>(scale), p.dtype());
  });
}

}  // namespace

void add_scipy_linalg_ops(OpTable& t) {
  add_factors(t);
  add_systems(t);
  add_eigenvalues(t);
  add_functions(t);
  add_special_matrices(t);
}

}  // namespace cases
