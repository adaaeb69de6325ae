// The program of the README: an ensemble of small networks, fitted at once by one compiled program. `make docs` runs it
// with the name of the picture that it writes, ctest without.
#include <cassert>
#include <cmath>
#include <cotan/cotan.hpp>
#include <fstream>
#include <iostream>
#include <sstream>

// clang-format off
// [readme]
namespace ct = cotan; namespace np = cotan::numpy; using ct::Array;

struct Net { Array w, b, v; };                                        // a plain struct is a pytree

Array predict(const Net& n, Array x) { return np::matmul(np::tanh(x * n.w + n.b), n.v); }

Array loss(const Net& n, Array x, Array y) { return np::mean(np::square(predict(n, x) - y)); }

Net fit(const Net& start, Array x, Array y) {                         // gradient descent, a loop
  return ct::lax::fori_loop(0, 20000, [&](Array, const Net& n) {
    return ct::tree::map([](Array p, Array g) { return p - 0.02 * g; }, n, ct::grad(loss)(n, x, y));
  }, start);
}
const auto fit_all = ct::jit(ct::vmap(fit, {.in_axes = {0, ct::none, ct::none}}));    // many starts
// [/readme]
// clang-format on

namespace {

using Points = std::vector<double>;

/// A path through the points, in the picture's coordinates.
std::string path(const Points& x, const Points& y) {
  std::ostringstream out;
  for (std::size_t i = 0; i < x.size(); ++i)
    out << (i ? " " : "M") << std::round((x[i] + 2.1) * 1700) / 10 << ' ' << std::round((1.9 - y[i]) * 800) / 10;
  return out.str();
}

/// Light and dark as the reader's system has it.
std::string picture(const Points& x, const Points& y, const Points& grid, const std::vector<Points>& curves,
                    const Points& mean) {
  std::ostringstream out;
  out << "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 714 304\" role=\"img\">\n"
         "<title>Twenty networks fitted to noisy points: they agree where points are, and part where there are "
         "none.</title>\n"
         "<style>.one{fill:none;stroke:#0b62c4;stroke-opacity:.28}.mean{fill:none;stroke:#c23b4e;stroke-width:2.2}."
         "point{fill:#3d4650}"
         "@media(prefers-color-scheme:dark){.one{stroke:#78b4ff}.mean{stroke:#ff8a98}.point{fill:#c9d1da}}</style>\n";
  for (const Points& curve : curves) out << "<path class=\"one\" d=\"" << path(grid, curve) << "\"/>\n";
  out << "<path class=\"mean\" d=\"" << path(grid, mean) << "\"/>\n";
  for (std::size_t i = 0; i < x.size(); ++i)
    out << "<circle class=\"point\" r=\"2.6\" cx=\"" << std::round((x[i] + 2.1) * 1700) / 10 << "\" cy=\""
        << std::round((1.9 - y[i]) * 800) / 10 << "\"/>\n";
  out << "</svg>\n";
  return out.str();
}

}  // namespace

int main(int argc, char** argv) {
  // Noisy points of a curve, with a gap.
  const auto keys = ct::random::split(ct::random::key(3), 5);
  const ct::Array left = ct::random::uniform(keys[0], {40, 1}, ct::f32, -1.6, -0.3);
  const ct::Array right = ct::random::uniform(keys[1], {40, 1}, ct::f32, 0.5, 1.5);
  const ct::Array x = np::concatenate({left, right});
  const ct::Array y = np::sin(3.0 * x) + 0.1 * ct::random::normal(keys[2], x.shape());

  // Twenty starts: every leaf has a first axis of 20.
  constexpr int nets = 20, width = 24;
  const ct::Array w = 2.0 * ct::random::normal(keys[3], {nets, 1, width}),
                  v = ct::random::normal(keys[4], {nets, width, 1});
  const Net starts{w, 2.0 * np::roll(w, 5, 2), 0.3 * v};
  const Net found = fit_all(starts, x, y);

  const ct::Array losses = ct::vmap(loss, {.in_axes = {0, ct::none, ct::none}})(found, x, y);
  std::cout << nets << " networks, mean squared errors " << np::min(losses) << " to " << np::max(losses) << "\n";
  assert(np::max(losses).item<double>() < 0.03);
  if (argc < 2) return 0;

  const ct::Array grid = np::linspace(-2.0, 2.0, 121).reshape({121, 1});
  const ct::Array curves = ct::vmap(predict, {.in_axes = {0, ct::none}})(found, grid);
  std::vector<Points> each;
  for (const ct::Array& curve : np::unstack(curves)) each.push_back(curve.to_vector<double>());
  std::ofstream(argv[1]) << picture(x.to_vector<double>(), y.to_vector<double>(), grid.to_vector<double>(), each,
                                    np::mean(curves, 0).to_vector<double>());
}
