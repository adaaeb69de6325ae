#include "cases/case_checks.hpp"

#include <algorithm>
#include <cmath>
#include <cotan/cotan.hpp>
#include <filesystem>

#include "cases/compare.hpp"

namespace cases {

namespace ct = cotan;
namespace np = cotan::numpy;

namespace {

std::map<std::string, Array> goldens;

/// A golden by key, or an undefined Array. Half types are stored as f32 under a key with a suffix.
Array golden(const std::string& key) {
  const std::pair<const char*, std::optional<DType>> suffixes[] = {
      {"", std::nullopt}, {".f16", DType::f16}, {".bf16", DType::bf16}};
  for (const auto& [suffix, dtype] : suffixes)
    if (const auto found = goldens.find(key + suffix); found != goldens.end())
      return dtype ? found->second.astype(*dtype) : found->second;
  return {};
}

const ct::flat::Paths paths = [](std::size_t i) { return "argument " + std::to_string(i); };
const auto first_axis = [](std::size_t outputs) { return std::vector<int>(outputs, 0); };

/// The case as a function of its differentiable arguments, giving its float outputs.
struct Differentiable {
  const Case& c;
  ct::FlatFunction f;
  Arrays inputs;

  explicit Differentiable(const Case& of, int variant = 0) : c(of), f(lookup(of)), inputs(make_inputs(of, variant)) {}
  Arrays chosen() const {
    Arrays out;
    for (std::size_t i : c.grad) out.push_back(inputs[i]);
    return out;
  }
  Arrays operator()(Args x) const {
    Arrays full = inputs;
    for (std::size_t k = 0; k < c.grad.size(); ++k) full[c.grad[k]] = x[k];
    Arrays out;
    for (const Array& y : f(full))
      if (is_inexact(y.dtype())) out.push_back(y);
    return out;
  }
};

/// Cotangents of the float outputs, as the goldens were made with.
Arrays output_cotangents(const Case& c, const Arrays& all_outputs) {
  Arrays out;
  for (std::size_t k = 0; k < all_outputs.size(); ++k)
    if (const Array& y = all_outputs[k]; is_inexact(y.dtype()))
      out.push_back(weights(c.id, output_weights + k, y.shape(), y.dtype()));
  return out;
}
Arrays tangents_like(const Case& c, const Arrays& x) {
  Arrays out;
  for (std::size_t k = 0; k < x.size(); ++k)
    out.push_back(weights(c.id, tangent_weights + k, x[k].shape(), x[k].dtype()));
  return out;
}

Arrays pull_back(const Differentiable& f, Args x, const Arrays& cotangents) {
  return ct::flat::vjp(f, x, "vjp", paths).second.apply(cotangents, paths);
}

void expect_close(const Arrays& actual, const Arrays& expected, const Case& c, bool gradient, double slack = 1) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t k = 0; k < expected.size(); ++k) {
    const Tolerance t = c.tolerance(expected[k].dtype(), gradient);
    EXPECT_TRUE(close(actual[k], expected[k], {slack * t.relative, slack * t.absolute}))
        << (gradient ? "gradient " : "output ") << k;
  }
}

// The checks ------------------------------------------------------------------------------------

void check_values(const Case& c) {
  const Arrays out = lookup(c)(make_inputs(c));
  for (std::size_t k = 0; k < out.size(); ++k) {
    const Array expected = golden(c.id + "/out" + std::to_string(k));
    ASSERT_TRUE(expected.defined()) << "no golden for output " << k << "; run tools/golden/generate.py";
    if (c.exact)
      EXPECT_TRUE(identical(out[k], expected)) << "output " << k;
    else
      EXPECT_TRUE(close(out[k], expected, c.tolerance(expected.dtype()), c.any_dtype)) << "output " << k;
  }
  EXPECT_FALSE(golden(c.id + "/out" + std::to_string(out.size())).defined()) << "JAX gives more outputs";
}

/// Makes new arrays on another device for a scope.
class OnDevice {
 public:
  explicit OnDevice(const char* name) : saved_(ct::default_device()) { ct::default_device(name); }
  ~OnDevice() { ct::default_device(saved_.name()); }
  OnDevice(const OnDevice&) = delete;

 private:
  ct::Device saved_;
};

