// NumPy's .npz archives: zip files of .npy members, stored or deflated, with 64-bit sizes where needed.
#include <zlib.h>

#include <algorithm>
#include <cotan/io/npy.hpp>
#include <limits>

#include "io/npy_format.hpp"

namespace cotan {

namespace io {

namespace {

// Signatures and fixed sizes of the records of a zip file (PKWARE's APPNOTE).
constexpr std::uint32_t local_signature = 0x04034b50, central_signature = 0x02014b50, end_signature = 0x06054b50,
                        end64_signature = 0x06064b50, locator64_signature = 0x07064b50;
constexpr std::size_t local_bytes = 30, central_bytes = 46, end_bytes = 22, end64_bytes = 56, locator64_bytes = 20;
constexpr std::uint16_t zip64_extra = 0x0001, utf8_names = 0x0800, encrypted = 0x0001;
constexpr std::uint16_t stored = 0, deflated = 8;
constexpr std::uint32_t see_zip64 = 0xffffffff;
constexpr std::uint16_t see_zip64_count = 0xffff;
/// deflate cannot shrink further than this factor: a size that claims more is a lie.
constexpr std::uint64_t most_deflation = 1032;
/// zlib counts in 32 bits.
constexpr std::uint64_t zlib_chunk = 1u << 30;

/// Little-endian fields from memory that is known to be long enough.
template <class T>
T field(std::span<const std::byte> bytes, std::size_t at) {
  T out = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i) out |= static_cast<T>(static_cast<T>(bytes[at + i]) << (8 * i));
  return out;
}

struct Member {
  std::string name;
  std::uint16_t flags = 0, method = 0;
  std::uint32_t crc = 0;
  std::uint64_t compressed = 0, size = 0, offset = 0;
};

class ZipReader {
 public:
  explicit ZipReader(const std::filesystem::path& path) : file_(path, "load_npz") { read_directory(); }
  const std::vector<Member>& members() const { return members_; }
  const std::string& where() const { return file_.where(); }

  Bytes extract(const Member& m) {
    const std::string where = fmt::format("{}, member '{}'", file_.where(), m.name);
    if (m.flags & encrypted) raise<IoError>("{}: is encrypted; write the archive without a password.", where);
    const Bytes local = file_.read(m.offset, local_bytes);
    if (field<std::uint32_t>(local, 0) != local_signature)
      corrupt(fmt::format("no member starts at byte {}", m.offset));
    // The sizes here may be missing; only the lengths of the name and the extra fields are needed.
    const std::uint64_t start =
        m.offset + local_bytes + field<std::uint16_t>(local, 26) + field<std::uint16_t>(local, 28);
    if (m.method == stored && m.compressed != m.size)
      raise<IoError>("{}: corrupt: stored without compression, but in {} bytes instead of {}.", where, m.compressed,
                     m.size);
    Bytes data = file_.read(start, m.compressed);
    if (m.method == deflated)
      data = inflate(data, m.size, where);
    else if (m.method != stored)
      raise<IoError>("{}: compression method {} is not known; use numpy.savez or savez_compressed.", where, m.method);
    if (crc32_z(0, reinterpret_cast<const Bytef*>(data.data()), data.size()) != m.crc)
      raise<IoError>("{}: corrupt: its checksum does not match; write or download the file again.", where);
    return data;
  }

 private:
  [[noreturn]] void corrupt(std::string_view what) const {
    raise<IoError>("{}: corrupt: {}; write or download it again.", file_.where(), what);
  }

