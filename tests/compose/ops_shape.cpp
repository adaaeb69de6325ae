// The catalogue's shape, movement and reduction operations.
#include <algorithm>

#include "compose/random_program.hpp"

namespace compose {

namespace {

/// An operation on one array of at least one axis, made for a random axis of it.
template <class F>
Op along_axis(std::string name, F f) {
  return {std::move(name), 1, [f](Draw& draw, const Arrays& like) -> std::optional<Body> {
            if (like[0].ndim() == 0 || like[0].size() == 0) return std::nullopt;
            int axis = draw.below(like[0].ndim());
            const auto n = static_cast<int>(like[0].shape(axis));
            if (draw.one_in(2)) axis -= like[0].ndim();
            return f(draw, axis, n);
          }};
}
Body plainly(Apply f) { return {std::move(f)}; }
Body where_distinct(Apply f) {
  return {std::move(f), nullptr, [](const Arrays& v) { return smallest_difference(v[0]); }};
}

std::vector<int> random_axes(Draw& draw, int ndim) {
  std::vector<int> axes;
  for (int i = 0; i < ndim; ++i)
    if (draw.one_in(2)) axes.push_back(draw.one_in(2) ? i - ndim : i);
  return axes;
}
using Reduction = Array (*)(const ct::ArrayLike&, const ct::Axes&, bool);
Op reduction(std::string name, Reduction f, bool kink = false) {
  return {std::move(name), 1, [f, kink](Draw& draw, const Arrays& like) -> std::optional<Body> {
            if (like[0].size() == 0 && f != static_cast<Reduction>(np::sum)) return std::nullopt;
            const bool all = draw.one_in(3), keep = draw.one_in(2);
            const ct::Axes axes = all ? ct::Axes() : ct::Axes(random_axes(draw, like[0].ndim()));
            const Apply apply = [=](const Arrays& v) { return f(v[0], axes, keep); };
            return kink ? where_distinct(apply) : plainly(apply);
          }};
}

}  // namespace

std::vector<Op> reduction_ops() {
  return {
      reduction("sum", np::sum),
      reduction("mean", np::mean),
      reduction("prod", np::prod),
      reduction("var", [](const ct::ArrayLike& a, const ct::Axes& axes, bool keep) { return np::var(a, axes, keep); }),
      reduction("logsumexp", np::logsumexp),
      reduction("max", np::max, true),
      reduction("min", np::min, true),
      along_axis("cumsum",
                 [](Draw&, int axis, int) { return plainly([=](const Arrays& v) { return np::cumsum(v[0], axis); }); }),
      along_axis("cumprod", [](Draw&, int axis,
                               int) { return plainly([=](const Arrays& v) { return np::cumprod(v[0], axis); }); }),
      along_axis("cumlogsumexp",
                 [](Draw& draw, int axis, int) {
                   const bool reverse = draw.one_in(2);
                   return plainly([=](const Arrays& v) { return lax::cumlogsumexp(v[0], axis, reverse); });
                 }),
      along_axis("cummax",
                 [](Draw&, int axis, int) {
                   return where_distinct([=](const Arrays& v) { return lax::cummax(v[0], axis); });
                 }),
      along_axis("softmax",
                 [](Draw&, int axis, int) {
                   return plainly([=](const Arrays& v) {
                     const Array e = np::exp(v[0] - ct::stop_gradient(np::max(v[0], axis, true)));
                     return e / np::sum(e, axis, true);
                   });
                 }),
      along_axis("sort",
                 [](Draw& draw, int axis, int) {
                   const bool descending = draw.one_in(2);
                   return where_distinct([=](const Arrays& v) { return np::sort(v[0], axis, descending); });
                 }),
      along_axis("sort_with",
                 [](Draw&, int axis, int) {
                   return where_distinct([=](const Arrays& v) { return lax::sort({v[0], np::sin(v[0])}, axis)[1]; });
                 }),
      along_axis("argsort_take",
                 [](Draw&, int axis, int) {
                   return where_distinct([=](const Arrays& v) {
                     return np::take_along_axis(np::cos(v[0]), np::argsort(v[0], axis), axis);
                   });
                 }),
      along_axis("diff", [](Draw&, int axis,
                            int) { return plainly([=](const Arrays& v) { return np::diff(v[0], 1, axis); }); }),
      {"top_k", 1,
       [](Draw& draw, const Arrays& like) -> std::optional<Body> {
         if (like[0].ndim() == 0 || like[0].size() == 0) return std::nullopt;
         const int k = draw.between(1, static_cast<int>(like[0].shape(-1)));
         return where_distinct([=](const Arrays& v) { return lax::top_k(v[0], k).first; });
       }},
  };
}

std::vector<Op> shape_ops() {
  return {
      {"transpose", 1,
       [](Draw& draw, const Arrays& like) -> std::optional<Body> {
         std::vector<int> axes(static_cast<std::size_t>(like[0].ndim()));
         for (std::size_t i = 0; i < axes.size(); ++i) axes[i] = static_cast<int>(i);
         for (std::size_t i = axes.size(); i > 1; --i)
           std::swap(axes[i - 1], axes[static_cast<std::size_t>(draw.below(static_cast<int>(i)))]);
         return plainly([=](const Arrays& v) { return np::transpose(v[0], axes); });
       }},
      {"ravel", 1, [](Draw&, const Arrays&) { return plainly([](const Arrays& v) { return np::ravel(v[0]); }); }},
      {"reshape", 1,
       [](Draw& draw, const Arrays& like) -> std::optional<Body> {
         static const std::vector<Shape> shapes{{2, -1}, {-1, 3}, {3, -1}, {-1, 2}, {1, -1}, {2, 1, -1}};
         Shape shape = draw.pick(shapes);
         std::int64_t fixed = 1;
         for (std::int64_t d : shape) fixed *= d < 0 ? 1 : d;
         if (like[0].size() == 0 || like[0].size() % fixed != 0) return std::nullopt;
         return plainly([=](const Arrays& v) { return np::reshape(v[0], shape); });
       }},
      {"expand_dims", 1,
       [](Draw& draw, const Arrays& like) {
         const int axis = draw.between(-like[0].ndim() - 1, like[0].ndim());
         return plainly([=](const Arrays& v) { return np::expand_dims(v[0], axis); });
       }},
      {"squeeze", 1, [](Draw&, const Arrays&) { return plainly([](const Arrays& v) { return np::squeeze(v[0]); }); }},
      {"broadcast", 1,
       [](Draw& draw, const Arrays& like) {
         Shape shape = like[0].shape();
         for (std::int64_t& d : shape)
           if (d == 1) d = draw.between(1, 3);
         if (draw.one_in(2)) shape.insert(shape.begin(), draw.between(1, 2));
         return plainly([=](const Arrays& v) { return np::broadcast_to(v[0], shape); });
       }},
      along_axis("flip",
                 [](Draw&, int axis, int) { return plainly([=](const Arrays& v) { return np::flip(v[0], axis); }); }),
      along_axis("roll",
                 [](Draw& draw, int axis, int) {
                   const int shift = draw.between(-2, 2);
                   return plainly([=](const Arrays& v) { return np::roll(v[0], shift, axis); });
                 }),
      along_axis("repeat", [](Draw&, int axis,
                              int) { return plainly([=](const Arrays& v) { return np::repeat(v[0], 2, axis); }); }),
      along_axis("join_mirrored",
                 [](Draw&, int axis, int) {
                   return plainly(
                       [=](const Arrays& v) { return np::concatenate({np::sin(v[0]), np::flip(v[0], axis)}, axis); });
                 }),
      along_axis("first_half",
                 [](Draw& draw, int axis, int n) {
                   const int at = draw.below(n + 1), part = draw.below(2);
                   return plainly([=](const Arrays& v) {
                     return np::split(v[0], {std::int64_t{at}}, axis)[static_cast<std::size_t>(part)];
                   });
                 }),
      {"stack", 2,
       [](Draw& draw, const Arrays& like) -> std::optional<Body> {
         if (like[0].shape() != like[1].shape()) return std::nullopt;
         const int axis = draw.between(-like[0].ndim() - 1, like[0].ndim());
         return plainly([=](const Arrays& v) { return np::stack({v[0], v[1]}, axis); });
       }},
      {"join_raveled", 2,
       [](Draw&, const Arrays&) {
         return plainly([](const Arrays& v) { return np::concatenate({np::ravel(v[1]), np::ravel(v[0])}); });
       }},
      {"pad", 1,
       [](Draw& draw, const Arrays& like) {
         std::vector<lax::PaddingConfig> config;
         for (std::int64_t d : like[0].shape()) {
           lax::PaddingConfig c{draw.between(-1, 1), draw.between(0, 1), draw.below(2)};
           if (d <= 1 && c.low < 0) c.low = 0;
           config.push_back(c);
         }
         const bool from_data = draw.one_in(2);
         return plainly([=](const Arrays& v) {
           return lax::pad(v[0], from_data ? np::sum(v[0]) : np::full({}, 0.25, ct::f64), config);
         });
       }},
      {"pad_reflect", 1,
       [](Draw& draw, const Arrays& like) -> std::optional<Body> {
         if (like[0].ndim() == 0 || like[0].size() == 0) return std::nullopt;
         std::vector<std::pair<std::int64_t, std::int64_t>> width;
         for (std::int64_t d : like[0].shape()) {
           const int before = d > 1 ? draw.below(2) : 0, after = d > 1 ? draw.below(2) : 0;
           width.emplace_back(before, after);
         }
         static const std::vector<std::string> modes{"edge", "reflect", "wrap", "symmetric"};
         const std::string mode = draw.pick(modes);
         return plainly([=](const Arrays& v) { return np::pad(v[0], width, mode); });
       }},
      {"tile", 1, [](Draw&, const Arrays&) { return plainly([](const Arrays& v) { return np::tile(v[0], {2, 1}); }); }},
  };
}

}  // namespace compose
