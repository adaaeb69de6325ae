// NumPy's .npy format: versions 1 to 3 are read, version 1 is written.
//
// bfloat16 has no NumPy name: ml_dtypes (and so JAX) stores it as raw two-byte elements, descr '<V2'. Such
// files are read as bf16, and bf16 is written that way.
#include <algorithm>
#include <bit>
#include <cotan/io/npy.hpp>

#include "io/npy_format.hpp"

namespace cotan {

namespace io {

namespace {

constexpr std::string_view magic = "\x93NUMPY";

struct Header {
  std::string descr;
  bool fortran_order = false;
  Shape shape;
};

/// Reads the header: a Python dict literal of exactly the three known keys, in any order.
class HeaderParser {
 public:
  HeaderParser(std::string_view text, const std::string& where) : text_(text), where_(where) {}

  Header parse() {
    Header header;
    bool descr = false, order = false, shape = false;
    expect('{');
    while (!accept('}')) {
      const std::string key = string();
      expect(':');
      if (key == "descr" && !descr) {
        if (peek() == '[')
          raise<IoError>("{}: holds a structured dtype; cotan reads arrays of one number type only.", where_);
        header.descr = string();
        descr = true;
      } else if (key == "fortran_order" && !order) {
        header.fortran_order = boolean();
        order = true;
      } else if (key == "shape" && !shape) {
        header.shape = tuple();
        shape = true;
      } else {
        bad(fmt::format("key '{}' is unknown or given twice", key));
      }
      if (!accept(',') && peek() != '}') bad("a comma is missing");
    }
    if (!descr || !order || !shape) bad("descr, fortran_order or shape is missing");
    return header;
  }

 private:
  [[noreturn]] void bad(std::string_view what) const {
    raise<IoError>("{}: the .npy header is corrupt at character {}: {}.", where_, at_, what);
  }
  char peek() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t')) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool accept(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!accept(c)) bad(fmt::format("'{}' is missing", c));
  }
  std::string string() {
    const char quote = peek();
    if (quote != '\'' && quote != '"') bad("a string is missing");
    const std::size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) bad("a string does not end");
    std::string out(text_.substr(at_ + 1, end - at_ - 1));
    at_ = end + 1;
    return out;
  }
  bool boolean() {
    peek();
    for (const std::string_view word : {"True", "False"})
      if (text_.substr(at_, word.size()) == word) {
        at_ += word.size();
        return word == "True";
      }
    bad("True or False is missing");
  }
  Shape tuple() {
    Shape out;
    expect('(');
    while (!accept(')')) {
      out.push_back(integer());
      if (!accept(',') && peek() != ')') bad("a comma is missing");
    }
    return out;
  }
  std::int64_t integer() {
    std::int64_t out = 0;
    if (peek() < '0' || peek() > '9') bad("a size is missing");
    for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_)
      if (__builtin_mul_overflow(out, 10, &out) || __builtin_add_overflow(out, text_[at_] - '0', &out))
        bad("a size is too large");
    if (at_ < text_.size() && text_[at_] == 'L') ++at_;  // Python 2 wrote 3L
    return out;
  }

  std::string_view text_;
  const std::string& where_;
  std::size_t at_ = 0;
};

struct NamedDType {
  std::string_view name;
  DType dtype;
};
constexpr NamedDType dtype_names[] = {
    {"b1", DType::bool_}, {"i1", DType::i8},  {"i2", DType::i16}, {"i4", DType::i32}, {"i8", DType::i64},
    {"u1", DType::u8},    {"u2", DType::u16}, {"u4", DType::u32}, {"u8", DType::u64}, {"f2", DType::f16},
    {"V2", DType::bf16},  {"f4", DType::f32}, {"f8", DType::f64}, {"c8", DType::c64}, {"c16", DType::c128},
};

