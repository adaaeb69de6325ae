// Texts and tokens on disk, and batches of tokens to train on.
#pragma once
#include <cotan/array.hpp>
#include <cotan/io/path.hpp>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cotan {

/// A text on disk, mapped: of a large one no more is read than is looked at. It may be replaced meanwhile, but not cut
/// off.
class TextFile {
 public:
  explicit TextFile(const FilePath& path, const std::source_location& where = COTAN_HERE);
  /// All of it; good as long as a copy of this object is.
  std::string_view text() const;
  /// The same in parts of about `bytes` bytes, each to the end of a line: for tokenizers and for progress. A line that
  /// is longer is one part.
  std::vector<std::string_view> parts(std::size_t bytes = 1 << 20) const;

 private:
  struct Contents;
  std::shared_ptr<const Contents> contents_;
};

/// Tokens on disk, mapped: an .npy file with one axis of u16 or u32, as TokenFileWriter and NumPy write it.
class TokenFile {
 public:
  explicit TokenFile(const FilePath& path, const std::source_location& where = COTAN_HERE);
  /// How many tokens there are.
  std::size_t size() const;
  /// u16 or u32.
  DType dtype() const;
  /// One token.
  std::int32_t operator[](std::size_t i) const;
  /// Copies tokens from `begin` on, as many as `to` has room for.
  void copy(std::size_t begin, std::span<std::int32_t> to) const;
  /// Where it is, for messages.
  const std::string& path() const;

 private:
  struct Contents;
  std::shared_ptr<const Contents> contents_;
};

/// Writes a token file piece by piece. It appears when it is committed, whole; without that, nothing changes.
///
///     ct::TokenFileWriter out("train.npy", tokenizer.vocab_size());
///     for (std::string_view part : ct::TextFile("train.txt").parts()) out.append(tokenizer.encode_ids(part));
///     out.commit();
class TokenFileWriter {
 public:
  /// Ids are below `vocab_size`: up to 65,536 they are written as u16, else as u32.
  TokenFileWriter(const FilePath& path, std::size_t vocab_size, const std::source_location& where = COTAN_HERE);
  ~TokenFileWriter();
  TokenFileWriter(TokenFileWriter&&) noexcept;
  TokenFileWriter& operator=(TokenFileWriter&&) noexcept;
  /// Adds tokens at the end; an id that is no token of the vocabulary raises IndexError.
  void append(std::span<const std::int32_t> ids, const std::source_location& where = COTAN_HERE);
  /// How many tokens there are by now.
  std::size_t size() const;
  /// Puts the file in its place.
  void commit();

 private:
  struct Output;
  std::unique_ptr<Output> output_;
};

/// How TokenBatches goes through a file.
struct TokenBatchOptions {
  std::int64_t batch = 8;        ///< B, rows of a batch
  std::int64_t length = 1024;    ///< T, tokens of a row
  bool shuffle = true;           ///< rows in another order in each epoch; else as they are in the file
  std::uint64_t seed = 0;        ///< of the order
  std::uint64_t first_step = 0;  ///< to go on where another run was: its batches are the same
  std::size_t prefetch = 2;      ///< batches that a thread prepares ahead; 0: none, and no thread
  std::size_t vocab_size = 0;    ///< ids from here on raise IndexError; 0: no check
};

/// One batch: `targets` are `tokens` one further.
struct TokenBatch {
  Array tokens;   ///< i32[B, T]
  Array targets;  ///< i32[B, T]
  std::uint64_t step = 0, epoch = 0;
};

/// Batches of a token file, epoch after epoch without end. The file is divided into rows of `length` tokens that do not
/// overlap; rows that make no whole batch are left out, others in each epoch. A step's batch depends on file, seed and
/// step alone.
///
///     ct::TokenBatches batches(ct::TokenFile("train.npy"), {.batch = 8, .length = 512, .first_step = resumed});
///     for (int i = 0; i < steps; ++i) loss = train_step(params, batches.next());
class TokenBatches {
 public:
  TokenBatches(TokenFile file, const TokenBatchOptions& options, const std::source_location& where = COTAN_HERE);
  ~TokenBatches();
  TokenBatches(TokenBatches&&) noexcept;
  TokenBatches& operator=(TokenBatches&&) noexcept;
  /// The next batch, waiting for it. What failed on the thread is thrown here.
  TokenBatch next(const std::source_location& where = COTAN_HERE);
  /// The step of the batch that comes next.
  std::uint64_t step() const;
  /// How many steps see every row once.
  std::uint64_t steps_per_epoch() const;

 private:
  struct Loader;
  std::unique_ptr<Loader> loader_;
};

}  // namespace cotan
