#include "scipy/spatial/quaternions.hpp"

namespace cotan::scipy::spatial::transform {

Array vectors_of(const std::vector<Array>& components) { return np::stack(np::broadcast_arrays(components), -1); }

Array length_of(const Array& vectors) {
  const Array squares = np::sum(vectors * vectors, -1, true), none = squares == 0.0;
  return np::where(none, 0.0, np::sqrt(np::where(none, 1.0, squares)));
}

Array product(const Array& p, const Array& q) {
  const Array px = component(p, 0), py = component(p, 1), pz = component(p, 2), pw = component(p, 3);
  const Array qx = component(q, 0), qy = component(q, 1), qz = component(q, 2), qw = component(q, 3);
  return vectors_of({pw * qx + qw * px + (py * qz - pz * qy), pw * qy + qw * py + (pz * qx - px * qz),
                     pw * qz + qw * pz + (px * qy - py * qx), pw * qw - px * qx - py * qy - pz * qz});
}

Array normalized(const Array& quaternions) {
  return quaternions / np::sqrt(np::sum(quaternions * quaternions, -1, true));
}

Array checked_vectors(std::string_view op, const Array& a, std::int64_t n, std::string_view what) {
  np::check_real(op, a);
  if (a.ndim() < 1 || a.shape().back() != n)
    raise<ShapeError>("[{}] {} are {}; give an array [..., {}].", op, what, a.aval(), n);
  return np::to_inexact(a);
}

}  // namespace cotan::scipy::spatial::transform
