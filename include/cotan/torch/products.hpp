// Products of matrices, vectors and tensors.
#pragma once
#include <cotan/torch/inputs.hpp>
#include <string_view>

namespace cotan::torch {

Tensor matmul(const Input& a,
              const Input& b);               ///< the matrix product; leading axes broadcast, vectors as NumPy has them
Tensor mm(const Input& a, const Input& b);   ///< of two matrices
Tensor bmm(const Input& a, const Input& b);  ///< of two stacks of as many matrices
Tensor mv(const Input& a, const Input& b);   ///< of a matrix and a vector
Tensor dot(const Input& a, const Input& b);  ///< of two vectors
Tensor inner(const Input& a, const Input& b);  ///< sums over the last axes
Tensor outer(const Input& a, const Input& b);  ///< every element of one vector times every one of another
Tensor addmm(const Input& x, const Input& a, const Input& b, double beta = 1,
             double alpha = 1);  ///< beta x + alpha a b
Tensor addmv(const Input& x, const Input& a, const Input& b, double beta = 1,
             double alpha = 1);  ///< of a matrix and a vector
Tensor addbmm(const Input& x, const Input& a, const Input& b, double beta = 1,
              double alpha = 1);  ///< summed over the stack
Tensor baddbmm(const Input& x, const Input& a, const Input& b, double beta = 1, double alpha = 1);  ///< of stacks
Tensor addr(const Input& x, const Input& a, const Input& b, double beta = 1,
            double alpha = 1);  ///< beta x + alpha outer(a, b)
/// Einstein's sums: einsum("bij,bjk->bik", {a, b}).
Tensor einsum(std::string_view equation, const std::vector<Tensor>& operands, std::source_location where = COTAN_HERE);
Tensor tensordot(const Input& a, const Input& b, int dims = 2);  ///< over the last axes of a and the first ones of b
Tensor tensordot(const Input& a, const Input& b, const std::vector<int>& dims_a,
                 const std::vector<int>& dims_b);            ///< over these axes
Tensor kron(const Input& a, const Input& b);                 ///< Kronecker's product
Tensor cross(const Input& a, const Input& b, int dim = -1);  ///< of vectors with 3 elements along an axis
Tensor trace(const Input& x);                                ///< the sum of the diagonal of a matrix
Tensor cdist(const Input& a, const Input& b, double p = 2);  ///< distances of the rows of a and those of b
Tensor chain_matmul(const std::vector<Tensor>& matrices,
                    std::source_location where = COTAN_HERE);  ///< in the cheapest order

/// Methods of a tensor: these functions of it.
template <class Self>
class ProductMethods : public detail::Methods<Self, ProductMethods<Self>> {
 public:
  /// The function of that name, of this tensor.
  /// @{
#define COTAN_TORCH_PRODUCT(name) \
  Self name(const Input& other) const { return torch::name(this->me(), other); }
#define COTAN_TORCH_ADDED(name)                                                                        \
  Self name(const Input& a, const Input& b, double beta = 1, double alpha = 1) const {                 \
    return torch::name(this->me(), a, b, beta, alpha);                                                 \
  }                                                                                                    \
  const Self& name##_(const Input& a, const Input& b, double beta = 1, double alpha = 1) const {       \
    return this->overwrite(#name "_", {}, [&] { return torch::name(this->me(), a, b, beta, alpha); }); \
  }
  // clang-format off
  COTAN_TORCH_PRODUCT(matmul) COTAN_TORCH_PRODUCT(mm) COTAN_TORCH_PRODUCT(bmm) COTAN_TORCH_PRODUCT(mv) COTAN_TORCH_PRODUCT(dot)
  COTAN_TORCH_PRODUCT(inner) COTAN_TORCH_PRODUCT(outer) COTAN_TORCH_PRODUCT(kron)
  COTAN_TORCH_ADDED(addmm) COTAN_TORCH_ADDED(addmv) COTAN_TORCH_ADDED(addbmm) COTAN_TORCH_ADDED(baddbmm) COTAN_TORCH_ADDED(addr)
  // clang-format on
#undef COTAN_TORCH_PRODUCT
#undef COTAN_TORCH_ADDED
              Self cross(const Input& other, int dim = -1) const {
    return torch::cross(this->me(), other, dim);
  }
  Self trace(std::source_location where = COTAN_HERE) const { return torch::trace(this->me(where)); }
  /// @}
};

}  // namespace cotan::torch
