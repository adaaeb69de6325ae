// Conformance cases: cond and switch_, with one predicate for all and with one per lane.
#include "control/support.hpp"

namespace control {

namespace {

using Options = lax::ScanOptions;

/// cond with the predicate made from in[0].
Case cond_on(std::string name, std::function<Array(const Array&)> predicate) {
  return {std::move(name), {{}, {3}}, [predicate](const Arrays& in, const Options&) {
            const Array p = in[0];
            return Arrays{lax::cond(
                predicate(p), [&](Array x) { return np::sin(x) * p; }, [&](Array x) { return x * x + p; }, in[1])};
          }};
}
/// switch_ over four branches with the index made from in[0].
Case switch_on(std::string name, std::function<Array(const Array&)> index) {
  return {std::move(name), {{}, {3}}, [index](const Arrays& in, const Options&) {
            const Array p = in[0];
            return Arrays{lax::switch_(index(p),
                                       {[](Array x) { return np::sin(x); }, [&](Array x) { return x * p; },
                                        [&](Array x) { return np::exp(x) * p * p; }, [](Array x) { return x; }},
                                       in[1])};
          }};
}
Array whole(const Array& x) { return np::floor(x).astype(ct::i32); }

}  // namespace

std::vector<Case> branch_cases() {
  return {
      cond_on("cond_on_input", [](const Array& p) { return p > 0; }),
      cond_on("cond_on_negated_input", [](const Array& p) { return p < 0; }),
      cond_on("cond_always", [](const Array&) { return Array(true); }),
      cond_on("cond_never", [](const Array&) { return Array(false); }),
      cond_on("cond_on_integer", whole),
      cond_on("cond_on_float", [](const Array& p) { return np::maximum(p, 0); }),
      {"cond_of_trees",
       {{}, {3}, {3}},
       [](const Arrays& in, const Options&) {
         using Pair = std::pair<Array, Array>;
         const Array p = in[0];
         const auto [ab, d] = lax::cond(
             p > -0.5, [](Pair t, Array z) { return std::pair{std::tuple{t.first * t.second, np::sum(z)}, z}; },
             [&](Pair t, Array z) { return std::pair{std::tuple{t.second, np::max(z) * p}, t.first}; },
             Pair{in[1], in[2]}, np::cos(in[1]));
         return Arrays{std::get<0>(ab), std::get<1>(ab), d};
       }},
      {"cond_without_arguments",
       {{}, {3}},
       [](const Arrays& in, const Options&) {
         return Arrays{lax::cond(in[0] > 0, [&] { return in[1] * in[0]; }, [&] { return np::cos(in[1]); })};
       }},
      {"cond_constant_branch",
       {{}, {3}},
       [](const Arrays& in, const Options&) {
         const auto square = [](Array x) { return x * x; };
         return Arrays{lax::cond(
                           in[0] > 0, [](Array x) { return np::ones({3}, x.dtype()); }, square, in[1]),
                       lax::cond(in[0] > 0, square, [](Array x) { return np::zeros({3}, x.dtype()); }, in[1])};
       }},
      {"cond_passes_through",
       {{}, {3}},
       [](const Arrays& in, const Options&) {
         return lax::cond(
             in[0] > 0, [](Array x, Array y) { return Arrays{x, y, x}; },
             [](Array x, Array y) { return Arrays{y, x, y}; }, in[1], in[1] * in[0]);
       }},
      {"cond_nested",
       {{}, {3}},
       [](const Arrays& in, const Options&) {
         const Array p = in[0];
         const auto yes = [&](Array x) {
           return lax::cond(
               np::sum(x) > 0, [&](Array x) { return np::sin(x) * p; }, [](Array x) { return np::exp(x); }, x);
         };
         return Arrays{lax::cond(p > -0.8, yes, [&](Array x) { return -x * p; }, in[1])};
       }},
      {"cond_weak_result",
       {{}, {3}},
       [](const Arrays& in, const Options&) {
         return Arrays{lax::cond(in[0] > 0, [](Array s) { return s * 2; }, [](Array) { return 1.0; }, np::sum(in[1]))};
       }},
      {"cond_other_residuals",
       {{}, {2, 3}, {3, 2}},
       [](const Arrays& in, const Options&) {
         const Array p = in[0];
         return Arrays{lax::cond(
             p > 0, [&](Array a, Array b) { return np::tanh(np::matmul(a, b)) * p; },
             [&](Array a, Array b) {
               return np::sin(a(ct::all, ct::range(2))) * np::exp(b[ct::range(2)] * p) + np::prod(a);
             },
             in[1], in[2])};
       }},
      {"cond_linear",
       {{}, {3}},
       [](const Arrays& in, const Options&) {
         return Arrays{
             lax::cond(in[0] > 0, [](Array x) { return 2 * x; }, [](Array x) { return np::flip(x) - x; }, in[1])};
       }},
      {"cond_nan_safe",
       {{4}, {4}},
       [](const Arrays& in, const Options&) {
         const auto one = [](Array p, Array x) {
           return lax::cond(p > 0.3, [](Array x) { return np::sqrt(x); }, [](Array x) { return x * 3; }, x);
         };
         // Zeros where the predicate is false: the square root has no derivative there.
         const Array xs = np::where(in[0] > 0.3, in[1] * in[1], 0.0 * in[1]);
         return Arrays{ct::vmap(one)(in[0], xs)};
       }},
      {"cond_log_of_negative_lanes",
       {{4}, {4}},
       [](const Arrays& in, const Options&) {
         const auto one = [](Array x) {
           return lax::cond(x > 0, [](Array x) { return np::log(x); }, [](Array x) { return np::exp(x) - 1; }, x);
         };
         return Arrays{ct::vmap(one)(in[1] + 0.1 * in[0])};
       }},
      {"cond_shared_operand_under_batched_predicate",
       {{3}, {3}},
       [](const Arrays& in, const Options&) {
         return Arrays{ct::vmap([&](Array p) {
           return lax::cond(p > 0, [](Array x) { return x * np::sum(x); }, [](Array x) { return np::sin(x); }, in[1]);
         })(in[0])};
       }},
      {"cond_computes_integers",
       {{}, {3}},
       [](const Arrays& in, const Options&) {
         const auto [i, y] = lax::cond(
             in[0] > 0, [](Array x) { return std::pair{np::argmax(x), x}; },
             [](Array x) { return std::pair{np::argmin(x), x * 2}; }, in[1]);
         return Arrays{i, y * i};
       }},
      {"cond_in_sequence",
       {{}, {3}},
       [](const Arrays& in, const Options&) {
         Array x = in[1];
         for (int k = 0; k < 3; ++k)
           x = lax::cond(x[k] > in[0], [&](Array x) { return np::sin(x) + in[0]; }, [](Array x) { return x * x; }, x);
         return Arrays{x};
       }},

      switch_on("switch_first", [](const Array&) { return Array(0); }),
      switch_on("switch_third", [](const Array&) { return Array(2); }),
      switch_on("switch_below", [](const Array&) { return Array(-5); }),
      switch_on("switch_above", [](const Array&) { return Array(17); }),
      switch_on("switch_on_input", [](const Array& p) { return whole(p * 2 + 2); }),
      {"switch_of_trees",
       {{}, {3}},
       [](const Arrays& in, const Options&) {
         const auto branches = std::tuple{
             [](Array x, Array y) { return std::pair{x, std::vector{y}}; },
             [](Array x, Array y) { return std::pair{x * y, std::vector{np::sum(x)}}; },
             [](Array x, Array y) { return std::pair{x + y, std::vector{y * y}}; },
         };
         const auto [a, b] = lax::switch_(whole(in[0] + 1.5), branches, in[1], np::sum(in[1]) * in[0]);
         return Arrays{a, b[0]};
       }},
      {"switch_under_vmap",
       {{5}, {5, 2}},
       [](const Arrays& in, const Options&) {
         const auto one = [](Array p, Array x) {
           return lax::switch_(whole(p * 2),
                               {[&](Array x) { return np::sin(x) * p; }, [](Array x) { return x * x; },
                                [&](Array x) { return np::sqrt(np::abs(x)) + p; }},
                               x);
         };
         return Arrays{ct::vmap(one)(in[0], in[1])};
       }},
      {"switch_of_one",
       {{}, {3}},
       [](const Arrays& in, const Options&) {
         return Arrays{lax::switch_(3, std::tuple{[&](Array x) { return x * in[0]; }}, in[1])};
       }},
  };
}

}  // namespace control
