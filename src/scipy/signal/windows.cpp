// Windows by name, as doubles: those of scipy.signal.get_window, whose period is their length.
#include <cmath>
#include <cotan/numpy.hpp>
#include <cotan/scipy/signal.hpp>
#include <map>

#include "core/error.hpp"

namespace cotan::scipy::signal {

namespace {

/// The value at t from -1 to 1, n samples apart.
using Shape1d = std::function<double(double t, double n)>;

/// a0 + a1 cos(pi t) + a2 cos(2 pi t) + …
Shape1d cosines(std::vector<double> a) {
  return [a](double t, double) {
    double sum = 0;
    for (std::size_t k = 0; k < a.size(); ++k) sum += a[k] * std::cos(numpy::pi * static_cast<double>(k) * t);
    return sum;
  };
}
double parzen(double t, double n) {
  const double m = std::abs(t) * (n - 1) / n;  // its edge is half a sample further out
  return m <= (n - 1) / (2 * n) ? 1 - 6 * m * m * (1 - m) : 2 * std::pow(1 - m, 3);
}
double bohman(double t, double) {
  const double m = std::abs(t);
  return m >= 1 ? 0.0 : (1 - m) * std::cos(numpy::pi * m) + std::sin(numpy::pi * m) / numpy::pi;
}
double triangle(double t, double n) {
  const double points = std::fmod(n, 2) == 0 ? n : n + 1;
  return 1 - std::abs(t) * (n - 1) / points;
}
double tukey(double t, double taper) {
  const double inside = 1 - taper;
  return taper <= 0 || std::abs(t) <= inside ? 1.0 : 0.5 * (1 + std::cos(numpy::pi * (std::abs(t) - inside) / taper));
}

const std::map<std::string_view, Shape1d>& plain_windows() {
  static const std::map<std::string_view, Shape1d> table{
      {"boxcar", cosines({1.0})},
      {"hann", cosines({0.5, 0.5})},
      {"hamming", cosines({0.54, 0.46})},
      {"blackman", cosines({0.42, 0.5, 0.08})},
      {"nuttall", cosines({0.3635819, 0.4891775, 0.1365995, 0.0106411})},
      {"blackmanharris", cosines({0.35875, 0.48829, 0.14128, 0.01168})},
      {"flattop", cosines({0.21557895, 0.41663158, 0.277263158, 0.083578947, 0.006947368})},
      {"barthann", [](double t, double) { return 0.62 - 0.48 * std::abs(0.5 * t) + 0.38 * std::cos(numpy::pi * t); }},
      {"bartlett", [](double t, double) { return 1 - std::abs(t); }},
      {"cosine", [](double t, double n) { return std::cos(0.5 * numpy::pi * t * (n - 1) / n); }},
      {"triang", triangle},
      {"parzen", parzen},
      {"bohman", bohman}};
  return table;
}

/// Those that take a number.
std::optional<Shape1d> window_with(std::string_view name, double p) {
  if (name == "kaiser")
    return [p](double t, double) {
      return std::cyl_bessel_i(0.0, p * std::sqrt(std::max(0.0, 1 - t * t))) / std::cyl_bessel_i(0.0, p);
    };
  if (name == "gaussian")
    return [p](double t, double n) { return std::exp(-0.5 * std::pow(0.5 * t * (n - 1) / p, 2)); };
  if (name == "tukey") return [p](double t, double) { return tukey(t, p); };
  if (name == "general_hamming") return cosines({p, 1 - p});
  return std::nullopt;
}

}  // namespace

std::vector<double> Window::values(std::int64_t n) const {
  std::optional<Shape1d> shape;
  if (parameter_)
    shape = window_with(name_, *parameter_);
  else if (const auto found = plain_windows().find(name_); found != plain_windows().end())
    shape = found->second;
  if (!shape)
    raise<ValueError>("[window] there is no window '{}' with {}; use hann, say, or give a vector of weights.", name_,
                      parameter_ ? "a parameter" : "no parameter");
  std::vector<double> out;
  const double points = static_cast<double>(n + 1);  // the last one, of the next period, is left out
  for (std::int64_t i = 0; i < n; ++i)
    out.push_back(n == 1 ? 1.0 : (*shape)(2 * static_cast<double>(i) / static_cast<double>(n) - 1, points));
  return out;
}

}  // namespace cotan::scipy::signal
