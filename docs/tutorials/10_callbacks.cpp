// Tutorial 10: functions on the host that compiled programs call: to look inside, to report, to compute.
#include <cassert>
#include <cotan/cotan.hpp>
#include <iostream>
#include <vector>

namespace ct = cotan;
namespace np = cotan::numpy;
namespace lax = cotan::lax;

int main() {
  // debug::print shows values while a program runs, in the order of the program: in loops every step, in branches where
  // they are taken. Traced code prints nothing by itself: a plain std::cout would run once, while f is traced.
  const auto newton = ct::jit([](ct::Array a) {
    return lax::fori_loop(
        0, 4,
        [&](ct::Array i, ct::Array x) {
          ct::debug::print("step {}: x = {x:.6f}", i, ct::debug::arg("x", x));
          return 0.5 * (x + a / x);
        },
        a);
  });
  const ct::Array root = newton(2.f);
  std::cout << "sqrt(2) = " << root << "\n\n";

  // debug::callback calls a function of yours. Derivatives call it with the values of the function, once.
  std::vector<float> losses;
  const ct::Array x = np::array({1.f, 2.f, 3.f}), y = 2.f * x;
  const auto loss = [&](ct::Array w) {
    const ct::Array value = np::mean(np::square(w * x - y));
    ct::debug::callback([&](ct::Array v) { losses.push_back(v.item<float>()); }, value);
    return value;
  };
  const auto step = ct::jit([&](ct::Array w) { return w - 0.05f * ct::grad(loss)(w); });
  ct::Array w = np::array(0.f);
  for (int i = 0; i < 5; ++i) w = step(w);
  std::cout << "losses";
  for (const float l : losses) std::cout << " " << l;
  std::cout << "\n\n";
  assert(losses.size() == 5 && losses.back() < losses.front());

  // pure_callback computes with code that cotan knows nothing of. Announce the shape of what it returns. It is called
  // where the result is wanted; with a vmap_method also for a batch, and with a custom_jvp rule it has a derivative.
  const auto host_cube = [](ct::Array v) {
    std::vector<float> values = v.to_vector<float>();
    for (float& e : values) e = e * e * e;
    return ct::Array::from_host(values, v.shape());
  };
  const auto cube =
      ct::custom_jvp([=](ct::Array v) { return ct::pure_callback(host_cube, v, {.vmap_method = "broadcast_all"}, v); },
                     [=](auto in, auto tangent) {
                       const ct::Array v = std::get<0>(in);
                       return std::pair{ct::pure_callback(host_cube, v, v), 3.f * v * v * std::get<0>(tangent)};
                     });
  std::cout << "cubes " << ct::jit(ct::vmap(cube))(x) << "\n";
  std::cout << "derivative at 2: " << ct::grad(cube)(2.f) << "\n\n";

  // What a callback throws comes out of the call of the program; nothing after it has run.
  const auto careful = ct::jit([](ct::Array v) {
    ct::debug::callback(
        [](ct::Array lowest) {
          if (lowest.item<float>() < 0) throw std::domain_error("there is a negative number");
        },
        np::min(v));
    return np::sqrt(v);
  });
  try {
    careful(np::array({1.f, -1.f}));
  } catch (const std::domain_error& e) {
    std::cout << "caught: " << e.what() << "\n\n";
  }

  // With jit switched off the same functions run line by line, so that std::cout and debuggers see values.
  const auto off = ct::disable_jit();
  const auto verbose = ct::jit([](ct::Array v) {
    std::cout << "v is " << v << "\n";
    return v * 2.f;
  });
  verbose(np::array(21.f));
}
