// Rotations.
#include <cotan/cotan.hpp>

#include "cases/case_ops.hpp"

namespace cases {

namespace {

using cotan::scipy::spatial::transform::Rotation;
using cotan::scipy::spatial::transform::Slerp;

/// A function of the rotation of the first argument, and the others.
template <class F>
OpFunction of_rotation(F f) {
  return one([f](Args x, const Params& p) { return f(Rotation::from_quat(x[0]), x.subspan(1), p); });
}

}  // namespace

void add_spatial_ops(OpTable& t) {
  t["spatial.as_quat"] = of_rotation(
      [](const Rotation& r, Args, const Params& p) { return r.as_quat(p.flag("canonical"), p.flag("scalar_first")); });
  t["spatial.as_matrix"] = of_rotation([](const Rotation& r, Args, const Params&) { return r.as_matrix(); });
  t["spatial.as_rotvec"] =
      of_rotation([](const Rotation& r, Args, const Params& p) { return r.as_rotvec(p.flag("degrees")); });
  t["spatial.as_mrp"] = of_rotation([](const Rotation& r, Args, const Params&) { return r.as_mrp(); });
  t["spatial.as_euler"] = of_rotation(
      [](const Rotation& r, Args, const Params& p) { return r.as_euler(p.text("seq"), p.flag("degrees")); });
  t["spatial.apply"] =
      of_rotation([](const Rotation& r, Args x, const Params& p) { return r.apply(x[0], p.flag("inverse")); });
  t["spatial.magnitude"] = of_rotation([](const Rotation& r, Args, const Params&) { return r.magnitude(); });
  t["spatial.inv"] = of_rotation([](const Rotation& r, Args, const Params&) { return r.inv().quat; });
  t["spatial.compose"] =
      of_rotation([](const Rotation& r, Args x, const Params&) { return (r * Rotation::from_quat(x[0])).quat; });
  t["spatial.mean"] = of_rotation(
      [](const Rotation& r, Args x, const Params&) { return (x.empty() ? r.mean() : r.mean(x[0])).as_matrix(); });
  t["spatial.concatenate"] = of_rotation([](const Rotation& r, Args x, const Params&) {
    return Rotation::concatenate({r, Rotation::from_quat(x[0])})[cotan::range(1, 3)].quat;
  });
  t["spatial.from_matrix"] =
      of_rotation([](const Rotation& r, Args, const Params&) { return Rotation::from_matrix(r.as_matrix()).quat; });
  t["spatial.from_rotvec"] =
      one([](Args x, const Params& p) { return Rotation::from_rotvec(x[0], p.flag("degrees")).quat; });
  t["spatial.from_mrp"] = one([](Args x, const Params&) { return Rotation::from_mrp(x[0]).quat; });
  t["spatial.from_euler"] =
      one([](Args x, const Params& p) { return Rotation::from_euler(p.text("seq"), x[0], p.flag("degrees")).quat; });
  t["spatial.slerp"] =
      one([](Args x, const Params&) { return Slerp::init(x[0], Rotation::from_quat(x[1]))(x[2]).as_matrix(); });
}

}  // namespace cases
