// cotan's side of: matrix products of all sizes, small products inside one program, batches, decompositions.
#include <cmath>

#include "cotan_case.hpp"

namespace bench {
namespace {

using ct::Array;

/// Keeps a chain of products with a random n x n matrix near its size: entries of variance 1/n.
Array contraction(std::int64_t n, std::uint32_t seed, bool is_double) {
  return random_array({n, n}, seed, is_double) * std::sqrt(3.0 / static_cast<double>(n));
}

const Register all[] = {
    {"cotan", "gemm",
     [](const Parameters& p) {
       return jitted([](const Array& a, const Array& b) { return np::matmul(a, b); },
                     random_array({p["n"], p["n"]}, 1, p.is_double()),
                     random_array({p["n"], p["n"]}, 2, p.is_double()));
     }},
    {"cotan", "gemv",
     [](const Parameters& p) {
       return jitted([](const Array& a, const Array& x) { return np::matmul(a, x); },
                     random_array({p["n"], p["n"]}, 1, p.is_double()), random_array({p["n"]}, 2, p.is_double()));
     }},
    {"cotan", "small_gemm",
     [](const Parameters& p) {
       return jitted(
           [products = p["products"]](const Array& a, Array x) {
             for (std::int64_t i = 0; i < products; ++i) x = np::matmul(a, x);
             return x;
           },
           contraction(p["n"], 1, p.is_double()), contraction(p["n"], 2, p.is_double()));
     }},
    {"cotan", "batched_gemm",
     [](const Parameters& p) {
       return jitted([](const Array& a, const Array& b) { return np::matmul(a, b); },
                     random_array({p["batch"], p["n"], p["n"]}, 1, p.is_double()),
                     random_array({p["batch"], p["n"], p["n"]}, 2, p.is_double()));
     }},
    {"cotan", "cholesky",
     [](const Parameters& p) {
       const Array factor = random_array({p["batch"], p["n"], p["n"]}, 1);
       const Array positive = np::matmul(factor, np::swapaxes(factor, 1, 2)) + 4.0 * np::eye(p["n"]);
       return jitted([](const Array& a) { return ct::linalg::cholesky(a); }, positive);
     }},
};

}  // namespace
}  // namespace bench
