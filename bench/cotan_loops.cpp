// cotan's side of the loops: Kalman filters by scan, affine maps by associative_scan, scans of matrix
// products, an LSTM, checkpoints. The peer "plain" is cotan too: the same steps without the scan, or without
// the checkpoints.
#include <cmath>

#include "cotan_case.hpp"

namespace bench {
namespace {

using ct::Array;
namespace lax = cotan::lax;

/// A filter for the first of m hidden states, x' = F x + noise of covariance Q, seen with noise of variance
/// R. theta holds the logarithms of what scales Q and R. Gives -2 log likelihood (less a constant) and each
/// step's prediction.
auto kalman_filter(const Array& theta, const Array& y, std::int64_t m) {
  const ct::DType dtype = y.dtype();
  const auto eye = [&](int diagonal = 0) { return np::eye(m, m, diagonal, dtype); };
  const Array F = 0.9 * eye() + 0.1 * eye(1), H = np::eye(1, m, 0, dtype);
  const Array Q = 0.1 * eye() * np::exp(theta[0]), R = np::exp(theta[1]);
  const auto step = [&](const std::tuple<Array, Array, Array>& carry, const Array& seen) {
    const auto& [x, P, likelihood] = carry;
    const Array v = seen - np::matmul(H, x)[0];
    const Array S = np::matmul(np::matmul(H, P), H.T())(0, 0) + R;
    const Array FP = np::matmul(F, P), K = np::matmul(FP, H.T()) / S;
    const Array next_x = np::matmul(F, x) + K(ct::all, 0) * v;
    const Array next_P = np::matmul(FP, (F - np::matmul(K, H)).T()) + Q;
    return std::pair{std::tuple{next_x, next_P, likelihood + np::log(S) + v * v / S}, std::tuple{x, P, v, S}};
  };
  const auto [last, predictions] =
      lax::scan(step, std::tuple{np::zeros({m}, dtype), 10.0 * eye(), np::zeros({}, dtype)}, y);
  return std::pair{std::get<2>(last), predictions};
}

Array parameters(const Parameters& p) { return np::zeros({2}, p.is_double() ? ct::f64 : ct::f32); }

/// x -> A x + b with the covariance S of its noise, after another such map.
using Affine = std::tuple<Array, Array, Array>;
Affine compose(const Affine& first, const Affine& second) {
  const auto& [A1, b1, S1] = first;
  const auto& [A2, b2, S2] = second;
  return {np::matmul(A2, A1), np::matmul(A2, b1(ct::ellipsis, ct::newaxis))(ct::ellipsis, 0) + b2,
          np::matmul(np::matmul(A2, S1), np::swapaxes(A2, -1, -2)) + S2};
}
Affine random_maps(const Parameters& p) {
  const std::int64_t n = p["n"], m = p["m"];
  return {0.5 * random_array({n, m, m}, 1), random_array({n, m}, 2), random_array({n, m, m}, 3)};
}
Affine compose_all(const Affine& maps) { return lax::associative_scan(compose, maps); }

/// Entries of variance 1/n keep a chain of products near its size.
Array contraction(std::int64_t n) { return random_array({n, n}, 1) * std::sqrt(3.0 / static_cast<double>(n)); }
Case matrix_scan(const Parameters& p) {
  return jitted(
      [steps = p["steps"]](const Array& weights, const Array& start) {
        const auto step = [&](const Array& c) { return std::pair{np::tanh(np::matmul(weights, c)), ct::none}; };
        return lax::scan(step, start, lax::length(steps)).first;
      },
      contraction(p["k"]), random_array({p["k"], p["k"]}, 2));
}
Case unrolled_matrix_scan(const Parameters& p) {
  return jitted(
      [steps = p["steps"]](const Array& weights, Array c) {
        for (std::int64_t i = 0; i < steps; ++i) c = np::tanh(np::matmul(weights, c));
        return c;
      },
      contraction(p["k"]), random_array({p["k"], p["k"]}, 2));
}

/// Weights of the input and of the state, and a bias; the four gates side by side.
using Lstm = std::tuple<Array, Array, Array>;
Array lstm_loss(const Lstm& lstm, const Array& sequence) {
  const auto& [from_input, from_state, bias] = lstm;
  const std::int64_t hidden = from_state.shape(0);
  const auto step = [&](const std::pair<Array, Array>& carry, const Array& x) {
    const auto& [state, cell] = carry;
    const Array gates = np::matmul(x, from_input) + np::matmul(state, from_state) + bias;
    const auto gate = [&](std::int64_t i) { return gates(ct::all, ct::range(i * hidden, (i + 1) * hidden)); };
    const Array next_cell = lax::logistic(gate(1)) * cell + lax::logistic(gate(0)) * np::tanh(gate(2));
    const Array next_state = lax::logistic(gate(3)) * np::tanh(next_cell);
    return std::pair{std::pair{next_state, next_cell}, next_state};
  };
  const Array zero = np::zeros({sequence.shape(1), hidden});
  const Array states = lax::scan(step, std::pair{zero, zero}, sequence).second;
  return np::mean(states * states);
}
std::pair<Array, Lstm> lstm_step(const Lstm& lstm, const Array& sequence) {
  auto [loss, gradient] = ct::value_and_grad(lstm_loss)(lstm, sequence);
  return {loss, ct::tree::map([](const Array& p, const Array& g) { return p - 0.1 * g; }, lstm, gradient)};
}

/// Gradient through many steps of a small network that is fed the same input at each.
Case long_gradient(const Parameters& p, ct::ScanCheckpoint checkpoint) {
  const auto last_state = [=, steps = p["steps"]](const Array& weights, const Array& input) {
    const auto step = [&](const Array& c) { return std::pair{np::tanh(np::matmul(weights, c) + input), ct::none}; };
    return np::sum(lax::scan(step, input, lax::length(steps), {.checkpoint = checkpoint}).first);
  };
  return jitted(ct::value_and_grad(last_state), 0.6 * contraction(p["k"]), random_array({p["k"]}, 2));
}

const Register all[] = {
    {"cotan", "kalman",
     [](const Parameters& p) {
       const auto filter = [m = p["m"]](const Array& theta, const Array& y) { return kalman_filter(theta, y, m); };
       const Array y = random_array({p["n"]}, 1, p.is_double());
       return p.flag("finite") ? jitted(ct::assume_finite(filter), parameters(p), y) : jitted(filter, parameters(p), y);
     }},
    {"cotan", "kalman_grad",
     [](const Parameters& p) {
       const auto likelihood = [m = p["m"]](const Array& theta, const Array& y) {
         return kalman_filter(theta, y, m).first;
       };
       return jitted(ct::value_and_grad(likelihood), parameters(p), random_array({p["n"]}, 1, p.is_double()));
     }},
    {"cotan", "vmap_kalman",
     [](const Parameters& p) {
       const auto filter = [m = p["m"]](const Array& theta, const Array& y) { return kalman_filter(theta, y, m); };
       return jitted(ct::vmap(filter, {.in_axes = {ct::none, 0}}), parameters(p),
                     random_array({p["filters"], p["n"]}, 1));
     }},
    {"cotan", "associative", [](const Parameters& p) { return jitted(compose_all, random_maps(p)); }},
    {"cotan", "associative_grad",
     [](const Parameters& p) {
       return jitted(ct::value_and_grad([](const Affine& maps) {
                       const auto [A, b, S] = compose_all(maps);
                       return np::sum(A) + np::sum(b) + np::sum(S);
                     }),
                     random_maps(p));
     }},
    {"cotan", "matrix_scan", matrix_scan},
    {"cotan", "short_matrix_scan", matrix_scan},
    {"plain", "short_matrix_scan", unrolled_matrix_scan},
    {"cotan", "lstm",
     [](const Parameters& p) {
       const std::int64_t hidden = p["hidden"];
       const Lstm lstm{0.1 * random_array({hidden, 4 * hidden}, 1), 0.1 * random_array({hidden, 4 * hidden}, 2),
                       np::zeros({4 * hidden})};
       return jitted(lstm_step, lstm, random_array({p["length"], p["batch"], hidden}, 3));
     }},
    {"cotan", "checkpoint", [](const Parameters& p) { return long_gradient(p, ct::sqrt_n); }},
    {"plain", "checkpoint", [](const Parameters& p) { return long_gradient(p, {}); }},
};

}  // namespace
}  // namespace bench
