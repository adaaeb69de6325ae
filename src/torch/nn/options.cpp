#include <fmt/format.h>

#include <cotan/torch/nn/functional/options.hpp>

namespace cotan::torch::nn {

std::vector<std::int64_t> PerAxis::of(int axes, std::string_view op, std::string_view what) const {
  const auto wanted = static_cast<std::size_t>(axes);
  if (numbers_.size() == wanted) return numbers_;
  if (numbers_.size() == 1) return std::vector<std::int64_t>(wanted, numbers_[0]);
  throw_with_line<ValueError>(
      fmt::format("[{}] {} has {} numbers; give one, or one for each of {} axes.", op, what, numbers_.size(), axes));
}

Reduction::Kind Reduction::named(std::string_view name) {
  if (name == "none") return none;
  if (name == "mean") return mean;
  if (name == "sum") return sum;
  if (name == "batchmean") return batchmean;
  throw_with_line<ValueError>(
      fmt::format("[loss] the reduction \"{}\"; it must be \"none\", \"mean\", \"sum\" or \"batchmean\".", name));
}

}  // namespace cotan::torch::nn
