// Every case under every transform and composition, on every device, against what JAX gives. The native
// device compiles each of them, so there only the modes run that give it another program; COTAN_NIGHTLY=1
// runs all.
#include <gtest/gtest.h>

#include "control/golden.hpp"

namespace control {

namespace {

// Tolerances, relative to a leaf's largest magnitude (at least one). Loops of a few steps of tame functions.
constexpr double f64_tolerance = 1e-12;
constexpr double f32_tolerance = 1e-5;

/// sum over all floating outputs of output times weight: what is differentiated.
Array loss(const Function& f, const Arrays& x) {
  Array total = 0;
  int k = 0;
  for (const Array& y : f(x)) {
    if (ct::is_floating(y.dtype())) total = total + np::sum(y * formula(y.shape(), 200 + k, 0, y.dtype()));
    ++k;
  }
  return total;
}
Function grad(const Function& f) {
  return [f](const Arrays& x) { return ct::grad([&](const Arrays& in) { return loss(f, in); })(x); };
}
Function jit(const Function& f) {
  return [f](const Arrays& x) { return ct::jit(f)(x); };
}
Function vmap(const Function& f) {
  return [f](const Arrays& x) { return ct::vmap(f)(x); };
}
/// The tangents at the formula's ones; only of input 0 if `first`.
Function jvp(const Function& f, const std::vector<Shape>& shapes, bool first = false) {
  return [=](const Arrays& x) {
    Arrays tangents;
    for (std::size_t k = 0; k < x.size(); ++k)
      tangents.push_back(first && k > 0 ? np::zeros_like(x[k])
                                        : formula(shapes[k], 100 + static_cast<int>(k), 0, x[k].dtype()));
    const auto [y, t] = ct::jvp(f, std::tuple{x}, std::tuple{tangents});
    Arrays out;
    for (std::size_t k = 0; k < t.size(); ++k)
      if (ct::is_floating(y[k].dtype())) out.push_back(t[k]);
    return out;
  };
}
/// Only input 0 varies; the others are captured.
Function of_first(const Function& f, const Arrays& x) {
  return [=](const Arrays& first) {
    Arrays all = x;
    all[0] = first[0];
    return f(all);
  };
}
/// The Hessian times the formula's tangents.
Arrays hessian_product(const Function& f, const Arrays& x) {
  const std::vector<Arrays> rows = ct::hessian([&](const Arrays& in) { return loss(f, in); })(x);
  Arrays out;
  for (std::size_t i = 0; i < x.size(); ++i) {
    Array sum = np::zeros_like(x[i]);
    for (std::size_t j = 0; j < x.size(); ++j)
      sum = sum + np::tensordot(rows[i][j], formula(x[j].shape(), 100 + static_cast<int>(j)), x[j].ndim());
    out.push_back(sum);
  }
  return out;
}

struct At {
  Function f;
  std::vector<Shape> shapes;
  Arrays base;  ///< the inputs
  Arrays lanes(int axis = 0) const {
    Arrays out;
    for (std::size_t k = 0; k < shapes.size(); ++k)
      out.push_back(
          formula_lanes(shapes[k], static_cast<int>(k), axis < 0 ? static_cast<int>(shapes[k].size()) : axis));
    return out;
  }
};
struct Mode {
  std::string name, kind;  ///< kind: the entry of the golden file
  bool reverse_mode;       ///< needs it
  enum {
    rules,
    programs,
    essential
  } tests;  ///< transform rules; also generated code; also with unroll and checkpoints
  std::function<Arrays(const At&)> run;
};

const std::vector<Mode>& modes() {
  static const std::vector<Mode> all{
      {"plain", "out", false, Mode::programs, [](const At& a) { return a.f(a.base); }},
      {"jit", "out", false, Mode::essential, [](const At& a) { return jit(a.f)(a.base); }},
      {"jvp", "jvp", false, Mode::rules, [](const At& a) { return jvp(a.f, a.shapes)(a.base); }},
      {"jit_of_jvp", "jvp", false, Mode::programs, [](const At& a) { return jit(jvp(a.f, a.shapes))(a.base); }},
      {"jvp_of_jit", "jvp", false, Mode::rules, [](const At& a) { return jvp(jit(a.f), a.shapes)(a.base); }},
      {"jvp_of_the_first", "jvp0", false, Mode::rules,
       [](const At& a) { return jvp(of_first(a.f, a.base), {a.shapes[0]})({a.base[0]}); }},
      {"grad", "grad", true, Mode::programs, [](const At& a) { return grad(a.f)(a.base); }},
      {"jit_of_grad", "grad", true, Mode::essential, [](const At& a) { return jit(grad(a.f))(a.base); }},
      {"grad_of_jit", "grad", true, Mode::programs, [](const At& a) { return grad(jit(a.f))(a.base); }},
      {"vmap", "vmap", false, Mode::rules, [](const At& a) { return vmap(a.f)(a.lanes()); }},
      {"jit_of_vmap", "vmap", false, Mode::essential, [](const At& a) { return jit(vmap(a.f))(a.lanes()); }},
      {"vmap_of_jit", "vmap", false, Mode::rules, [](const At& a) { return vmap(jit(a.f))(a.lanes()); }},
      {"vmap_of_last_axes", "vmap", false, Mode::rules,
       [](const At& a) {
         std::vector<ct::MappedAxes> axes;
         for (const Shape& s : a.shapes) axes.push_back(static_cast<int>(s.size()));
         const ct::MappedAxes of_inputs({ct::MappedAxes(axes)});
         return ct::vmap(a.f, {.in_axes = of_inputs})(a.lanes(-1));
       }},
      {"vmap_of_the_first", "vmap0", false, Mode::essential,
       [](const At& a) { return vmap(of_first(a.f, a.base))({formula_lanes(a.shapes[0], 0)}); }},
      {"vmap_of_grad", "vmap_grad", true, Mode::rules, [](const At& a) { return vmap(grad(a.f))(a.lanes()); }},
      {"grad_of_vmap", "vmap_grad", true, Mode::rules,
       [](const At& a) {
         return ct::grad([&](const Arrays& x) {
           return np::sum(ct::vmap([&](const Arrays& lane) { return loss(a.f, lane); })(x));
         })(a.lanes());
       }},
      {"jit_of_vmap_of_grad", "vmap_grad", true, Mode::programs,
       [](const At& a) { return jit(vmap(grad(a.f)))(a.lanes()); }},
      {"jvp_of_grad", "jvp_grad", true, Mode::rules, [](const At& a) { return jvp(grad(a.f), a.shapes)(a.base); }},
      {"jit_of_jvp_of_grad", "jvp_grad", true, Mode::essential,
       [](const At& a) { return jit(jvp(grad(a.f), a.shapes))(a.base); }},
      {"grad_of_jvp", "jvp_grad", true, Mode::rules,
       [](const At& a) {  // reverse over forward
         return ct::grad([&](const Arrays& x) {
           const Function of_loss = [&](const Arrays& in) { return Arrays{loss(a.f, in)}; };
           const Arrays t = jvp(of_loss, a.shapes)(x);
           return t[0];
         })(a.base);
       }},
      {"hessian", "jvp_grad", true, Mode::rules, [](const At& a) { return hessian_product(a.f, a.base); }},
  };
  return all;
}

/// A case with options.
struct Variant {
  Case of;
  lax::ScanOptions options;
  std::string label;
  bool full;  ///< under every mode

