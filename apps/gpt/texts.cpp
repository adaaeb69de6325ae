#include "texts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "../support/progress.hpp"
#include "load.hpp"

namespace gpt {

namespace fs = std::filesystem;

std::vector<std::int32_t> read_tokens(const std::vector<std::string>& files, const cotan::Tokenizer& tokenizer) {
  std::vector<std::int32_t> out;
  const std::int32_t end = end_token(tokenizer);
  for (const std::string& file : files) {
    const cotan::TextFile text(file);
    for (const std::string_view part : text.parts()) {
      const std::vector<std::int32_t> ids = tokenizer.encode_ids(part);
      out.insert(out.end(), ids.begin(), ids.end());
    }
    if (end >= 0) out.push_back(end);
  }
  return out;
}

namespace {

/// Writes the tokens of texts into two files: of the first part of all bytes, cut where a line ends, and of the rest.
class Divider {
 public:
  Divider(const fs::path& folder, const cotan::Tokenizer& tokenizer, std::size_t learned_bytes)
      : tokenizer_(tokenizer),
        learned_bytes_(learned_bytes),
        learned_((folder / "learned.npy").string(), tokenizer.vocab_size()),
        held_out_((folder / "held-out.npy").string(), tokenizer.vocab_size()) {}
  void add(std::string_view part) {
    (bytes_ < learned_bytes_ ? learned_ : held_out_).append(tokenizer_.encode_ids(part));
    bytes_ += part.size();
  }
  void end_text() {
    const std::int32_t end = end_token(tokenizer_);
    if (end >= 0) (bytes_ <= learned_bytes_ ? learned_ : held_out_).append(std::span(&end, 1));
  }
  void commit() {
    learned_.commit();
    held_out_.commit();
  }
  std::size_t bytes() const { return bytes_; }

 private:
  const cotan::Tokenizer& tokenizer_;
  std::size_t learned_bytes_, bytes_ = 0;
  cotan::TokenFileWriter learned_, held_out_;
};

}  // namespace

Texts::Texts(const std::vector<std::string>& files, const cotan::Tokenizer& tokenizer, const fs::path& folder,
             const TextOptions& options)
    : options_(options) {
  fs::create_directories(folder);
  std::vector<cotan::TextFile> texts;
  std::size_t bytes = 0;
  for (const std::string& file : files) bytes += texts.emplace_back(file).text().size();
  Divider divider(folder, tokenizer, static_cast<std::size_t>(static_cast<double>(bytes) * (1 - options.held_out)));
  std::optional<apps::Progress> progress;
  if (!options.quiet) progress.emplace("reading", 100);
  for (const cotan::TextFile& text : texts) {
    // Parts are small enough that the share which is held out is about the one that is wanted.
    for (const std::string_view part : text.parts(std::clamp<std::size_t>(bytes / 100, 1 << 10, 1 << 20))) {
      divider.add(part);
      if (progress) progress->update(static_cast<int>(100 * divider.bytes() / std::max<std::size_t>(bytes, 1)), "");
    }
    divider.end_text();
  }
  divider.commit();
  const cotan::TokenFile learned((folder / "learned.npy").string());
  tokens_ = learned.size();
  const auto least = static_cast<std::size_t>(options.context * options.batch) + 1;
  if (tokens_ < least)
    throw std::runtime_error(
        fmt::format("the texts have {} tokens to learn from, and one batch takes {}; take longer texts, or a smaller "
                    "--context or --batch.",
                    tokens_, least));
  batches_.emplace(learned, cotan::TokenBatchOptions{.batch = options.batch,
                                                     .length = options.context,
                                                     .seed = options.seed,
                                                     .first_step = options.first_batch,
                                                     .vocab_size = tokenizer.vocab_size()});
  const cotan::TokenFile held_out((folder / "held-out.npy").string());
  if (held_out.size() >= least) held_out_ = held_out;  // else there is too little
}

double Texts::held_out_loss(Gpt& net) const {
  const torch::no_grad off;
  const bool training = std::exchange(net.training, false);
  cotan::TokenBatches batches(*held_out_,
                              {.batch = options_.batch, .length = options_.context, .shuffle = false, .prefetch = 0});
  const auto most = static_cast<std::uint64_t>(std::max<std::int64_t>(64 / options_.batch, 1));
  const std::uint64_t count = std::min(batches.steps_per_epoch(), most);
  double total = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    const cotan::TokenBatch b = batches.next();
    total += net.loss(torch::from(b.tokens), torch::from(b.targets)).item();
  }
  net.training = training;
  return total / static_cast<double>(count);
}

}  // namespace gpt
