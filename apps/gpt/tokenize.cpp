// cotan-gpt tokenize: texts as tokens, and vocabularies from texts.
#include <fmt/format.h>

#include <filesystem>
#include <iostream>
#include <iterator>

#include "../support/progress.hpp"
#include "commands.hpp"
#include "load.hpp"
#include "texts.hpp"

namespace gpt {

namespace fs = std::filesystem;

namespace {

/// A token on one line.
std::string printable(const std::string& token) {
  std::string out;
  for (const char c : token) out += c == '\n' ? std::string("\\n") : c == '\t' ? std::string("\\t") : std::string(1, c);
  return out;
}

void print(const cotan::Tokenizer& tokenizer, const std::string& text, const TokenizeOptions& o, std::size_t& count) {
  const cotan::Encoding encoding = tokenizer.encode(text);
  count += encoding.ids.size();
  if (o.count) return;
  for (std::size_t i = 0; i < encoding.ids.size(); ++i)
    std::cout << (o.ids ? std::to_string(encoding.ids[i])
                        : fmt::format("{}\t{}", encoding.ids[i], printable(encoding.tokens[i])))
              << (o.ids ? (i + 1 < encoding.ids.size() ? ' ' : '\n') : '\n');
}

}  // namespace

cotan::Tokenizer learn_vocabulary(const std::vector<std::string>& files, std::int64_t size, bool quiet) {
  if (size < 258)
    throw UsageError("--vocabulary is below 258; a token per byte, the end of a text and one more must fit.");
  std::vector<std::string> texts;
  for (const std::string& file : files) texts.push_back(read_text(file));
  std::optional<apps::Progress> progress;
  if (!quiet) progress.emplace("learning a vocabulary", 100);
  cotan::BpeTraining training;
  training.vocab_size = static_cast<std::size_t>(size);
  training.special_tokens = {"<|endoftext|>"};
  training.progress = [&](std::size_t tokens, std::size_t wanted) {
    if (progress) progress->update(static_cast<int>(100 * tokens / wanted), "");
  };
  return cotan::train_bpe(texts, training);
}

void run_tokenize(const TokenizeOptions& o) {
  if (!o.train_to.empty()) {
    if (o.files.empty()) throw UsageError("--train needs texts to learn from; name some files.");
    const cotan::Tokenizer tokenizer = learn_vocabulary(o.files, o.vocabulary, false);
    tokenizer.save(o.tokenizer);
    std::cout << fmt::format("{} has {} tokens.\n", o.tokenizer, tokenizer.vocab_size());
    return;
  }
  const fs::path path =
      fs::is_directory(o.tokenizer) ? model_folder(o.tokenizer) / "tokenizer.json" : fs::path(o.tokenizer);
  const auto tokenizer = cotan::Tokenizer::from_file(path.string());
  std::size_t count = 0;
  for (const std::string& file : o.files) print(tokenizer, read_text(file), o, count);
  if (o.files.empty()) print(tokenizer, {std::istreambuf_iterator<char>(std::cin), {}}, o, count);
  if (o.count) std::cout << count << "\n";
}

}  // namespace gpt
