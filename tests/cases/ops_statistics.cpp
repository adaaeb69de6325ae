// Reductions with options, order statistics, averages, histograms, differences.
#include <cotan/cotan.hpp>

#include "cases/case_ops.hpp"

namespace cases {

namespace np = cotan::numpy;
using cotan::ArrayLike;

namespace {

std::optional<Array> argument(Args x, std::size_t i) { return x.size() > i ? std::optional(x[i]) : std::nullopt; }
std::optional<DType> maybe_dtype(const Params& p) { return p.has("dtype") ? std::optional(p.dtype()) : std::nullopt; }
std::optional<Array> maybe_scalar(const Params& p, const char* key) {
  return p.has(key) ? std::optional(p.scalar(key)) : std::nullopt;
}

np::ReductionOptions reduction(Args x, const Params& p) {
  return {.axis = p.axes(),
          .dtype = maybe_dtype(p),
          .keepdims = p.flag("keepdims"),
          .initial = maybe_scalar(p, "initial"),
          .where = argument(x, 1),
          .promote_integers = p.flag("promote_integers", true)};
}
np::ExtremumOptions extremum(Args x, const Params& p) {
  return {
      .axis = p.axes(), .keepdims = p.flag("keepdims"), .initial = maybe_scalar(p, "initial"), .where = argument(x, 1)};
}
np::MeanOptions mean(Args x, const Params& p) {
  return {.axis = p.axes(), .dtype = maybe_dtype(p), .keepdims = p.flag("keepdims"), .where = argument(x, 1)};
}
np::VarianceOptions variance(Args x, const Params& p) {
  return {.axis = p.axes(),
          .dtype = maybe_dtype(p),
          .ddof = p.axis("ddof", 0),
          .keepdims = p.flag("keepdims"),
          .where = argument(x, 1),
          .mean = maybe_scalar(p, "mean"),
          .correction = p.has("correction") ? std::optional(p.real("correction")) : std::nullopt};
}
np::TruthOptions truth(Args x, const Params& p) {
  return {.axis = p.axes(), .keepdims = p.flag("keepdims"), .where = argument(x, 1)};
}
/// f with its options, which `read` takes from the case.
template <class O>
void add(OpTable& t, const char* name, Array (*f)(const ArrayLike&, const O&), O (*read)(Args, const Params&)) {
  t[name] = one([f, read](Args x, const Params& p) { return f(x[0], read(x, p)); });
}

np::QuantileOptions quantile(Args x, const Params& p) {
  return {.axis = p.axes(),
          .method = p["method"].get_ref<const std::string&>(),
          .keepdims = p.flag("keepdims"),
          .weights = argument(x, 2)};
}
using Quantile = Array (*)(const ArrayLike&, const ArrayLike&, const np::QuantileOptions&);
using PlainQuantile = Array (*)(const ArrayLike&, const ArrayLike&, const cotan::Axes&, bool);

np::CovarianceOptions covariance(Args x, const Params& p) {
  // The param `weights` says what the arguments behind the first are: y, f (fweights), a (aweights).
  np::CovarianceOptions o{.rowvar = p.flag("rowvar", true), .bias = p.flag("bias"), .dtype = maybe_dtype(p)};
  if (p.has("ddof")) o.ddof = p.axis("ddof");
  std::size_t next = 1;
  for (char what : p.text("arguments")) {
    auto& option = what == 'y' ? o.y : what == 'f' ? o.fweights : o.aweights;
    option = x[next++];
  }
  return o;
}
std::optional<np::HistogramRange> range(const Params& p) {
  if (!p.has("range")) return std::nullopt;
  return np::HistogramRange(p["range"][0].get<double>(), p["range"][1].get<double>());
}
/// The argument behind the first are edges where the param `edges` says so, then weights.
np::HistogramOptions histogram(Args x, const Params& p) {
  np::HistogramOptions o{.bins = p.integer("bins", 10), .range = range(p), .density = p.flag("density")};
  std::size_t next = 1;
  if (p.flag("edges")) o.bins = x[next++];
  o.weights = argument(x, next);
  return o;
}

void add_difference_ops(OpTable& t) {
  t["diff"] = one([](Args x, const Params& p) {
    return np::diff(x[0], {.n = p.axis("n", 1),
                           .axis = p.axis("axis", -1),
                           .prepend = p.has("prepend") ? maybe_scalar(p, "prepend") : argument(x, 1),
                           .append = maybe_scalar(p, "append")});
  });
  t["ediff1d"] = one([](Args x, const Params&) { return np::ediff1d(x[0], argument(x, 1), argument(x, 2)); });
  t["gradient"] = [](Args x, const Params& p) { return np::gradient(x[0], Arrays(x.begin() + 1, x.end()), p.axes()); };
  t["trapezoid"] = one([](Args x, const Params& p) {
    if (x.size() == 1) return np::trapezoid(x[0], p.real("dx", 1), p.axis("axis", -1));
    return np::trapezoid(x[0], {.x = x[1], .axis = p.axis("axis", -1)});
  });
  t["unwrap"] = one([](Args x, const Params& p) {
    return np::unwrap(x[0], maybe_scalar(p, "discont"), p.axis("axis", -1),
                      p.has("period") ? p.scalar("period") : Array(2 * np::pi));
  });
  t["cumulative_sum"] = one([](Args x, const Params& p) {
    return np::cumulative_sum(
        x[0], {.axis = p.maybe_axis(), .dtype = maybe_dtype(p), .include_initial = p.flag("include_initial")});
  });
  t["cumulative_prod"] = one([](Args x, const Params& p) {
    return np::cumulative_prod(
        x[0], {.axis = p.maybe_axis(), .dtype = maybe_dtype(p), .include_initial = p.flag("include_initial")});
  });
  const std::pair<const char*, Array (*)(const ArrayLike&, std::optional<int>, std::optional<DType>)> running[] = {
      {"cumsum", np::cumsum}, {"cumprod", np::cumprod}, {"nancumsum", np::nancumsum}, {"nancumprod", np::nancumprod}};
  for (const auto& [name, f] : running)
    t[name] = one([f = f](Args x, const Params& p) { return f(x[0], p.maybe_axis(), maybe_dtype(p)); });
}

}  // namespace

void add_statistics_ops(OpTable& t) {
  add<np::ReductionOptions>(t, "sum", np::sum, reduction);
  add<np::ReductionOptions>(t, "prod", np::prod, reduction);
  add<np::ReductionOptions>(t, "nansum", np::nansum, reduction);
  add<np::ReductionOptions>(t, "nanprod", np::nanprod, reduction);
  add<np::ExtremumOptions>(t, "max", np::max, extremum);
  add<np::ExtremumOptions>(t, "min", np::min, extremum);
  add<np::ExtremumOptions>(t, "nanmax", np::nanmax, extremum);
  add<np::ExtremumOptions>(t, "nanmin", np::nanmin, extremum);
  add<np::MeanOptions>(t, "mean", np::mean, mean);
  add<np::MeanOptions>(t, "nanmean", np::nanmean, mean);
  add<np::VarianceOptions>(t, "var", np::var, variance);
  add<np::VarianceOptions>(t, "std", np::std, variance);
  add<np::VarianceOptions>(t, "nanvar", np::nanvar, variance);
  add<np::VarianceOptions>(t, "nanstd", np::nanstd, variance);
  add<np::TruthOptions>(t, "all", np::all, truth);
  add<np::TruthOptions>(t, "any", np::any, truth);
  t["nanargmax"] = one([](Args x, const Params& p) { return np::nanargmax(x[0], p.maybe_axis(), p.flag("keepdims")); });
  t["nanargmin"] = one([](Args x, const Params& p) { return np::nanargmin(x[0], p.maybe_axis(), p.flag("keepdims")); });

  const std::tuple<const char*, PlainQuantile, Quantile> quantiles[] = {
      {"quantile", np::quantile, np::quantile},
      {"nanquantile", np::nanquantile, np::nanquantile},
      {"percentile", np::percentile, np::percentile},
      {"nanpercentile", np::nanpercentile, np::nanpercentile}};
  for (const auto& [name, plain, f] : quantiles)
    t[name] = one([plain = plain, f = f](Args x, const Params& p) {
      return p.has("method") ? f(x[0], x[1], quantile(x, p)) : plain(x[0], x[1], p.axes(), p.flag("keepdims"));
    });
  t["median"] = one([](Args x, const Params& p) { return np::median(x[0], p.axes(), p.flag("keepdims")); });
  t["nanmedian"] = one([](Args x, const Params& p) { return np::nanmedian(x[0], p.axes(), p.flag("keepdims")); });
  t["average"] = [](Args x, const Params& p) {
    const auto [average, weights] = np::average_and_weights(x[0], p.axes(), argument(x, 1), p.flag("keepdims"));
    return p.flag("returned") ? Arrays{average, weights} : Arrays{average};
  };
  t["cov"] = one([](Args x, const Params& p) { return np::cov(x[0], covariance(x, p)); });
  t["corrcoef"] = one([](Args x, const Params& p) {
    return np::corrcoef(x[0], {.y = argument(x, 1), .rowvar = p.flag("rowvar", true), .dtype = maybe_dtype(p)});
  });
  t["histogram"] = [](Args x, const Params& p) {
    const np::Histogram h = np::histogram(x[0], histogram(x, p));
    return Arrays{h.counts, h.edges};
  };
  t["histogram_bin_edges"] =
      one([](Args x, const Params& p) { return np::histogram_bin_edges(x[0], histogram(x, p)); });
  t["histogram2d"] = [](Args x, const Params& p) {
    const np::Histogram2d h = np::histogram2d(
        x[0], x[1], {.bins = {p.integer("bins")}, .weights = argument(x, 2), .density = p.flag("density")});
    return Arrays{h.counts, h.x_edges, h.y_edges};
  };
  t["histogramdd"] = [](Args x, const Params& p) {
    np::HistogramAxesOptions o{.weights = argument(x, 1), .density = p.flag("density")};
    for (const Json& n : p["bins"]) o.bins.emplace_back(n.get<std::int64_t>());
    if (p.has("range")) o.range = {range(p)};
    const np::HistogramAxes h = np::histogramdd(x[0], o);
    Arrays out{h.counts};
    out.insert(out.end(), h.edges.begin(), h.edges.end());
    return out;
  };
  add_difference_ops(t);
}

}  // namespace cases
