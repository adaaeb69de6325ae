// Sets, elements by condition, indices, and arrays with elements added, taken away or replaced.
#include <cotan/cotan.hpp>

#include "cases/case_ops.hpp"

namespace cases {

namespace np = cotan::numpy;
using cotan::ArrayLike;

namespace {

std::optional<std::int64_t> maybe_size(const Params& p) {
  return p.has("size") ? std::optional(p.integer("size")) : std::nullopt;
}
std::optional<Array> maybe_fill(const Params& p) {
  if (!p.has("fill_value")) return std::nullopt;
  if (!p["fill_value"].is_array()) return p.scalar("fill_value");
  return Array::from_host(p["fill_value"].get<std::vector<std::int32_t>>());
}
np::UniqueOptions unique(const Params& p) {
  np::UniqueOptions o{.axis = p.maybe_axis(), .size = maybe_size(p), .fill_value = maybe_fill(p)};
  if (p.has("equal_nan")) o.equal_nan = p.flag("equal_nan");
  return o;
}
np::SetOptions set(const Params& p) {
  return {.assume_unique = p.flag("assume_unique"), .size = maybe_size(p), .fill_value = maybe_fill(p)};
}
np::NonzeroOptions nonzero(const Params& p) { return {.size = maybe_size(p), .fill_value = maybe_fill(p)}; }
np::CompressOptions compress(const Params& p) {
  return {.axis = p.maybe_axis(),
          .size = maybe_size(p),
          .fill_value = p.has("fill_value") ? p.scalar("fill_value") : Array(0)};
}
Arrays both(const std::pair<Array, Array>& pair) { return {pair.first, pair.second}; }
/// The param `obj`, or the argument at `i`.
np::Places places(Args x, const Params& p, std::size_t i) {
  if (!p.has("obj")) return x[i];
  const Json& obj = p["obj"];
  if (obj.is_number()) return obj.get<std::int64_t>();
  return cotan::range(obj[0].get<std::int64_t>(), obj[1].get<std::int64_t>(), obj[2].get<std::int64_t>());
}

void add_set_ops(OpTable& t) {
  t["unique"] = one([](Args x, const Params& p) { return np::unique(x[0], unique(p)); });
  t["unique_values"] = one([](Args x, const Params& p) { return np::unique_values(x[0], unique(p)); });
  t["unique_all"] = [](Args x, const Params& p) {
    const np::UniqueAll u = np::unique_all(x[0], unique(p));
    return Arrays{u.values, u.indices, u.inverse_indices, u.counts};
  };
  t["unique_counts"] = [](Args x, const Params& p) {
    const np::UniqueCounts u = np::unique_counts(x[0], unique(p));
    return Arrays{u.values, u.counts};
  };
  t["unique_inverse"] = [](Args x, const Params& p) {
    const np::UniqueInverse u = np::unique_inverse(x[0], unique(p));
    return Arrays{u.values, u.inverse_indices};
  };
  t["isin"] = one([](Args x, const Params& p) { return np::isin(x[0], x[1], p.flag("invert")); });
  const std::pair<const char*, Array (*)(const ArrayLike&, const ArrayLike&, const np::SetOptions&)> sets[] = {
      {"union1d", np::union1d}, {"setdiff1d", np::setdiff1d}, {"setxor1d", np::setxor1d}};
  for (const auto& [name, f] : sets) t[name] = one([f = f](Args x, const Params& p) { return f(x[0], x[1], set(p)); });
  t["intersect1d"] = [](Args x, const Params& p) {
    if (!p.flag("return_indices")) return Arrays{np::intersect1d(x[0], x[1], set(p))};
    const np::Intersection found = np::intersect1d_indices(x[0], x[1], set(p));
    return Arrays{found.values, found.indices_a, found.indices_b};
  };
}

void add_condition_ops(OpTable& t) {
  t["nonzero"] = [](Args x, const Params& p) { return np::nonzero(x[0], nonzero(p)); };
  t["where_indices"] = [](Args x, const Params& p) { return np::where(x[0], nonzero(p)); };
  t["argwhere"] = one([](Args x, const Params& p) { return np::argwhere(x[0], nonzero(p)); });
  t["flatnonzero"] = one([](Args x, const Params& p) { return np::flatnonzero(x[0], nonzero(p)); });
  t["compress"] = one([](Args x, const Params& p) { return np::compress(x[1], x[0], compress(p)); });
  t["extract"] = one([](Args x, const Params& p) { return np::extract(x[1], x[0], compress(p)); });
  t["select"] = one([](Args x, const Params&) { return np::select({x[2], x[3]}, {x[0], x[1]}, -1.5); });
  t["piecewise"] = one([](Args x, const Params&) {
    return np::piecewise(x[0], {x[0] < -0.5, x[0] >= 0.5},
                         {[](Array v) { return -v; }, [](Array v) { return np::square(v); }, 0.25});
  });
}

void add_index_ops(OpTable& t) {
  t["indices"] = one([](Args, const Params& p) { return np::indices(p.shape("dimensions")); });
  t["indices_sparse"] = [](Args, const Params& p) { return np::indices_sparse(p.shape("dimensions")); };
  t["ix_"] = [](Args x, const Params&) { return np::ix_(Arrays(x.begin(), x.end())); };
  t["diag_indices"] = [](Args, const Params& p) { return np::diag_indices(p.integer("n"), p.axis("ndim", 2)); };
  t["diag_indices_from"] = [](Args x, const Params&) { return np::diag_indices_from(x[0]); };
  t["tril_indices"] = [](Args, const Params& p) {
    return both(
        np::tril_indices(p.integer("n"), p.axis("k", 0), p.has("m") ? std::optional(p.integer("m")) : std::nullopt));
  };
  t["triu_indices"] = [](Args, const Params& p) {
    return both(
        np::triu_indices(p.integer("n"), p.axis("k", 0), p.has("m") ? std::optional(p.integer("m")) : std::nullopt));
  };
  t["tril_indices_from"] = [](Args x, const Params& p) { return both(np::tril_indices_from(x[0], p.axis("k", 0))); };
  t["triu_indices_from"] = [](Args x, const Params& p) { return both(np::triu_indices_from(x[0], p.axis("k", 0))); };
  t["mask_indices"] = [](Args, const Params& p) {
    return both(np::mask_indices(p.integer("n"), np::triu, p.axis("k", 0), maybe_size(p)));
  };
  t["ravel_multi_index"] = one([](Args x, const Params& p) {
    return np::ravel_multi_index(Arrays(x.begin(), x.end()), p.shape("dims"), p.text("mode", "clip"),
                                 p.text("order", "C")[0]);
  });
  t["unravel_index"] = [](Args x, const Params& p) { return np::unravel_index(x[0], p.shape()); };
}

}  // namespace

void add_editing_ops(OpTable& t) {
  add_set_ops(t);
  add_condition_ops(t);
  add_index_ops(t);
  t["append"] = one([](Args x, const Params& p) { return np::append(x[0], x[1], p.maybe_axis()); });
  t["delete"] = one([](Args x, const Params& p) {
    return np::delete_(x[0], places(x, p, 1), p.maybe_axis(), p.flag("assume_unique_indices"));
  });
  t["insert"] = one([](Args x, const Params& p) { return np::insert(x[0], places(x, p, 2), x[1], p.maybe_axis()); });
  t["trim_zeros"] = one([](Args x, const Params& p) { return np::trim_zeros(x[0], p.text("trim", "fb"), p.axes()); });
  t["put"] = one([](Args x, const Params& p) { return np::put(x[0], x[2], x[1], p.text("mode", "drop")); });
  t["put_along_axis"] = one([](Args x, const Params& p) {
    return p.is_null("axis") ? np::put_along_axis(x[0], x[2], x[1], cotan::none)
                             : np::put_along_axis(x[0], x[2], x[1], p.axis());
  });
  t["place"] = one([](Args x, const Params&) { return np::place(x[0], x[2], x[1]); });
  t["fill_diagonal"] = one([](Args x, const Params&) { return np::fill_diagonal(x[0], x[1]); });
  t["array.at_power"] = one([](Args x, const Params&) { return x[0].at(x[2]).power(x[1]); });
  t["array.at_apply"] =
      one([](Args x, const Params&) { return x[0].at(x[1]).apply([](const Array& v) { return np::sin(v); }); });

  t["take"] = one([](Args x, const Params& p) {
    return np::take(x[0], x[1], p.maybe_axis(), p.text("mode", "fill"),
                    p.has("fill_value") ? std::optional(p.real("fill_value")) : std::nullopt);
  });
  t["take_along_axis"] = one([](Args x, const Params& p) {
    const std::optional<double> fill = p.has("fill_value") ? std::optional(p.real("fill_value")) : std::nullopt;
    return p.is_null("axis") ? np::take_along_axis(x[0], x[1], cotan::none, p.text("mode", "fill"), fill)
                             : np::take_along_axis(x[0], x[1], p.axis(), p.text("mode", "fill"), fill);
  });
  t["choose"] = one(
      [](Args x, const Params& p) { return np::choose(x[0], Arrays(x.begin() + 1, x.end()), p.text("mode", "clip")); });
  t["bincount"] = one([](Args x, const Params& p) {
    return np::bincount(x[0], {.weights = x.size() > 1 ? std::optional(x[1]) : std::nullopt,
                               .minlength = p.integer("minlength", 0),
                               .length = p.has("length") ? std::optional(p.integer("length")) : std::nullopt});
  });
  t["interp"] = one([](Args x, const Params& p) {
    const auto outside = [&](const char* key) {
      if (!p.has(key)) return np::OutsideValue();
      return p[key].is_string() ? np::OutsideValue("extrapolate") : np::OutsideValue(p.scalar(key));
    };
    return np::interp(x[0], x[1], x[2],
                      {.left = outside("left"),
                       .right = outside("right"),
                       .period = p.has("period") ? std::optional(p.scalar("period")) : std::nullopt});
  });
  t["partition"] = one([](Args x, const Params& p) { return np::partition(x[0], p.axis("kth"), p.axis("axis", -1)); });
  t["argpartition"] =
      one([](Args x, const Params& p) { return np::argpartition(x[0], p.axis("kth"), p.axis("axis", -1)); });
  t["searchsorted"] = one([](Args x, const Params& p) {
    return np::searchsorted(x[0], x[1], p.text("side", "left"), x.size() > 2 ? std::optional(x[2]) : std::nullopt);
  });
}

}  // namespace cases
