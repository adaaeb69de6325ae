// cotan's side of: call overhead, elementwise chains, whole and row-wise reductions, and row-wise functions.
#include "cotan_case.hpp"

namespace bench {
namespace {

using ct::Array;

ct::Shape matrix(const Parameters& p) { return {p["rows"], p["columns"]}; }

Array softmax(const Array& x) {
  const Array e = np::exp(x - np::max(x, -1, true));
  return e / np::sum(e, -1, true);
}

Array layer_norm(const Array& x, const Array& scale, const Array& offset) {
  const Array mean = np::mean(x, -1, true);
  const Array variance = np::var(x, -1, true);
  return (x - mean) * ct::lax::rsqrt(variance + 1e-5) * scale + offset;
}

const Register all[] = {
    {"cotan", "jit_call",
     [](const Parameters& p) { return jitted([](const Array& x) { return x + 1.0; }, random_array({p["n"]}, 1)); }},
    {"cotan", "eager_op",
     [](const Parameters& p) { return eager([](const Array& x) { return x + 1.0; }, random_array({p["n"]}, 1)); }},
    {"cotan", "elementwise_chain",
     [](const Parameters& p) {
       return jitted([](const Array& x) { return np::tanh(x * 1.5 + 0.25) * x + np::exp(-x * x); },
                     random_array({p["n"]}, 1));
     }},
    {"cotan", "elementwise_cheap",
     [](const Parameters& p) {
       return jitted([](const Array& x) { return np::maximum(x * 2.0 + 1.0, 0.5) - x; }, random_array({p["n"]}, 1));
     }},
    {"cotan", "axpy",
     [](const Parameters& p) {
       return jitted([](const Array& x, const Array& y) { return 1.5 * x + y; }, random_array({p["n"]}, 1),
                     random_array({p["n"]}, 2));
     }},
    {"cotan", "sum",
     [](const Parameters& p) { return jitted([](const Array& x) { return np::sum(x); }, random_array({p["n"]}, 1)); }},
    {"cotan", "sum_axis",
     [](const Parameters& p) {
       return jitted([axis = static_cast<int>(p["axis"])](const Array& x) { return np::sum(x, axis); },
                     random_array(matrix(p), 1));
     }},
    {"cotan", "mean_var",
     [](const Parameters& p) {
       return jitted([](const Array& x) { return std::pair{np::mean(x), np::var(x)}; }, random_array({p["n"]}, 1));
     }},
    {"cotan", "mean_var_rows",
     [](const Parameters& p) {
       return jitted([](const Array& x) { return std::pair{np::mean(x, 1), np::var(x, 1)}; },
                     random_array(matrix(p), 1));
     }},
    {"cotan", "logsumexp",
     [](const Parameters& p) {
       return jitted([](const Array& x) { return np::logsumexp(x, 1); }, random_array(matrix(p), 1));
     }},
    {"cotan", "softmax", [](const Parameters& p) { return jitted(softmax, random_array(matrix(p), 1)); }},
    {"cotan", "softmax_grad",
     [](const Parameters& p) {
       return jitted([](const Array& x, const Array& cotangent) { return ct::vjp(softmax, x).second(cotangent); },
                     random_array(matrix(p), 1), random_array(matrix(p), 2));
     }},
    {"cotan", "layer_norm",
     [](const Parameters& p) {
       return jitted(layer_norm, random_array(matrix(p), 1), random_array({p["columns"]}, 2),
                     random_array({p["columns"]}, 3));
     }},
    {"cotan", "layer_norm_grad",
     [](const Parameters& p) {
       return jitted([](const Array& x, const Array& scale, const Array& offset,
                        const Array& cotangent) { return ct::vjp(layer_norm, x, scale, offset).second(cotangent); },
                     random_array(matrix(p), 1), random_array({p["columns"]}, 2), random_array({p["columns"]}, 3),
                     random_array(matrix(p), 4));
     }},
};

}  // namespace
}  // namespace bench
