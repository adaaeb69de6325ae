// cotan_gpt2: what a training step of GPT-2, or generating with it, takes on a device: by the clock, by the device's
// own clock for each kernel, in dispatches, submissions and bytes.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <map>
#include <numeric>
#include <stdexcept>
#include <string>

#include "../workload.hpp"
#include "model.hpp"

namespace {

using namespace gpt2;
using Clock = std::chrono::steady_clock;

constexpr const char* help =
    "cotan_gpt2 [--device=NAME] [--size=distil|124m|tiny] [--batch=N] [--tokens=N] [--steps=N]\n"
    "           [--generate=N] [--no-profile] [--no-run] [--rows=N] [--passes=FILE] [--wgsl=FILE]\n"
    "Times a training step (forward, backward, clipping, AdamW), or with --generate=N the N tokens after a prompt of\n"
    "--tokens. --no-run: only what the device would do. --rows: of the table of kernels.\n";

struct Options {
  std::string device = "native", size = "distil", passes, wgsl;
  std::int64_t batch = 1, tokens = 512, steps = 10, generate = 0, rows = 40;
  bool profile = true, run = true;
};

Options parse(int argc, char** argv) {
  Options o;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const auto text = [&](const char* name, std::string& value) {
      if (argument.rfind(name, 0) != 0) return false;
      value = argument.substr(std::strlen(name));
      return true;
    };
    const auto number = [&](const char* name, std::int64_t& value) {
      std::string digits;
      if (!text(name, digits)) return false;
      value = std::stoll(digits);
      return true;
    };
    if (argument == "--no-profile")
      o.profile = false;
    else if (argument == "--no-run")
      o.run = false;
    else if (!text("--device=", o.device) && !text("--size=", o.size) && !text("--passes=", o.passes) &&
             !text("--wgsl=", o.wgsl) && !number("--batch=", o.batch) && !number("--tokens=", o.tokens) &&
             !number("--steps=", o.steps) && !number("--generate=", o.generate) && !number("--rows=", o.rows))
      throw std::invalid_argument(help);
  }
  return o;
}

Sizes sizes_of(const std::string& name) {
  if (name == "distil") return {};
  if (name == "124m") return {.layers = 12};
  if (name == "tiny") return {.layers = 2, .width = 64, .heads = 2, .vocabulary = 499, .context = 64};
  throw std::invalid_argument("--size=" + name + ": there are distil, 124m and tiny.\n");
}

void wait(const std::vector<Array>& arrays) {
  for (const Array& a : arrays) ct::block_until_ready(a);
}
double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

void write(const std::string& file, const std::string& text) {
  if (!file.empty()) std::ofstream(file) << text;
}

void print(const Options& o, const ct::Explanation& e) {
  std::printf(
      "%d dispatches, %d submissions, %d loops; %.1f MB at most (%.1f arguments, %.1f results, %.1f donated, %.1f"
      " temporary); %.2f GFLOP, %.1f MB read and written\n",
      e.dispatches, e.submissions, e.loops, static_cast<double>(e.peak_bytes) * 1e-6,
      static_cast<double>(e.argument_bytes) * 1e-6, static_cast<double>(e.result_bytes) * 1e-6,
      static_cast<double>(e.donated_bytes) * 1e-6, static_cast<double>(e.temporary_bytes) * 1e-6, e.flops * 1e-9,
      e.bytes_accessed * 1e-6);
  if (!o.run) std::printf("%s", e.steps.c_str());
  std::string passes;
  for (const auto& [name, text] : e.passes) passes += "== " + name + "\n" + text + "\n";
  write(o.passes, passes);
  write(o.wgsl, e.wgsl);
}

/// Kernels by name, those that take longest first, of `calls` calls.
void print(const ct::Profile& profile, int calls, std::int64_t rows) {
  struct Row {
    std::int64_t times = 0, ns = 0;
  };
  std::map<std::string, Row> by_name;
  std::int64_t total = 0, count = 0;
  for (const ct::ProfileEvent& e : profile.events()) {
    if (e.category != "kernel") continue;
    Row& row = by_name[e.name];
    ++row.times, ++count;
    row.ns += e.duration_ns, total += e.duration_ns;
  }
  std::vector<std::pair<std::string, Row>> sorted(by_name.begin(), by_name.end());
  std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.second.ns > b.second.ns; });
  std::printf("by the device's clock: %.3f ms in %lld kernels\n", static_cast<double>(total) * 1e-6 / calls,
              static_cast<long long>(count / calls));
  for (std::size_t k = 0; k < sorted.size() && k < static_cast<std::size_t>(rows); ++k)
    std::printf("  %9.1f us  %4lld x  %s\n", static_cast<double>(sorted[k].second.ns) * 1e-3 / calls,
                static_cast<long long>(sorted[k].second.times / calls), sorted[k].first.substr(0, 150).c_str());
}

