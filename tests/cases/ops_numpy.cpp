// The rest of numpy: parts of numbers, bits, joining and splitting, padding, products with options, polynomials,
// windows, functions of functions.
#include <cotan/cotan.hpp>

#include "cases/case_ops.hpp"

namespace cases {

namespace np = cotan::numpy;
namespace lax = cotan::lax;
using cotan::ArrayLike;

namespace {

Arrays all_of(Args x) { return Arrays(x.begin(), x.end()); }
Arrays both(const std::pair<Array, Array>& pair) { return {pair.first, pair.second}; }
std::optional<DType> maybe_dtype(const Params& p, const char* key = "dtype") {
  return p.has(key) ? std::optional(p.dtype(key)) : std::nullopt;
}
np::ProductOptions product(const Params& p) {
  return {.preferred_element_type = maybe_dtype(p, "preferred_element_type")};
}

Array pad(const Array& x, const Params& p) {
  np::PadWidths width;
  const Json& w = p["pad_width"];
  if (!w.is_number())
    for (const Json& each : w) width.emplace_back(each[0], each[1]);
  const std::string mode = p.text("mode", "constant");
  np::PadOptions o{.mode = mode};
  const auto table = [&](const char* key) -> std::optional<Array> {
    if (!p.has(key)) return std::nullopt;
    if (!p[key].is_array()) return p.scalar(key);
    std::vector<float> values;
    for (const Json& row : p[key])
      for (const Json& v : row) values.push_back(v);
    return Array::from_host(values, {static_cast<std::int64_t>(values.size() / 2), 2}).astype(x.dtype());
  };
  o.constant_values = table("constant_values");
  o.end_values = table("end_values");
  if (p.has("stat_length")) o.stat_length = p.integer("stat_length");
  const std::string reflect = p.text("reflect_type", "even");
  o.reflect_type = reflect;
  return w.is_number() ? np::pad(x, w.get<std::int64_t>(), o) : np::pad(x, width, o);
}

void add_shape_options(OpTable& t) {
  t["pad"] = one([](Args x, const Params& p) { return pad(x[0], p); });
  t["reshape"] = one([](Args x, const Params& p) { return np::reshape(x[0], p.shape(), p.text("order", "C")[0]); });
  t["ravel"] = one([](Args x, const Params& p) { return np::ravel(x[0], p.text("order", "C")[0]); });
  t["rollaxis"] = one([](Args x, const Params& p) { return np::rollaxis(x[0], p.axis(), p.axis("start", 0)); });
  t["concatenate"] = one([](Args x, const Params& p) {
    return p.is_null("axis") ? np::concatenate(all_of(x), cotan::none, maybe_dtype(p))
                             : np::concatenate(all_of(x), p.axis("axis", 0), maybe_dtype(p));
  });
  t["dstack"] = one([](Args x, const Params& p) { return np::dstack(all_of(x), maybe_dtype(p)); });
  t["block"] = one([](Args x, const Params&) { return np::block({{x[0], x[1]}, {x[2], x[3]}}); });
  t["array_split"] = [](Args x, const Params& p) {
    return np::array_split(x[0], p.axis("indices_or_sections"), p.axis("axis", 0));
  };
  t["hsplit"] = [](Args x, const Params& p) { return np::hsplit(x[0], p.list("indices_or_sections")); };
  t["vsplit"] = [](Args x, const Params& p) { return np::vsplit(x[0], p.axis("indices_or_sections")); };
  t["dsplit"] = [](Args x, const Params& p) { return np::dsplit(x[0], p.axis("indices_or_sections")); };
  t["roll"] = one([](Args x, const Params& p) {
    if (x.size() > 1) return np::roll(x[0], x[1], p.axes());
    if (p["shift"].is_array()) return np::roll(x[0], p.list("shift"), p.axes());
    return np::roll(x[0], p.integer("shift"), p.axes());
  });
  t["repeat"] = one([](Args x, const Params& p) {
    if (x.size() == 1) return np::repeat(x[0], p.integer("repeats"), p.maybe_axis());
    return np::repeat(x[0], x[1], p.maybe_axis(),
                      p.has("total_repeat_length") ? std::optional(p.integer("total_repeat_length")) : std::nullopt);
  });
  t["resize"] = one([](Args x, const Params& p) { return np::resize(x[0], p.shape("new_shape")); });
  t["atleast_3d"] = one([](Args x, const Params&) { return np::atleast_3d(x[0]); });
  t["diagflat"] = one([](Args x, const Params& p) { return np::diagflat(x[0], p.axis("k", 0)); });
  t["meshgrid"] = [](Args x, const Params& p) {
    return np::meshgrid(all_of(x), p.text("indexing", "xy"), p.flag("sparse"));
  };
  t["linspace"] = [](Args x, const Params& p) {
    if (x.empty())
      return Arrays{
          np::linspace(p.real("start"), p.real("stop"), p.integer("num"), p.flag("endpoint", true), p.dtype())};
    if (p.flag("retstep"))
      return both(np::linspace_with_step(x[0], x[1], p.integer("num"), p.flag("endpoint", true), x[0].dtype(),
                                         p.axis("axis", 0)));
    return Arrays{
        np::linspace(x[0], x[1], p.integer("num"), p.flag("endpoint", true), x[0].dtype(), p.axis("axis", 0))};
  };
}

void add_product_options(OpTable& t) {
  t["matvec"] = one([](Args x, const Params&) { return np::matvec(x[0], x[1]); });
  t["vecmat"] = one([](Args x, const Params&) { return np::vecmat(x[0], x[1]); });
  t["vecdot"] = one([](Args x, const Params& p) { return np::vecdot(x[0], x[1], p.axis("axis", -1), product(p)); });
  using Product = Array (*)(const ArrayLike&, const ArrayLike&, const np::ProductOptions&);
  const std::pair<const char*, Product> products[] = {
      {"matmul", np::matmul}, {"dot", np::dot}, {"vdot", np::vdot}, {"inner", np::inner}};
  for (const auto& [name, f] : products)
    t[name] = one([f = f](Args x, const Params& p) { return f(x[0], x[1], product(p)); });
  t["cross"] = one([](Args x, const Params& p) {
    if (!p.has("axisa") && !p.has("axis")) return np::cross(x[0], x[1]);
    return np::cross(x[0], x[1],
                     {.axisa = p.axis("axisa", -1),
                      .axisb = p.axis("axisb", -1),
                      .axisc = p.axis("axisc", -1),
                      .axis = p.maybe_axis()});
  });
  t["trace"] = one([](Args x, const Params& p) {
    return np::trace(x[0], p.axis("offset", 0), p.axis("axis1", 0), p.axis("axis2", 1), maybe_dtype(p));
  });
  t["einsum"] = one([](Args x, const Params& p) {
    if (p.has("subscripts"))
      return np::einsum(
          p.text("subscripts"), all_of(x),
          {.optimize = p.flag("optimize", true), .preferred_element_type = maybe_dtype(p, "preferred_element_type")});
    std::vector<np::EinsumOperand> operands;
    for (std::size_t i = 0; i < x.size(); ++i) operands.push_back({x[i], p["axes"][i].get<std::vector<int>>()});
    return np::einsum(operands, p.has("out") ? std::optional(p.ints("out")) : std::nullopt);
  });
  t["convolve"] =
      one([](Args x, const Params& p) { return np::convolve(x[0], x[1], p.text("mode", "full"), product(p)); });
  t["lax.top_k"] = [](Args x, const Params& p) { return both(lax::top_k(x[0], p.axis("k"), p.axis("axis", -1))); };
}

void add_polynomial_ops(OpTable& t) {
  t["vander"] = one([](Args x, const Params& p) { return np::vander(x[0], p.maybe_axis("N"), p.flag("increasing")); });
  t["poly"] = one([](Args x, const Params&) { return np::poly(x[0]); });
  t["polyadd"] = one([](Args x, const Params&) { return np::polyadd(x[0], x[1]); });
  t["polysub"] = one([](Args x, const Params&) { return np::polysub(x[0], x[1]); });
  t["polymul"] = one([](Args x, const Params& p) { return np::polymul(x[0], x[1], p.flag("trim_leading_zeros")); });
  t["polydiv"] = [](Args x, const Params& p) { return both(np::polydiv(x[0], x[1], p.flag("trim_leading_zeros"))); };
  t["polyder"] = one([](Args x, const Params& p) { return np::polyder(x[0], p.axis("m", 1)); });
  t["polyint"] =
      one([](Args x, const Params& p) { return np::polyint(x[0], p.axis("m", 1), x.size() > 1 ? x[1] : Array(0)); });
  t["polyfit"] = [](Args x, const Params& p) {
    const np::PolyfitOptions o{.w = x.size() > 2 ? std::optional(x[2]) : std::nullopt};
    if (p.flag("full")) {
      const np::PolyfitResult r = np::polyfit_full(x[0], x[1], p.axis("deg"), o);
      return Arrays{r.coefficients, r.residuals, r.rank, r.singular_values};
    }
    if (p.has("cov")) return both(np::polyfit_cov(x[0], x[1], p.axis("deg"), o, p["cov"].is_boolean()));
    return Arrays{np::polyfit(x[0], x[1], p.axis("deg"), o)};
  };
}

void add_function_ops(OpTable& t) {
  t["apply_along_axis"] = one([](Args x, const Params& p) {
    return np::apply_along_axis([](const Array& v) { return np::cumsum(v)(cotan::range(1, cotan::none)); }, p.axis(),
                                x[0]);
  });
  t["apply_along_axis_scalar"] = one([](Args x, const Params& p) {
    return np::apply_along_axis([](const Array& v) { return np::sum(v * v); }, p.axis(), x[0]);
  });
  t["apply_over_axes"] = one([](Args x, const Params& p) {
    return np::apply_over_axes([](const Array& a, int axis) { return np::sum(a, axis); }, x[0], p.ints("axes"));
  });
  t["vectorize"] = one(
      [](Args x, const Params&) { return np::vectorize([](Array a, Array b) { return np::sin(a) * b; })(x[0], x[1]); });
  t["vectorize_matvec"] = one([](Args x, const Params&) {
    return np::vectorize([](Array a, Array b) { return np::matmul(a, b); }, {.signature = "(m,n),(n)->(m)"})(x[0],
                                                                                                             x[1]);
  });
  t["fromfunction"] = one([](Args, const Params&) {
    return np::fromfunction([](Array i, Array j) { return np::sin(i) + 2 * j; }, {2, 3});
  });
}

}  // namespace

void add_numpy_ops(OpTable& t) {
  add_shape_options(t);
  add_product_options(t);
  add_polynomial_ops(t);
  add_function_ops(t);
  const std::pair<const char*, Array (*)(const ArrayLike&)> unaries[] = {
      {"acos", np::acos},         {"asin", np::asin},
      {"atan", np::atan},         {"acosh", np::acosh},
      {"asinh", np::asinh},       {"atanh", np::atanh},
      {"degrees", np::degrees},   {"radians", np::radians},
      {"invert", np::invert},     {"bitwise_invert", np::bitwise_invert},
      {"isposinf", np::isposinf}, {"isneginf", np::isneginf},
      {"spacing", np::spacing},   {"i0", np::i0}};
  for (const auto& [name, f] : unaries) t[name] = one([f = f](Args x, const Params&) { return f(x[0]); });
  const std::pair<const char*, Array (*)(const ArrayLike&, const ArrayLike&)> binaries[] = {
      {"atan2", np::atan2},
      {"pow", np::pow},
      {"float_power", np::float_power},
      {"array_equiv", np::array_equiv},
      {"bitwise_left_shift", np::bitwise_left_shift},
      {"bitwise_right_shift", np::bitwise_right_shift}};
  for (const auto& [name, f] : binaries) t[name] = one([f = f](Args x, const Params&) { return f(x[0], x[1]); });
  t["around"] = one([](Args x, const Params& p) { return np::around(x[0], p.axis("decimals", 0)); });
  t["divmod"] = [](Args x, const Params&) { return both(np::divmod(x[0], x[1])); };
  t["modf"] = [](Args x, const Params&) { return both(np::modf(x[0])); };
  t["frexp"] = [](Args x, const Params&) { return both(np::frexp(x[0])); };
  t["clip_below"] = one([](Args x, const Params&) { return np::clip(x[0], x[1], cotan::none); });
  t["clip_above"] = one([](Args x, const Params&) { return np::clip(x[0], cotan::none, x[1]); });
  t["packbits"] =
      one([](Args x, const Params& p) { return np::packbits(x[0], p.maybe_axis(), p.text("bitorder", "big")); });
  t["unpackbits"] = one([](Args x, const Params& p) {
    return np::unpackbits(x[0], p.maybe_axis(), p.has("count") ? std::optional(p.integer("count")) : std::nullopt,
                          p.text("bitorder", "big"));
  });
  t["array.view"] = one([](Args x, const Params& p) { return x[0].view(p.dtype()); });
  t["array.byteswap"] = one([](Args x, const Params&) { return x[0].byteswap(); });
  using Window = Array (*)(std::int64_t, DType, const std::source_location&);
  const std::pair<const char*, Window> windows[] = {
      {"bartlett", np::bartlett}, {"blackman", np::blackman}, {"hamming", np::hamming}, {"hanning", np::hanning}};
  for (const auto& [name, f] : windows)
    t[name] = one([f = f](Args, const Params& p) { return f(p.integer("M"), p.dtype(), {}); });
  t["kaiser"] = one([](Args x, const Params& p) { return np::kaiser(p.integer("M"), x[0], x[0].dtype()); });
}

}  // namespace cases
