// What docs/gotchas.md says, as a program that the test suite runs.
#include <cmath>
#include <cotan/cotan.hpp>
#include <cstdlib>
#include <iostream>

namespace ct = cotan;
namespace np = cotan::numpy;
namespace lax = cotan::lax;

namespace {

void check(bool ok, const char* what, int line) {
  if (ok) return;
  std::cerr << "gotchas.cpp:" << line << ": not true: " << what << "\n";
  std::exit(1);
}
#define CHECK(...) check(static_cast<bool>(__VA_ARGS__), #__VA_ARGS__, __LINE__)

template <class Error, class F>
bool raises(F f) {
  try {
    f();
  } catch (const Error&) {
    return true;
  }
  return false;
}

void tracing() {
  int traced = 0;
  const auto f = ct::jit([&](ct::Array x) {
    ++traced;
    return x + 1.0;
  });
  f(np::zeros({2}));
  f(np::ones({2}));
  CHECK(traced == 1);
  f(np::ones({3}));
  CHECK(traced == 2);

  // [captured]
  ct::Array rate = 0.1;
  const auto step = ct::jit([&](ct::Array x) { return x * rate; });
  step(np::ones({}));
  rate = 0.2;
  const double still = step(np::ones({})).item<double>();  // 0.1: the program has the rate it was traced with
  // [/captured]
  CHECK(std::abs(still - 0.1) < 1e-6);

  int times = 0;
  const auto with_number = ct::jit([&](ct::Array x, int n) {
    ++times;
    return x * n;
  });
  with_number(np::ones({}), 1);
  with_number(np::ones({}), 2);
  CHECK(times == 2);
  const auto with_array = ct::jit([&](ct::Array x, ct::Array n) {
    ++times;
    return x * n;
  });
  with_array(np::ones({}), 1);
  with_array(np::ones({}), 2);
  CHECK(times == 3);

  traced = 0;
  for (int i = 0; i < 3; ++i)
    ct::jit([&](ct::Array x) {
      ++traced;
      return x;
    })(np::ones({}));
  CHECK(traced == 3);

  CHECK(raises<ct::ConcretizationError>([] { ct::jit([](ct::Array x) { return np::nonzero(x)[0]; })(np::ones({2})); }));
  CHECK(raises<ct::ConcretizationError>(
      [] { ct::jit([](ct::Array x) { return x.item<float>() > 0 ? x : -x; })(np::ones({})); }));
  ct::Array leaked;
  ct::jit([&](ct::Array x) { return leaked = x; })(np::ones({}));
  CHECK(raises<ct::LeakedTracerError>([&] { np::sin(leaked); }));
}

void numbers() {
  CHECK(np::array({0.1, 0.2}).dtype() == ct::f32 && np::array({1, 2}).dtype() == ct::i32);
  CHECK(np::array({0.1}, ct::f64).item<double>() == 0.1 && np::array({0.1}).item<double>() != 0.1);
  CHECK((np::array({1}) + np::array({1}, ct::u32)).dtype() == ct::i64);
  CHECK((np::array({1}) / np::array({2})).dtype() == ct::f32);
  CHECK((np::array({6}) ^ 3).item<int>() == 5);
  CHECK(np::array_equal(np::arange(3), np::arange(4)).item<bool>() == false);
  CHECK(raises<ct::ShapeError>([] { return static_cast<bool>(np::arange(3) == np::arange(3)); }));
  CHECK(np::sum(np::array({200, 200}, ct::u8)).dtype() == ct::u32);
}

void indices() {
  const ct::Array x = np::arange(5).astype(ct::f32);
  CHECK(raises<ct::IndexError>([&] { x[7]; }));
  CHECK(x[np::array({7})].item<float>() == 4.f);
  CHECK(std::isnan(np::take(x, np::array({7})).item<float>()));
  CHECK(np::array_equal(x.at(np::array({7})).set(9.0), x).item<bool>());
  CHECK(raises<ct::TypeError>([] { return np::arange(3).at(0).add(0.5); }));
  CHECK(raises<ct::ConcretizationError>([&] { ct::jit([](ct::Array a) { return a[a > 1.0]; })(x); }));
}

void derivatives() {
  // [where]
  const auto bad = [](ct::Array x) { return np::where(x > 0, np::sqrt(x), 0.0); };
  const auto good = [](ct::Array x) {
    const ct::Array safe = np::where(x > 0, x, 1.0);  // what sqrt sees has a derivative everywhere
    return np::where(x > 0, np::sqrt(safe), 0.0);
  };
  // [/where]
  CHECK(std::isnan(ct::grad(bad)(np::zeros({})).item<float>()));
  CHECK(ct::grad(good)(np::zeros({})).item<float>() == 0.f);

  CHECK(raises<ct::TypeError>([] { ct::grad([](ct::Array i) { return i; })(np::array({1})[0]); }));
  const auto loop = [](ct::Array x) {
    return lax::while_loop([](ct::Array v) { return v < 10.0; }, [](ct::Array v) { return v * 2.0; }, x);
  };
  CHECK(raises<ct::TransformError>([&] { ct::grad(loop)(np::ones({})); }));
  const auto by_array = [](ct::Array x, ct::Array n) {
    return lax::fori_loop(0, n, [](ct::Array, ct::Array v) { return v * 2.0; }, x);
  };
  CHECK(raises<ct::TransformError>([&] { ct::jit(ct::grad(by_array))(np::ones({}), np::array({3})[0]); }));
  const auto counted = [](ct::Array x) {
    return lax::fori_loop(0, 3, [](ct::Array, ct::Array v) { return v * 2.0; }, x);
  };
  CHECK(ct::grad(counted)(np::ones({})).item<float>() == 8.f);
}

void memory_and_keys() {
  const auto f = ct::jit([](ct::Array x) { return x + 1.0; }, {.donate = {0}});
  const ct::Array x = np::ones({1000});
  f(x);
  CHECK(raises<ct::Error>([&] { x.to_vector<float>(); }));
  const ct::Array key = ct::random::key(0);
  CHECK(np::array_equal(ct::random::normal(key, {3}), ct::random::normal(key, {3})).item<bool>());
}

}  // namespace

int main() {
  tracing();
  numbers();
  indices();
  derivatives();
  memory_and_keys();
  std::cout << "all of docs/gotchas.md is as it says\n";
}
