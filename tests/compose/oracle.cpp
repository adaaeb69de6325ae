#include "compose/oracle.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace compose {

Hosts to_host(const Arrays& arrays) {
  Hosts out;
  for (const Array& a : arrays) out.push_back({a.shape(), a.to_vector<double>()});
  return out;
}
Arrays to_arrays(const Hosts& hosts) {
  Arrays out;
  for (const Host& h : hosts) out.push_back(Array::from_host(h.values, h.shape));
  return out;
}
std::int64_t elements(const Shape& shape) {
  std::int64_t n = 1;
  for (std::int64_t d : shape) n *= d;
  return n;
}

namespace {

/// Elements before, along and after an axis.
struct Split {
  std::int64_t before = 1, along = 1, after = 1;
};
Split split_at(const Shape& shape, int axis) {
  Split s;
  for (int i = 0; i < static_cast<int>(shape.size()); ++i) {
    const std::int64_t d = shape[static_cast<std::size_t>(i)];
    (i < axis ? s.before : i == axis ? s.along : s.after) *= d;
  }
  return s;
}

}  // namespace

Host slice_of(const Host& a, int axis, std::int64_t index) {
  if (axis < 0) axis += static_cast<int>(a.shape.size());
  const Split s = split_at(a.shape, axis);
  Host out{a.shape, {}};
  out.shape.erase(out.shape.begin() + axis);
  for (std::int64_t b = 0; b < s.before; ++b)
    for (std::int64_t k = 0; k < s.after; ++k)
      out.values.push_back(a.values[static_cast<std::size_t>((b * s.along + index) * s.after + k)]);
  return out;
}

Host stacked(const std::vector<Host>& parts, int axis) {
  Host out{parts[0].shape, {}};
  if (axis < 0) axis += static_cast<int>(out.shape.size()) + 1;
  out.shape.insert(out.shape.begin() + axis, static_cast<std::int64_t>(parts.size()));
  const Split s = split_at(out.shape, axis);
  for (std::int64_t b = 0; b < s.before; ++b)
    for (const Host& part : parts)
      for (std::int64_t k = 0; k < s.after; ++k)
        out.values.push_back(part.values[static_cast<std::size_t>(b * s.after + k)]);
  return out;
}

Trust& trust() {
  static thread_local Trust t;
  return t;
}

namespace {

Hosts moved(const Hosts& x, const Hosts& t, double h) {
  Hosts out = x;
  for (std::size_t i = 0; i < x.size(); ++i)
    for (std::size_t k = 0; k < x[i].values.size(); ++k) out[i].values[k] += h * t[i].values[k];
  return out;
}
/// a * x + b * y.
Hosts combined(double a, const Hosts& x, double b, const Hosts& y) {
  Hosts out = x;
  for (std::size_t i = 0; i < x.size(); ++i)
    for (std::size_t k = 0; k < x[i].values.size(); ++k) out[i].values[k] = a * x[i].values[k] + b * y[i].values[k];
  return out;
}

}  // namespace

// Three central differences with steps h, h/2, h/4, extrapolated twice: the error is of order h^6, about
// 1e-10 for functions whose Taylor coefficients are near one, and rounding adds about 1e-13. Steps are powers
// of two relative to the tangent, so that little is lost in x ± h t.
Hosts difference(const HostFunction& f, const Hosts& x, const Hosts& t) {
  double size = 0;
  for (const Host& leaf : t)
    for (double v : leaf.values) size = std::max(size, std::abs(v));
  const double first_step = 1.0 / 32 / (size > 0 ? size : 1);
  std::array<Hosts, 3> row;
  for (int level = 0; level < 3; ++level) {
    const double h = std::ldexp(first_step, -level);
    row[static_cast<std::size_t>(level)] = combined(0.5 / h, f(moved(x, t, h)), -0.5 / h, f(moved(x, t, -h)));
  }
  const Hosts coarse = combined(4.0 / 3, row[1], -1.0 / 3, row[0]), fine = combined(4.0 / 3, row[2], -1.0 / 3, row[1]);
  Hosts out = combined(16.0 / 15, fine, -1.0 / 15, coarse);
  for (std::size_t i = 0; i < out.size(); ++i)
    for (std::size_t k = 0; k < out[i].values.size(); ++k) {
      const double error = std::abs(out[i].values[k] - fine[i].values[k]) / (1 + std::abs(out[i].values[k]));
      trust().error = std::isnan(error) ? 1 : std::max(trust().error, error);
    }
  return out;
}

std::vector<std::vector<Hosts>> differences(const HostFunction& f, const Hosts& x) {
  Hosts t = x;
  for (Host& leaf : t) std::fill(leaf.values.begin(), leaf.values.end(), 0.0);
  std::vector<std::vector<Hosts>> out(x.size());
  for (std::size_t i = 0; i < x.size(); ++i)
    for (double& element : t[i].values) {
      element = 1;
      out[i].push_back(difference(f, x, t));
      element = 0;
    }
  return out;
}

}  // namespace compose
