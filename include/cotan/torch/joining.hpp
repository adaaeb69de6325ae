// Tensors put together, repeated and turned around.
#pragma once
#include <cotan/torch/inputs.hpp>
#include <string_view>

namespace cotan::torch {

/// @name Joining
/// Dtypes are promoted as in arithmetic.
/// @{
/// Tensors one after the other along an axis; the other sizes are equal.
Tensor cat(const std::vector<Tensor>& tensors, int dim = 0, std::source_location where = COTAN_HERE);
Tensor concat(const std::vector<Tensor>& tensors, int dim = 0, std::source_location where = COTAN_HERE);  ///< cat
/// Tensors of one shape along a new axis.
Tensor stack(const std::vector<Tensor>& tensors, int dim = 0, std::source_location where = COTAN_HERE);
Tensor hstack(const std::vector<Tensor>& tensors,
              std::source_location where = COTAN_HERE);  ///< along axis 1, of vectors 0
Tensor vstack(const std::vector<Tensor>& tensors,
              std::source_location where = COTAN_HERE);  ///< along axis 0; vectors are rows
Tensor dstack(const std::vector<Tensor>& tensors, std::source_location where = COTAN_HERE);  ///< along axis 2
/// The coordinates of a grid, one tensor per vector; "xy" exchanges the first two axes.
std::vector<Tensor> meshgrid(const std::vector<Tensor>& tensors, std::string_view indexing = "ij",
                             std::source_location where = COTAN_HERE);
/// @}

/// @name Moving and repeating
/// @{
Tensor roll(const Input& x, const Shape& shifts,
            const std::vector<int>& dims = {});                                  ///< rotated; without dims as one axis
Tensor flip(const Input& x, const std::vector<int>& dims);                       ///< reversed along axes
Tensor fliplr(const Input& x);                                                   ///< reversed along axis 1
Tensor flipud(const Input& x);                                                   ///< reversed along axis 0
Tensor rot90(const Input& x, int k = 1, const std::vector<int>& dims = {0, 1});  ///< turned by k quarters
Tensor repeat(const Input& x, const Shape& repeats);  ///< copies side by side; new axes come first
Tensor tile(const Input& x, const Shape& repeats);    ///< the same; fewer repeats are of the last axes
/// Each element so many times in a row, along an axis or of all elements.
Tensor repeat_interleave(const Input& x, std::int64_t repeats, std::optional<int> dim = {});
/// The same with a number for each; reads `repeats` where output_size is not given.
Tensor repeat_interleave(const Input& x, const Input& repeats, std::optional<int> dim = {},
                         std::optional<std::int64_t> output_size = {});
/// @}

/// @name Diagonals and triangles
/// @{
Tensor tril(const Input& x, int diagonal = 0);  ///< 0 above a diagonal of the last two axes
Tensor triu(const Input& x, int diagonal = 0);  ///< 0 below a diagonal of the last two axes
Tensor diag(const Input& x, int diagonal = 0);  ///< of a vector the matrix with that diagonal, of a matrix its diagonal
Tensor diag_embed(const Input& x, int offset = 0, int dim1 = -2, int dim2 = -1);  ///< the last axis as diagonal of two
Tensor tril_indices(std::int64_t row, std::int64_t col, int offset = 0,
                    std::source_location where = COTAN_HERE);  ///< [2, n]: the indices of a lower triangle
Tensor triu_indices(std::int64_t row, std::int64_t col, int offset = 0,
                    std::source_location where = COTAN_HERE);  ///< [2, n]: the indices of an upper triangle
/// @}

/// Methods of a tensor: these functions of it.
template <class Self>
class JoiningMethods : public detail::Methods<Self, JoiningMethods<Self>> {
  using Line = std::source_location;

 public:
  /// The function of that name, of this tensor.
  /// @{
  Self roll(const Shape& shifts, const std::vector<int>& dims = {}, Line where = COTAN_HERE) const {
    return torch::roll(this->me(where), shifts, dims);
  }
  Self flip(const std::vector<int>& dims, Line where = COTAN_HERE) const { return torch::flip(this->me(where), dims); }
  Self fliplr(Line where = COTAN_HERE) const { return torch::fliplr(this->me(where)); }
  Self flipud(Line where = COTAN_HERE) const { return torch::flipud(this->me(where)); }
  Self repeat(const Shape& repeats, Line where = COTAN_HERE) const { return torch::repeat(this->me(where), repeats); }
  Self tile(const Shape& repeats, Line where = COTAN_HERE) const { return torch::tile(this->me(where), repeats); }
  Self repeat_interleave(std::int64_t repeats, std::optional<int> dim = {}, Line where = COTAN_HERE) const {
    return torch::repeat_interleave(this->me(where), repeats, dim);
  }
  Self tril(int diagonal = 0, Line where = COTAN_HERE) const { return torch::tril(this->me(where), diagonal); }
  Self triu(int diagonal = 0, Line where = COTAN_HERE) const { return torch::triu(this->me(where), diagonal); }
  Self diag(int diagonal = 0, Line where = COTAN_HERE) const { return torch::diag(this->me(where), diagonal); }
  const Self& tril_(int diagonal = 0, Line where = COTAN_HERE) const {
    return this->overwrite("tril_", where, [&] { return torch::tril(this->me(), diagonal); });
  }
  const Self& triu_(int diagonal = 0, Line where = COTAN_HERE) const {
    return this->overwrite("triu_", where, [&] { return torch::triu(this->me(), diagonal); });
  }
  /// @}
};

}  // namespace cotan::torch
