#include "core/environment.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>

#include "core/error.hpp"

namespace cotan::environment {

namespace {

constexpr std::array table{
    Variable{"COTAN_DEVICE", "`native`, `webgpu`, `reference`",
             "the default device; `reference` runs everything by the plain evaluation rules that the compiler is "
             "tested against"},
    Variable{"COTAN_NUM_THREADS", "a number",
             "threads of the native device; else as many as the process may use cores"},
    Variable{"COTAN_CACHE_DIR", "a folder, or `off`",
             "where compiled programs are kept for the next start (native code and pipelines of the GPU, at most 256 "
             "MB each, and "
             "tiles); else `$XDG_CACHE_HOME/cotan` or `~/.cache/cotan`"},
    Variable{"COTAN_FIRST_CODE", "`full`, `quick`",
             "`full`: native programs are compiled at their best at once; `quick`: their first code is always made in "
             "a hurry. Else "
             "a program whose first call would be over sooner has its first code made in a hurry, and better code, "
             "with the same "
             "results, in the background when it is called again or runs for long; loops with long steps go on with it "
             "while they "
             "run"},
    Variable{"COTAN_SCAN_CHUNKS", "a number", "pieces that `associative_scan` is cut into; else the machine decides"},
    Variable{"COTAN_DEBUG_NANS", "`1`", "the operation that made a NaN is an error that names it (`ct::debug_nans`)"},
    Variable{"COTAN_DEBUG_BOUNDS", "`1`", "an index outside its array is an error that names it (`ct::debug_bounds`)"},
    Variable{"COTAN_LOG_COMPILES", "`1`", "a line for each trace of a function, with the reason (`ct::log_compiles`)"},
    Variable{"COTAN_TRACE", "a file",
             "a trace of the whole process for `ui.perfetto.dev`: tracing, compiling, calls, copies, kernels with "
             "their times; "
             "`ct::Profile` does so for a part"},
    Variable{"COTAN_VERIFY", "`1`",
             "the verifier looks at every program after every pass (always on in the preset `debug`)"},
    Variable{"COTAN_WEBGPU_LIBRARY", "a file", "the WebGPU library to load"},
    Variable{"COTAN_WEBGPU_CHECKED", "`1`", "the WebGPU library's own checks of bounds"},
    Variable{"COTAN_WEBGPU_TUNE", "`1`",
             "tries the tiles of each new size of matrix product on the GPU and keeps what it finds fastest "
             "(`ct::autotune`)"},
    Variable{"COTAN_WEBGPU_MATMUL", "a tile as in the tuner's file", "the tile of matrix products, where it fits"},
    Variable{"COTAN_WEBGPU_ATTENTION", "`16x4x8` or `16x4x8,8x4x8`",
             "tiles of attention forwards and backwards: threads down, rows of each, threads across"},
    Variable{"COTAN_WEBGPU_SLAB_MB", "a number", "megabytes of the first block of the GPU's memory"},
    Variable{"COTAN_WEBGPU_THREADS", "a number", "threads of a group that runs a loop", true},
    Variable{"COTAN_WEBGPU_MINIMUM_LIMITS", "`1`", "no more of anything than every WebGPU guarantees", true},
    Variable{"COTAN_WEBGPU_STORAGE_BUFFERS", "a number", "the most storage buffers that a shader may bind", true},
    Variable{"COTAN_WEBGPU_BINDING_BYTES", "a number", "the most bytes of a binding", true},
    Variable{"COTAN_WEBGPU_GROUP_BYTES", "a number", "the most bytes that a group shares", true},
    Variable{"COTAN_WEBGPU_NO_SUBGROUPS", "`1`", "a device without subgroups", true},
    Variable{"COTAN_WEBGPU_NO_TIMESTAMPS", "`1`", "a device without a clock", true},
};

std::string rows(bool for_tests) {
  std::string out = "| variable | values | |\n|---|---|---|\n";
  for (const Variable& v : table)
    if (v.for_tests == for_tests) out += fmt::format("| `{}` | {} | {} |\n", v.name, v.values, v.purpose);
  return out;
}

}  // namespace

std::span<const Variable> variables() { return table; }

std::string page() {
  return "# Environment variables\n\nWritten by `make docs` from `src/core/environment.cpp`. Where a variable is "
         "empty, it counts as "
         "not set. A flag is on for `1`, `true`, `yes`, `on` and off for `0`, `false`, `no`, `off`; a value that a "
         "variable cannot "
         "have is an error when it is read.\n\n" +
         rows(false) + "\nTo test with less than the machine has:\n\n" + rows(true);
}

std::optional<std::string> text(std::string_view name) {
  const auto found = std::find_if(table.begin(), table.end(), [&](const Variable& v) { return v.name == name; });
  internal_check(found != table.end(), "an environment variable is read that is not in the table");
  const char* value = std::getenv(found->name.data());
  return value && *value ? std::optional<std::string>(value) : std::nullopt;
}

bool is_on(std::string_view name) {
  const auto value = one_of(name, {"1", "true", "yes", "on", "0", "false", "no", "off"});
  return value && (*value == "1" || *value == "true" || *value == "yes" || *value == "on");
}

std::optional<std::int64_t> number(std::string_view name, std::int64_t least) {
  const auto value = text(name);
  if (!value) return std::nullopt;
  std::int64_t n = 0;
  const char* const last = value->data() + value->size();
  const auto [end, error] = std::from_chars(value->data(), last, n);
  if (error != std::errc() || end != last || n < least)
    raise<ValueError>("[{}] is \"{}\"; set it to a whole number of at least {}, or unset it.", name, *value, least);
  return n;
}

std::optional<std::string> one_of(std::string_view name, std::initializer_list<std::string_view> values) {
  auto value = text(name);
  if (value && std::find(values.begin(), values.end(), *value) == values.end())
    raise<ValueError>("[{}] is \"{}\"; set it to one of {}, or unset it.", name, *value, fmt::join(values, ", "));
  return value;
}

}  // namespace cotan::environment
