// cotan's side of: sums of segments, histograms, quantiles, pooling, decompositions of one matrix.
#include "cotan_case.hpp"

namespace bench {
namespace {

using ct::Array;
namespace lax = cotan::lax;

/// Windows of `window` x `window` elements of images, `stride` apart.
struct Pooling {
  std::int64_t window, stride;
  bool mean;

  Array operator()(const Array& x) const {
    const ct::Shape size{1, 1, window, window}, steps{1, 1, stride, stride};
    if (mean)
      return lax::reduce_window(x, 0.0, lax::add, size, {.window_strides = steps}) /
             static_cast<double>(window * window);
    return lax::reduce_window(x, -np::inf, lax::max, size, {.window_strides = steps});
  }
};
Pooling pooling(const Parameters& p) { return {p["window"], p["stride"], p.flag("mean")}; }
Array images(const Parameters& p) { return random_array({p["batch"], p["channels"], p["size"], p["size"]}, 1); }

const Register all[] = {
    {"cotan", "segment_sum",
     [](const Parameters& p) {
       const std::int64_t segments = p["segments"];
       const Array ids = random_indices({p["n"]}, 2, segments);
       return jitted([segments](const Array& x, const Array& at) { return np::zeros({segments}).at(at).add(x); },
                     random_array({p["n"]}, 1), p.flag("sorted") ? np::sort(ids) : ids);
     }},
    {"cotan", "histogram",
     [](const Parameters& p) {
       const std::int64_t bins = p["bins"];
       return jitted([bins](const Array& x) { return np::histogram(x, {.bins = bins}); }, random_array({p["n"]}, 1));
     }},
    {"cotan", "quantile",
     [](const Parameters& p) {
       return jitted([](const Array& x) { return np::quantile(x, np::array({0.1f, 0.5f, 0.9f})); },
                     random_array({p["n"]}, 1));
     }},
    {"cotan", "pool",
     [](const Parameters& p) { return jitted([pool = pooling(p)](const Array& x) { return pool(x); }, images(p)); }},
    {"cotan", "pool_grad",
     [](const Parameters& p) {
       // Where the windows are not all of one size the cotangent is that of the result's shape.
       const std::int64_t out = (p["size"] - p["window"]) / p["stride"] + 1;
       return jitted(
           [pool = pooling(p)](const Array& x, const Array& cotangent) {
             return std::get<0>(ct::vjp(pool, x).second(cotangent));
           },
           images(p), random_array({p["batch"], p["channels"], out, out}, 2));
     }},
    {"cotan", "qr",
     [](const Parameters& p) {
       // What does not depend on the signs of columns.
       return jitted(
           [](const Array& a) {
             const auto [q, r] = ct::linalg::qr(a);
             return std::pair{np::abs(q), np::abs(r)};
           },
           random_array({p["n"], p["n"]}, 1, p.is_double()));
     }},
    {"cotan", "eig",
     [](const Parameters& p) {
       // Their order is not defined; the sum of squares of their sizes does not depend on it.
       return jitted(
           [](const Array& a) {
             const auto [w, v] = ct::linalg::eig(a);
             return std::pair{np::sum(np::square(np::abs(w))), np::sum(np::square(np::abs(v)))};
           },
           random_array({p["n"], p["n"]}, 1, p.is_double()));
     }},
};

}  // namespace
}  // namespace bench
