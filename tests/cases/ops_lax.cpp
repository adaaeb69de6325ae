// Operations of cotan::lax that numpy has not, and its names for those that numpy has.
#include <cotan/cotan.hpp>

#include "cases/case_ops.hpp"

namespace cases {

namespace np = cotan::numpy;
namespace lax = cotan::lax;
using cotan::ArrayLike;

namespace {

std::optional<DType> preferred(const Params& p) {
  return p.has("preferred_element_type") ? std::optional(p.dtype("preferred_element_type")) : std::nullopt;
}
lax::DotDimensionNumbers dot_numbers(const Params& p) {
  const Json& d = p["dimension_numbers"];
  return {d[0][0], d[0][1], d[1][0], d[1][1]};
}
lax::ScatterDimensionNumbers scatter_numbers(const Params& p) {
  return {p.list("update_window_dims"), p.list("inserted_window_dims"), p.list("scatter_dims_to_operand_dims")};
}
Arrays pair(std::pair<Array, Array> p) { return {p.first, p.second}; }

using Unary = Array (*)(const ArrayLike&);
using Binary = Array (*)(const ArrayLike&, const ArrayLike&);

void add_aliases(OpTable& t) {
  const std::pair<const char*, Unary> unary[] = {{"abs", lax::abs},
                                                 {"acos", lax::acos},
                                                 {"acosh", lax::acosh},
                                                 {"asin", lax::asin},
                                                 {"asinh", lax::asinh},
                                                 {"atan", lax::atan},
                                                 {"atanh", lax::atanh},
                                                 {"cbrt", lax::cbrt},
                                                 {"ceil", lax::ceil},
                                                 {"cos", lax::cos},
                                                 {"cosh", lax::cosh},
                                                 {"exp", lax::exp},
                                                 {"exp2", lax::exp2},
                                                 {"expm1", lax::expm1},
                                                 {"floor", lax::floor},
                                                 {"log", lax::log},
                                                 {"log1p", lax::log1p},
                                                 {"neg", lax::neg},
                                                 {"sign", lax::sign},
                                                 {"sin", lax::sin},
                                                 {"reciprocal", lax::reciprocal},
                                                 {"sinh", lax::sinh},
                                                 {"sqrt", lax::sqrt},
                                                 {"square", lax::square},
                                                 {"tan", lax::tan},
                                                 {"tanh", lax::tanh},
                                                 {"bitwise_not", lax::bitwise_not},
                                                 {"is_finite", lax::is_finite}};
  for (const auto& [name, f] : unary)
    t[std::string("lax.") + name] = one([f = f](Args x, const Params&) { return f(x[0]); });
  const std::pair<const char*, Binary> binary[] = {{"add", lax::add},
                                                   {"sub", lax::sub},
                                                   {"mul", lax::mul},
                                                   {"max", lax::max},
                                                   {"min", lax::min},
                                                   {"atan2", lax::atan2},
                                                   {"pow", lax::pow},
                                                   {"nextafter", lax::nextafter},
                                                   {"eq", lax::eq},
                                                   {"ne", lax::ne},
                                                   {"ge", lax::ge},
                                                   {"gt", lax::gt},
                                                   {"le", lax::le},
                                                   {"lt", lax::lt},
                                                   {"mulhi", lax::mulhi},
                                                   {"shift_left", lax::shift_left},
                                                   {"bitwise_and", lax::bitwise_and},
                                                   {"bitwise_or", lax::bitwise_or},
                                                   {"bitwise_xor", lax::bitwise_xor}};
  for (const auto& [name, f] : binary)
    t[std::string("lax.") + name] = one([f = f](Args x, const Params&) { return f(x[0], x[1]); });
}

void add_elementwise_and_shapes(OpTable& t) {
  t["lax.round"] = one([](Args x, const Params& p) {
    return lax::round(
        x[0], p.text("method") == "even" ? lax::RoundingMethod::to_nearest_even : lax::RoundingMethod::away_from_zero);
  });
  t["lax.reduce_precision"] = one([](Args x, const Params& p) {
    return lax::reduce_precision(x[0], p.axis("exponent_bits"), p.axis("mantissa_bits"));
  });
  t["lax.select_n"] = one([](Args x, const Params&) { return lax::select_n(x[0], Arrays(x.begin() + 1, x.end())); });
  t["lax.index_in_dim"] = one([](Args x, const Params& p) {
    return lax::index_in_dim(x[0], p.integer("index"), p.axis(), p.flag("keepdims", true));
  });
  t["lax.dynamic_index_in_dim"] = one([](Args x, const Params& p) {
    return lax::dynamic_index_in_dim(x[0], x[1], p.axis(), p.flag("keepdims", true));
  });
  t["lax.dynamic_update_index_in_dim"] =
      one([](Args x, const Params& p) { return lax::dynamic_update_index_in_dim(x[0], x[1], x[2], p.axis()); });
  t["lax.broadcast"] = one([](Args x, const Params& p) { return lax::broadcast(x[0], p.list("sizes")); });
  t["lax.broadcast_to_rank"] =
      one([](Args x, const Params& p) { return lax::broadcast_to_rank(x[0], p.axis("rank")); });
  t["lax.broadcast_like"] = one([](Args x, const Params&) { return lax::broadcast_like(x[0], x[1]); });
  t["lax.collapse"] = one([](Args x, const Params& p) {
    return lax::collapse(x[0], p.axis("start_dimension"), p.maybe_axis("stop_dimension"));
  });
  t["lax.split"] = [](Args x, const Params& p) { return lax::split(x[0], p.list("sizes"), p.axis()); };
  t["lax.optimization_barrier"] = one([](Args x, const Params&) { return lax::optimization_barrier(x[0]); });
  t["lax.sort_key_val"] = [](Args x, const Params& p) {
    return pair(lax::sort_key_val(x[0], x[1], p.axis("dimension", -1)));
  };
  t["lax.top_k"] = [](Args x, const Params& p) { return pair(lax::top_k(x[0], p.axis("k"), p.axis("axis", -1))); };
  t["lax.approx_max_k"] = [](Args x, const Params& p) {
    return pair(lax::approx_max_k(x[0], p.axis("k"), p.axis("reduction_dimension", -1)));
  };
  t["lax.approx_min_k"] = [](Args x, const Params& p) {
    return pair(lax::approx_min_k(x[0], p.axis("k"), p.axis("reduction_dimension", -1)));
  };
}

void add_products(OpTable& t) {
  t["lax.dot"] = one([](Args x, const Params& p) {
    lax::DotOptions options{.preferred_element_type = preferred(p)};
    if (p.has("dimension_numbers")) options.dimension_numbers = dot_numbers(p);
    return lax::dot(x[0], x[1], options);
  });
  t["lax.batch_matmul"] = one([](Args x, const Params&) { return lax::batch_matmul(x[0], x[1]); });
  t["lax.ragged_dot"] = one([](Args x, const Params&) { return lax::ragged_dot(x[0], x[1], x[2]); });
  t["lax.ragged_dot_general"] = one([](Args x, const Params& p) {
    return lax::ragged_dot_general(x[0], x[1], x[2],
                                   {dot_numbers(p), p.list("lhs_ragged_dimensions"), p.list("rhs_group_dimensions")});
  });
  t["lax.scaled_dot"] = one([](Args x, const Params& p) {
    return lax::scaled_dot(
        x[0], x[1],
        {.lhs_scale = x[2], .rhs_scale = x[3], .preferred_element_type = p.dtype("preferred_element_type")});
  });
  t["lax.scatter_sub"] =
      one([](Args x, const Params& p) { return lax::scatter_sub(x[0], x[1], x[2], scatter_numbers(p)); });
  t["lax.scatter_apply"] = one([](Args x, const Params& p) {
    return lax::scatter_apply(x[0], x[1], [](const Array& a) { return a * 2.0 + 1.0; }, scatter_numbers(p),
                              {x[1].shape()[0]});
  });
  t["lax.rng_bit_generator"] = [](Args x, const Params& p) {
    const std::string name = p.text("algorithm");
    return pair(lax::rng_bit_generator(x[0], p.shape(), p.dtype(),
                                       name == "philox"      ? lax::RandomAlgorithm::philox
                                       : name == "three_fry" ? lax::RandomAlgorithm::three_fry
                                                             : lax::RandomAlgorithm::default_));
  };
}

}  // namespace

void add_lax_ops(OpTable& t) {
  add_aliases(t);
  add_elementwise_and_shapes(t);
  add_products(t);
}

}  // namespace cases
