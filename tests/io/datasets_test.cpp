// Texts and tokens on disk, and batches of them.
#include <algorithm>
#include <set>

#include "io/files.hpp"
#include "support/expect_error.hpp"

namespace np = cotan::numpy;
using namespace cotan;
using test::Folder;
using Ids = std::vector<std::int32_t>;

namespace {

/// 0, 1, 2 …: a token says where it is.
TokenFile counting(const Folder& folder, std::int32_t count, std::size_t vocab_size = 1000) {
  Ids ids(static_cast<std::size_t>(count));
  for (std::int32_t i = 0; i < count; ++i) ids[static_cast<std::size_t>(i)] = i;
  TokenFileWriter writer(folder.path("t.npy"), vocab_size);
  writer.append(std::span(ids).first(ids.size() / 2));
  writer.append(std::span(ids).subspan(ids.size() / 2));
  EXPECT_EQ(writer.size(), ids.size());
  writer.commit();
  return TokenFile(folder.path("t.npy"));
}
std::vector<Ids> batches(TokenBatches& from, int count) {
  std::vector<Ids> out;
  for (int i = 0; i < count; ++i) {
    const TokenBatch b = from.next();
    out.push_back(b.tokens.to_vector<std::int32_t>());
    Ids next = out.back();
    for (std::int32_t& t : next) ++t;
    EXPECT_EQ(b.targets.to_vector<std::int32_t>(), next);
  }
  return out;
}

}  // namespace

