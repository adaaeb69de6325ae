// Reading headers of safetensors files, which may come from anybody: nothing in them is believed.
#include <algorithm>

#include "core/error.hpp"
#include "io/json.hpp"
#include "io/safetensors_format.hpp"

namespace cotan::io {

namespace {

struct NamedType {
  std::string_view name;
  int bits;
  std::optional<DType> dtype;
};
/// In the order in which the format has them, narrow ones first.
constexpr NamedType stored_types[] = {
    {"BOOL", 8, DType::bool_}, {"F4", 4, {}},           {"F6_E2M3", 6, {}},        {"F6_E3M2", 6, {}},
    {"U8", 8, DType::u8},      {"I8", 8, DType::i8},    {"F8_E5M2", 8, {}},        {"F8_E4M3", 8, {}},
    {"F8_E8M0", 8, {}},        {"F8_E4M3FNUZ", 8, {}},  {"F8_E5M2FNUZ", 8, {}},    {"I16", 16, DType::i16},
    {"U16", 16, DType::u16},   {"F16", 16, DType::f16}, {"BF16", 16, DType::bf16}, {"I32", 32, DType::i32},
    {"U32", 32, DType::u32},   {"F32", 32, DType::f32}, {"C64", 64, DType::c64},   {"F64", 64, DType::f64},
    {"I64", 64, DType::i64},   {"U64", 64, DType::u64},
};
constexpr std::uint64_t most_header_bytes = 100'000'000, before_header = 8;

class HeaderReader {
 public:
  HeaderReader(std::span<const std::byte> file, const std::string& where) : file_(file), where_(where) {}

  SafetensorsHeader read() {
    SafetensorsHeader out;
    const Json json = parse_json(text(), where_, {.depth = 4, .unique_names = true});
    if (!json.is_object()) raise<IoError>("{}: the header is no object; this is no safetensors file.", where_);
    for (const auto& [name, entry] : json.items())
      if (name == "__metadata__")
        out.metadata = metadata(entry);
      else
        out.tensors.emplace(name, tensor(name, entry));
    check_no_holes(out);
    return out;
  }

 private:
  std::string_view text() {
    if (file_.size() < before_header)
      raise<IoError>("{}: truncated: a safetensors file has at least 8 bytes, this one {}; download it again.", where_,
                     file_.size());
    std::uint64_t length = 0;
    for (unsigned i = 0; i < before_header; ++i) length |= std::to_integer<std::uint64_t>(file_[i]) << (8 * i);
    if (length > most_header_bytes || length > file_.size() - before_header)
      raise<IoError>("{}: the header takes {} bytes, {} are there; this is no safetensors file, or a part of one.",
                     where_, length, file_.size() - before_header);
    data_at_ = before_header + length;
    return {reinterpret_cast<const char*>(file_.data()) + before_header, length};
  }
  std::map<std::string, std::string> metadata(const Json& entry) const {
    std::map<std::string, std::string> out;
    if (!entry.is_object()) raise<IoError>("{}: __metadata__ is no object of texts; write it again.", where_);
    for (const auto& [key, value] : entry.items()) {
      if (!value.is_string()) raise<IoError>("{}: __metadata__ '{}' is no text; write it as one.", where_, key);
      out.emplace(key, value.get<std::string>());
    }
    return out;
  }

  template <class... Args>
  [[noreturn]] void bad(const std::string& name, fmt::format_string<Args...> format, Args&&... args) const {
    raise<IoError>("{}, tensor '{}': {}; the file is damaged, write or download it again.", where_, name,
                   fmt::format(format, std::forward<Args>(args)...));
  }
  std::uint64_t size(const std::string& name, const Json& number, std::string_view what) const {
    if (!number.is_number_unsigned() || number.get<std::uint64_t>() > static_cast<std::uint64_t>(INT64_MAX))
      bad(name, "{} holds {}, which is no size", what, number.dump(-1, ' ', true, Json::error_handler_t::replace));
    return number.get<std::uint64_t>();
  }
  const Json& list(const std::string& name, const Json& entry, const char* what) const {
    const auto found = entry.find(what);
    if (found == entry.end() || !found->is_array()) bad(name, "the list '{}' is missing", what);
    return *found;
  }
  StoredTensor tensor(const std::string& name, const Json& entry) const {
    if (!entry.is_object()) bad(name, "the header has no object for it");
    for (const auto& [key, value] : entry.items())
      if (key != "dtype" && key != "shape" && key != "data_offsets") bad(name, "the key '{}' is unknown", key);
    StoredTensor out;
    const auto dtype = entry.find("dtype");
    if (dtype == entry.end() || !dtype->is_string()) bad(name, "'dtype' is missing");
    out.dtype_name = dtype->get<std::string>();
    const auto* type = std::ranges::find(stored_types, out.dtype_name, &NamedType::name);
    if (type == std::end(stored_types)) bad(name, "the dtype '{}' is unknown", out.dtype_name);
    out.dtype = type->dtype;
    std::uint64_t bits = static_cast<std::uint64_t>(type->bits);
    for (const Json& number : list(name, entry, "shape")) {
      const std::uint64_t extent = size(name, number, "shape");
      if (__builtin_mul_overflow(bits, extent, &bits)) bad(name, "no memory could hold its shape");
      out.shape.push_back(static_cast<std::int64_t>(extent));
    }
    const Json& offsets = list(name, entry, "data_offsets");
    if (offsets.size() != 2) bad(name, "'data_offsets' has {} numbers, not 2", offsets.size());
    const std::uint64_t begin = size(name, offsets[0], "data_offsets"), end = size(name, offsets[1], "data_offsets");
    const std::uint64_t there = file_.size() - data_at_;
    if (begin > end || end > there)
      bad(name, "its bytes are {} to {}, outside of the {} that follow the header", begin, end, there);
    if (bits % 8 != 0 || end - begin != bits / 8)
      bad(name, "{}{} takes {} bits, it has {} bytes", out.dtype_name, describe(out.shape), bits, end - begin);
    out.begin = data_at_ + begin;
    out.end = data_at_ + end;
    return out;
  }
  void check_no_holes(const SafetensorsHeader& header) const {
    std::vector<const std::pair<const std::string, StoredTensor>*> order;
    for (const auto& named : header.tensors) order.push_back(&named);
    std::ranges::sort(order, {}, [](const auto* t) { return std::pair(t->second.begin, t->second.end); });
    std::uint64_t at = data_at_;
    for (const auto* t : order) {
      if (t->second.begin != at)
        bad(t->first, "it begins at byte {}, where the one before it ends at {}", t->second.begin - data_at_,
            at - data_at_);
      at = t->second.end;
    }
    if (at != file_.size())
      raise<IoError>("{}: {} bytes at the end belong to no tensor; the file is damaged, write or download it again.",
                     where_, file_.size() - at);
  }

  std::span<const std::byte> file_;
  const std::string& where_;
  std::uint64_t data_at_ = 0;
};

}  // namespace

SafetensorsHeader read_safetensors_header(std::span<const std::byte> file, const std::string& where) {
  return HeaderReader(file, where).read();
}

std::string_view safetensors_name(DType dtype) {
  const auto* type = std::ranges::find(stored_types, std::optional(dtype), &NamedType::dtype);
  return type == std::end(stored_types) ? "" : type->name;
}
int safetensors_order(DType dtype) {
  return static_cast<int>(std::ranges::find(stored_types, std::optional(dtype), &NamedType::dtype) - stored_types);
}

}  // namespace cotan::io
