// Printing arrays as NumPy does: the fewest digits that tell elements apart (at most 8 after the point),
// aligned columns, lines of at most 75 characters, and the middle of long arrays left out.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <complex>
#include <cotan/array.hpp>
#include <ostream>

#include "core/trace.hpp"
#include "core/typed.hpp"
#include "ops/ops.hpp"

namespace cotan {

namespace {

constexpr std::int64_t summarize_above = 1000, edge_items = 3;
constexpr int line_width = 75, most_decimals = 8;

/// The decimal digits of |x| without a point, and the power of ten of the first: 0.0123 is "123", -2.
struct Decimal {
  std::string digits;
  int exponent = 0;
};
Decimal split_scientific(std::string_view text) {
  Decimal out;
  const auto e = text.find('e');
  for (char c : text.substr(0, e))
    if (c != '.') out.digits += c;
  out.exponent = std::atoi(std::string(text.substr(e + 1)).c_str());
  while (out.digits.size() > 1 && out.digits.back() == '0') out.digits.pop_back();
  return out;
}
/// The fewest digits that read back as the same T.
template <class T>
Decimal shortest(T value) {
  char buffer[64];
  if constexpr (is_half<T>) {
    const float magnitude = std::fabs(static_cast<float>(value));
    for (int precision = 0;; ++precision) {
      const int n = std::snprintf(buffer, sizeof buffer, "%.*e", precision, static_cast<double>(magnitude));
      if (precision == 8 || convert<T>(std::strtod(buffer, nullptr)).bits == T(magnitude).bits)
        return split_scientific({buffer, static_cast<std::size_t>(n)});
    }
  } else {
    const auto end = std::to_chars(buffer, buffer + sizeof buffer, std::fabs(value), std::chars_format::scientific).ptr;
    return split_scientific({buffer, static_cast<std::size_t>(end - buffer)});
  }
}
std::string trim_zeros(std::string text) {
  while (text.back() == '0') text.pop_back();
  return text;
}

/// "12.5" or "3.": shortest digits, cut to `decimals` after the point.
template <class T>
std::string positional(T value, int decimals) {
  const std::string sign = std::signbit(static_cast<Compute<T>>(value)) ? "-" : "";
  const Decimal d = shortest(value);
  const int digits = static_cast<int>(d.digits.size());
  if (digits - 1 - d.exponent > decimals)
    return sign + trim_zeros(fmt::format("{:.{}f}", std::fabs(static_cast<double>(value)), decimals));
  if (d.exponent < 0) return sign + "0." + trim_zeros(std::string(-d.exponent - 1, '0') + d.digits);
  std::string whole = d.digits.substr(0, d.exponent + 1);
  whole.resize(d.exponent + 1, '0');
  return sign + whole + "." + (digits > d.exponent + 1 ? d.digits.substr(d.exponent + 1) : "");
}
/// "1.25e-05" or "1.e+10": shortest digits, cut to `decimals` after the point; or just that many.
template <class T>
std::string scientific(T value, std::size_t decimals, bool exactly) {
  const std::string sign = std::signbit(static_cast<Compute<T>>(value)) ? "-" : "";
  Decimal d = shortest(value);
  if (exactly || d.digits.size() - 1 > decimals)
    d = split_scientific(fmt::format("{:.{}e}", std::fabs(static_cast<double>(value)), decimals));
  if (exactly) d.digits.resize(decimals + 1, '0');
  return fmt::format("{}{}.{}e{}{:02}", sign, d.digits[0], d.digits.substr(1), d.exponent < 0 ? '-' : '+',
                     std::abs(d.exponent));
}
template <class T>
std::string not_finite(T value) {
  const auto v = static_cast<Compute<T>>(value);
  return std::isnan(v) ? "nan" : v < 0 ? "-inf" : "inf";
}

/// One string per element, all of one width.
template <class T>
std::vector<std::string> format_reals(const std::vector<T>& values) {
  double largest = 0, smallest = std::numeric_limits<double>::infinity();
  for (const T& v : values) {
    const double m = std::fabs(static_cast<double>(v));
    if (!std::isfinite(m) || m == 0) continue;
    largest = std::max(largest, m);
    smallest = std::min(smallest, m);
  }
  const bool exponents = largest != 0 && (largest >= 1e8 || smallest < 1e-4 || largest / smallest > 1000);
  // Split every element at its point, then pad both sides.
  std::vector<std::string> head(values.size()), tail(values.size());
  std::size_t left = 0, right = 0, finite = 0, decimals = 0;
  const auto write = [&](std::size_t i, bool exactly) {
    std::string text = exponents ? scientific(values[i], exactly ? decimals : most_decimals, exactly)
                                 : positional(values[i], most_decimals);
    const auto point = text.find('.');
    head[i] = text.substr(0, point);
    tail[i] = text.substr(point + 1);
  };
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!std::isfinite(static_cast<double>(values[i]))) continue;
    ++finite;
    write(i, false);
    decimals = std::max(decimals, std::min(tail[i].find('e'), tail[i].size()));
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (head[i].empty()) continue;
    // Elements with fewer digits are filled up with their own, not with zeros.
    if (exponents) write(i, true);
    left = std::max(left, head[i].size());
    right = std::max(right, tail[i].size());
  }
  std::size_t width = left + 1 + right;
  if (finite == 0) width = 0;
  for (const T& v : values)
    if (!std::isfinite(static_cast<double>(v))) width = std::max(width, not_finite(v).size());
  std::vector<std::string> out(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (head[i].empty()) {
      out[i] = fmt::format("{:>{}}", not_finite(values[i]), width);
    } else {
      tail[i].resize(right, ' ');
      out[i] = fmt::format("{:>{}}.{}", head[i], width - 1 - right, tail[i]);
    }
  }
  return out;
}
/// "1.+2.j": both parts of one width each, and a sign between them.
template <class T>
std::vector<std::string> format_complex(const std::vector<std::complex<T>>& values) {
  std::vector<T> re, im;
  for (const auto& v : values) {
    re.push_back(v.real());
    im.push_back(std::abs(v.imag()));
  }
  std::vector<std::string> out = format_reals(re);
  const std::vector<std::string> sizes = format_reals(im);
  for (std::size_t i = 0; i < out.size(); ++i) {
    std::string part = sizes[i];
    part.insert(part.find_last_not_of(' ') + 1, 1, 'j');
    const bool negative = std::signbit(values[i].imag()) && !std::isnan(values[i].imag());
    out[i] += part.insert(part.find_first_not_of(' '), 1, negative ? '-' : '+');
  }
  return out;
}
template <class T>
std::vector<std::string> format_elements(const std::vector<T>& values) {
  if constexpr (HostComplex<T>) {
    return format_complex(values);
  } else if constexpr (is_real<T>) {
    return format_reals(values);
  } else {
    std::vector<std::string> out;
    std::size_t width = 0;
    for (const T v : values) {
      if constexpr (std::is_same_v<T, bool>)
        out.push_back(v ? "True" : "False");
      else
        out.push_back(fmt::format("{}", v));
      width = std::max(width, out.back().size());
    }
    if constexpr (std::is_same_v<T, bool>) width = 5;
    for (auto& s : out) s = fmt::format("{:>{}}", s, width);
    return out;
  }
}

