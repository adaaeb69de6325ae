// vq: distances to all codes, and the least of them.
#include <cotan/linalg.hpp>
#include <cotan/numpy.hpp>
#include <cotan/scipy/cluster.hpp>

#include "ops/promote.hpp"

namespace cotan::scipy::cluster::vq {

namespace np = numpy;

Codes vq(const ArrayLike& obs, const ArrayLike& code_book, bool) {
  const int axes = obs->ndim();
  if (axes != code_book->ndim() || axes < 1 || axes > 2)
    raise<ShapeError>("[vq] the observations are {} and the codes {}; both must be matrices, or both vectors.",
                      obs->aval(), code_book->aval());
  const Array both[] = {obs, code_book};
  Arrays x = np::cast_all(both, np::inexact_result_type(both));
  if (axes == 1)
    for (Array& a : x) a = np::expand_dims(a, 1);
  if (x[0].shape(1) != x[1].shape(1))
    raise<ShapeError>("[vq] the observations are {} and the codes {}; rows must be equally long.", obs->aval(),
                      code_book->aval());
  if (x[1].shape(0) == 0) raise<ShapeError>("[vq] the code book is {}; give at least one code.", code_book->aval());
  const Array distances = cotan::linalg::norm(np::expand_dims(x[0], 1) - np::expand_dims(x[1], 0), {}, -1);
  const Array code = np::argmin(distances, -1);
  return {code, np::squeeze(np::take_along_axis(distances, np::expand_dims(code, 1), 1, "clip"), 1)};
}

}  // namespace cotan::scipy::cluster::vq
