// Rotations about three axes in turn: Euler's and Tait and Bryan's angles.
#include <array>

#include "scipy/spatial/quaternions.hpp"

namespace cotan::scipy::spatial::transform {

namespace {

/// Numbers of axes, and whether they stay where they are.
struct AxisSequence {
  std::vector<int> axes;
  bool extrinsic;
};
AxisSequence axis_sequence(std::string_view op, std::string_view seq, std::size_t least) {
  const auto all_in = [&](std::string_view letters) { return seq.find_first_not_of(letters) == seq.npos; };
  if (seq.size() < least || seq.size() > 3 || !(all_in("xyz") || all_in("XYZ")))
    raise<ValueError>("[{}] the axes are '{}'; give {} of xyz, which stay, or of XYZ, which turn along.", op, seq,
                      least == 3 ? "three" : "one to three");
  AxisSequence out{{}, all_in("xyz")};
  for (char c : seq) {
    const int axis = c - (out.extrinsic ? 'x' : 'X');
    if (!out.axes.empty() && out.axes.back() == axis)
      raise<ValueError>("[{}] the axes '{}' have one twice in a row; leave one out.", op, seq);
    out.axes.push_back(axis);
  }
  return out;
}

/// By angles about one axis.
Array about(int axis, const Array& angle) {
  std::vector<Array> parts(4, np::zeros_like(angle));
  parts[static_cast<std::size_t>(axis)] = np::sin(angle / 2.0);
  parts[3] = np::cos(angle / 2.0);
  return vectors_of(parts);
}

}  // namespace

Rotation Rotation::from_euler(std::string_view seq, const ArrayLike& given, bool degrees) {
  constexpr std::string_view op = "Rotation::from_euler";
  const AxisSequence turns = axis_sequence(op, seq, 1);
  Array angles = checked_vectors(op, np::atleast_1d(given), static_cast<std::int64_t>(turns.axes.size()), "angles");
  if (degrees) angles = np::deg2rad(angles);
  Array out = about(turns.axes[0], component(angles, 0));
  for (std::size_t i = 1; i < turns.axes.size(); ++i) {
    const Array next = about(turns.axes[i], component(angles, static_cast<int>(i)));
    out = turns.extrinsic ? product(next, out) : product(out, next);
  }
  return Rotation(out);
}

Array Rotation::as_euler(std::string_view seq, bool degrees, const std::source_location& where) const {
  const cotan::detail::CallSite site(where);
  auto [axes, extrinsic] = axis_sequence("Rotation::as_euler", seq, 3);
  if (!extrinsic) std::swap(axes[0], axes[2]);
  const int i = axes[0], j = axes[1], k = axes[0] == axes[2] ? 3 - axes[0] - axes[1] : axes[2];
  const bool symmetric = axes[0] == axes[2];
  const double sign = (j - i + 3) % 3 == 1 ? 1.0 : -1.0;
  const Array qi = component(quat, i), qj = component(quat, j), qk = component(quat, k) * sign, w = component(quat, 3);
  const Array a = symmetric ? w : w - qj, b = symmetric ? qi : qi + qk;
  const Array c = symmetric ? qj : qj + w, d = symmetric ? qk : qk - qi;

  const Array middle = 2.0 * np::arctan2(np::hypot(c, d), np::hypot(a, b));
  const Array half_sum = np::arctan2(b, a), half_difference = np::arctan2(d, c);
  // At both ends of the range of the middle angle only the sum, or the difference, of the others is known.
  constexpr double nearly = 1e-7;
  const Array at_start = np::abs(middle) <= nearly, at_end = np::abs(middle - np::pi) <= nearly;
  const Array alone = np::where(at_start, 2.0 * half_sum, 2.0 * half_difference * (extrinsic ? -1.0 : 1.0));
  const Array degenerate = at_start | at_end, zero = np::zeros_like(alone);
  const Array first = np::where(degenerate, extrinsic ? alone : zero, half_sum - half_difference);
  Array third = np::where(degenerate, extrinsic ? zero : alone, half_sum + half_difference);
  if (!symmetric) third = third * sign;
  const Array second = symmetric ? middle : middle - np::pi / 2;
  const Array angles = extrinsic ? vectors_of({first, second, third}) : vectors_of({third, second, first});
  const Array wrapped = (angles + np::pi) % (2 * np::pi) - np::pi;
  return degrees ? np::rad2deg(wrapped) : wrapped;
}

}  // namespace cotan::scipy::spatial::transform
