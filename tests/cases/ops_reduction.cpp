// Reductions, cumulative ops, sorting and searching.
#include <cotan/cotan.hpp>

#include "cases/case_ops.hpp"

namespace cases {

namespace np = cotan::numpy;
namespace lax = cotan::lax;
using cotan::ArrayLike;

void add_reduction_ops(OpTable& t) {
  const std::pair<const char*, Array (*)(const ArrayLike&, const cotan::Axes&, bool)> reductions[] = {
      {"amax", np::amax},
      {"amin", np::amin},
      {"ptp", np::ptp},
      {"count_nonzero", np::count_nonzero},
      {"logsumexp", np::logsumexp}};
  for (const auto& [name, f] : reductions)
    t[name] = one([f = f](Args x, const Params& p) { return f(x[0], p.axes(), p.flag("keepdims")); });

  const std::pair<const char*, Array (*)(const ArrayLike&, const std::vector<std::int64_t>&)> lax_reductions[] = {
      {"lax.reduce_sum", lax::reduce_sum}, {"lax.reduce_prod", lax::reduce_prod}, {"lax.reduce_max", lax::reduce_max},
      {"lax.reduce_min", lax::reduce_min}, {"lax.reduce_and", lax::reduce_and},   {"lax.reduce_or", lax::reduce_or}};
  for (const auto& [name, f] : lax_reductions)
    t[name] = one([f = f](Args x, const Params& p) { return f(x[0], p.list("axes")); });

  t["argmax"] = one([](Args x, const Params& p) { return np::argmax(x[0], p.maybe_axis(), p.flag("keepdims")); });
  t["argmin"] = one([](Args x, const Params& p) { return np::argmin(x[0], p.maybe_axis(), p.flag("keepdims")); });
  t["lax.argmax"] = one([](Args x, const Params& p) { return lax::argmax(x[0], p.axis(), p.dtype("index_dtype")); });
  t["lax.argmin"] = one([](Args x, const Params& p) { return lax::argmin(x[0], p.axis(), p.dtype("index_dtype")); });

  const std::pair<const char*, Array (*)(const ArrayLike&, int, bool)> cumulative[] = {
      {"lax.cumsum", lax::cumsum},
      {"lax.cumprod", lax::cumprod},
      {"lax.cummax", lax::cummax},
      {"lax.cummin", lax::cummin},
      {"lax.cumlogsumexp", lax::cumlogsumexp}};
  for (const auto& [name, f] : cumulative)
    t[name] = one([f = f](Args x, const Params& p) { return f(x[0], p.axis(), p.flag("reverse")); });

  // axis: null sorts the flattened array.
  t["sort"] = one([](Args x, const Params& p) {
    return p.is_null("axis") ? np::sort(np::ravel(x[0])) : np::sort(x[0], p.axis("axis", -1), p.flag("descending"));
  });
  t["argsort"] =
      one([](Args x, const Params& p) { return np::argsort(x[0], p.axis("axis", -1), p.flag("descending")); });
  t["lexsort"] = one([](Args x, const Params&) { return np::lexsort(Arrays(x.begin(), x.end())); });
  t["lax.sort"] = [](Args x, const Params& p) {
    return lax::sort(Arrays(x.begin(), x.end()), p.axis("dimension"), p.axis("num_keys"), p.flag("is_stable", true));
  };
  t["digitize"] = one([](Args x, const Params& p) { return np::digitize(x[0], x[1], p.flag("right")); });
}

}  // namespace cases
