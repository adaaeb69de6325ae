// Turns a C++ function over Arrays and its arguments into a Case for the peer "cotan".
#pragma once
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cotan/cotan.hpp>
#include <tuple>

#include "workload.hpp"

namespace bench {

namespace ct = cotan;
namespace np = cotan::numpy;

template <class T>
void wait_for(const T& result) {
  if constexpr (std::is_same_v<T, ct::Array>)
    ct::block_until_ready(result);
  else
    for (const ct::Array& leaf : ct::tree::leaves(result)) ct::block_until_ready(leaf);
}

template <class T>
std::vector<double> summary(const T& result) {
  std::vector<double> numbers;
  const auto add = [&](const ct::Array& a) {
    const std::vector<double> values = a.to_vector<double>();
    summarize(numbers, values.data(), values.size());
  };
  for (const ct::Array& leaf : ct::tree::leaves(result)) {
    add(np::real(leaf));
    if (np::iscomplexobj(leaf)) add(np::imag(leaf));
  }
  return numbers;
}

/// What the kernels of a call take together, by the device's clock.
inline std::optional<double> device_seconds(const std::function<void()>& call) {
  constexpr int calls = 5;
  ct::Profile profile;
  for (int k = 0; k < calls; ++k) call();
  profile.stop();
  std::int64_t total = 0;
  for (const ct::ProfileEvent& e : profile.events())
    if (e.category == "kernel") total += e.duration_ns;
  if (total == 0) return std::nullopt;
  return static_cast<double>(total) * 1e-9 / calls;
}

/// f as it is, op by op.
template <class F, class... A>
Case eager(const F& f, const A&... args) {
  const std::tuple<A...> arguments(args...);
  return {.call = [=] { benchmark::DoNotOptimize(std::apply(f, arguments)); },
          .check = [=] { return summary(std::apply(f, arguments)); }};
}

/// f under jit. A compilation is the first call of a fresh jit less a warm call.
template <class F, class... A>
Case jitted(const F& f, const A&... args) {
  using Clock = std::chrono::steady_clock;
  const std::tuple<A...> arguments(args...);
  const auto compiled = ct::jit(f);
  const auto seconds = [arguments](const auto& function) {
    const auto start = Clock::now();
    wait_for(std::apply(function, arguments));
    return std::chrono::duration<double>(Clock::now() - start).count();
  };
  Case made;
  made.call = [=] {
    const auto result = std::apply(compiled, arguments);
    wait_for(result);
    benchmark::DoNotOptimize(result);
  };
  made.compile = [=] {
    ct::clear_caches();  // so that the call really compiles
    const auto fresh = ct::jit(f);
    const double first = seconds(fresh);
    return std::max(0.0, first - std::min({seconds(fresh), seconds(fresh), seconds(fresh)}));
  };
  made.check = [=] { return summary(std::apply(compiled, arguments)); };
  made.device = [call = made.call] { return device_seconds(call); };
  made.peak = [=] {
    return std::apply([&](const auto&... a) { return ct::explain(compiled, a...).peak_bytes; }, arguments);
  };
  return made;
}

inline std::size_t elements(const ct::Shape& shape) {
  std::size_t count = 1;
  for (const std::int64_t extent : shape) count *= static_cast<std::size_t>(extent);
  return count;
}
/// The shared inputs (workload.hpp) as an Array.
inline ct::Array random_array(const ct::Shape& shape, std::uint32_t seed, bool is_double = false) {
  return is_double ? ct::Array::from_host(uniform<double>(elements(shape), seed), shape)
                   : ct::Array::from_host(uniform<float>(elements(shape), seed), shape);
}
/// Both parts of a number lie next to each other.
inline ct::Array random_complex(ct::Shape shape, std::uint32_t seed, bool is_double = false) {
  shape.push_back(2);
  const ct::Array both = random_array(shape, seed, is_double);
  return ct::lax::complex(both(ct::ellipsis, 0), both(ct::ellipsis, 1));
}
inline ct::Array random_indices(const ct::Shape& shape, std::uint32_t seed, std::int64_t bound) {
  return ct::Array::from_host(indices(elements(shape), seed, static_cast<std::uint32_t>(bound)), shape);
}

}  // namespace bench
