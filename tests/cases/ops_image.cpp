// Images in other sizes, segments, trees as vectors.
#include <cotan/cotan.hpp>

#include "cases/case_ops.hpp"

namespace cases {

namespace {

using Segments = Array (*)(const cotan::ArrayLike&, const cotan::ArrayLike&, std::optional<std::int64_t>,
                           const cotan::ops::SegmentOptions&);

OpFunction segments(Segments f) {
  return one([f](Args x, const Params& p) {
    cotan::ops::SegmentOptions options{.indices_are_sorted = p.flag("indices_are_sorted"),
                                       .unique_indices = p.flag("unique_indices")};
    if (p.has("bucket_size")) options.bucket_size = p.integer("bucket_size");
    if (p.text("mode") == "clip") options.mode = cotan::lax::GatherScatterMode::clip;
    if (!p.has("num_segments")) return f(x[0], x[1], std::nullopt, options);
    return f(x[0], x[1], p.integer("num_segments"), options);
  });
}

struct Pair {
  Array first, second;
};
Arrays raveled(Args x, const Params&) {
  const auto [vector, unravel] = cotan::flatten_util::ravel_pytree(std::pair{x[0], Pair{x[1], x[2]}});
  const auto [a, b] = unravel(vector * 2);
  return {vector, a, b.first, b.second};
}

}  // namespace

void add_image_ops(OpTable& t) {
  namespace ops = cotan::ops;
  namespace image = cotan::image;
  t["ops.segment_sum"] = segments(ops::segment_sum);
  t["ops.segment_prod"] = segments(ops::segment_prod);
  t["ops.segment_max"] = segments(ops::segment_max);
  t["ops.segment_min"] = segments(ops::segment_min);
  t["flatten_util.ravel_pytree"] = raveled;
  t["image.resize"] = one([](Args x, const Params& p) {
    return image::resize(x[0], p.shape(), p.text("method"), p.flag("antialias", true));
  });
  t["image.scale_and_translate"] = one([](Args x, const Params& p) {
    return image::scale_and_translate(x[0], p.shape(), p.ints("spatial_dims"), x[1], x[2], p.text("method"),
                                      p.flag("antialias", true));
  });
}

}  // namespace cases