/// On the reference device a jitted function is the same program: bit for bit what eager evaluation gives.
void check_jit(const Case& c) {
  const OnDevice reference("reference");
  const ct::FlatFunction f = lookup(c);
  const Arrays inputs = make_inputs(c), eager = f(inputs);
  const auto jitted = ct::jit([&f](const Arrays& x) { return f(x); });
  for (int call = 0; call < 2; ++call) {  // traced, then from the cache
    const Arrays out = jitted(inputs);
    ASSERT_EQ(out.size(), eager.size());
    for (std::size_t k = 0; k < out.size(); ++k)
      EXPECT_TRUE(identical(out[k], eager[k])) << "output " << k << " of call " << call;
  }
}

/// The compiled program gives what the reference gives: integers and exact rows bit for bit, floats within the
/// row's tolerance; and the same bits on every call.
void expect_device_is_reference(const Case& c, const char* device) {
  Arrays expected;
  {
    const OnDevice reference("reference");
    expected = lookup(c)(make_inputs(c));
  }
  const OnDevice on(device);
  const ct::FlatFunction f = lookup(c);
  const Arrays inputs = make_inputs(c);
  const auto jitted = ct::jit([&f](const Arrays& x) { return f(x); });
  const Arrays out = jitted(inputs), again = jitted(inputs);
  ASSERT_EQ(out.size(), expected.size());
  for (std::size_t k = 0; k < out.size(); ++k) {
    EXPECT_EQ(out[k].device().name(), device);
    if (c.exact)
      EXPECT_TRUE(identical(out[k], expected[k])) << "output " << k;
    else
      EXPECT_TRUE(close(out[k], expected[k], c.tolerance(expected[k].dtype()))) << "output " << k;
    EXPECT_TRUE(identical(again[k], out[k])) << "output " << k << " of the second call";
  }
}

void check_native(const Case& c) { expect_device_is_reference(c, "native"); }
void check_toy(const Case& c) { expect_device_is_reference(c, "toy"); }
/// The same where the device has the types of the results, and else an error that says what to do.
void check_webgpu(const Case& c) {
  Arrays expected;
  {
    const OnDevice reference("reference");
    expected = lookup(c)(make_inputs(c));
  }
  const bool wide =
      std::any_of(expected.begin(), expected.end(), [](const Array& a) { return itemsize(real_dtype(a.dtype())) > 4; });
  if (!wide) {
    expect_device_is_reference(c, "webgpu");
    return;
  }
  const OnDevice on("webgpu");
  const ct::FlatFunction f = lookup(c);
  try {
    ct::jit([&f](const Arrays& x) { return f(x); })(make_inputs(c));
    ADD_FAILURE() << "64-bit results must raise";
  } catch (const ct::TypeError& e) {
    EXPECT_NE(std::string(e.what()).find("64-bit"), std::string::npos) << e.what();
  }
}

/// The gradient, compiled, against JAX's.
void check_webgpu_gradient(const Case& c) {
  const OnDevice on("webgpu");
  const Differentiable f(c);
  const Arrays x = f.chosen(), cotangents = output_cotangents(c, f.f(f.inputs));
  const Arrays gradients = ct::jit([&](const Arrays& at) { return pull_back(f, at, cotangents); })(x);
  for (std::size_t k = 0; k < gradients.size(); ++k) {
    const Array expected = golden(c.id + "/grad" + std::to_string(c.grad[k]));
    EXPECT_TRUE(close(gradients[k], expected, c.tolerance(expected.dtype(), true)))
        << "gradient of argument " << c.grad[k];
  }
}

/// vmap over some arguments, each along one of its axes, against a loop over the batch.
void expect_vmap_is_loop(const Case& c, const ct::FlatFunction& f, const std::vector<Arrays>& variants,
                         const std::vector<int>& axes) {
  Arrays batched = variants[0];
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (axes[i] == ct::flat::no_axis) continue;
    Arrays each;
    for (const Arrays& v : variants) each.push_back(v[i]);
    batched[i] = np::stack(each, axes[i]);
  }
  std::vector<Arrays> loop;
  for (const Arrays& v : variants) {
    Arrays x = variants[0];
    for (std::size_t i = 0; i < axes.size(); ++i)
      if (axes[i] != ct::flat::no_axis) x[i] = v[i];
    loop.push_back(f(x));
  }
  const Arrays out = ct::flat::vmap(f, batched, axes, first_axis, paths);
  ASSERT_EQ(out.size(), loop[0].size());
  for (std::size_t k = 0; k < out.size(); ++k) {
    Arrays each;
    for (const Arrays& l : loop) each.push_back(l[k]);
    EXPECT_TRUE(close(out[k], np::stack(each), c.tolerance(out[k].dtype())))
        << "output " << k << ", in_axes " << testing::PrintToString(axes);
  }
}

