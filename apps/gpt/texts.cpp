#include "texts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "load.hpp"

namespace gpt {

namespace {

/// Steele, Lea and Flood's mixing of a counter.
std::uint64_t mixed(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

}  // namespace

std::vector<std::int32_t> read_tokens(const std::vector<std::string>& files, const cotan::Tokenizer& tokenizer) {
  std::vector<std::int32_t> out;
  const std::int32_t end = end_token(tokenizer);
  for (const std::string& file : files) {
    const std::vector<std::int32_t> ids = tokenizer.encode_ids(read_text(file));
    out.insert(out.end(), ids.begin(), ids.end());
    if (end >= 0) out.push_back(end);
  }
  return out;
}

Texts::Texts(const std::vector<std::string>& files, const cotan::Tokenizer& tokenizer, std::int64_t context,
             double held_out, std::uint64_t seed)
    : all_(read_tokens(files, tokenizer)), context_(context), seed_(seed) {
  split_ = all_.size() - static_cast<std::size_t>(static_cast<double>(all_.size()) * held_out);
  const auto window = static_cast<std::size_t>(context + 1);
  if (all_.size() - split_ < window) split_ = all_.size();  // too little to hold out
  if (split_ < window)
    throw std::runtime_error(
        fmt::format("the texts have {} tokens, less than the {} that the model sees at once; take longer "
                    "texts, or a smaller --context.",
                    split_, window));
}

std::pair<cotan::Array, cotan::Array> Texts::windows(const std::vector<std::size_t>& starts) const {
  std::vector<std::int32_t> words, following;
  for (const std::size_t start : starts)
    for (std::size_t i = 0; i < static_cast<std::size_t>(context_); ++i) {
      words.push_back(all_[start + i]);
      following.push_back(all_[start + i + 1]);
    }
  const cotan::Shape shape{static_cast<std::int64_t>(starts.size()), context_};
  return {cotan::Array::from_host(words, shape), cotan::Array::from_host(following, shape)};
}

std::pair<cotan::Array, cotan::Array> Texts::batch(std::int64_t number, std::int64_t size) const {
  const std::uint64_t places = split_ - static_cast<std::size_t>(context_);
  std::vector<std::size_t> starts;
  for (std::int64_t i = 0; i < size; ++i)
    starts.push_back(
        static_cast<std::size_t>(mixed(mixed(seed_) + static_cast<std::uint64_t>(number * size + i)) % places));
  return windows(starts);
}

double Texts::held_out_loss(Gpt& net, std::int64_t batch) const {
  const torch::no_grad off;
  const bool training = std::exchange(net.training, false);
  const auto window = static_cast<std::size_t>(context_);
  std::vector<std::size_t> starts;
  for (std::size_t at = split_; at + window < all_.size() && starts.size() < 64; at += window) starts.push_back(at);
  // Whole batches, so that one program serves all of them.
  const auto step = static_cast<std::size_t>(std::min<std::int64_t>(batch, static_cast<std::int64_t>(starts.size())));
  starts.resize(starts.size() / step * step);
  double total = 0;
  for (std::size_t i = 0; i < starts.size(); i += step) {
    const auto [words, following] = windows(
        {starts.begin() + static_cast<std::ptrdiff_t>(i), starts.begin() + static_cast<std::ptrdiff_t>(i + step)});
    total += net.loss(torch::from(words), torch::from(following)).item();
  }
  net.training = training;
  return total / static_cast<double>(starts.size() / step);
}

}  // namespace gpt
