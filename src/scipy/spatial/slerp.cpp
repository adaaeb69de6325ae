// Slerp: between two rotations, a share of the rotation vector from one to the other.
#include "scipy/spatial/quaternions.hpp"

namespace cotan::scipy::spatial::transform {

Slerp Slerp::init(const ArrayLike& given, const Rotation& rotations) {
  if (rotations.quat.ndim() != 2 || rotations.size() < 2)
    raise<ValueError>("[Slerp] the rotations are {}; give a list of at least two.", rotations.quat.aval());
  const Array times = given->astype(rotations.quat.dtype(), {});
  if (times.shape() != Shape{rotations.size()})
    raise<ShapeError>("[Slerp] the times are {} for {} rotations; give a vector with one for each.", times.aval(),
                      rotations.size());
  const Rotation from(rotations.quat(range(none, -1))), to(rotations.quat(range(1, none)));
  return {times, np::diff(times), from, (from.inv() * to).as_rotvec()};
}

Rotation Slerp::operator()(const ArrayLike& given) const {
  const Array at = given->astype(times.dtype(), {});
  if (at.ndim() > 1) raise<ShapeError>("[Slerp] the times are {}; give a scalar or a vector.", given->aval());
  const Array place = np::clip(np::searchsorted(times, at) - 1, 0, timedelta.size() - 1);
  const Array share = (at - times(place)) / timedelta(place);
  return rotations[place] * Rotation::from_rotvec(rotvecs(place) * np::expand_dims(share, -1));
}

}  // namespace cotan::scipy::spatial::transform
