// Views: tensors that share the elements of another one. A write through one of them is seen by all.
#pragma once
#include <cotan/torch/inputs.hpp>

namespace cotan::torch {

/// @name Other sizes
/// @{
Tensor view(const Input& x, const Shape& size);                 ///< other sizes, where strides allow it; one may be -1
Tensor view_as(const Input& x, const Tensor& other);            ///< view() with the sizes of other
Tensor reshape(const Input& x, const Shape& size);              ///< view, or a copy where that is not possible
Tensor reshape_as(const Input& x, const Tensor& other);         ///< reshape() with the sizes of other
Tensor flatten(const Input& x, int first = 0, int last = -1);   ///< these dimensions as one
Tensor unflatten(const Input& x, int dim, const Shape& sizes);  ///< a dimension as several; one may be -1
Tensor ravel(const Input& x);                                   ///< one dimension
Tensor unsqueeze(const Input& x, int dim);                      ///< a new dimension of size 1
Tensor squeeze(const Input& x, const std::vector<int>& dims = {});  ///< without those of size 1, all or of these
/// @}

/// @name Dimensions in another order
/// @{
Tensor permute(const Input& x, const std::vector<int>& dims);  ///< all dimensions, in this order
Tensor transpose(const Input& x, int dim0, int dim1);          ///< two exchanged
Tensor swapaxes(const Input& x, int dim0, int dim1);           ///< transpose
Tensor swapdims(const Input& x, int dim0, int dim1);           ///< transpose
Tensor t(const Input& x);                                      ///< of at most two dimensions, transposed
Tensor mT(const Input& x);                                     ///< the last two exchanged
/// Dimensions `from` at the places `to`, the others in their order between them.
Tensor movedim(const Input& x, const std::vector<int>& from, const std::vector<int>& to);
Tensor movedim(const Input& x, int from, int to);  ///< the same of one
/// @}

/// @name Repeated
/// @{
Tensor expand(const Input& x, const Shape& size);        ///< dimensions of size 1 repeated; -1 keeps a size
Tensor expand_as(const Input& x, const Tensor& other);   ///< to the sizes of other
Tensor broadcast_to(const Input& x, const Shape& size);  ///< expand
/// @}

/// @name Parts
/// @{
Tensor select(const Input& x, int dim, std::int64_t index);  ///< one index of a dimension, which goes
/// Indices start, start + step … before end of a dimension, cut to its size as in Python.
Tensor slice(const Input& x, int dim, std::int64_t start, std::int64_t end, std::int64_t step = 1);
Tensor narrow(const Input& x, int dim, std::int64_t start, std::int64_t length);  ///< `length` indices of a dimension
/// The elements whose indices in dim1 and dim2 differ by `offset`, as a last dimension.
Tensor diagonal(const Input& x, int offset = 0, int dim1 = 0, int dim2 = 1);
/// Windows of `size` indices of a dimension, each `step` after the other; what is in a window is a last dimension.
Tensor unfold(const Input& x, int dim, std::int64_t size, std::int64_t step);
/// Any sizes and strides on the elements of what x is a view of; the offset is x's by default.
Tensor as_strided(const Input& x, const Shape& size, const Shape& stride, std::optional<std::int64_t> offset = {});
/// Parts of `size` indices each, the last one of what is left. As of chunk() and unbind(), gradients do not follow
/// writes to the parts.
std::vector<Tensor> split(const Input& x, std::int64_t size, int dim = 0);
std::vector<Tensor> split(const Input& x, const Shape& sizes, int dim = 0);   ///< parts of these sizes
std::vector<Tensor> chunk(const Input& x, std::int64_t chunks, int dim = 0);  ///< at most so many parts of one size
std::vector<Tensor> unbind(const Input& x, int dim = 0);                      ///< select() of every index
std::vector<Tensor> tensor_split(const Input& x, std::int64_t parts, int dim = 0);  ///< so many parts, the first larger
/// Parts that end before these indices, and the rest.
std::vector<Tensor> tensor_split(const Input& x, const Shape& indices, int dim = 0);
/// @}

/// Methods of a tensor: these functions of it.
template <class Self>
class ViewMethods : public detail::Methods<Self, ViewMethods<Self>> {
  using Line = std::source_location;
  using Ints = std::vector<int>;