void check_vmap(const Case& c) {
  const ct::FlatFunction f = lookup(c);
  std::vector<Arrays> variants;
  for (int v = 0; v < 3; ++v) variants.push_back(make_inputs(c, v));
  const std::size_t n = c.arguments.size();
  expect_vmap_is_loop(c, f, variants, std::vector<int>(n, 0));
  for (std::size_t i = 0; i < n; ++i) {  // one argument at a time, along its last axis
    std::vector<int> axes(n, ct::flat::no_axis);
    axes[i] = static_cast<int>(c.arguments[i].shape.size());
    expect_vmap_is_loop(c, f, variants, axes);
  }
}

void check_vjp(const Case& c) {
  const Differentiable f(c);
  const Arrays x = f.chosen(), cotangents = output_cotangents(c, f.f(f.inputs));
  ASSERT_FALSE(cotangents.empty()) << "no float output to differentiate; the row needs \"grad\": []";
  const Arrays gradients = pull_back(f, x, cotangents);
  ASSERT_EQ(gradients.size(), c.grad.size());
  for (std::size_t k = 0; k < gradients.size(); ++k) {
    const Array expected = golden(c.id + "/grad" + std::to_string(c.grad[k]));
    ASSERT_TRUE(expected.defined()) << "no golden; run tools/golden/generate.py";
    EXPECT_TRUE(close(gradients[k], expected, c.tolerance(expected.dtype(), true)))
        << "gradient of argument " << c.grad[k];
  }
}

/// The gradient under jit and under vmap is the gradient.
void check_transformed_vjp(const Case& c) {
  const Differentiable f(c);
  const Arrays x = f.chosen(), cotangents = output_cotangents(c, f.f(f.inputs));
  ASSERT_FALSE(cotangents.empty()) << "no float output to differentiate; the row needs \"grad\": []";
  const auto gradient = [&](const Arrays& at) { return pull_back(f, at, cotangents); };
  const Arrays expected = gradient(x);
  expect_close(ct::jit(gradient)(x), expected, c, true);
  std::vector<Arrays> loop;
  Arrays batched(x.size());
  for (int v = 0; v < 2; ++v) {
    const Arrays at = Differentiable(c, v).chosen();
    loop.push_back(gradient(at));
    for (std::size_t k = 0; k < at.size(); ++k) {
      const Array row = np::expand_dims(at[k], 0);
      batched[k] = v ? np::concatenate({batched[k], row}) : row;
    }
  }
  const Arrays out = ct::flat::vmap([&](Args at) { return gradient(Arrays(at.begin(), at.end())); }, batched,
                                    std::vector<int>(x.size(), 0), first_axis, paths);
  ASSERT_EQ(out.size(), expected.size());
  for (std::size_t k = 0; k < out.size(); ++k) {
    const Tolerance t = c.tolerance(out[k].dtype(), true);
    EXPECT_TRUE(close(out[k], np::stack({loop[0][k], loop[1][k]}), t)) << "vmapped gradient " << k;
  }
}

