// cotan::scipy::ndimage: samples of images.
#pragma once
#include <cotan/array.hpp>
#include <string_view>

/// `jax.scipy.ndimage`.
namespace cotan::scipy::ndimage {

/// The values of `input` at coordinates between its elements: coordinates[i], of one shape, are along axis i. `order` 0
/// takes the nearest element, 1 interpolates linearly. `mode` says what is outside: `cval` ("constant"), the nearest
/// element ("nearest"), or the elements over and over ("wrap"), turned round with the edge once ("mirror") or twice
/// ("reflect"). The result has the dtype of `input`; of integers it is rounded. An axis of size 1 is mirrored to
/// itself.
Array map_coordinates(const ArrayLike& input, const ArrayList& coordinates, int order,
                      std::string_view mode = "constant", const ArrayLike& cval = 0.0);

}  // namespace cotan::scipy::ndimage
