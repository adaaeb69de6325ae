#include "torch/graph/strided.hpp"

#include <cotan/numpy.hpp>

#include "torch/graph/op.hpp"

namespace cotan::torch::detail {

namespace {

/// Places of elements among the row-major ones of what is viewed.
Array places(const Shape& sizes, const Shape& strides, std::int64_t offset) {
  Array out = numpy::full({}, offset, i64);
  for (std::size_t i = 0; i < sizes.size(); ++i)
    out = numpy::expand_dims(out, -1) + numpy::arange(sizes[i]).astype(i64) * strides[i];
  return out.reshape({-1});
}

Value gathered(const Value& whole, const Shape& sizes, const Shape& strides, std::int64_t offset) {
  static const auto op =
      define("strided", {}, [](const Array& a, const Shape& size, const Shape& by, std::int64_t first) {
        return numpy::take(a.reshape({-1}), places(size, by, first), 0).reshape(size);
      });
  return op.value(tensor_of(whole), sizes, strides, offset);
}
Value scattered(const Value& whole, const Value& contents, const Shape& sizes, const Shape& strides,
                std::int64_t offset) {
  static const auto op = define(
      "strided_write", {}, [](const Array& a, const Array& b, const Shape& size, const Shape& by, std::int64_t first) {
        return a.reshape({-1}).at(places(size, by, first)).set(b.reshape({-1})).reshape(a.shape());
      });
  return op.value(tensor_of(whole), tensor_of(contents), sizes, strides, offset);
}

class Strided final : public ViewStep {
 public:
  Strided(Shape sizes, Shape strides, std::int64_t offset)
      : sizes_(std::move(sizes)), strides_(std::move(strides)), offset_(offset) {}
  Value read(const Value& base) const override { return gathered(base, sizes_, strides_, offset_); }
  Value write(const Value& base, const Value& contents) const override {
    return scattered(base, contents, sizes_, strides_, offset_);
  }

 private:
  const Shape sizes_, strides_;
  const std::int64_t offset_;
};

}  // namespace

Tensor strided_view(const Tensor& x, Layout layout, const Shape& strides, std::int64_t offset) {
  auto step = std::make_shared<Strided>(layout.sizes, strides, offset);
  return view_of(x, std::move(step), std::move(layout));
}
Value strided_write(const Value& whole, const Value& contents, const Layout& layout) {
  return scattered(whole, contents, layout.sizes, layout.strides, layout.offset);
}

}  // namespace cotan::torch::detail
