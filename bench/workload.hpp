// What a peer of the benchmark provides for one row of workloads.json, and the registry that finds it.
#pragma once
#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

/// The parameters of a row: sizes, dtype, and what the driver worked out (bytes).
class Parameters {
 public:
  explicit Parameters(nlohmann::json row) : row_(std::move(row)) {}
  std::int64_t operator[](const char* name) const { return row_.at(name).get<std::int64_t>(); }
  std::vector<std::int64_t> list(const char* name) const { return row_.at(name); }
  bool is_double() const { return row_.value("dtype", "f32") == "f64"; }
  bool flag(const char* name) const { return row_.value(name, false); }
  std::string text(const char* name) const { return row_.value(name, ""); }
  std::string name() const { return row_.at("name"); }
  std::string kind() const { return row_.at("kind"); }

 private:
  nlohmann::json row_;
};

/// A workload ready to run: inputs made, nothing compiled yet.
struct Case {
  std::function<void()> call;               ///< one call whose result is complete when it returns
  std::function<double()> compile = {};     ///< seconds to trace and compile it afresh
  std::function<std::int64_t()> peak = {};  ///< most bytes a call holds at once: arguments, results, temporaries
  std::function<std::optional<double>()> device =
      {};  ///< seconds of a call by the clock of the device; nothing where it has none
  std::function<std::vector<double>()> check = {};  ///< numbers that must agree between peers
};

/// Makes a Case, or throws Missing where this build cannot run the workload.
using Maker = std::function<Case(const Parameters&)>;
struct Missing : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Peers of this program: "cotan", "openblas", "by_hand", "plain", "copy".
struct Register {
  Register(std::string_view peer, std::string_view kind, Maker make);
};
/// The maker of a kind, or nullptr.
const Maker* find_maker(std::string_view peer, std::string_view kind);
std::vector<std::string> peers();

/// The same pseudo-random inputs in every peer: a hash of the position, uniform in [-1, 1), exact in f32.
std::uint32_t hash(std::uint32_t position, std::uint32_t seed);
template <class T>
std::vector<T> uniform(std::size_t size, std::uint32_t seed) {
  std::vector<T> out(size);
  for (std::size_t i = 0; i < size; ++i)
    out[i] = static_cast<T>(hash(static_cast<std::uint32_t>(i), seed) >> 8) * T(0x1p-23) - T(1);
  return out;
}
std::vector<std::int32_t> indices(std::size_t size, std::uint32_t seed, std::uint32_t bound);

/// What check() tells of one output: its mean and the element a third into it.
template <class T>
void summarize(std::vector<double>& into, const T* data, std::size_t size) {
  double total = 0;
  for (std::size_t i = 0; i < size; ++i) total += static_cast<double>(data[i]);
  into.push_back(size == 0 ? 0 : total / static_cast<double>(size));
  into.push_back(size == 0 ? 0 : static_cast<double>(data[size / 3]));
}

}  // namespace bench