/// A scalar, with every digit it takes to read it back.
template <class T>
std::string format_scalar(T value) {
  if constexpr (HostComplex<T>) {
    std::string re = format_scalar(value.real()), im = format_scalar(std::abs(value.imag()));
    for (std::string* part : {&re, &im})
      if (part->ends_with(".0")) part->resize(part->size() - 2);
    return fmt::format("({}{}{}j)", re, std::signbit(value.imag()) && !std::isnan(value.imag()) ? '-' : '+', im);
  } else if constexpr (std::is_same_v<T, bool>)
    return value ? "True" : "False";
  else if constexpr (!is_real<T>)
    return fmt::format("{}", value);
  else {
    const double m = std::fabs(static_cast<double>(value));
    if (!std::isfinite(m)) return not_finite(value);
    if (m != 0 && (m < 1e-4 || m >= 1e16)) {
      std::string text = scientific(value, 20, false);
      if (const auto bare = text.find(".e"); bare != std::string::npos) text.erase(bare, 1);
      return text;
    }
    const std::string text = positional(value, 30);
    return text.back() == '.' ? text + "0" : text;
  }
}

/// Lays out brackets and lines over the formatted elements that are shown.
class Brackets {
 public:
  Brackets(const Shape& shape, bool summarized) : shape_(shape), summarized_(summarized) {}

