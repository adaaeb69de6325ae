// Conformance cases: associative_scan over numbers, affine maps, matrices and trees, in both directions.
#include "control/support.hpp"

namespace control {

namespace {

using Two = std::pair<Array, Array>;
using Options = lax::ScanOptions;
using AssociativeOptions = lax::AssociativeScanOptions;

struct Running {
  Array total, weighted;
};

/// A case and its reverse. The elements are all inputs.
template <class F>
void add(std::vector<Case>& to, const std::string& name, const std::vector<Shape>& inputs, F combine, int axis = 0,
         bool backwards = true) {
  for (const bool reverse : {false, true}) {
    if (reverse && !backwards) continue;
    to.push_back({name + (reverse ? "_backwards" : ""), inputs, [=](const Arrays& in, const Options&) {
                    return lax::associative_scan(combine, in, {.reverse = reverse, .axis = axis});
                  }});
  }
}

Arrays affine(const Arrays& l, const Arrays& r) { return {r[0] * l[0], r[0] * l[1] + r[1]}; }
/// The first leaf scales all the others.
Arrays affine_of_many(const Arrays& l, const Arrays& r) {
  Arrays out{r[0] * l[0]};
  for (std::size_t k = 1; k < l.size(); ++k) out.push_back(r[0] * l[k] + r[k]);
  return out;
}
Array times_vector(const Array& a, const Array& b) { return np::squeeze(np::matmul(a, np::expand_dims(b, -1)), -1); }
Arrays affine_matrices(const Arrays& l, const Arrays& r) {
  return {np::matmul(r[0], l[0]), times_vector(r[0], l[1]) + r[1],
          np::matmul(np::matmul(r[0], l[2]), np::matrix_transpose(r[0])) + r[2]};
}
Arrays product(const Arrays& l, const Arrays& r) { return {l[0] * r[0]}; }

}  // namespace

std::vector<Case> associative_cases() {
  std::vector<Case> out;
  for (const int n : {1, 2, 3, 7, 8})
    add(out, "associative_add_" + std::to_string(n), {{n, 2}},
        [](const Arrays& l, const Arrays& r) { return Arrays{l[0] + r[0]}; });
  add(out, "associative_multiply", {{6}}, product);
  add(out, "associative_maximum", {{6, 2}},
      [](const Arrays& l, const Arrays& r) { return Arrays{np::maximum(l[0], r[0])}; });
  add(out, "associative_logaddexp", {{5}},
      [](const Arrays& l, const Arrays& r) { return Arrays{np::logaddexp(l[0], r[0])}; });
  add(out, "associative_affine", {{5}, {5}}, affine);
  add(out, "associative_affine_rows", {{5, 2}, {5, 2}}, affine);
  add(out, "associative_affine_long", {{19}, {19}}, affine);
  add(out, "associative_matrices", {{5, 2, 2}},
      [](const Arrays& l, const Arrays& r) { return Arrays{np::matmul(r[0], l[0])}; });
  add(out, "associative_affine_matrices", {{4, 2, 2}, {4, 2}, {4, 2, 2}}, affine_matrices);
  add(out, "associative_three_leaves", {{4}, {4}, {4}}, affine_of_many);
  add(out, "associative_axis_1", {{2, 5}, {2, 5}}, affine, 1);
  add(out, "associative_last_axis", {{2, 5}}, product, -1, false);
  add(
      out, "associative_axis_of_three", {{2, 4, 2}},
      [](const Arrays& l, const Arrays& r) { return Arrays{l[0] * r[0] + l[0] + r[0]}; }, 1);
  add(out, "associative_five_leaves", std::vector<Shape>(5, {4}), affine_of_many, 0, false);
  const std::vector<Case> more{
      {"associative_twenty_leaves",
       {{20, 4}},
       [](const Arrays& in, const Options&) { return lax::associative_scan(affine_of_many, np::unstack(in[0])); }},
      {"associative_captures",
       {{5}, {5}, {}},
       [](const Arrays& in, const Options&) {
         const Array w = in[2];
         const auto [x, y] = lax::associative_scan(
             [](Two l, Two r) { return Two{r.first * l.first, r.first * l.second + r.second}; }, Two{in[0] * w, in[1]});
         const Array z = lax::associative_scan([&](Array l, Array r) { return l + r + w * l * r; }, in[1]);
         return Arrays{x, y, z};
       }},
      {"associative_integers",
       {{5}},
       [](const Arrays& in, const Options&) {
         const auto [s, t] =
             lax::associative_scan([](Two l, Two r) { return Two{l.first + r.first, l.second + r.second}; },
                                   Two{np::floor(in[0] * 4).astype(ct::i32), in[0]});
         return Arrays{s, t};
       }},
      {"associative_small_solves",
       {{4, 2, 2}, {4, 2}},
       [](const Arrays& in, const Options&) {
         const Array m = np::array({{2.0, 0.5}, {0.3, 1.5}}, in[0].dtype());
         return lax::associative_scan(
             [&](const Arrays& l, const Arrays& r) {
               const Array wide = np::broadcast_to(m, r[0].shape());
               const Array inner = linalg::solve(wide, l[0]);
               const Array column = linalg::solve(wide, np::expand_dims(l[1], -1));
               return Arrays{np::matmul(r[0], inner), np::squeeze(np::matmul(r[0], column), -1) + r[1]};
             },
             in);
       },
       all_modes,
       one_variant,
       10},
      {"associative_of_views",
       {{6, 2}, {2}},
       [](const Arrays& in, const Options&) {
         const Array xs = in[0][ct::range(ct::none, ct::none, -1)].T() * in[1](ct::all, ct::newaxis);
         return Arrays{lax::associative_scan([](Array a, Array b) { return a * b; }, xs, {.axis = 1})(
             ct::all, ct::range(1, ct::none, 2))};
       }},
      {"associative_under_vmap",
       {{3, 4}, {3, 4}},
       [](const Arrays& in, const Options&) {
         return ct::vmap([](const Arrays& x) { return lax::associative_scan(affine, x); })(in);
       }},
      {"associative_of_a_struct",
       {{4, 2}},
       [](const Arrays& in, const Options&) {
         const Running s = lax::associative_scan(
             [](const Running& l, const Running& r) { return Running{l.total + r.total, l.weighted * r.weighted}; },
             Running{in[0], np::cos(in[0])});
         return Arrays{s.total, s.weighted};
       }},
  };
  out.insert(out.end(), more.begin(), more.end());
  return out;
}

}  // namespace control