 public:
  /// The function of that name, of this tensor.
  /// @{
  Self view(const Shape& size, Line where = COTAN_HERE) const { return torch::view(this->me(where), size); }
  Self view_as(const Self& other, Line where = COTAN_HERE) const { return torch::view_as(this->me(where), other); }
  Self reshape(const Shape& size, Line where = COTAN_HERE) const { return torch::reshape(this->me(where), size); }
  Self reshape_as(const Self& other, Line where = COTAN_HERE) const {
    return torch::reshape_as(this->me(where), other);
  }
  Self flatten(int first = 0, int last = -1, Line where = COTAN_HERE) const {
    return torch::flatten(this->me(where), first, last);
  }
  Self unflatten(int dim, const Shape& sizes, Line where = COTAN_HERE) const {
    return torch::unflatten(this->me(where), dim, sizes);
  }
  Self ravel(Line where = COTAN_HERE) const { return torch::ravel(this->me(where)); }
  Self unsqueeze(int dim, Line where = COTAN_HERE) const { return torch::unsqueeze(this->me(where), dim); }
  Self squeeze(const Ints& dims = {}, Line where = COTAN_HERE) const { return torch::squeeze(this->me(where), dims); }
  Self squeeze(int dim, Line where = COTAN_HERE) const { return torch::squeeze(this->me(where), {dim}); }
  Self permute(const Ints& dims, Line where = COTAN_HERE) const { return torch::permute(this->me(where), dims); }
  Self transpose(int dim0, int dim1, Line where = COTAN_HERE) const {
    return torch::transpose(this->me(where), dim0, dim1);
  }
  Self swapaxes(int dim0, int dim1, Line where = COTAN_HERE) const {
    return torch::swapaxes(this->me(where), dim0, dim1);
  }
  Self t(Line where = COTAN_HERE) const { return torch::t(this->me(where)); }
  Self mT(Line where = COTAN_HERE) const { return torch::mT(this->me(where)); }
  Self movedim(int from, int to, Line where = COTAN_HERE) const { return torch::movedim(this->me(where), from, to); }
  Self movedim(const Ints& from, const Ints& to, Line where = COTAN_HERE) const {
    return torch::movedim(this->me(where), from, to);
  }
  Self expand(const Shape& size, Line where = COTAN_HERE) const { return torch::expand(this->me(where), size); }
  Self expand_as(const Self& other, Line where = COTAN_HERE) const { return torch::expand_as(this->me(where), other); }
  Self broadcast_to(const Shape& size, Line where = COTAN_HERE) const {
    return torch::broadcast_to(this->me(where), size);
  }
  Self select(int dim, std::int64_t index, Line where = COTAN_HERE) const {
    return torch::select(this->me(where), dim, index);
  }
  Self slice(int dim, std::int64_t start, std::int64_t end, std::int64_t step = 1, Line where = COTAN_HERE) const {
    return torch::slice(this->me(where), dim, start, end, step);
  }
  Self narrow(int dim, std::int64_t start, std::int64_t length, Line where = COTAN_HERE) const {
    return torch::narrow(this->me(where), dim, start, length);
  }
  Self diagonal(int offset = 0, int dim1 = 0, int dim2 = 1, Line where = COTAN_HERE) const {
    return torch::diagonal(this->me(where), offset, dim1, dim2);
  }
  Self unfold(int dim, std::int64_t size, std::int64_t step, Line where = COTAN_HERE) const {
    return torch::unfold(this->me(where), dim, size, step);
  }
  Self as_strided(const Shape& size, const Shape& stride, std::optional<std::int64_t> offset = {},
                  Line where = COTAN_HERE) const {
    return torch::as_strided(this->me(where), size, stride, offset);
  }
  std::vector<Self> split(std::int64_t size, int dim = 0, Line where = COTAN_HERE) const {
    return torch::split(this->me(where), size, dim);
  }
  std::vector<Self> split(const Shape& sizes, int dim = 0, Line where = COTAN_HERE) const {
    return torch::split(this->me(where), sizes, dim);
  }
  std::vector<Self> chunk(std::int64_t chunks, int dim = 0, Line where = COTAN_HERE) const {
    return torch::chunk(this->me(where), chunks, dim);
  }
  std::vector<Self> unbind(int dim = 0, Line where = COTAN_HERE) const { return torch::unbind(this->me(where), dim); }
  /// @}
};

}  // namespace cotan::torch