  At at(ct::DType dtype = ct::f64) const {
    At out{[f = of.function, o = options](const Arrays& in) { return f(in, o); }, of.inputs, {}};
    for (std::size_t k = 0; k < of.inputs.size(); ++k)
      out.base.push_back(formula(of.inputs[k], static_cast<int>(k), 0, dtype));
    return out;
  }
  std::string golden_name() const { return of.name + (options.reverse ? "_reverse" : ""); }
};

const std::vector<Variant>& all_variants() {
  static const std::vector<Variant> all = [] {
    std::vector<Variant> out;
    for (const auto& family : {scan_cases(), carry_cases(), view_cases(), nested_cases(), routine_cases(),
                               branch_cases(), while_cases(), map_cases(), associative_cases(), solver_cases()})
      for (const Case& c : family) {
        for (const bool reverse : {false, true}) {
          if (reverse && c.variants == Case::Variants::one) continue;
          const std::string way = reverse ? "_reverse" : "";
          out.push_back({c, {.reverse = reverse}, way, true});
          if (c.variants != Case::Variants::all) continue;
          for (const int unroll : {2, 5})
            out.push_back({c, {reverse, unroll}, way + "_unroll" + std::to_string(unroll), false});
          // The lengths are 5: neither 2 nor 3 divides it.
          for (const int steps : {1, 2, 3})
            out.push_back({c, {reverse, 1, steps}, way + "_every" + std::to_string(steps), false});
          out.push_back({c, {reverse, 2, ct::sqrt_n}, way + "_unroll2_root", false});
        }
      }
    return out;
  }();
  return all;
}

struct Param {
  std::size_t variant, mode;
  std::string device;
};
void PrintTo(const Param& p, std::ostream* out) {
  *out << all_variants()[p.variant].of.name << all_variants()[p.variant].label << ", " << modes()[p.mode].name << ", "
       << p.device;
}
bool applies(const Variant& v, const Mode& m, const std::string& device) {
  if (m.reverse_mode && v.of.modes == Case::Modes::forward) return false;
  if (is_nightly()) return true;
  return v.full ? device == "reference" || m.tests >= Mode::programs : m.tests == Mode::essential;
}
std::vector<Param> all_params() {
  std::vector<Param> out;
  for (const std::string& device : devices())
    for (std::size_t v = 0; v < all_variants().size(); ++v)
      for (std::size_t m = 0; m < modes().size(); ++m)
        if (applies(all_variants()[v], modes()[m], device)) out.push_back({v, m, device});
  return out;
}
std::string param_name(const testing::TestParamInfo<Param>& info) {
  const Variant& v = all_variants()[info.param.variant];
  return info.param.device + "__" + v.of.name + v.label + "__" + modes()[info.param.mode].name;
}

class Conformance : public testing::TestWithParam<Param> {};

TEST_P(Conformance, AgreesWithJax) {
  const OnDevice on(GetParam().device);
  const Variant& v = all_variants()[GetParam().variant];
  const Mode& mode = modes()[GetParam().mode];
  const Golden* want = golden(v.golden_name());
  ASSERT_TRUE(want && want->count(mode.kind)) << "not in the golden file; run tools/golden/control.py";
  EXPECT_TRUE(agrees(mode.run(v.at()), want->at(mode.kind), ct::f64, f64_tolerance * v.of.slack));
}
INSTANTIATE_TEST_SUITE_P(Control, Conformance, testing::ValuesIn(all_params()), param_name);

/// The same in f32: forwards and backwards, against the f64 of JAX.
class ConformanceF32 : public testing::TestWithParam<std::tuple<std::size_t, std::string>> {};

TEST_P(ConformanceF32, AgreesWithJax) {
  const auto& [number, device] = GetParam();
  const OnDevice on(device);
  const Variant& v = all_variants()[number];
  const Golden* want = golden(v.golden_name());
  ASSERT_TRUE(want) << "not in the golden file; run tools/golden/control.py";
  const At at = v.at(ct::f32);
  EXPECT_TRUE(agrees(jit(at.f)(at.base), want->at("out"), ct::f32, f32_tolerance * v.of.slack));
  if (v.of.modes == Case::Modes::forward) return;
  EXPECT_TRUE(agrees(jit(grad(at.f))(at.base), want->at("grad"), ct::f32, f32_tolerance * v.of.slack));
}
std::vector<std::size_t> full_variants() {
  std::vector<std::size_t> out;
  for (std::size_t v = 0; v < all_variants().size(); ++v)
    if (all_variants()[v].full && all_variants()[v].of.same_in_f32) out.push_back(v);
  return out;
}
INSTANTIATE_TEST_SUITE_P(Control, ConformanceF32,
                         testing::Combine(testing::ValuesIn(full_variants()), testing::ValuesIn(devices_with_f32())),
                         [](const auto& info) {
                           const Variant& v = all_variants()[std::get<0>(info.param)];
                           return std::get<1>(info.param) + "__" + v.of.name + v.label;
                         });

}  // namespace
}  // namespace control
