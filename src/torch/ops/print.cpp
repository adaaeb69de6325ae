// How a tensor prints: as PyTorch's do, with four digits, in lines of 80, and the middle left out of more than 1000
// elements.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cotan/torch/tensor.hpp>
#include <ostream>
#include <sstream>

#include "torch/graph/op.hpp"
#include "torch/graph/tensor_impl.hpp"

namespace cotan::torch {

using namespace detail;

namespace {

constexpr std::int64_t edge = 3, most = 1000;
constexpr std::size_t line_width = 80;

/// The elements as text, all of one width.
class Elements {
 public:
  Elements(const Tensor& x, const std::vector<std::size_t>& shown) : dtype_(x.dtype()) {
    if (is_floating(dtype_)) {
      reals_ = x.to_vector<double>({});
      choose_mode(shown);
      return;
    }
    whole_ = x.to_vector<std::int64_t>({});
    for (const std::size_t i : shown) width_ = std::max(width_, plain(i).size());
  }
  std::size_t width() const { return width_; }
  std::string text(std::size_t i) const {
    const std::string out = plain(i);
    return std::string(width_ > out.size() ? width_ - out.size() : 0, ' ') + out;
  }

 private:
  void choose_mode(const std::vector<std::size_t>& shown) {
    double least = 0, largest = 0;
    std::vector<std::size_t> numbers;
    for (const std::size_t i : shown) {
      const double size = std::abs(reals_[i]);
      if (!std::isfinite(size) || size == 0) continue;
      least = numbers.empty() ? size : std::min(least, size);
      largest = std::max(largest, size);
      integral_ &= reals_[i] == std::ceil(reals_[i]);
      numbers.push_back(i);
    }
    if (numbers.empty()) return;
    scientific_ = largest / least > 1000 || largest > 1e8 || (!integral_ && least < 1e-4);
    for (const std::size_t i : numbers) width_ = std::max(width_, plain(i).size());
  }
  std::string plain(std::size_t i) const {
    if (dtype_ == DType::bool_) return whole_[i] ? "True" : "False";
    if (!is_floating(dtype_)) return fmt::format("{}", whole_[i]);
    const double v = reals_[i];
    if (std::isnan(v)) return "nan";
    if (scientific_) return fmt::format("{:.4e}", v);
    if (integral_) return fmt::format("{:.0f}{}", v, std::isinf(v) ? "" : ".");
    return fmt::format("{:.4f}", v);
  }

  DType dtype_;
  std::vector<double> reals_;
  std::vector<std::int64_t> whole_;
  bool integral_ = true, scientific_ = false;
  std::size_t width_ = 1;
};

class Printer {
 public:
  explicit Printer(const Tensor& x) : sizes_(x.sizes()), brief_(x.numel() > most), elements_(x, shown(0, 0)) {}
  std::string text(std::size_t axis, std::size_t first, std::size_t indent) const {
    if (sizes_.empty()) return elements_.text(0);
    std::vector<std::string> parts;
    const std::size_t step = below(axis);
    const bool last = axis + 1 == sizes_.size();
    for (const std::int64_t i : indices(axis)) {
      if (i < 0)
        parts.emplace_back(last ? " ..." : "...");
      else if (last)
        parts.push_back(elements_.text(first + static_cast<std::size_t>(i)));
      else
        parts.push_back(text(axis + 1, first + static_cast<std::size_t>(i) * step, indent + 1));
    }
    const std::string margin(indent + 1, ' ');
    if (!last) return "[" + joined(parts, "," + std::string(sizes_.size() - axis - 1, '\n') + margin) + "]";
    const std::size_t per_line = std::max<std::size_t>(1, (line_width - indent) / (elements_.width() + 2));
    std::vector<std::string> lines;
    for (std::size_t at = 0; at < parts.size(); at += per_line) {
      const auto begin = parts.begin() + static_cast<std::ptrdiff_t>(at);
      lines.push_back(
          joined({begin, begin + static_cast<std::ptrdiff_t>(std::min(per_line, parts.size() - at))}, ", "));
    }
    return "[" + joined(lines, ",\n" + margin) + "]";
  }

