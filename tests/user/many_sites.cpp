// Ten places that jit and differentiate different functions of different structs. It exists to be compiled:
// at -O1 it must build in 10 seconds on two cores, so that the headers stay light.
#include <cotan/cotan.hpp>
#include <cstdlib>
#include <iostream>

namespace ct = cotan;
namespace np = cotan::numpy;

struct Line {
  ct::Array slope, offset;
};
struct Layer {
  ct::Array w, b;
};
struct Mlp {
  std::vector<Layer> layers;
  ct::Array scale;
  int heads = 2;
};
struct Kalman {
  ct::Array state, covariance;
};
struct Spring {
  ct::Array position, velocity;
  double stiffness = 2;
};
struct Mixture {
  std::map<std::string, ct::Array> means;
  std::optional<ct::Array> weights;
};

namespace {

int failures = 0;
void expect(const ct::Array& got, double want) {
  if (np::isclose(got, want, 1e-4, 1e-5).item<bool>()) return;
  std::cerr << "got " << got << ", wanted " << want << "\n";
  ++failures;
}

}  // namespace

int main() {
  const ct::Array x = np::array({1.f, 2.f, 3.f});

  const auto line =
      ct::jit(ct::grad([](const Line& l, const ct::Array& at) { return np::sum(l.slope * at + l.offset); }));
  expect(line(Line{np::array(2.f), np::array(1.f)}, x).slope, 6);

  const auto mlp = ct::jit(ct::value_and_grad([](const Mlp& m, const ct::Array& in) {
    ct::Array h = in;
    for (const Layer& l : m.layers) h = np::tanh(np::matmul(h, l.w) + l.b);
    return np::sum(h * m.scale) * m.heads;
  }));
  expect(mlp(Mlp{{{np::zeros({3, 2}), np::zeros({2})}}, np::array(1.f)}, x).second.layers[0].b[0], 2);

  const auto kalman = ct::jit(ct::grad([](const Kalman& k) { return np::sum(np::matmul(k.covariance, k.state)); }));
  expect(np::sum(kalman(Kalman{x, np::eye(3)}).state), 3);

  const auto spring = ct::jit(ct::grad([](const Spring& s) {
    return np::sum(0.5 * s.stiffness * np::square(s.position) + 0.5 * np::square(s.velocity));
  }));
  expect(np::sum(spring(Spring{x, x}).position), 12);

  const auto mixture = ct::jit(ct::grad([](const Mixture& m, const ct::Array& data) {
    ct::Array total = np::sum(data) * 0;
    for (const auto& [name, mean] : m.means) total = total + np::sum(np::square(data - mean));
    return m.weights ? total * np::sum(*m.weights) : total;
  }));
  expect(mixture(Mixture{{{"a", np::array(0.f)}, {"b", np::array(1.f)}}, np::array(1.f)}, x).means.at("b"), -6);

  const auto both = ct::jit(ct::grad<0, 1>([](const ct::Array& p, const ct::Array& q) { return np::sum(p * q); }));
  expect(np::sum(std::get<1>(both(x, x))), 6);

  const auto power =
      ct::jit(ct::grad([](const ct::Array& p, int n) { return np::sum(np::power(p, n)); }), {.static_args = {1}});
  expect(np::sum(power(x, 2)), 12);

  const auto rows = ct::jit(ct::vmap(ct::grad([](const ct::Array& p) { return np::sum(np::sin(p)); })));
  expect(rows(np::zeros({2, 3}))(1, 1), 1);

  const auto curved = ct::jit(ct::hessian([](const ct::Array& p) { return np::sum(p * p * p); }));
  expect(curved(x)(2, 2), 18);

  const auto aux = ct::jit(ct::grad(
      [](const std::pair<ct::Array, ct::Array>& p) { return std::pair{np::sum(p.first), Line{p.second, p.first}}; }));
  expect(np::sum(aux(std::pair{x, x}).second.slope), 6);

  std::cout << (failures ? "failed\n" : "ten sites\n");
  return failures;
}
