// cotan::scipy::spatial::transform: rotations.
#pragma once
#include <cotan/array.hpp>
#include <cotan/tree_fields.hpp>
#include <optional>
#include <string_view>
#include <vector>

/// `jax.scipy.spatial.transform`: rotations in space.
///
///     const Rotation r = Rotation::from_euler("z", 90.0, true);
///     ct::Array v = (r * r).apply(np::array({1.0, 0.0, 0.0}));      // [-1, 0, 0]
namespace cotan::scipy::spatial::transform {

/// One rotation, or many along leading axes: unit quaternions (x, y, z, w). It is a pytree. Derivatives are finite also
/// at the rotation by nothing, where JAX's are NaN.
class Rotation {
 public:
  explicit Rotation(const ArrayLike& quaternion) : quat(quaternion) {}
  /// Of unit quaternions [..., 4]: any multiple of them will do.
  static Rotation from_quat(const ArrayLike& quat);
  /// Of matrices [..., 3, 3] with orthonormal columns and determinant 1.
  static Rotation from_matrix(const ArrayLike& matrix);
  /// Of axes of rotation as long as the angle [..., 3].
  static Rotation from_rotvec(const ArrayLike& rotvec, bool degrees = false);
  /// Of modified Rodrigues parameters [..., 3]: axes as long as the tangent of a quarter of the angle.
  static Rotation from_mrp(const ArrayLike& mrp);
  /// Of angles [..., n] about n axes in turn: up to three of "xyz", which stay, or of "XYZ", which turn along. Of one
  /// axis a scalar will do.
  static Rotation from_euler(std::string_view seq, const ArrayLike& angles, bool degrees = false);
  /// By nothing; `num` of them.
  static Rotation identity(std::optional<std::int64_t> num = std::nullopt, DType dtype = f32,
                           const std::source_location& where = COTAN_HERE);
  /// Uniformly distributed; `num` of them. (JAX has the name, and raises.)
  static Rotation random(const ArrayLike& random_key, std::optional<std::int64_t> num = std::nullopt,
                         DType dtype = f32);
  /// Lists of rotations, one after the other.
  static Rotation concatenate(const std::vector<Rotation>& rotations, const std::source_location& where = COTAN_HERE);

  /// [..., 4]; canonical ones have a positive w; with `scalar_first` they are (w, x, y, z).
  Array as_quat(bool canonical = false, bool scalar_first = false) const;
  Array as_matrix() const;                      ///< [..., 3, 3]
  Array as_rotvec(bool degrees = false) const;  ///< [..., 3]
  Array as_mrp() const;                         ///< [..., 3]
  /// Angles [..., 3] about three axes, as from_euler. Where two of them are the same axis the third angle is 0.
  Array as_euler(std::string_view seq, bool degrees = false, const std::source_location& where = COTAN_HERE) const;
  /// Vectors [..., 3] rotated, or rotated back; leading axes broadcast.
  Array apply(const ArrayLike& vectors, bool inverse = false) const;
  Rotation inv() const;     ///< back
  Array magnitude() const;  ///< the angles, from 0 to pi
  /// The rotation that is nearest to all of a list, which weigh alike unless weights [n] are given.
  Rotation mean(const std::optional<Array>& weights = std::nullopt,
                const std::source_location& where = COTAN_HERE) const;
  /// First `other`, then this one.
  Rotation operator*(const Rotation& other) const;
  /// Some of a list.
  Rotation operator[](const Index& index) const;
  std::int64_t size() const;                        ///< how many are in a list
  bool single() const { return quat.ndim() == 1; }  ///< whether it is one, and no list

  Array quat;  ///< the quaternions
  COTAN_TREE(quat)
};

/// Rotations between those of a list, at even speed: spherical linear interpolation. It is a pytree.
struct Slerp {
  Array times;         ///< rising
  Array timedelta;     ///< from each to the next
  Rotation rotations;  ///< at all times but the last
  Array rotvecs;       ///< from each to the next
  /// Between at least two rotations at as many times.
  static Slerp init(const ArrayLike& times, const Rotation& rotations);
  /// The rotations at `times`, a scalar or a vector; before the first one and behind the last it goes on turning.
  Rotation operator()(const ArrayLike& times) const;
};

}  // namespace cotan::scipy::spatial::transform
