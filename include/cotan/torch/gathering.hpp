// Elements by indices and masks: read, and written into a copy; order and search.
#pragma once
#include <cotan/torch/inputs.hpp>
#include <string_view>
#include <tuple>
#include <utility>

namespace cotan::torch {

/// @name Reading by indices
/// @{
Tensor gather(const Input& x, int dim, const Input& index);  ///< x at `index` along an axis, of the shape of index
Tensor take_along_dim(const Input& x, const Input& index, std::optional<int> dim = {});  ///< the same; shapes broadcast
Tensor index_select(const Input& x, int dim, const Input& index);                        ///< slices of an axis
Tensor take(const Input& x, const Input& index);          ///< of all elements as a vector
Tensor masked_select(const Input& x, const Input& mask);  ///< those where the mask is true; reads the mask
Tensor nonzero(const Input& x);   ///< the indices of elements that are not 0, [n, dim]; runs what is recorded
Tensor argwhere(const Input& x);  ///< the same as nonzero
/// @}

/// @name Writing by indices, into a copy
/// @{
Tensor scatter(const Input& x, int dim, const Input& index, const Operand& src);    ///< src, or a number, at `index`
Tensor scatter_add(const Input& x, int dim, const Input& index, const Input& src);  ///< src is added there
/// "sum", "prod", "mean", "amax" or "amin" of src at each index, and of what is there unless include_self is false.
Tensor scatter_reduce(const Input& x, int dim, const Input& index, const Input& src, std::string_view reduce,
                      bool include_self = true);
Tensor index_add(const Input& x, int dim, const Input& index, const Input& source,
                 double alpha = 1);                                                    ///< slices are added
Tensor index_copy(const Input& x, int dim, const Input& index, const Input& source);   ///< slices become others
Tensor index_fill(const Input& x, int dim, const Input& index, const Operand& value);  ///< slices become a number
Tensor masked_fill(const Input& x, const Input& mask, const Operand& value);  ///< the number where the mask is true
Tensor masked_scatter(const Input& x, const Input& mask,
                      const Input& source);  ///< source's elements in turn where it is true
/// @}

/// @name Order
/// @{
std::pair<Tensor, Tensor> sort(const Input& x, int dim = -1,
                               bool descending = false);                ///< and the indices; equal ones stay in order
Tensor argsort(const Input& x, int dim = -1, bool descending = false);  ///< the indices that sort
std::pair<Tensor, Tensor> topk(const Input& x, std::int64_t k, int dim = -1, bool largest = true,
                               bool sorted = true);  ///< the k largest, or smallest, in order, and their indices
Tensor searchsorted(const Input& sorted_sequence, const Operand& values, bool right = false);  ///< where values belong
Tensor bucketize(const Operand& x, const Input& boundaries, bool right = false);  ///< which interval they are in
/// Each element once, sorted; reads x. With the index of each element of x in them, and how often each is there.
std::tuple<Tensor, Tensor, Tensor> unique(const Input& x);
Tensor bincount(const Input& x, std::int64_t minlength = 0);  ///< how often each number is there; reads x
/// @}

/// Methods of a tensor: these functions of it, and with an underscore what is written into it.
template <class Self>
class GatheringMethods : public detail::Methods<Self, GatheringMethods<Self>> {
  using Line = std::source_location;

 public:
  /// The function of that name, of this tensor.
  /// @{
  Self gather(int dim, const Input& index) const { return torch::gather(this->me(), dim, index); }
  Self take_along_dim(const Input& index, std::optional<int> dim = {}) const {
    return torch::take_along_dim(this->me(), index, dim);
  }
  Self index_select(int dim, const Input& index) const { return torch::index_select(this->me(), dim, index); }
  Self take(const Input& index) const { return torch::take(this->me(), index); }
  Self masked_select(const Input& mask) const { return torch::masked_select(this->me(), mask); }
  Self nonzero(Line where = COTAN_HERE) const { return torch::nonzero(this->me(where)); }
  Self argsort(int dim = -1, bool descending = false, Line where = COTAN_HERE) const {
    return torch::argsort(this->me(where), dim, descending);
  }
  std::pair<Self, Self> sort(int dim = -1, bool descending = false, Line where = COTAN_HERE) const {
    return torch::sort(this->me(where), dim, descending);
  }
  std::pair<Self, Self> topk(std::int64_t k, int dim = -1, bool largest = true, bool sorted = true,
                             Line where = COTAN_HERE) const {
    return torch::topk(this->me(where), k, dim, largest, sorted);
  }
  Self bincount(std::int64_t minlength = 0, Line where = COTAN_HERE) const {
    return torch::bincount(this->me(where), minlength);
  }
#define COTAN_TORCH_BY_INDEX(name, ...)                                                                \
  Self name(int dim, const Input& index, __VA_ARGS__ other) const {                                    \
    return torch::name(this->me(), dim, index, other);                                                 \
  }                                                                                                    \
  const Self& name##_(int dim, const Input& index, __VA_ARGS__ other) const {                          \
    return this->overwrite(#name "_", {}, [&] { return torch::name(this->me(), dim, index, other); }); \
  }
#define COTAN_TORCH_BY_MASK(name, ...)                                                                   \
  Self name(const Input& mask, __VA_ARGS__ other) const { return torch::name(this->me(), mask, other); } \
  const Self& name##_(const Input& mask, __VA_ARGS__ other) const {                                      \
    return this->overwrite(#name "_", {}, [&] { return torch::name(this->me(), mask, other); });         \
  }
  // clang-format off
  COTAN_TORCH_BY_INDEX(scatter, const Operand&) COTAN_TORCH_BY_INDEX(scatter_add, const Input&)
  COTAN_TORCH_BY_INDEX(index_copy, const Input&) COTAN_TORCH_BY_INDEX(index_fill, const Operand&)
  COTAN_TORCH_BY_MASK(masked_fill, const Operand&) COTAN_TORCH_BY_MASK(masked_scatter, const Input&)
  // clang-format on
#undef COTAN_TORCH_BY_INDEX
#undef COTAN_TORCH_BY_MASK
              Self scatter_reduce(int dim, const Input& index, const Input& src, std::string_view reduce,
                                  bool include_self = true) const {
    return torch::scatter_reduce(this->me(), dim, index, src, reduce, include_self);
  }
  const Self& scatter_reduce_(int dim, const Input& index, const Input& src, std::string_view reduce,
                              bool include_self = true) const {
    return this->overwrite("scatter_reduce_", {},
                           [&] { return torch::scatter_reduce(this->me(), dim, index, src, reduce, include_self); });
  }
  Self index_add(int dim, const Input& index, const Input& source, double alpha = 1) const {
    return torch::index_add(this->me(), dim, index, source, alpha);
  }
  const Self& index_add_(int dim, const Input& index, const Input& source, double alpha = 1) const {
    return this->overwrite("index_add_", {}, [&] { return torch::index_add(this->me(), dim, index, source, alpha); });
  }
  /// @}
};

}  // namespace cotan::torch
