// The catalogue's products and decompositions; decompositions are of well-conditioned matrices only.
#include "compose/random_program.hpp"

namespace compose {

namespace {

namespace la = cotan::linalg;

Body plainly(Apply f) { return {std::move(f)}; }
bool is_matrix(const Array& a) { return a.ndim() == 2 && a.size() > 0; }

using OfMatrix = Array (*)(const Array& m);
Op of_matrix(std::string name, OfMatrix f) {
  return {std::move(name), 1, [f](Draw&, const Arrays& like) -> std::optional<Body> {
            if (!is_matrix(like[0])) return std::nullopt;
            return plainly([f](const Arrays& v) { return f(v[0]); });
          }};
}
/// Symmetric, positive definite, with distinct eigenvalues.
Array positive_definite(const Array& m) {
  const auto n = m.shape(0);
  return np::matmul(m, m.T()) + static_cast<double>(n) * np::eye(n, std::nullopt, 0, ct::f64);
}
/// Square, diagonally dominant.
Array dominant(const Array& m) {
  const auto n = m.shape(0);
  const Array square = np::matmul(np::sin(m), np::cos(m).T());
  return 0.5 * square + (1.0 + static_cast<double>(n)) * np::eye(n, std::nullopt, 0, ct::f64);
}
/// Symmetric with eigenvalues far apart.
Array spread_symmetric(const Array& m) {
  const auto n = m.shape(0);
  return 0.3 * (np::matmul(m, np::sin(m).T()) + np::matmul(np::sin(m), m.T())) + np::diag(3.0 * np::arange(n, ct::f64));
}

}  // namespace

std::vector<Op> matrix_ops() {
  return {
      {"matmul", 2,
       [](Draw&, const Arrays& like) -> std::optional<Body> {
         const Array &a = like[0], &b = like[1];
         if (a.ndim() == 0 || b.ndim() == 0 || a.ndim() > 2 || b.ndim() > 2) return std::nullopt;
         if (a.shape(-1) != b.shape(b.ndim() == 1 ? 0 : -2)) return std::nullopt;
         return plainly([](const Arrays& v) { return np::matmul(v[0], v[1]); });
       }},
      {"batched_matmul", 1,
       [](Draw&, const Arrays& like) -> std::optional<Body> {
         if (like[0].ndim() < 2) return std::nullopt;
         return plainly([](const Arrays& v) { return np::matmul(v[0], np::matrix_transpose(np::sin(v[0]))); });
       }},
      {"outer", 2,
       [](Draw&, const Arrays&) { return plainly([](const Arrays& v) { return np::outer(v[0], np::sin(v[1])); }); }},
      {"inner", 2,
       [](Draw&, const Arrays& like) -> std::optional<Body> {
         if (like[0].size() != like[1].size()) return std::nullopt;
         return plainly([](const Arrays& v) { return np::vdot(np::ravel(v[0]), np::ravel(v[1])); });
       }},
      {"tensordot_all", 2,
       [](Draw&, const Arrays& like) -> std::optional<Body> {
         if (like[0].shape() != like[1].shape()) return std::nullopt;
         const int axes = like[0].ndim();
         return plainly([=](const Arrays& v) { return np::tensordot(v[0], v[1], axes); });
       }},
      {"kron", 2,
       [](Draw&, const Arrays& like) -> std::optional<Body> {
         if (like[0].size() * like[1].size() > 16 || like[0].ndim() != like[1].ndim()) return std::nullopt;
         return plainly([](const Arrays& v) { return np::kron(v[0], v[1]); });
       }},
      {"convolve", 2,
       [](Draw&, const Arrays& like) -> std::optional<Body> {
         if (like[0].ndim() != 1 || like[1].ndim() != 1 || like[0].size() == 0 || like[1].size() == 0)
           return std::nullopt;
         return plainly([](const Arrays& v) { return np::convolve(v[0], v[1]); });
       }},
      {"conv", 2,
       [](Draw& draw, const Arrays& like) -> std::optional<Body> {
         if (!is_matrix(like[0]) || !is_matrix(like[1])) return std::nullopt;
         const std::int64_t stride = draw.between(1, 2), dilation = draw.between(1, 2);
         return plainly([=](const Arrays& v) {
           const Array image = np::expand_dims(v[0], {0, 1}), kernel = np::expand_dims(v[1], {0, 1});
           return np::squeeze(
               lax::conv_general_dilated(
                   image, kernel, {.window_strides = {stride, 1}, .padding = "SAME", .rhs_dilation = {1, dilation}}),
               {0, 1});
         });
       }},
      of_matrix("gram", [](const Array& m) { return np::einsum("ij,ik->jk", {m, np::cos(m)}); }),
      of_matrix("einsum_diagonal", [](const Array& m) { return np::einsum("ij,ij->i", {m, np::sin(m)}); }),
      of_matrix("einsum_three", [](const Array& m) { return np::einsum("ij,kj,k->i", {m, m, np::sum(m, 1)}); }),
      of_matrix("tril", [](const Array& m) { return np::tril(m) + 0.5 * np::triu(m, 1); }),
      of_matrix("diagonal", [](const Array& m) { return np::diagonal(m); }),
      of_matrix("trace", [](const Array& m) { return np::trace(np::matmul(m, m.T())); }),
      {"diag", 1,
       [](Draw& draw, const Arrays& like) -> std::optional<Body> {
         if (like[0].ndim() != 1) return std::nullopt;
         const int k = draw.between(-1, 1);
         return plainly([=](const Arrays& v) { return np::diag(v[0], k); });
       }},
      of_matrix("cholesky", [](const Array& m) { return la::cholesky(positive_definite(m)); }),
      of_matrix("cho_solve", [](const Array& m) { return la::cho_solve(la::cholesky(positive_definite(m)), m); }),
      of_matrix("solve", [](const Array& m) { return la::solve(dominant(m), np::sum(m, 1)); }),
      of_matrix("solve_matrix", [](const Array& m) { return la::solve(dominant(m), np::sin(m)); }),
      of_matrix("inv", [](const Array& m) { return la::inv(dominant(m)); }),
      of_matrix("det", [](const Array& m) { return 0.05 * la::det(dominant(m)); }),
      of_matrix("slogdet", [](const Array& m) { return la::slogdet(dominant(m)).logabsdet; }),
      of_matrix("triangular_solve",
                [](const Array& m) {
                  return la::triangular_solve(dominant(m), np::cos(m), {.lower = true, .transpose_a = true});
                }),
      of_matrix("qr",
                [](const Array& m) {
                  const la::QR f = la::qr(dominant(m));
                  return f.q + f.r;
                }),
      of_matrix("eigvalsh", [](const Array& m) { return 0.3 * la::eigh(spread_symmetric(m)).eigenvalues; }),
      // Products of an eigenvector with itself do not depend on its sign.
      of_matrix("eigenprojector",
                [](const Array& m) {
                  const Array v = la::eigh(spread_symmetric(m)).eigenvectors(ct::all, 0);
                  return np::outer(v, v);
                }),
      of_matrix("svdvals",
                [](const Array& m) {
                  return 0.3 * la::svdvals(spread_symmetric(m) + np::eye(m.shape(0), std::nullopt, 0, ct::f64));
                }),
      of_matrix("matrix_power",
                [](const Array& m) { return la::matrix_power(0.5 * np::matmul(m, np::cos(m).T()), 3); }),
      {"norm", 1,
       [](Draw&, const Arrays& like) -> std::optional<Body> {
         if (like[0].size() == 0) return std::nullopt;
         return Body{[](const Arrays& v) { return la::norm(np::ravel(v[0])); }, nullptr,
                     [](const Arrays& v) { return largest_magnitude(v[0]); }};
       }},
  };
}

}  // namespace compose