 private:
  static std::string joined(const std::vector<std::string>& parts, const std::string& between) {
    std::string out;
    for (std::size_t i = 0; i < parts.size(); ++i) out += (i ? between : "") + parts[i];
    return out;
  }
  std::size_t below(std::size_t axis) const {
    std::size_t n = 1;
    for (std::size_t i = axis + 1; i < sizes_.size(); ++i) n *= static_cast<std::size_t>(sizes_[i]);
    return n;
  }
  /// The indices of an axis that are shown; -1 stands for those left out.
  std::vector<std::int64_t> indices(std::size_t axis) const {
    std::vector<std::int64_t> out;
    const std::int64_t size = sizes_[axis];
    const bool cut = brief_ && size > 2 * edge;
    for (std::int64_t i = 0; i < size; ++i) {
      if (cut && i == edge) {
        out.push_back(-1);
        i = size - edge;
      }
      out.push_back(i);
    }
    return out;
  }
  std::vector<std::size_t> shown(std::size_t axis, std::size_t first) const {
    if (axis == sizes_.size()) return {first};
    std::vector<std::size_t> out;
    for (const std::int64_t i : indices(axis)) {
      if (i < 0) continue;
      const auto inner = shown(axis + 1, first + static_cast<std::size_t>(i) * below(axis));
      out.insert(out.end(), inner.begin(), inner.end());
    }
    return out;
  }

  const Shape sizes_;
  const bool brief_;
  const Elements elements_;
};

/// PyTorch's name of a dtype.
std::string torch_name_of(DType t) {
  switch (t) {
    case DType::f16:
      return "float16";
    case DType::bf16:
      return "bfloat16";
    case DType::f32:
      return "float32";
    case DType::f64:
      return "float64";
    case DType::bool_:
      return "bool";
    default: {
      const std::string text(name(t));
      return (text[0] == 'u' ? "uint" : "int") + text.substr(1);
    }
  }
}
/// "log_softmax" as PyTorch calls what differentiates it: LogSoftmaxBackward0.
std::string gradient_name(const Tensor& x) {
  const Node& node = *x.impl().read().node;
  std::string out;
  bool upper = true;
  for (const char c : node.call&& node.call->op ? node.call->op->name : "backward") {
    if (c != '_' && c != '.') out += upper ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
    upper = c == '_' || c == '.';
  }
  return out + "Backward0";
}

std::vector<std::string> suffixes(const Tensor& x) {
  std::vector<std::string> out;
  const DType t = x.dtype();
  if (x.device() != "cpu") out.push_back("device='" + x.device() + "'");
  if (x.numel() == 0 && x.dim() != 1) {
    std::string size;
    for (const std::int64_t n : x.sizes()) size += (size.empty() ? "" : ", ") + std::to_string(n);
    out.push_back("size=(" + size + ")");
  }
  const bool usual = t == f32 || (x.numel() > 0 && (t == i64 || t == DType::bool_));
  if (!usual) out.push_back("dtype=torch." + torch_name_of(t));
  if (x.requires_grad()) out.push_back(x.is_leaf() ? "requires_grad=True" : "grad_fn=<" + gradient_name(x) + ">");
  return out;
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const Tensor& x) {
  if (!x.defined()) return out << "tensor(undefined)";
  constexpr std::string_view prefix = "tensor(";
  std::string text(prefix);
  text += x.numel() == 0 ? "[]" : Printer(x).text(0, 0, prefix.size());
  const std::size_t newline = text.rfind('\n');
  std::size_t last = newline == text.npos ? text.size() + 2 : text.size() - newline + 1;
  for (const std::string& suffix : suffixes(x)) {
    const bool fits = last + suffix.size() + 2 <= line_width;
    text += (fits ? ", " : ",\n" + std::string(prefix.size(), ' ')) + suffix;
    last = fits ? last + suffix.size() + 2 : prefix.size() + suffix.size();
  }
  return out << text << ")";
}

std::string Tensor::str() const {
  std::ostringstream out;
  out << *this;
  return out.str();
}

}  // namespace cotan::torch