/// Forward and reverse mode are transposes of each other: <w, J t> = <Jᵀ w, t>; linearize agrees with jvp.
void check_jvp(const Case& c) {
  const Differentiable f(c);
  const Arrays x = f.chosen(), cotangents = output_cotangents(c, f.f(f.inputs)), tangents = tangents_like(c, x);
  ASSERT_FALSE(cotangents.empty()) << "no float output to differentiate; the row needs \"grad\": []";
  const auto [primals, forward] = ct::flat::jvp(f, x, tangents, paths);
  expect_close(primals, f(x), c, false);
  const auto [again, push] = ct::flat::linearize(f, x, paths);
  expect_close(push.apply(tangents, paths), forward, c, true);
  for (const Array& t : forward)
    for (double v : as_doubles(t))
      ASSERT_TRUE(std::isfinite(v)) << "the sample is at a pole; the row needs \"grad\": []";
  const auto [left, left_scale] = inner_product(cotangents, forward);
  const auto [right, right_scale] = inner_product(pull_back(f, x, cotangents), tangents);
  double epsilon = 1e-12;
  for (const Arrays* arrays : {&primals, &x})
    for (const Array& a : *arrays)
      epsilon = std::max(epsilon, real_dtype(a.dtype()) == DType::f64   ? 1e-12
                                  : real_dtype(a.dtype()) == DType::f32 ? 1e-5
                                                                        : 1e-2);
  EXPECT_NEAR(left, right, epsilon * (1 + 10 * std::max(left_scale, right_scale)));
}

/// Forward mode along a direction against differences of the function itself (five points, f64).
void check_finite_differences(const Case& c) {
  const Differentiable f(c);
  const Arrays x = f.chosen();
  const Arrays cotangents = output_cotangents(c, f.f(f.inputs));
  for (const Array& w : cotangents)
    ASSERT_EQ(real_dtype(w.dtype()), DType::f64)
        << "f32 outputs are too coarse for finite differences; the row needs \"fd\": false";
  for (std::size_t k = 0; k < x.size(); ++k) {
    if (x[k].size() == 0) continue;
    const Array direction = weights(c.id, tangent_weights + c.grad[k], x[k].shape(), x[k].dtype());
    const double h = 1e-5 * std::max(1e-4, np::max(np::abs(x[k])).item<double>());
    const auto value = [&](double step) {
      Arrays at = x;
      at[k] = x[k] + step * direction;
      return inner_product(f(at), cotangents).first;
    };
    Arrays tangents;
    for (std::size_t j = 0; j < x.size(); ++j) tangents.push_back(j == k ? direction : np::zeros_like(x[j]));
    const auto [found, scale] = inner_product(ct::flat::jvp(f, x, tangents, paths).second, cotangents);
    const double expected = (8 * (value(h) - value(-h)) - (value(2 * h) - value(-2 * h))) / (12 * h);
    EXPECT_NEAR(found, expected, 5e-6 * (scale + 1e-3) + 1e-9) << "argument " << c.grad[k];
  }
}

bool always(const Case&) { return true; }
bool traceable(const Case& c) { return !c.eager; }
bool batchable(const Case& c) { return !c.eager && !c.arguments.empty(); }
bool has_gradient(const Case& c) { return !c.grad.empty(); }
/// What a device without 64-bit types can hold.
bool narrow(const Case& c) {
  return std::none_of(c.arguments.begin(), c.arguments.end(),
                      [](const auto& a) { return itemsize(real_dtype(a.dtype)) > 4; });
}
bool narrow_and_traceable(const Case& c) { return traceable(c) && narrow(c); }
bool narrow_and_differentiable(const Case& c) {
  return has_gradient(c) && narrow_and_traceable(c) && c.id.find("dtype=f64") == std::string::npos;
}
bool all_f64(const Case& c) {
  return c.finite_differences && !c.grad.empty() && std::all_of(c.grad.begin(), c.grad.end(), [&](std::size_t i) {
           return real_dtype(c.arguments[i].dtype) == DType::f64;
         });
}

}  // namespace

const std::vector<Check>& all_checks() {
  static const std::vector<Check> checks = {
      {"Values", always, check_values},
      {"Jit", traceable, check_jit},
      {"Native", traceable, check_native},
      {"Toy", traceable, check_toy},
      {"Vmap", batchable, check_vmap},
      {"Vjp", has_gradient, check_vjp},
      {"Jvp", has_gradient, check_jvp},
      {"TransformedVjp", has_gradient, check_transformed_vjp},
      {"FiniteDifferences", all_f64, check_finite_differences},
      {"WebGpu", narrow_and_traceable, check_webgpu},
      {"WebGpuVjp", narrow_and_differentiable, check_webgpu_gradient},
  };
  return checks;
}

void load_goldens() {
  for (const auto& file : std::filesystem::directory_iterator(COTAN_SOURCE_DIR "/tests/golden/cases"))
    goldens.merge(ct::load_npz(file.path()));
}
void drop_goldens() { goldens.clear(); }

}  // namespace cases
