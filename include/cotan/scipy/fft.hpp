// cotan::scipy::fft: cosine transforms.
#pragma once
#include <cotan/array.hpp>
#include <optional>
#include <string_view>

/// `jax.scipy.fft`: cosine transforms of type II, and their inverses. Of complex numbers both parts are transformed.
namespace cotan::scipy::fft {

/// Of a transform along one axis.
struct CosineOptions {
  int type = 2;                        ///< there is no other, as in JAX
  std::optional<std::int64_t> n = {};  ///< the length to crop or pad with zeros to
  int axis = -1;
  std::string_view norm = "backward";  ///< "ortho" makes it orthogonal
};
/// Of a transform along several axes.
struct CosineAxesOptions {
  int type = 2;
  Shape s = {};    ///< lengths along the axes, as `n`; empty: as they are
  Axes axes = {};  ///< by default all, or the last ones of which `s` has lengths
  std::string_view norm = "backward";
};
/// y[k] = 2 sum_j x[j] cos(pi k (2 j + 1) / (2 n)) along an axis.
Array dct(const ArrayLike& x, const CosineOptions& options = {});
/// Its inverse.
Array idct(const ArrayLike& x, const CosineOptions& options = {});
/// dct along all axes, or those given.
Array dctn(const ArrayLike& x, const CosineAxesOptions& options = {});
/// Its inverse.
Array idctn(const ArrayLike& x, const CosineAxesOptions& options = {});

}  // namespace cotan::scipy::fft
