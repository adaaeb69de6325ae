// Texts and tokens on disk.
#include <cotan/io/datasets.hpp>
#include <cstring>

#include "core/error.hpp"
#include "io/mapped_file.hpp"
#include "io/npy_format.hpp"

namespace cotan {

struct TextFile::Contents {
  io::MappedFile file;
};
TextFile::TextFile(const FilePath& path, const std::source_location& where) {
  const detail::CallSite site(where);
  contents_ = std::make_shared<Contents>(io::MappedFile(path.str(), "TextFile"));
}
std::string_view TextFile::text() const {
  const auto bytes = contents_->file.bytes();
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}
std::vector<std::string_view> TextFile::parts(std::size_t bytes) const {
  std::vector<std::string_view> out;
  for (std::string_view rest = text(); !rest.empty();) {
    const std::size_t line = rest.find('\n', std::min(rest.size(), std::max<std::size_t>(bytes, 1) - 1));
    out.push_back(rest.substr(0, line == rest.npos ? rest.npos : line + 1));
    rest.remove_prefix(out.back().size());
  }
  return out;
}

struct TokenFile::Contents {
  io::MappedFile file;
  io::MappedNpy tokens;
  std::string path;
};
TokenFile::TokenFile(const FilePath& path, const std::source_location& where) {
  const detail::CallSite site(where);
  io::MappedFile file(path.str(), "TokenFile");
  io::MappedNpy tokens = io::map_npy(file.bytes(), file.where());
  if (tokens.shape.size() != 1 || (tokens.dtype != DType::u16 && tokens.dtype != DType::u32))
    raise<IoError>("{}: holds {}; tokens are an array with one axis of u16 or u32.", file.where(),
                   describe(tokens.dtype, tokens.shape));
  contents_ = std::make_shared<Contents>(std::move(file), std::move(tokens), path.str());
}
std::size_t TokenFile::size() const { return static_cast<std::size_t>(contents_->tokens.shape[0]); }
DType TokenFile::dtype() const { return contents_->tokens.dtype; }
const std::string& TokenFile::path() const { return contents_->path; }
std::int32_t TokenFile::operator[](std::size_t i) const {
  std::int32_t out = 0;
  copy(i, {&out, 1});
  return out;
}
void TokenFile::copy(std::size_t begin, std::span<std::int32_t> to) const {
  if (begin > size() || to.size() > size() - begin)
    raise<IndexError>("[TokenFile] tokens {} to {} were asked for, and '{}' has {}; stay within.", begin,
                      begin + to.size(), path(), size());
  const auto read = [&]<class Stored>(Stored) {
    const std::byte* from = contents_->tokens.elements.data() + begin * sizeof(Stored);
    for (std::int32_t& token : to) {
      Stored stored;
      std::memcpy(&stored, from, sizeof stored);
      token = static_cast<std::int32_t>(stored);
      from += sizeof stored;
    }
  };
  if (dtype() == DType::u16)
    read(std::uint16_t{});
  else
    read(std::uint32_t{});
}

struct TokenFileWriter::Output {
  io::OutputFile file;
  std::size_t vocab_size, size = 0;
  DType dtype() const { return vocab_size <= 1 << 16 ? DType::u16 : DType::u32; }
  /// The header takes as many bytes for any number of tokens.
  std::string header() const {
    std::string out = io::npy_header(dtype(), {static_cast<std::int64_t>(size)});
    internal_check(out.size() == 128, "the header of a token file has 128 bytes");
    return out;
  }
};
TokenFileWriter::TokenFileWriter(const FilePath& path, std::size_t vocab_size, const std::source_location& where) {
  const detail::CallSite site(where);
  if (vocab_size == 0 || vocab_size > std::size_t{1} << 31)
    raise<ValueError>("[TokenFileWriter] a vocabulary of {} tokens makes no sense; give the tokenizer's vocab_size().",
                      vocab_size);
  output_.reset(new Output{{path.str(), "TokenFileWriter"}, vocab_size});
  const std::string header = output_->header();
  output_->file.write(std::as_bytes(std::span(header)));
}
TokenFileWriter::~TokenFileWriter() = default;
TokenFileWriter::TokenFileWriter(TokenFileWriter&&) noexcept = default;
TokenFileWriter& TokenFileWriter::operator=(TokenFileWriter&&) noexcept = default;
std::size_t TokenFileWriter::size() const { return output_->size; }

void TokenFileWriter::append(std::span<const std::int32_t> ids, const std::source_location& where) {
  const detail::CallSite site(where);
  for (const std::int32_t id : ids)
    if (id < 0 || static_cast<std::size_t>(id) >= output_->vocab_size)
      raise<IndexError>(
          "[TokenFileWriter] there is no token {} among {}; encode with the tokenizer of this vocabulary.", id,
          output_->vocab_size);
  const auto write = [&]<class Stored>(Stored) {
    const std::vector<Stored> stored(ids.begin(), ids.end());
    output_->file.write(std::as_bytes(std::span(stored)));
  };
  if (output_->dtype() == DType::u16)
    write(std::uint16_t{});
  else
    write(std::uint32_t{});
  output_->size += ids.size();
}
void TokenFileWriter::commit() {
  const std::string header = output_->header();
  output_->file.write_at_begin(std::as_bytes(std::span(header)));
  output_->file.commit();
}

}  // namespace cotan
