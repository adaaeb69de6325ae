// cotan-gpt inspect: what is in safetensors files.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iostream>

#include "commands.hpp"
#include "meter.hpp"

namespace gpt {

namespace {

namespace np = cotan::numpy;

std::string statistics(const cotan::Safetensors& file, const std::string& name) {
  const cotan::Array a = file[name];
  if (a.size() == 0) return "empty";
  const cotan::Array x = a.astype(cotan::is_inexact(a.dtype()) && a.dtype() != cotan::f64 ? cotan::f32 : a.dtype());
  const std::size_t odd = static_cast<std::size_t>(np::sum(~np::isfinite(x)).item<double>());
  const std::string text = fmt::format("mean {:.4g}, deviation {:.4g}, {:.4g} to {:.4g}", np::mean(x).item<double>(),
                                       np::std(x).item<double>(), np::min(x).item<double>(), np::max(x).item<double>());
  return odd == 0 ? text : text + fmt::format(", {} NOT FINITE", odd);
}

}  // namespace

void run_inspect(const InspectOptions& options) {
  const cotan::Safetensors file(options.path);
  std::size_t longest = 0;
  for (const auto& [name, info] : file.tensors()) longest = std::max(longest, name.size());
  double elements = 0, size = 0;
  for (const auto& [name, info] : file.tensors()) {
    double count = 1;
    for (const auto n : info.shape) count *= static_cast<double>(n);
    elements += count;
    size += static_cast<double>(info.bytes);
    std::cout << fmt::format("{:<{}}  {:<5} {:<20} {:>8}{}{}\n", name, longest, info.dtype, cotan::describe(info.shape),
                             bytes(static_cast<double>(info.bytes)), options.statistics ? "  " : "",
                             options.statistics ? statistics(file, name) : "");
  }
  std::cout << fmt::format("{} tensors, {:.4g} M elements, {}\n", file.tensors().size(), elements / 1e6, bytes(size));
  for (const auto& [key, value] : file.metadata()) std::cout << key << ": " << value << "\n";
}

}  // namespace gpt
