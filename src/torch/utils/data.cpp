#include <fmt/format.h>

#include <cotan/device.hpp>
#include <cotan/numpy.hpp>
#include <cotan/torch/autograd.hpp>
#include <cotan/torch/utils/data.hpp>
#include <cotan/torch/views.hpp>
#include <numeric>

#include "torch/graph/op.hpp"
#include "torch/graph/tensor_impl.hpp"

namespace cotan::torch::utils::data {

using namespace torch::detail;

namespace {

/// A permutation by Fisher and Yates with splitmix64: the same everywhere.
std::vector<std::int64_t> shuffled(std::int64_t size, std::uint64_t seed, std::uint64_t epoch) {
  std::vector<std::int64_t> out(static_cast<std::size_t>(size));
  std::iota(out.begin(), out.end(), 0);
  std::uint64_t state = seed * 0x9e3779b97f4a7c15ull + epoch * 0xd1342543de82ef95ull;
  const auto next = [&] {
    std::uint64_t z = state += 0x9e3779b97f4a7c15ull;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
  };
  for (std::size_t i = out.size(); i > 1; --i) std::swap(out[i - 1], out[next() % i]);
  return out;
}

}  // namespace

TensorDataset::TensorDataset(std::vector<Tensor> tensors, std::source_location where) : tensors_(std::move(tensors)) {
  const At at(where);
  if (tensors_.empty()) throw_with_line<ValueError>("[TensorDataset] got no tensors; give those of the examples.");
  for (const Tensor& t : tensors_) {
    if (t.dim() == 0 || t.size(0) != tensors_[0].size(0))
      throw_with_line<ShapeError>(
          fmt::format("[TensorDataset] tensors have shapes {} and {}; their first axis counts examples, so it must be "
                      "equally long.",
                      describe(tensors_[0].sizes()), describe(t.sizes())));
  }
  size_ = tensors_[0].size(0);
}

std::vector<Tensor> TensorDataset::slice(std::int64_t start, std::int64_t end) const {
  // The rule takes the start as data, so that another batch compiles nothing.
  static const auto op =
      define("batch", {.differentiable = false}, [](const Array& x, const Array& start_, std::int64_t count) {
        return numpy::take(x, start_ + numpy::arange(count, i64), 0);
      });
  std::vector<Tensor> out;
  for (const Tensor& t : tensors_)
    out.push_back(op(t, from(device_put(numpy::full({}, start, i64), t.impl().type()->device)), end - start));
  return out;
}

std::vector<Tensor> TensorDataset::pick(const std::vector<std::int64_t>& indices) const {
  static const auto op = define("batch_of", {.differentiable = false},
                                [](const Array& x, const Array& which) { return numpy::take(x, which, 0); });
  std::vector<Tensor> out;
  for (const Tensor& t : tensors_)
    out.push_back(op(t, from(device_put(Array::from_host(indices), t.impl().type()->device))));
  return out;
}

DataLoader::DataLoader(TensorDataset dataset, const DataLoaderOptions& options, std::source_location where)
    : dataset_(std::move(dataset)), options_(options) {
  const At at(where);
  if (options.batch_size < 1)
    throw_with_line<ValueError>(fmt::format("[DataLoader] batch_size is {}; it must be positive.", options.batch_size));
}

std::int64_t DataLoader::size() const {
  const std::int64_t n = dataset_.size(), of = options_.batch_size;
  return options_.drop_last ? n / of : (n + of - 1) / of;
}

DataLoader::Iterator DataLoader::begin() {
  Iterator out(*this, 0);
  if (options_.shuffle) out.order_ = shuffled(dataset_.size(), options_.seed, static_cast<std::uint64_t>(epoch_));
  ++epoch_;
  return out;
}

DataLoader::Iterator& DataLoader::Iterator::operator++() {
  ++batch_;
  return *this;
}
std::vector<Tensor> DataLoader::Iterator::operator*() const {
  const std::int64_t start = batch_ * loader_->options_.batch_size;
  const std::int64_t end = std::min(start + loader_->options_.batch_size, loader_->dataset_.size());
  if (order_.empty()) return loader_->dataset_.slice(start, end);
  return loader_->dataset_.pick({order_.begin() + start, order_.begin() + end});
}

}  // namespace cotan::torch::utils::data
