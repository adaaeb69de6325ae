// Every sample of the public contract (DESIGN §3) that has to do with arrays and transforms, compiled and
// checked.
#include <cmath>
#include <cotan/cotan.hpp>
#include <cstdlib>
#include <iostream>
#include <sstream>

namespace ct = cotan;
namespace np = cotan::numpy;
namespace lax = cotan::lax;

namespace {

void check(bool ok, const char* what, int line) {
  if (ok) return;
  std::cerr << "contract.cpp:" << line << ": not true: " << what << "\n";
  std::exit(1);
}
#define CHECK(condition) check(static_cast<bool>(condition), #condition, __LINE__)

bool close(const ct::Array& a, const ct::Array& b) { return np::allclose(a, b, 1e-5, 1e-6).item<bool>(); }

void arrays() {
  ct::Array a = np::array({{1.f, 2.f}, {3.f, 4.f}});
  ct::Array d = np::array({0.1, 0.2}, ct::f64);
  ct::Array b = np::arange(6, ct::f64).reshape({2, 3});
  std::vector<float> host{1, 2, 3, 4, 5, 6};
  ct::Array h = ct::Array::from_host(std::span<const float>(host), {2, 3});
  CHECK(a.dtype() == ct::f32 && d.dtype() == ct::f64 && d.to_vector<double>()[0] == 0.1);
  CHECK(b.dtype() == ct::f64 && h.dtype() == ct::f32);
  float s = np::sum(a).item<float>();
  std::vector<float> v = a.to_vector<float>();
  CHECK(s == 10.f && v.size() == 4);
  CHECK(a.shape() == ct::Shape({2, 2}) && a.ndim() == 2 && a.size() == 4);
  CHECK(a.device() == "native" && a.astype(ct::f64).dtype() == ct::f64);
  CHECK(a.T().to_vector<float>()[1] == 3.f);
  std::ostringstream out;
  out << a;
  CHECK(out.str() == "[[1. 2.]\n [3. 4.]]");

  const ct::Array row = a[0], m = a > 1.5;
  CHECK(close(a + 1.5, np::array({{2.5, 3.5}, {4.5, 5.5}})) && close(-a, 0 - a));
  CHECK(close(a * row, np::array({{1.0, 4.0}, {3.0, 8.0}})) && close(a / row, np::array({{1.0, 1.0}, {3.0, 2.0}})));
  CHECK(np::sum(a < row).item<int>() == 0 && np::sum(m & m).item<int>() == 3 && np::sum(~m).item<int>() == 1);

  const ct::Array t = np::arange(120, ct::f32).reshape({2, 3, 4, 5}), idx = np::array({0, 2});
  CHECK(t[0].shape() == ct::Shape({3, 4, 5}));
  CHECK(t(1, ct::all, ct::range(0, 4, 2), ct::newaxis, ct::ellipsis, idx).shape() ==
        ct::Shape({2, 3, 2, 1}));  // as in NumPy: separated index arrays go first
  CHECK(a.at(1, ct::all).set(row).to_vector<float>()[3] == 2.f);
  CHECK(row.at(np::array({0, 0})).add(row).to_vector<float>()[0] == 4.f);
}

void transforms() {
  const ct::Array a = np::array({{1.f, 2.f}, {3.f, 4.f}});
  auto f = [](ct::Array x) { return np::sum(np::sin(x) * x); };
  auto df = [](ct::Array x) { return np::cos(x) * x + np::sin(x); };
  CHECK(close(ct::jit(f)(a), f(a)));
  auto scaled = [](ct::Array x, int n) { return x * n; };
  CHECK(close(ct::jit(scaled, {.static_args = {1}, .donate = {0}})(a + 0, 3), a * 3));
  CHECK(close(ct::grad(f)(a), df(a)));
  auto g = [](ct::Array x, ct::Array y) { return np::sum(x * x * y); };
  const ct::Array x = a, y = a + 1;
  CHECK(close(ct::grad<1>(g)(x, y), x * x));
  const auto both = ct::grad<0, 1>(g)(x, y);
  CHECK(close(std::get<0>(both), 2 * x * y) && close(std::get<1>(both), x * x));

  struct Params {
    ct::Array w, b;
  };
  auto loss = [](const Params& p, const ct::Array& batch) {
    return np::mean(np::square(np::matmul(batch, p.w) + p.b));
  };
  const Params params{np::array({1.f, -1.f}), np::array(0.5f)};
  auto [value, grads] = ct::value_and_grad(loss)(params, a);
  CHECK(close(value, 0.25) && close(grads.b, -1.0) && grads.w.shape() == params.w.shape());
  auto with_aux = [&](const Params& p, const ct::Array& batch) { return std::pair{loss(p, batch), np::sum(batch)}; };
  auto [value_and_aux, grads2] = ct::value_and_grad(with_aux)(params, a);
  CHECK(close(value_and_aux.second, 10.0) && close(grads2.w, grads.w));

  const ct::Array tx = np::ones({2, 2});
  auto [y1, ty] = ct::jvp(f, std::tuple{x}, std::tuple{tx});
  CHECK(close(y1, f(x)) && close(ty, np::sum(df(x))));
  auto [y2, pullback] = ct::vjp(f, x);
  CHECK(close(std::get<0>(pullback(ct::Array(2.f))), 2 * df(x)) && close(y2, y1));
  auto [y3, lin] = ct::linearize(f, x);
  CHECK(close(lin(tx), ty) && close(y3, y1));

  CHECK(close(ct::vmap(f)(a), np::sum(np::sin(a) * a, 1)));
  auto outer = [](ct::Array p, ct::Array q) { return p * q; };
  CHECK(ct::vmap(outer, {.in_axes = {0, ct::none}, .out_axes = 1})(np::ones({3, 2}), np::ones({2})).shape() ==
        ct::Shape({2, 3}));
  CHECK(close(ct::jacfwd([](ct::Array v) { return np::sin(v); })(a[0]), np::diag(np::cos(a[0]))));
  CHECK(close(ct::jacrev([](ct::Array v) { return np::sin(v); })(a[0]), np::diag(np::cos(a[0]))));
  CHECK(close(ct::hessian(f)(a[0]), np::diag(2 * np::cos(a[0]) - np::sin(a[0]) * a[0])));
  CHECK(ct::make_jaxpr(f)(x).str().find("sin") != std::string::npos);
  CHECK(ct::eval_shape(f)(x).shape().empty());
  auto saved = ct::checkpoint(f, {.policy = ct::policy::dots_saveable});
  CHECK(close(ct::grad(saved)(x), df(x)));
  CHECK(close(ct::grad([](ct::Array v) { return np::sum(ct::stop_gradient(v) * v); })(x), x));

  auto rule = [](auto primals, auto tangents) {
    return std::pair{np::exp(std::get<0>(primals)), 3.0 * std::get<0>(tangents)};
  };
  auto exp3 = ct::custom_jvp([](ct::Array v) { return np::exp(v); }, rule);
  CHECK(close(ct::grad([&](ct::Array v) { return np::sum(exp3(v)); })(x), np::full({2, 2}, 3.0)));
  auto forward = [](ct::Array v) { return std::pair{np::exp(v), v}; };
  auto backward = [](ct::Array residual, ct::Array cotangent) { return cotangent * residual; };
  auto expx = ct::custom_vjp([](ct::Array v) { return np::exp(v); }, forward, backward);
  CHECK(close(ct::grad([&](ct::Array v) { return np::sum(expx(v)); })(x), x));
}

void devices_and_errors() {
  CHECK(!ct::devices().empty());
  ct::default_device("reference");
  const ct::Array x = ct::device_put(np::ones({2}), "reference");
  CHECK(ct::block_until_ready(x).size() == 2);
  CHECK(ct::is_ready(x));
  ct::copy_to_host_async(x);
  ct::Profile profile;
  {
    ct::ProfileSpan span("mine");
  }
  profile.stop();
  CHECK(profile.events().size() == 1 && profile.text().find("mine") != std::string::npos);
  try {
    np::ones({2}) + np::ones({3});
    CHECK(false);
  } catch (const ct::Error& error) {
    const std::string message = error.what();
    CHECK(message.starts_with(
        "[add] shapes (2,) and (3,) do not broadcast; aligned from the end, each axis must be equal or 1."));
    CHECK(message.find("contract.cpp:") != std::string::npos);  // the user's line
  }
}

void random_numbers() {
  // jax.random.normal(jax.random.key(0), (2,)) of JAX 0.10
  const ct::Array n = ct::random::normal(ct::random::key(0), {2});
  CHECK(close(n, np::array({1.6226422, 2.0252647})));
}

}  // namespace

int main() {
  arrays();
  transforms();
  devices_and_errors();
  random_numbers();
  std::cout << "the contract holds\n";
}
