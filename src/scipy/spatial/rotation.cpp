// Rotation: what it is made of, what becomes of it, and how rotations are put together.
#include <array>
#include <cotan/linalg.hpp>
#include <cotan/random.hpp>

#include "scipy/spatial/quaternions.hpp"

namespace cotan::scipy::spatial::transform {

namespace {

/// Below this angle functions are their series.
constexpr double small_angle = 1e-3;

Array element(const Array& m, int i, int j) { return m(ellipsis, i, j); }

/// The elements of the matrix of a unit quaternion.
std::array<std::array<Array, 3>, 3> matrix_of(const Array& quaternion) {
  const Array x = component(quaternion, 0), y = component(quaternion, 1), z = component(quaternion, 2),
              w = component(quaternion, 3);
  const Array x2 = x * x, y2 = y * y, z2 = z * z, w2 = w * w;
  const Array xy = x * y, zw = z * w, xz = x * z, yw = y * w, yz = y * z, xw = x * w;
  return {{{x2 - y2 - z2 + w2, 2.0 * (xy - zw), 2.0 * (xz + yw)},
           {2.0 * (xy + zw), y2 - x2 - z2 + w2, 2.0 * (yz - xw)},
           {2.0 * (xz - yw), 2.0 * (yz + xw), z2 - x2 - y2 + w2}}};
}

/// The quaternion, up to its length, from the diagonal element that is largest, or from the trace (3).
Array quaternion_by(const Array& m, int choice) {
  const Array trace = element(m, 0, 0) + element(m, 1, 1) + element(m, 2, 2);
  if (choice == 3)
    return vectors_of({element(m, 2, 1) - element(m, 1, 2), element(m, 0, 2) - element(m, 2, 0),
                       element(m, 1, 0) - element(m, 0, 1), 1.0 + trace});
  const int i = choice, j = (i + 1) % 3, k = (j + 1) % 3;
  std::vector<Array> parts(4);
  parts[static_cast<std::size_t>(i)] = 1.0 - trace + 2.0 * element(m, i, i);
  parts[static_cast<std::size_t>(j)] = element(m, j, i) + element(m, i, j);
  parts[static_cast<std::size_t>(k)] = element(m, k, i) + element(m, i, k);
  parts[3] = element(m, k, j) - element(m, j, k);
  return vectors_of(parts);
}

}  // namespace

Rotation Rotation::from_quat(const ArrayLike& given) {
  return Rotation(normalized(checked_vectors("Rotation::from_quat", given, 4, "quaternions")));
}

Rotation Rotation::from_matrix(const ArrayLike& matrix) {
  const Array m = checked_vectors("Rotation::from_matrix", matrix, 3, "matrices");
  if (m.ndim() < 2 || m.shape(-2) != 3)
    raise<ShapeError>("[Rotation::from_matrix] matrices are {}; give an array [..., 3, 3].", matrix->aval());
  const Array x = element(m, 0, 0), y = element(m, 1, 1), z = element(m, 2, 2);
  const Array choice = np::expand_dims(np::argmax(vectors_of({x, y, z, x + y + z}), -1), -1);
  Array quaternion = quaternion_by(m, 3);
  for (int i = 0; i < 3; ++i) quaternion = np::where(choice == i, quaternion_by(m, i), quaternion);
  return Rotation(normalized(quaternion));
}

Rotation Rotation::from_rotvec(const ArrayLike& rotvec, bool degrees) {
  Array v = checked_vectors("Rotation::from_rotvec", rotvec, 3, "vectors");
  if (degrees) v = np::deg2rad(v);
  const Array angle = length_of(v), square = np::sum(v * v, -1, true), small = angle <= small_angle;
  const Array some = np::where(small, 1.0, angle);
  const Array scale = np::where(small, 0.5 - square / 48.0 + square * square / 3840.0, np::sin(some / 2.0) / some);
  return Rotation(np::concatenate({scale * v, np::cos(angle / 2.0)}, -1));
}

Rotation Rotation::from_mrp(const ArrayLike& mrp) {
  const Array v = checked_vectors("Rotation::from_mrp", mrp, 3, "parameters");
  const Array square = np::sum(v * v, -1, true) + 1.0;
  return Rotation(np::concatenate({2.0 * v, 2.0 - square}, -1) / square);
}

Rotation Rotation::identity(std::optional<std::int64_t> num, DType dtype, const std::source_location& where) {
  const cotan::detail::CallSite site(where);
  if (num && *num < 0) raise<ValueError>("[Rotation::identity] there cannot be {} rotations; give 0 or more.", *num);
  const Array one = np::array({0.0, 0.0, 0.0, 1.0}, dtype);
  return Rotation(num ? np::broadcast_to(one, {*num, 4}) : one);
}

Rotation Rotation::random(const ArrayLike& random_key, std::optional<std::int64_t> num, DType dtype) {
  return from_quat(cotan::random::normal(random_key, num ? Shape{*num, 4} : Shape{4}, dtype));
}

Rotation Rotation::concatenate(const std::vector<Rotation>& rotations, const std::source_location& where) {
  const cotan::detail::CallSite site(where);
  std::vector<Array> quaternions;
  for (const Rotation& r : rotations) {
    if (r.single()) raise<TypeError>("[Rotation::concatenate] one of the rotations is single; give lists, [n, 4].");
    quaternions.push_back(r.quat);
  }
  return Rotation(np::concatenate(quaternions));
}

Array Rotation::as_quat(bool canonical, bool scalar_first) const {
  Array q = quat;
  if (canonical) {
    // Negative where the first part that is not 0 is, from w on.
    Array negative = component(q, 2) < 0.0;
    for (int i : {1, 0, 3}) negative = (component(q, i) < 0.0) | ((component(q, i) == 0.0) & negative);
    q = np::where(np::expand_dims(negative, -1), -q, q);
  }
  return scalar_first ? np::roll(q, 1, -1) : q;
}

Array Rotation::as_matrix() const {
  const auto m = matrix_of(quat);
  return np::stack({vectors_of({m[0][0], m[0][1], m[0][2]}), vectors_of({m[1][0], m[1][1], m[1][2]}),
                    vectors_of({m[2][0], m[2][1], m[2][2]})},
                   -2);
}

Array Rotation::as_rotvec(bool degrees) const {
  const Array q = np::where(quat(ellipsis, range(3, 4)) < 0.0, -quat, quat);
  const Array v = q(ellipsis, range(3)), w = q(ellipsis, range(3, 4));
  const Array angle = 2.0 * np::arctan2(length_of(v), w), square = angle * angle, small = angle <= small_angle;
  const Array some = np::where(small, 1.0, angle);
  const Array scale =
      np::where(small, 2.0 + square / 12.0 + 7.0 * square * square / 2880.0, some / np::sin(some / 2.0));
  return (degrees ? np::rad2deg(scale) : scale) * v;
}

Array Rotation::as_mrp() const {
  const Array w = quat(ellipsis, range(3, 4)), sign = np::where(w < 0.0, -1.0, 1.0).astype(quat.dtype(), {});
  return sign * quat(ellipsis, range(3)) / (1.0 + sign * w);
}

Array Rotation::apply(const ArrayLike& vectors, bool inverse) const {
  const Array v = checked_vectors("Rotation::apply", vectors, 3, "vectors");
  const Array x = component(v, 0), y = component(v, 1), z = component(v, 2);
  const auto m = matrix_of(quat);
  // By elements, which is one kernel.
  const auto row = [&](std::size_t i) {
    return inverse ? m[0][i] * x + m[1][i] * y + m[2][i] * z : m[i][0] * x + m[i][1] * y + m[i][2] * z;
  };
  return vectors_of({row(0), row(1), row(2)});
}

Rotation Rotation::inv() const { return Rotation(quat * np::array({-1.0, -1.0, -1.0, 1.0}, quat.dtype())); }

Array Rotation::magnitude() const {
  const Array angle = 2.0 * np::arctan2(length_of(quat(ellipsis, range(3))), np::abs(quat(ellipsis, range(3, 4))));
  return np::squeeze(angle, -1);
}

Rotation Rotation::mean(const std::optional<Array>& weights, const std::source_location& where) const {
  const cotan::detail::CallSite site(where);
  if (quat.ndim() != 2)
    raise<ShapeError>("[Rotation::mean] the quaternions are {}; the mean is of a list, [n, 4].", quat.aval());
  if (weights && weights->shape() != Shape{quat.shape(0)})
    raise<ShapeError>("[Rotation::mean] the weights are {} for {} rotations; give a vector with one for each.",
                      weights->aval(), quat.shape(0));
  const Array weighted = weights ? np::expand_dims(weights->astype(quat.dtype(), {}), 1) * quat : quat;
  return Rotation(cotan::linalg::eigh(np::matmul(np::transpose(weighted), quat)).eigenvectors(all, -1));
}

Rotation Rotation::operator*(const Rotation& other) const { return Rotation(normalized(product(quat, other.quat))); }

Rotation Rotation::operator[](const Index& index) const {
  if (single()) raise<TypeError>("[Rotation] a single rotation has no index; make a list by np::expand_dims of quat.");
  return Rotation(quat[index]);
}

std::int64_t Rotation::size() const {
  if (single()) raise<TypeError>("[Rotation] a single rotation has no size; ask single() first.");
  return quat.shape(0);
}

}  // namespace cotan::scipy::spatial::transform