void time_training(const Options& o, const Sizes& s) {
  const auto indices = [&](std::uint32_t seed) {
    return Array::from_host(
        bench::indices(static_cast<std::size_t>(o.batch * o.tokens), seed, static_cast<std::uint32_t>(s.vocabulary)),
        {o.batch, o.tokens});
  };
  const Array tokens = indices(3), next = indices(4);
  const Params params = first_params(s);
  Training state{params, optimizer().init(params)};
  const auto step = ct::jit([s](const Training& t, const Array& a, const Array& b) { return train(s, t, a, b); },
                            {.donate = {0}, .name = "step"});
  print(o, ct::explain(step, state, tokens, next));
  if (!o.run) return;
  std::vector<Array> losses;
  const auto call = [&] {
    auto [changed, loss] = step(std::move(state), tokens, next);
    state = std::move(changed);
    losses.push_back(loss);
  };
  const auto start = Clock::now();
  call();
  wait(losses);
  std::printf("first call %.2f s\n", seconds_since(start));
  call();
  wait(losses);
  // The median of steps that are waited for, and the mean of steps that are not.
  std::vector<double> each;
  for (std::int64_t k = 0; k < o.steps; ++k) {
    const auto begin = Clock::now();
    call();
    wait(losses);
    each.push_back(seconds_since(begin));
  }
  std::sort(each.begin(), each.end());
  const auto begin = Clock::now();
  for (std::int64_t k = 0; k < o.steps; ++k) call();
  wait(losses);
  const double mean = seconds_since(begin) / static_cast<double>(o.steps);
  std::printf("%.3f ms per step in a row, %.3f ms waited for (median), %.0f tokens/s\n", mean * 1e3,
              each[each.size() / 2] * 1e3, static_cast<double>(o.batch * o.tokens) / mean);
  std::printf("loss:");
  for (const Array& loss : losses) std::printf(" %.6f", static_cast<double>(loss.to_vector<float>()[0]));
  std::printf("\n");
  if (!o.profile) return;
  constexpr int calls = 3;
  ct::Profile profile;
  for (int k = 0; k < calls; ++k) call();
  profile.stop();
  print(profile, calls, o.rows);
}

void time_generating(const Options& o, Sizes s) {
  const Array prompt = Array::from_host(
      bench::indices(static_cast<std::size_t>(o.tokens), 3, static_cast<std::uint32_t>(s.vocabulary)), {o.tokens});
  const Params params = first_params(s);
  const auto run = ct::jit([s, n = o.generate](const Params& p, const Array& t) { return generate(s, p, t, n); },
                           {.name = "generate"});
  print(o, ct::explain(run, params, prompt));
  if (!o.run) return;
  std::vector<int> text;
  for (int k = 0; k < 3; ++k) {
    const auto start = Clock::now();
    text = run(params, prompt).to_vector<int>();
    const double seconds = seconds_since(start);
    std::printf("call %d: %.3f s, %.1f tokens/s\n", k + 1, seconds,
                static_cast<double>(o.generate + o.tokens - 1) / seconds);
  }
  std::printf("text:");
  for (std::size_t k = text.size() - static_cast<std::size_t>(std::min<std::int64_t>(o.generate, 12)); k < text.size();
       ++k)
    std::printf(" %d", text[k]);
  std::printf("\n");
  if (!o.profile) return;
  ct::Profile profile;
  wait({run(params, prompt)});
  profile.stop();
  print(profile, 1, o.rows);
}

}  // namespace

int main(int argc, char** argv) try {
  const Options o = parse(argc, argv);
  const Sizes s = sizes_of(o.size);
  ct::default_device(o.device);
  std::printf("%s on %s, %lld x %lld tokens%s\n", o.size.c_str(), o.device.c_str(), static_cast<long long>(o.batch),
              static_cast<long long>(o.tokens), o.generate ? ", generating" : "");
  o.generate ? time_generating(o, s) : time_training(o, s);
  return 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
