// Products, linear algebra and functions of three tensors of tests/torch/cases.
#include "torch/ops.hpp"

namespace torch_ops {

namespace {

namespace linalg = torch::linalg;

/// As tools/golden/torch_special.py fixes the signs of columns, which factorizations leave open.
Tensor signs(const Tensor& q) {
  Tensor weights = torch::from(cotan::numpy::arange(1, static_cast<int>(q.size(-2)) + 1).astype(q.dtype()));
  return torch::sign(torch::sum(torch::reshape(weights, {-1, 1}) * q, -2, true)).detach();
}

#define TWO(name) {#name, [](Tensors x, const Params&) { return torch::name(x[0], x[1]); }}
#define ADDED(name) \
  {#name,           \
   [](Tensors x, const Params& p) { return torch::name(x[0], x[1], x[2], p.real("beta", 1), p.real("alpha", 1)); }}
#define LINALG(name) {"linalg." #name, [](Tensors x, const Params&) { return linalg::name(x[0]); }}

// clang-format off
const AddOps products{
    TWO(matmul), TWO(mm), TWO(bmm), TWO(mv), TWO(dot), TWO(inner), TWO(outer), TWO(kron),
    ADDED(addmm), ADDED(addmv), ADDED(addbmm), ADDED(baddbmm), ADDED(addr),
    {"einsum", [](Tensors x, const Params& p) { return torch::einsum(p.text("equation"), {x.begin(), x.end()}); }},
    {"tensordot", [](Tensors x, const Params& p) {
       if (!p["dims"].is_array()) return torch::tensordot(x[0], x[1], p.axis("dims"));
       return torch::tensordot(x[0], x[1], p["dims"][0].get<std::vector<int>>(), p["dims"][1].get<std::vector<int>>());
     }},
    {"cross", [](Tensors x, const Params& p) { return torch::cross(x[0], x[1], p.axis("dim", -1)); }},
    {"trace", [](Tensors x, const Params&) { return torch::trace(x[0]); }},
    {"cdist", [](Tensors x, const Params& p) { return torch::cdist(x[0], x[1], p.real("p", 2)); }},
    {"chain_matmul", [](Tensors x, const Params&) { return torch::chain_matmul({x.begin(), x.end()}); }},
};
const AddOps algebra{
    LINALG(inv), LINALG(pinv), LINALG(det), LINALG(slogdet), LINALG(svdvals), LINALG(eigvalsh),
    {"linalg.solve", [](Tensors x, const Params&) { return linalg::solve(x[0], x[1]); }},
    {"linalg.cholesky", [](Tensors x, const Params& p) { return linalg::cholesky(x[0], p.flag("upper")); }},
    {"linalg.qr", [](Tensors x, const Params& p) { return linalg::qr(x[0], p.text("mode", "reduced")); }},
    {"linalg.matrix_power", [](Tensors x, const Params& p) { return linalg::matrix_power(x[0], p.axis("n")); }},
    {"linalg.matrix_norm", [](Tensors x, const Params& p) { return linalg::matrix_norm(x[0], p.text("ord", "fro")); }},
    {"linalg.solve_triangular", [](Tensors x, const Params& p) { return linalg::solve_triangular(x[0], x[1], p.flag("upper"), p.flag("left", true), p.flag("unitriangular")); }},
    {"svd_fixed", [](Tensors x, const Params&) -> Results {
       const auto [u, s, vh] = linalg::svd(x[0], false);
       const Tensor sign = signs(u);
       return std::tuple{u * sign, s, vh * torch::transpose(sign, -1, -2)};
     }},
    {"eigh_fixed", [](Tensors x, const Params&) -> Results {
       const auto [w, v] = linalg::eigh(x[0]);
       return std::pair{w, v * signs(v)};
     }},
    {"det", [](Tensors x, const Params&) { return torch::det(x[0]); }},
    {"logdet", [](Tensors x, const Params&) { return torch::logdet(x[0]); }},
    {"inverse", [](Tensors x, const Params&) { return torch::inverse(x[0]); }},
};

template <class F>
Results clamped(Tensors x, const Params& p, F f) {
  if (x.size() == 3) return f(x[1], x[2]);
  if (x.size() == 2) return f(x[1], torch::Bound());
  const auto end = [&](const char* key, const auto& then) -> Results {
    if (!p.has(key)) return then(torch::Bound());
    if (p[key].is_number_integer()) return then(torch::Bound(p.integer(key)));
    return then(torch::Bound(p.real(key)));
  };
  return end("min", [&](const torch::Bound& low) { return end("max", [&](const torch::Bound& high) { return f(low, high); }); });
}
const AddOps of_three{
    {"clamp", [](Tensors x, const Params& p) {
       return clamped(x, p, [&](const torch::Bound& low, const torch::Bound& high) { return torch::clamp(x[0], low, high); });
     }},
    {"clamp_", [](Tensors x, const Params& p) {
       return clamped(x, p, [&](const torch::Bound& low, const torch::Bound& high) { return torch::clone(x[0]).clamp_(low, high); });
     }},
    {"clamp_low", [](Tensors x, const Params&) { return torch::clamp_min(x[0], x[1]); }},
    {"clamp_high", [](Tensors x, const Params&) { return torch::clamp_max(x[0], x[1]); }},
    {"where", [](Tensors x, const Params& p) {
       return with_operand(x, 2, p, "other", [&](const auto& other) { return torch::where(x[0], x[1], other); });
     }},
    {"where_left", [](Tensors x, const Params& p) {
       return with_operand(x, 2, p, "other", [&](const auto& other) { return torch::where(x[0], other, x[1]); });
     }},
    {"lerp", [](Tensors x, const Params& p) {
       return with_operand(x, 2, p, "weight", [&](const auto& w) { return torch::lerp(x[0], x[1], w); });
     }},
    {"addcmul", [](Tensors x, const Params& p) { return torch::addcmul(x[0], x[1], x[2], p.real("value", 1)); }},
    {"addcdiv", [](Tensors x, const Params& p) { return torch::addcdiv(x[0], x[1], x[2], p.real("value", 1)); }},
    {"addcmul_", [](Tensors x, const Params& p) { return torch::clone(x[0]).addcmul_(x[1], x[2], p.real("value", 1)); }},
    {"isclose", [](Tensors x, const Params& p) { return torch::isclose(x[0], x[1], p.real("rtol", 1e-5), p.real("atol", 1e-8), p.flag("equal_nan")); }},
    {"add_", [](Tensors x, const Params& p) {
       return with_operand(x, 1, p, "other", [&](const auto& other) { return torch::clone(x[0]).add_(other, p.real("alpha", 1)); });
     }},
    {"sub_", [](Tensors x, const Params& p) {
       return with_operand(x, 1, p, "other", [&](const auto& other) { return torch::clone(x[0]).sub_(other); });
     }},
    {"mul_", [](Tensors x, const Params& p) {
       return with_operand(x, 1, p, "other", [&](const auto& other) { return torch::clone(x[0]).mul_(other); });
     }},
    {"div_", [](Tensors x, const Params& p) {
       return with_operand(x, 1, p, "other", [&](const auto& other) { return torch::clone(x[0]).div_(other); });
     }},
    {"pow_", [](Tensors x, const Params& p) {
       return with_operand(x, 1, p, "other", [&](const auto& other) { return torch::clone(x[0]).pow_(other); });
     }},
};
// clang-format on

}  // namespace

}  // namespace torch_ops