  void read_directory() {
    // The end record is last, before a comment of at most 65535 bytes.
    const std::uint64_t window = std::min<std::uint64_t>(file_.size(), end_bytes + 0xffff);
    if (window < end_bytes) raise<IoError>("{}: not an .npz file: {} bytes are too few.", file_.where(), file_.size());
    const std::uint64_t window_at = file_.size() - window;
    const Bytes tail = file_.read(window_at, window);
    std::size_t at = tail.size() - end_bytes + 1;
    do {
      if (at-- == 0) raise<IoError>("{}: not an .npz file, or truncated: no zip directory was found.", file_.where());
    } while (field<std::uint32_t>(tail, at) != end_signature ||
             at + end_bytes + field<std::uint16_t>(tail, at + 20) != tail.size());
    const std::span<const std::byte> end = std::span(tail).subspan(at);
    std::uint64_t count = field<std::uint16_t>(end, 10), size = field<std::uint32_t>(end, 12),
                  offset = field<std::uint32_t>(end, 16), limit = window_at + at;
    if (limit >= locator64_bytes) {
      const Bytes locator = file_.read(limit - locator64_bytes, locator64_bytes);
      if (field<std::uint32_t>(locator, 0) == locator64_signature) {
        const std::uint64_t end64_at = field<std::uint64_t>(locator, 8);
        const Bytes end64 = file_.read(end64_at, end64_bytes);
        if (field<std::uint32_t>(end64, 0) != end64_signature)
          corrupt("its zip64 directory record is not where it should be");
        if (count == see_zip64_count) count = field<std::uint64_t>(end64, 32);
        if (size == see_zip64) size = field<std::uint64_t>(end64, 40);
        if (offset == see_zip64) offset = field<std::uint64_t>(end64, 48);
      }
    }
    if (offset > limit || size > limit - offset) corrupt("its directory reaches beyond the end of the file");
    const Bytes directory = file_.read(offset, size);
    if (count > directory.size() / central_bytes)
      corrupt(fmt::format("its directory is too short for {} members", count));

    std::span<const std::byte> rest = directory;
    std::uint64_t total = 0;
    for (std::uint64_t i = 0; i < count; ++i) {
      members_.push_back(read_entry(rest));
      // Members do not overlap, so together they fit the file: no archive unpacks the same bytes many times.
      total += std::min(members_.back().compressed, file_.size() + 1);
      if (total > file_.size()) corrupt("its members are larger than the file");
    }
  }

  Member read_entry(std::span<const std::byte>& rest) {
    if (rest.size() < central_bytes || field<std::uint32_t>(rest, 0) != central_signature)
      corrupt("an entry of its directory is missing");
    Member m;
    m.flags = field<std::uint16_t>(rest, 8);
    m.method = field<std::uint16_t>(rest, 10);
    m.crc = field<std::uint32_t>(rest, 16);
    m.compressed = field<std::uint32_t>(rest, 20);
    m.size = field<std::uint32_t>(rest, 24);
    m.offset = field<std::uint32_t>(rest, 42);
    const std::size_t name = field<std::uint16_t>(rest, 28), extra = field<std::uint16_t>(rest, 30),
                      comment = field<std::uint16_t>(rest, 32);
    if (rest.size() - central_bytes < name + extra + comment) corrupt("an entry of its directory is cut off");
    m.name.assign(reinterpret_cast<const char*>(rest.data()) + central_bytes, name);
    read_zip64(rest.subspan(central_bytes + name, extra), m);
    rest = rest.subspan(central_bytes + name + extra + comment);
    return m;
  }

  /// The 64-bit values of those fields that did not fit, in this order.
  void read_zip64(std::span<const std::byte> extra, Member& m) const {
    while (extra.size() >= 4) {
      const std::size_t length = field<std::uint16_t>(extra, 2);
      if (length > extra.size() - 4) corrupt("an entry of its directory is cut off");
      if (field<std::uint16_t>(extra, 0) == zip64_extra) {
        std::span<const std::byte> values = extra.subspan(4, length);
        for (std::uint64_t* value : {&m.size, &m.compressed, &m.offset})
          if (*value == see_zip64) {
            if (values.size() < 8) corrupt("a 64-bit size is missing in its directory");
            *value = field<std::uint64_t>(values, 0);
            values = values.subspan(8);
          }
      }
      extra = extra.subspan(4 + length);
    }
  }