  bool elided(std::size_t axis) const { return summarized_ && shape_[axis] > 2 * edge_items; }
  /// Positions along an axis that are shown.
  std::vector<std::int64_t> shown(std::size_t axis) const {
    std::vector<std::int64_t> out;
    for (std::int64_t i = 0; i < shape_[axis]; ++i)
      if (!elided(axis) || i < edge_items || i >= shape_[axis] - edge_items) out.push_back(i);
    return out;
  }
  std::string write(std::span<const std::string> elements) {
    elements_ = elements;
    next_ = 0;
    return axis(0, " ", line_width);
  }

 private:
  std::string axis(std::size_t depth, const std::string& indent, int width) {
    if (depth == shape_.size()) return elements_[next_++];
    const auto positions = shown(depth);
    const std::size_t left = shape_.size() - depth;
    std::string text, line = indent;
    for (std::size_t k = 0; k < positions.size(); ++k) {
      const bool last = k + 1 == positions.size();
      const bool gap = elided(depth) && k == edge_items;
      if (left == 1) {
        if (gap) extend(text, line, "...", width - 1, indent), line += ' ';
        extend(text, line, axis(depth + 1, indent + ' ', width - 1), width - 1, indent);
        if (!last) line += ' ';
      } else {
        const std::string newlines(left - 1, '\n');
        if (gap) text += indent + "..." + newlines;
        text += indent + axis(depth + 1, indent + ' ', width - 1) + (last ? "" : newlines);
      }
    }
    if (left == 1) text += line;
    return "[" + text.substr(std::min(indent.size(), text.size())) + "]";
  }
  /// Adds a word to the line, or starts a new one where it does not fit.
  static void extend(std::string& text, std::string& line, const std::string& word, int width,
                     const std::string& indent) {
    if (static_cast<int>(line.size() + word.size()) > width && line.size() > indent.size()) {
      while (!line.empty() && line.back() == ' ') line.pop_back();
      text += line + "\n";
      line = indent;
    }
    line += word;
  }

  const Shape& shape_;
  bool summarized_;
  std::span<const std::string> elements_;
  std::size_t next_ = 0;
};

std::string format_array(const Array& a) {
  return dispatch_any(a.dtype(), [&]<class T>() -> std::string {
    const T* values = data<T>(a);
    if (a.ndim() == 0) return format_scalar<T>(values[0]);
    Brackets brackets(a.shape(), a.size() > summarize_above);
    // Only the elements that are shown decide the format.
    const Ints strides = ops::strides_of(a.shape());
    std::vector<std::int64_t> offsets{0};
    for (std::size_t axis = 0; axis < strides.size(); ++axis) {
      std::vector<std::int64_t> longer;
      for (auto o : offsets)
        for (auto i : brackets.shown(axis)) longer.push_back(o + i * strides[axis]);
      offsets = std::move(longer);
    }
    std::vector<T> shown;
    for (auto o : offsets) shown.push_back(values[o]);
    return brackets.write(format_elements(shown));
  });
}

}  // namespace

std::string to_string(const Array& a) {
  if (!a.defined()) return "<empty Array>";
  if (const auto* t = tracer(a)) return t->describe();
  if (!concrete(a)) return a.aval().str();
  if (a.size() == 0) return "[]";
  return format_array(a);
}
std::ostream& operator<<(std::ostream& out, const Array& a) { return out << to_string(a); }

}  // namespace cotan