struct StoredType {
  DType dtype;
  bool swapped;  ///< the other byte order than this machine's
};
StoredType parse_descr(const std::string& descr, const std::string& where) {
  const char order = descr.empty() ? '\0' : descr[0];
  if (std::string_view("<>=|").find(order) != std::string_view::npos && order)
    for (const auto& [name, dtype] : dtype_names)
      if (descr.compare(1, std::string::npos, name) == 0) {
        const bool big = order == '>', little = order == '<';
        const bool swapped = std::endian::native == std::endian::little ? big : little;
        return {dtype, swapped && itemsize(dtype) > 1};
      }
  const char kind = descr.size() > 1 ? descr[1] : order;
  const std::string_view why = kind == 'O'                  ? "Python objects, which are pickled; save numbers instead"
                               : kind == 'S' || kind == 'U' ? "strings; save numbers instead"
                               : kind == 'M' || kind == 'm'
                                   ? "dates or times; save them as integers"
                                   : "elements that cotan has no dtype for; convert them first";
  raise<IoError>("{}: dtype '{}' holds {}.", where, descr, why);
}

/// Elements in the file; raises where their bytes cannot all be there. Also bounds the sizes beside a zero,
/// so that no product of sizes overflows later.
std::uint64_t checked_elements(const Header& header, DType dtype, std::uint64_t available, const std::string& where) {
  std::uint64_t elements = itemsize(dtype);
  bool zero = false;
  for (const std::int64_t size : header.shape) {
    zero |= size == 0;
    if (size && __builtin_mul_overflow(elements, static_cast<std::uint64_t>(size), &elements)) elements = UINT64_MAX;
    if (elements > static_cast<std::uint64_t>(INT64_MAX))
      raise<IoError>("{}: shape {} has more elements than any memory; the header is corrupt.", where,
                     describe(header.shape));
  }
  if (zero) return 0;
  if (elements > available)
    raise<IoError>("{}: truncated: {} takes {} bytes, {} are there; write or download it again.", where,
                   describe(dtype, header.shape), elements, available);
  return elements / itemsize(dtype);
}

void swap_bytes(Bytes& bytes, std::size_t width) {
  for (std::size_t i = 0; i + width <= bytes.size(); i += width)
    std::reverse(bytes.begin() + static_cast<std::ptrdiff_t>(i),
                 bytes.begin() + static_cast<std::ptrdiff_t>(i + width));
}

/// Column-major to row-major.
Bytes to_row_major(const Bytes& in, const Shape& shape, std::size_t width) {
  Bytes out(in.size());
  std::vector<std::size_t> strides(shape.size()), index(shape.size(), 0);
  std::size_t stride = width, from = 0;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    strides[i] = stride;
    stride *= static_cast<std::size_t>(shape[i]);
  }
  for (std::size_t to = 0; to < out.size(); to += width) {
    std::copy_n(in.data() + from, width, out.data() + to);
    for (std::size_t i = shape.size(); i-- > 0;) {
      from += strides[i];
      if (++index[i] < static_cast<std::size_t>(shape[i])) break;
      from -= strides[i] * index[i];
      index[i] = 0;
    }
  }
  return out;
}

}  // namespace

std::string npy_header(DType dtype, const Shape& shape) {
  std::string_view name;
  for (const auto& n : dtype_names)
    if (n.dtype == dtype) name = n.name;
  const char order = itemsize(dtype) == 1 ? '|' : std::endian::native == std::endian::little ? '<' : '>';
  std::string sizes;
  for (const auto s : shape) sizes += fmt::format("{}{}", sizes.empty() ? "" : ", ", s);
  if (shape.size() == 1) sizes += ',';
  std::string dict = fmt::format("{{'descr': '{}{}', 'fortran_order': False, 'shape': ({}), }}", order, name, sizes);
  // Elements start at a multiple of 64 bytes, so that a file can be mapped. Only shapes with thousands of
  // axes need the four-byte length of version 2.
  const std::size_t unpadded = dict.size() + 1;
  const bool long_header = unpadded + 64 > 0xffff;
  const std::size_t before = long_header ? 12 : 10;
  dict.append((64 - (before + unpadded) % 64) % 64, ' ');
  dict += '\n';
  std::string out(magic);
  out += long_header ? '\2' : '\1';
  out += '\0';
  for (std::size_t i = 0; i < before - 8; ++i) out += static_cast<char>(dict.size() >> (8 * i) & 0xff);
  return out + dict;
}