  static Bytes inflate(const Bytes& in, std::uint64_t size, const std::string& where) {
    if (size / most_deflation > in.size() + 1)
      raise<IoError>("{}: corrupt: {} bytes cannot unpack to {}.", where, in.size(), size);
    Bytes out(size);
    z_stream z{};
    if (inflateInit2(&z, -MAX_WBITS) != Z_OK) raise<IoError>("{}: zlib could not be started.", where);
    int status = Z_OK;
    std::uint64_t read = 0, written = 0;
    // One byte more than expected may come, which shows that the size is wrong.
    std::byte overflow{};
    while (status == Z_OK) {
      z.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(in.data() + read));
      z.avail_in = static_cast<uInt>(std::min(zlib_chunk, in.size() - read));
      const bool full = written == size;
      z.next_out = reinterpret_cast<Bytef*>(full ? &overflow : out.data() + written);
      z.avail_out = full ? 1 : static_cast<uInt>(std::min(zlib_chunk, size - written));
      const uInt in_before = z.avail_in, out_before = z.avail_out;
      status = ::inflate(&z, Z_NO_FLUSH);
      read += in_before - z.avail_in;
      written += out_before - z.avail_out;
      if (written > size) status = Z_DATA_ERROR;
    }
    inflateEnd(&z);
    if (status != Z_STREAM_END || written != size)
      raise<IoError>("{}: corrupt: its compressed data do not unpack to {} bytes; write or download it again.", where,
                     size);
    return out;
  }

  InputFile file_;
  std::vector<Member> members_;
};

/// Little-endian fields appended to a record.
class Record {
 public:
  template <class T>
  Record& add(T value) {
    for (std::size_t i = 0; i < sizeof(T); ++i) bytes_.push_back(static_cast<std::byte>(value >> (8 * i) & 0xff));
    return *this;
  }
  Record& add(std::string_view text) {
    const auto raw = std::as_bytes(std::span(text));
    bytes_.insert(bytes_.end(), raw.begin(), raw.end());
    return *this;
  }
  operator std::span<const std::byte>() const { return bytes_; }

 private:
  Bytes bytes_;
};

class ZipWriter {
 public:
  explicit ZipWriter(const std::filesystem::path& path) : file_(path, "save_npz") {}

  void add(const std::string& name, const Bytes& content, bool compressed) {
    Member m{.name = name, .size = content.size(), .offset = file_.written()};
    for (const char c : name)
      if (static_cast<unsigned char>(c) >= 0x80) m.flags = utf8_names;
    m.crc = static_cast<std::uint32_t>(crc32_z(0, reinterpret_cast<const Bytef*>(content.data()), content.size()));
    m.method = compressed ? deflated : stored;
    Bytes packed;
    if (compressed) packed = deflate(content);
    const Bytes& data = compressed ? packed : content;
    m.compressed = data.size();

    const bool wide = m.size >= see_zip64 || m.compressed >= see_zip64;
    Record local;
    local.add(local_signature).add(std::uint16_t(wide ? 45 : 20));
    add_common(local, m, wide).add(std::uint16_t(wide ? 20 : 0)).add(std::string_view(m.name));
    if (wide) local.add(zip64_extra).add(std::uint16_t{16}).add(m.size).add(m.compressed);
    file_.write(local);
    file_.write(data);
    members_.push_back(std::move(m));
  }

  void finish() {
    const std::uint64_t start = file_.written();
    for (const Member& m : members_) {
      const bool wide = m.size >= see_zip64 || m.compressed >= see_zip64, far = m.offset >= see_zip64;
      const auto extra = static_cast<std::uint16_t>((wide ? 16 : 0) + (far ? 8 : 0));
      Record central;
      central.add(central_signature).add(std::uint16_t{45}).add(std::uint16_t(extra ? 45 : 20));
      add_common(central, m, wide).add(std::uint16_t(extra ? extra + 4 : 0));
      // No comment, first disk, no attributes.
      central.add(std::uint16_t{0}).add(std::uint16_t{0}).add(std::uint16_t{0}).add(std::uint32_t{0});
      central.add(far ? see_zip64 : static_cast<std::uint32_t>(m.offset)).add(std::string_view(m.name));
      if (extra) central.add(zip64_extra).add(extra);
      if (wide) central.add(m.size).add(m.compressed);
      if (far) central.add(m.offset);
      file_.write(central);
    }
    const std::uint64_t end = file_.written(), size = end - start, count = members_.size();
    if (count >= see_zip64_count || size >= see_zip64 || start >= see_zip64) {
      Record end64;
      end64.add(end64_signature).add(std::uint64_t{end64_bytes - 12}).add(std::uint16_t{45}).add(std::uint16_t{45});
      end64.add(std::uint32_t{0}).add(std::uint32_t{0}).add(count).add(count).add(size).add(start);
      end64.add(locator64_signature).add(std::uint32_t{0}).add(end).add(std::uint32_t{1});
      file_.write(end64);
    }
    Record last;
    const auto short_count = static_cast<std::uint16_t>(std::min<std::uint64_t>(count, see_zip64_count));
    last.add(end_signature).add(std::uint16_t{0}).add(std::uint16_t{0}).add(short_count).add(short_count);
    last.add(static_cast<std::uint32_t>(std::min<std::uint64_t>(size, see_zip64)));
    last.add(static_cast<std::uint32_t>(std::min<std::uint64_t>(start, see_zip64))).add(std::uint16_t{0});
    file_.write(last);
    file_.commit();
  }

