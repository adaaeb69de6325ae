// Copies between strided views: what every shape operation of the reference back end comes down to.
#pragma once
#include "core/typed.hpp"
#include "ops/elementwise.hpp"

namespace cotan::ops {

/// Calls f(offset_a, offset_b) for every index of `shape` in row-major order.
template <class F>
void for_each_offset(const Shape& shape, const Ints& strides_a, const Ints& strides_b, F&& f) {
  const int n = static_cast<int>(shape.size());
  for (auto d : shape)
    if (d == 0) return;
  Shape index(shape.size(), 0);
  std::int64_t a = 0, b = 0;
  while (true) {
    f(a, b);
    int axis = n - 1;
    for (; axis >= 0; --axis) {
      a += strides_a[axis];
      b += strides_b[axis];
      if (++index[axis] < shape[axis]) break;
      a -= strides_a[axis] * shape[axis];
      b -= strides_b[axis] * shape[axis];
      index[axis] = 0;
    }
    if (axis < 0) return;
  }
}

/// A dense array of shape `shape` read from `x` at `offset` with `strides`, in elements.
inline Array gather_strided(const Array& x, const Shape& shape, std::int64_t offset, const Ints& strides,
                            bool weak = false) {
  auto [out, buffer] = allocate_like({&x, 1}, {x.dtype(), shape, weak});
  dispatch_width(x.dtype(), [&, &b = buffer]<class T>() {
    const T* in = data<T>(x) + offset;
    T* y = reinterpret_cast<T*>(b->data());
    for_each_offset(shape, strides, strides_of(shape), [&](std::int64_t i, std::int64_t o) { y[o] = in[i]; });
  });
  return out;
}

}  // namespace cotan::ops