TEST(TextFile, Parts) {
  const Folder folder;
  const TextFile file(folder.write("t.txt", "ab\ncd\n\nefghij\nk"));
  EXPECT_EQ(file.text(), "ab\ncd\n\nefghij\nk");
  EXPECT_EQ(file.parts(4), (std::vector<std::string_view>{"ab\ncd\n", "\nefghij\n", "k"}));
  EXPECT_EQ(file.parts(), (std::vector<std::string_view>{file.text()}));
  EXPECT_EQ(file.parts(0).size(), 5u);
  EXPECT_TRUE(TextFile(folder.write("none", "")).parts().empty());
  EXPECT_ERROR(IoError, TextFile(folder.path("no")), "[TextFile] '", "no such file");
}
TEST(TokenFile, RoundTripsAndIsAnArrayOfNumPy) {
  const Folder folder;
  const TokenFile small = counting(folder, 301);
  EXPECT_EQ(small.size(), 301u);
  EXPECT_EQ(small.dtype(), u16);
  EXPECT_EQ(small[300], 300);
  Ids some(3);
  small.copy(7, some);
  EXPECT_EQ(some, (Ids{7, 8, 9}));
  EXPECT_EQ(np::load(folder.path("t.npy")).to_vector<std::int32_t>()[300], 300);
  const TokenFile large = counting(folder, 100, 100'000);
  EXPECT_EQ(large.dtype(), u32);
  EXPECT_EQ(large[99], 99);
  EXPECT_EQ(small[300], 300) << "a file that is open keeps what it had";
  np::save(folder.path("n.npy"), np::array({5, 6}).astype(u16));
  EXPECT_EQ(TokenFile(folder.path("n.npy"))[1], 6);
  {
    TokenFileWriter(folder.path("x.npy"), 10).append(Ids{1});
  }
  EXPECT_EQ(folder.files(), 2) << "what is not committed leaves nothing";
}
TEST(TokenBatches, SeeEveryRowOnceAnEpoch) {
  const Folder folder;
  TokenBatches all(counting(folder, 61), {.batch = 3, .length = 5});
  EXPECT_EQ(all.steps_per_epoch(), 4u);
  std::set<Ids> epochs;
  for (int epoch = 0; epoch < 3; ++epoch) {
    Ids seen;
    for (const Ids& batch : batches(all, 4)) seen.insert(seen.end(), batch.begin(), batch.end());
    epochs.insert(seen);
    std::ranges::sort(seen);
    for (std::int32_t i = 0; i < 60; ++i) EXPECT_EQ(seen[static_cast<std::size_t>(i)], i);
  }
  EXPECT_EQ(epochs.size(), 3u) << "epochs have the same order";
  TokenBatches in_order(counting(folder, 61), {.batch = 3, .length = 5, .shuffle = false});
  EXPECT_EQ(batches(in_order, 1)[0], (Ids{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14}));
}
TEST(TokenBatches, GoOnAtAnyStep) {
  const Folder folder;
  const TokenFile file = counting(folder, 200);
  TokenBatches whole(file, {.batch = 4, .length = 6, .seed = 7});
  const auto want = batches(whole, 30);
  EXPECT_EQ(whole.step(), 30u);
  for (const std::uint64_t first : {0, 1, 8, 9, 17, 29})
    for (const std::size_t prefetch : {0, 1, 5}) {
      TokenBatches later(file, {.batch = 4, .length = 6, .seed = 7, .first_step = first, .prefetch = prefetch});
      EXPECT_EQ(later.step(), first);
      EXPECT_EQ(batches(later, 30 - static_cast<int>(first)),
                std::vector(want.begin() + static_cast<int>(first), want.end()));
    }
  TokenBatches other(file, {.batch = 4, .length = 6, .seed = 8});
  EXPECT_NE(batches(other, 30), want);
  TokenBatches moved = std::move(other);
  const TokenBatch b = moved.next();
  EXPECT_EQ(b.step, 30u);
  EXPECT_EQ(b.epoch, 30 / moved.steps_per_epoch());
  EXPECT_EQ(b.tokens.shape(), (Shape{4, 6}));
  EXPECT_EQ(b.tokens.dtype(), i32);
  // The order is part of the format: a run that is resumed with another build sees the same.
  TokenBatches fixed(file, {.batch = 2, .length = 1, .seed = 1});
  EXPECT_EQ(batches(fixed, 2), (std::vector<Ids>{{176, 103}, {40, 49}}));
}
TEST(TokenBatchesErrors, ComeToWhoeverTakesBatches) {
  const Folder folder;
  const TokenFile file = counting(folder, 100);
  TokenBatches bad(file, {.batch = 2, .length = 8, .shuffle = false, .vocab_size = 50});
  batches(bad, 3);
  for (int i = 0; i < 2; ++i)
    EXPECT_ERROR(IndexError, bad.next(), "[TokenBatches] token 50 of '",
                 "t.npy' is 50, and the vocabulary has 50; encode");
  EXPECT_ERROR(ValueError, TokenBatches(file, {.batch = 0}), "batches of shape (0, 1024) have no tokens");
  EXPECT_ERROR(ValueError, TokenBatches(file, {}),
               "has 100 tokens, and one batch of shape (8, 1024) takes 8193; make it smaller.");
}
TEST(TokenFileErrors, Files) {
  const Folder folder;
  np::save(folder.path("f.npy"), np::ones({3}));
  EXPECT_ERROR(IoError, TokenFile(folder.path("f.npy")), "[TokenFile] '", "f.npy': holds f32[3]; tokens are");
  EXPECT_ERROR(IoError, TokenFile(folder.write("x", "abc")), "not a .npy file");
  const TokenFile file = counting(folder, 10);
  EXPECT_ERROR(IndexError, file[10], "[TokenFile] tokens 10 to 11 were asked for, and '", "' has 10; stay within.");
  TokenFileWriter writer(folder.path("w.npy"), 10);
  EXPECT_ERROR(IndexError, writer.append(Ids{10}), "[TokenFileWriter] there is no token 10 among 10");
  EXPECT_ERROR(IndexError, writer.append(Ids{-1}), "there is no token -1");
  EXPECT_ERROR(ValueError, TokenFileWriter(folder.path("w.npy"), 0), "a vocabulary of 0 tokens");
}