 private:
  /// What local and central headers share, from the flags to the length of the name.
  static Record& add_common(Record& r, const Member& m, bool wide) {
    // A fixed date, 1980-01-01, so that the same arrays give the same file.
    r.add(m.flags).add(m.method).add(std::uint16_t{0}).add(std::uint16_t{0x21}).add(m.crc);
    r.add(wide ? see_zip64 : static_cast<std::uint32_t>(m.compressed));
    r.add(wide ? see_zip64 : static_cast<std::uint32_t>(m.size));
    return r.add(static_cast<std::uint16_t>(m.name.size()));
  }

  static Bytes deflate(const Bytes& in) {
    z_stream z{};
    if (deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) != Z_OK)
      raise<IoError>("[save_npz] zlib could not be started.");
    Bytes out, chunk(1 << 18);
    std::uint64_t read = 0;
    int status = Z_OK;
    while (status == Z_OK) {
      const std::uint64_t now = std::min(zlib_chunk, in.size() - read);
      z.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(in.data() + read));
      z.avail_in = static_cast<uInt>(now);
      z.next_out = reinterpret_cast<Bytef*>(chunk.data());
      z.avail_out = static_cast<uInt>(chunk.size());
      status = ::deflate(&z, read + now == in.size() ? Z_FINISH : Z_NO_FLUSH);
      read += now - z.avail_in;
      out.insert(out.end(), chunk.begin(), chunk.end() - z.avail_out);
    }
    deflateEnd(&z);
    internal_check(status == Z_STREAM_END, "zlib did not finish");
    return out;
  }

  OutputFile file_;
  std::vector<Member> members_;
};

constexpr std::string_view suffix = ".npy";

}  // namespace

}  // namespace io

NamedArrays load_npz(const FilePath& path, const std::source_location& where) {
  const detail::CallSite site(where);
  io::ZipReader zip(path.str());
  NamedArrays out(fmt::format("'{}'", path.str()));
  for (const io::Member& m : zip.members()) {
    const bool named = m.name.ends_with(io::suffix);
    if (!named && (m.size == 0 || m.name.ends_with('/'))) continue;
    const io::Bytes content = zip.extract(m);
    // Members that are no arrays (notes, metadata) are left alone.
    if (!named && !io::has_npy_magic(content)) continue;
    const std::string name = named ? m.name.substr(0, m.name.size() - io::suffix.size()) : m.name;
    out.insert_or_assign(name, io::decode_npy(content, fmt::format("{}, member '{}'", zip.where(), m.name)));
  }
  return out;
}

void save_npz(const FilePath& path, const std::map<std::string, Array>& arrays, bool compressed,
              const std::source_location& where) {
  const detail::CallSite site(where);
  for (const auto& [name, array] : arrays) {
    if (name.size() + io::suffix.size() > 0xffff || name.find('\0') != std::string::npos)
      raise<ValueError>("[save_npz] an array's name has {} bytes or contains a zero byte; use a short plain name.",
                        name.size());
    if (!array.defined())
      raise<IoError>("[save_npz] the array '{}' is empty (default-constructed); give it a value first.", name);
  }
  io::ZipWriter zip(path.str());
  for (const auto& [name, array] : arrays)
    zip.add(name + std::string(io::suffix), io::encode_npy(array, "save_npz"), compressed);
  zip.finish();
}

}  // namespace cotan
