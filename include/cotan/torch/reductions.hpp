// Sums, products, extrema and statistics over axes; running sums.
#pragma once
#include <cotan/torch/inputs.hpp>
#include <utility>

namespace cotan::torch {

/// Axes of a reduction: none (all), one, or a list; negative ones count from the end.
class Dims {
 public:
  Dims() = default;
  Dims(int dim) : dims_{dim} {}
  Dims(std::initializer_list<int> dims) : dims_(dims) {}
  Dims(std::vector<int> dims) : dims_(std::move(dims)) {}
  const std::vector<int>& list() const { return dims_; }  ///< empty: all

 private:
  std::vector<int> dims_;
};

/// @name Over all axes, or those of `dims`, which stay with size 1 where keepdim is true
/// @{
/// The sum, of integers and bools in int64, or computed in `dtype`.
Tensor sum(const Input& x, const Dims& dims = {}, bool keepdim = false, std::optional<DType> dtype = {});
Tensor mean(const Input& x, const Dims& dims = {}, bool keepdim = false,
            std::optional<DType> dtype = {});                                 ///< of floats
Tensor nansum(const Input& x, const Dims& dims = {}, bool keepdim = false);   ///< sum of what is no NaN
Tensor nanmean(const Input& x, const Dims& dims = {}, bool keepdim = false);  ///< mean of what is no NaN
Tensor prod(const Input& x, std::optional<DType> dtype = {});                 ///< the product of all
Tensor prod(const Input& x, int dim, bool keepdim = false, std::optional<DType> dtype = {});  ///< over one axis
Tensor amax(const Input& x, const Dims& dims = {},
            bool keepdim = false);  ///< the largest; equal ones share the gradient
Tensor amin(const Input& x, const Dims& dims = {},
            bool keepdim = false);  ///< the smallest; equal ones share the gradient
Tensor any(const Input& x, const Dims& dims = {}, bool keepdim = false);   ///< whether one is not 0
Tensor all(const Input& x, const Dims& dims = {}, bool keepdim = false);   ///< whether none is 0
Tensor count_nonzero(const Input& x, const Dims& dims = {});               ///< how many are not 0
Tensor logsumexp(const Input& x, const Dims& dims, bool keepdim = false);  ///< log(sum(eˣ)) without overflow
/// The variance: squares are divided by n - correction.
Tensor var(const Input& x, const Dims& dims = {}, double correction = 1, bool keepdim = false);
Tensor std(const Input& x, const Dims& dims = {}, double correction = 1,
           bool keepdim = false);  ///< √var; 0 has no gradient
std::pair<Tensor, Tensor> var_mean(const Input& x, const Dims& dims = {}, double correction = 1,
                                   bool keepdim = false);  ///< var and mean
std::pair<Tensor, Tensor> std_mean(const Input& x, const Dims& dims = {}, double correction = 1,
                                   bool keepdim = false);  ///< std and mean
/// (Σ |x|ᵖ)^(1/p); p may be infinite or 0. The gradient at 0 is 0.
Tensor norm(const Input& x, double p = 2, const Dims& dims = {}, bool keepdim = false);
/// @}

/// @name Extrema
/// With an axis, pairs of values and indices; the gradient goes to the element at the index.
/// @{
Tensor max(const Input& x);                                                        ///< amax of all
Tensor min(const Input& x);                                                        ///< amin of all
std::pair<Tensor, Tensor> max(const Input& x, int dim, bool keepdim = false);      ///< the largest and where
std::pair<Tensor, Tensor> min(const Input& x, int dim, bool keepdim = false);      ///< the smallest and where
Tensor argmax(const Input& x, std::optional<int> dim = {}, bool keepdim = false);  ///< where the largest is
Tensor argmin(const Input& x, std::optional<int> dim = {}, bool keepdim = false);  ///< where the smallest is
std::pair<Tensor, Tensor> aminmax(const Input& x, std::optional<int> dim = {}, bool keepdim = false);  ///< amin, amax
Tensor median(const Input& x);                                                    ///< the lower one of an even number
std::pair<Tensor, Tensor> median(const Input& x, int dim, bool keepdim = false);  ///< the same and where
std::pair<Tensor, Tensor> kthvalue(const Input& x, std::int64_t k, int dim = -1,
                                   bool keepdim = false);  ///< the k-th smallest, from 1 on, and where
/// @}

/// @name Along an axis
/// @{
Tensor cumsum(const Input& x, int dim, std::optional<DType> dtype = {});   ///< sums so far
Tensor cumprod(const Input& x, int dim, std::optional<DType> dtype = {});  ///< products so far
Tensor logcumsumexp(const Input& x, int dim);                              ///< log of sums of eˣ so far
std::pair<Tensor, Tensor> cummax(const Input& x, int dim);                 ///< the largest so far, and where
std::pair<Tensor, Tensor> cummin(const Input& x, int dim);                 ///< the smallest so far, and where
Tensor diff(const Input& x, int n = 1, int dim = -1);                      ///< differences of neighbours, n times
/// @}

/// Methods of a tensor: these functions of it.
template <class Self>
class ReductionMethods : public detail::Methods<Self, ReductionMethods<Self>> {
  using Line = std::source_location;

