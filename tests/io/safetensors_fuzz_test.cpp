// Damaged safetensors files: read as what they are, or refused with an IoError that names the file; nothing else.
#include <cotan/error.hpp>

#include "io/files.hpp"
#include "io/mutations.hpp"
#include "io/safetensors_format.hpp"
#include "support/in_children.hpp"
#include "support/nightly.hpp"

using namespace cotan;

namespace {

/// What a header that was taken for good must fulfil, whatever the bytes were.
std::string fault_of(const io::SafetensorsHeader& header, std::size_t size) {
  std::uint64_t elements = 0;
  for (const auto& [name, t] : header.tensors) {
    if (t.begin > t.end || t.end > size) return "tensor '" + name + "' is outside of the file";
    elements += t.end - t.begin;
    std::uint64_t bytes = t.dtype ? itemsize(*t.dtype) : 0;
    for (const std::int64_t extent : t.shape) bytes *= static_cast<std::uint64_t>(extent);
    if (t.dtype && bytes != t.end - t.begin) return "tensor '" + name + "' has another size than its shape";
  }
  return elements <= size - 8 ? "" : "tensors overlap";
}

}  // namespace

TEST(SafetensorsFuzz, DamagedFilesAreRefused) {
  const test::Mutations mutations(
      {test::content_of(test::golden_file("all_dtypes.safetensors")),
       test::content_of(test::golden_file("eight_bits.safetensors")), std::string("\x02\0\0\0\0\0\0\0{}", 10)},
      {"\"shape\":", "\"dtype\":", "\"data_offsets\":", "\"__metadata__\":", "[", "]", "{", "}", ",", "\"F32\"",
       "[0,0]", "null", "\\u0000", "\xff", ":{", "\"a\":", "                "});
  constexpr std::uint64_t executions_of_seed = 1000;
  const std::uint64_t seeds = is_nightly() ? 1100 : 8;
  const auto findings = in_children(seeds, [&](std::uint64_t seed) -> std::string {
    std::size_t good = 0;
    for (std::uint64_t k = 0; k < executions_of_seed; ++k) {
      const std::string file = mutations.file(seed * executions_of_seed + k);
      const std::string which = "execution " + std::to_string(k) + ": ";
      try {
        const auto bytes = std::as_bytes(std::span(file));
        const std::string fault = fault_of(io::read_safetensors_header(bytes, "[fuzz] 'f'"), file.size());
        if (!fault.empty()) return which + fault;
        ++good;
      } catch (const IoError& e) {
        if (!std::string_view(e.what()).starts_with("[fuzz] 'f'")) return which + e.what();
      } catch (const std::exception& e) {
        return which + "another exception: " + e.what();
      }
    }
    // Neither all nor nothing: else the mutations test nothing.
    return good > 0 && good < executions_of_seed ? "" : std::to_string(good) + " files are good";
  });
  for (const Finding& f : findings) ADD_FAILURE() << "seed " << f.seed << ": " << f.fault;
}