bool has_npy_magic(std::span<const std::byte> bytes) {
  return bytes.size() >= magic.size() && std::memcmp(bytes.data(), magic.data(), magic.size()) == 0;
}

namespace {

struct StoredArray {
  StoredType type;
  bool fortran_order;
  Shape shape;
  std::span<const std::byte> elements;
};

StoredArray find_elements(std::span<const std::byte> bytes, const std::string& where) {
  const auto byte = [&](std::size_t i) { return std::to_integer<std::uint32_t>(bytes[i]); };
  if (!has_npy_magic(bytes))
    raise<IoError>("{}: not a .npy file: its first bytes are not '\\x93NUMPY'; give the path of one.", where);
  if (bytes.size() < 8) raise<IoError>("{}: truncated in the .npy header; write or download it again.", where);
  const std::uint32_t version = byte(6);
  if (version < 1 || version > 3)
    raise<IoError>("{}: .npy version {}.{} is not known; cotan reads versions 1 to 3.", where, version, byte(7));
  const std::size_t length_bytes = version == 1 ? 2 : 4, header_at = 8 + length_bytes;
  if (bytes.size() < header_at) raise<IoError>("{}: truncated in the .npy header; write or download it again.", where);
  std::size_t length = 0;
  for (std::size_t i = 0; i < length_bytes; ++i) length |= static_cast<std::size_t>(byte(8 + i)) << (8 * i);
  if (length > bytes.size() - header_at)
    raise<IoError>("{}: truncated: the .npy header takes {} bytes, {} are there; write or download it again.", where,
                   length, bytes.size() - header_at);
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()) + header_at, length);
  const Header header = HeaderParser(text, where).parse();
  const StoredType type = parse_descr(header.descr, where);

  const auto stored = bytes.subspan(header_at + length);
  const std::uint64_t count = checked_elements(header, type.dtype, stored.size(), where) * itemsize(type.dtype);
  return {type, header.fortran_order, header.shape, stored.first(count)};
}

}  // namespace

Array decode_npy(std::span<const std::byte> bytes, const std::string& where) {
  const auto& [type, fortran_order, shape, stored] = find_elements(bytes, where);
  const bool is_bool = type.dtype == DType::bool_;
  if (!type.swapped && !is_bool && !fortran_order) return Array::from_bytes(type.dtype, shape, stored);
  Bytes elements(stored.begin(), stored.end());
  if (type.swapped) swap_bytes(elements, itemsize(real_dtype(type.dtype)));
  if (is_bool)  // any other byte than 0 and 1 would not be a bool to C++
    for (auto& b : elements) b = std::byte(b != std::byte{0});
  if (fortran_order) elements = to_row_major(elements, shape, itemsize(type.dtype));
  return Array::from_bytes(type.dtype, shape, elements);
}

MappedNpy map_npy(std::span<const std::byte> bytes, const std::string& where) {
  const auto& [type, fortran_order, shape, stored] = find_elements(bytes, where);
  if (type.swapped || (fortran_order && shape.size() > 1))
    raise<IoError>("{}: its elements are in another order than in memory; write it anew with np.ascontiguousarray.",
                   where);
  return {type.dtype, shape, stored};
}

Bytes encode_npy(const Array& a, std::string_view op) {
  if (!a.defined()) raise<IoError>("[{}] the array is empty (default-constructed); give it a value first.", op);
  const std::string header = npy_header(a.dtype(), a.shape());
  Bytes out(header.size() + a.nbytes());
  std::memcpy(out.data(), header.data(), header.size());
  detail::copy_to_host(a, a.dtype(), out.data() + header.size(), op);
  return out;
}

}  // namespace io

Array load_npy(const FilePath& path, const std::source_location& where) {
  const detail::CallSite site(where);
  io::InputFile file(path.str(), "load_npy");
  return io::decode_npy(file.read_all(), file.where());
}

void save_npy(const FilePath& path, const ArrayLike& a) {
  const io::Bytes content = io::encode_npy(a, "save_npy");
  io::OutputFile file(path.str(), "save_npy");
  file.write(content);
  file.commit();
}

}  // namespace cotan