 public:
  /// The function of that name, of this tensor.
  /// @{
#define COTAN_TORCH_OVER(name)                                                            \
  Self name(const Dims& dims = {}, bool keepdim = false, Line where = COTAN_HERE) const { \
    return torch::name(this->me(where), dims, keepdim);                                   \
  }
#define COTAN_TORCH_EXTREMUM(name)                                                           \
  Self name(Line where = COTAN_HERE) const { return torch::name(this->me(where)); }          \
  std::pair<Self, Self> name(int dim, bool keepdim = false, Line where = COTAN_HERE) const { \
    return torch::name(this->me(where), dim, keepdim);                                       \
  }
#define COTAN_TORCH_WHERE(name)                                                                 \
  Self name(std::optional<int> dim = {}, bool keepdim = false, Line where = COTAN_HERE) const { \
    return torch::name(this->me(where), dim, keepdim);                                          \
  }
#define COTAN_TORCH_SPREAD(name)                                                                                 \
  Self name(const Dims& dims = {}, double correction = 1, bool keepdim = false, Line where = COTAN_HERE) const { \
    return torch::name(this->me(where), dims, correction, keepdim);                                              \
  }
  // clang-format off
  COTAN_TORCH_OVER(nansum) COTAN_TORCH_OVER(nanmean) COTAN_TORCH_OVER(amax) COTAN_TORCH_OVER(amin) COTAN_TORCH_OVER(any)
  COTAN_TORCH_OVER(all) COTAN_TORCH_OVER(logsumexp)
  COTAN_TORCH_EXTREMUM(max) COTAN_TORCH_EXTREMUM(min) COTAN_TORCH_EXTREMUM(median)
  COTAN_TORCH_WHERE(argmax) COTAN_TORCH_WHERE(argmin)
  COTAN_TORCH_SPREAD(var) COTAN_TORCH_SPREAD(std)
  // clang-format on
#undef COTAN_TORCH_OVER
#undef COTAN_TORCH_EXTREMUM
#undef COTAN_TORCH_WHERE
#undef COTAN_TORCH_SPREAD

              Self
      sum(const Dims& dims = {}, bool keepdim = false, std::optional<DType> dtype = {}, Line where = COTAN_HERE) const {
    return torch::sum(this->me(where), dims, keepdim, dtype);
  }
  Self mean(const Dims& dims = {}, bool keepdim = false, std::optional<DType> dtype = {},
            Line where = COTAN_HERE) const {
    return torch::mean(this->me(where), dims, keepdim, dtype);
  }
  Self prod(Line where = COTAN_HERE) const { return torch::prod(this->me(where)); }
  Self prod(int dim, bool keepdim = false, Line where = COTAN_HERE) const {
    return torch::prod(this->me(where), dim, keepdim);
  }
  Self count_nonzero(const Dims& dims = {}, Line where = COTAN_HERE) const {
    return torch::count_nonzero(this->me(where), dims);
  }
  Self norm(double p = 2, const Dims& dims = {}, bool keepdim = false, Line where = COTAN_HERE) const {
    return torch::norm(this->me(where), p, dims, keepdim);
  }
  std::pair<Self, Self> kthvalue(std::int64_t k, int dim = -1, bool keepdim = false, Line where = COTAN_HERE) const {
    return torch::kthvalue(this->me(where), k, dim, keepdim);
  }
  Self cumsum(int dim, std::optional<DType> dtype = {}, Line where = COTAN_HERE) const {
    return torch::cumsum(this->me(where), dim, dtype);
  }
  Self cumprod(int dim, std::optional<DType> dtype = {}, Line where = COTAN_HERE) const {
    return torch::cumprod(this->me(where), dim, dtype);
  }
  Self logcumsumexp(int dim, Line where = COTAN_HERE) const { return torch::logcumsumexp(this->me(where), dim); }
  std::pair<Self, Self> cummax(int dim, Line where = COTAN_HERE) const { return torch::cummax(this->me(where), dim); }
  std::pair<Self, Self> cummin(int dim, Line where = COTAN_HERE) const { return torch::cummin(this->me(where), dim); }
  Self diff(int n = 1, int dim = -1, Line where = COTAN_HERE) const { return torch::diff(this->me(where), n, dim); }
  /// @}
};

}  // namespace cotan::torch
