// cotan::image: images in another size.
#pragma once
#include <cotan/array.hpp>
#include <cotan/lax/products.hpp>
#include <string>
#include <string_view>
#include <vector>

/// `jax.image`: arrays of samples, of any number of axes, in another size.
///
///     ct::Array half = ct::image::resize(photo, {h / 2, w / 2, 3}, "lanczos3");
namespace cotan::image {

/// How values between samples are found: by an enumerator, or by one of JAX's names for it, "bilinear" or "cubic", say.
class ResizeMethod {
 public:
  /// Which: the nearest sample; a triangle; windowed sines over 3 or 5 samples to each side; Keys' cubics with a of
  /// -0.5, or -0.75 with edges repeated; means over areas.
  enum Kind { nearest, linear, lanczos3, lanczos5, cubic, cubic_pytorch, area };
  ResizeMethod(Kind kind) : kind_(kind) {}
  ResizeMethod(std::string_view name) : kind_(from_string(name)) {}
  ResizeMethod(const std::string& name) : kind_(from_string(name)) {}
  ResizeMethod(const char* name) : kind_(from_string(name)) {}
  /// The method of that name, else ValueError.
  static Kind from_string(std::string_view name);
  /// Which it is.
  Kind kind() const { return kind_; }

 private:
  Kind kind_;
};

/// `image` in `shape`, which has as many axes; those that differ in size are resampled. Integers become floats, but for
/// "nearest". `antialias`: where it becomes smaller the method's kernel is as much wider, so that nothing is left out;
/// "nearest" and "area" need none. Products are as exact as their dtype, so `precision` changes nothing.
Array resize(const ArrayLike& image, const Shape& shape, const ResizeMethod& method, bool antialias = true,
             lax::Precision precision = lax::Precision::highest);

/// The image in `shape` whose axis spatial_dims[i] is that of `image` scaled by scale[i], then moved on by
/// translation[i] samples; other axes keep their size. What comes from outside of it is 0. Scales and translations are
/// vectors of floats, and may be differentiated. Not by "nearest".
Array scale_and_translate(const ArrayLike& image, const Shape& shape, const std::vector<int>& spatial_dims,
                          const ArrayLike& scale, const ArrayLike& translation, const ResizeMethod& method,
                          bool antialias = true, lax::Precision precision = lax::Precision::highest);

}  // namespace cotan::image
