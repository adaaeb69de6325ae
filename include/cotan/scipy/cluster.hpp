// cotan::scipy::cluster::vq: vector quantization.
#pragma once
#include <cotan/array.hpp>

/// `jax.scipy.cluster.vq`.
namespace cotan::scipy::cluster::vq {

/// Which codes are nearest, and how far they are.
struct Codes {
  Array code, dist;
};
/// For each row of `obs` [n, d] the number (i32) of the nearest row of `code_book` [k, d], and the distance. Vectors
/// are numbers to be quantized. `check_finite` is SciPy's, and changes nothing: elements may be anything.
Codes vq(const ArrayLike& obs, const ArrayLike& code_book, bool check_finite = true);

}  // namespace cotan::scipy::cluster::vq
