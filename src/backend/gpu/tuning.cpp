#include "backend/gpu/tuning.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cotan/device.hpp>
#include <cotan/numpy.hpp>
#include <cstdio>
#include <limits>

#include "backend/gpu/dialect.hpp"
#include "backend/gpu/routines/matmul_table.hpp"
#include "core/error.hpp"
#include "core/trace.hpp"

namespace cotan::gpu {

namespace {

std::mutex timer_mutex;
TileTimer& other_timer() {
  static TileTimer& t = *new TileTimer;
  return t;
}

/// A line on the terminal that is written over; elsewhere the last one alone.
class Progress {
 public:
  void say(const std::string& line) {
    last_ = line;
    if (terminal_) std::fprintf(stderr, "\r\033[K%s", line.c_str());
  }
  ~Progress() {
    if (!last_.empty()) std::fprintf(stderr, "%s%s\n", terminal_ ? "\r\033[K" : "", last_.c_str());
  }

 private:
  const bool terminal_ = isatty(STDERR_FILENO);
  std::string last_;
};

/// A program that is this product alone, with operands that lie in memory as they do there.
ClosedJaxpr program_of(const MatmulProblem& p) {
  const bool left = p.left.along_depth(), right = p.right.along_depth();
  const Types types{{p.dtype, left ? Shape{p.batch, p.rows, p.depth} : Shape{p.batch, p.depth, p.rows}, false},
                    {p.dtype, right ? Shape{p.batch, p.columns, p.depth} : Shape{p.batch, p.depth, p.columns}, false}};
  return trace_to_jaxpr(
      [&](std::span<const Array> x) -> Arrays {
        const Array a = left ? x[0] : numpy::swapaxes(x[0], 1, 2), b = right ? numpy::swapaxes(x[1], 1, 2) : x[1];
        return {numpy::matmul(a, b)};
      },
      types);
}

}  // namespace

double time_of_tile(const MatmulProblem& problem, const MatmulTile& tile,
                    const std::function<Runs(const JaxprPtr& program, const Arrays& args)>& compile) {
  using clock = std::chrono::steady_clock;
  constexpr double round = 0.004, enough = 0.03, most = 0.5;  // seconds
  constexpr double faster = 0.97;
  TraceScope scope(eval_trace());
  const ClosedJaxpr program = program_of(problem);
  const ForcedTile forced(tile);
  Arrays args;
  for (const AbstractValue& t : program.jaxpr->input_types())
    args.push_back(numpy::sin(numpy::arange(t.size(), DType::f32)).astype(t.dtype).reshape(t.shape));
  const Runs run = compile(program.jaxpr, args);
  const auto seconds = [&](int calls) {
    const auto start = clock::now();
    run(calls);
    return std::chrono::duration<double>(clock::now() - start).count() / calls;
  };
  seconds(1);  // compiles, and sends the operands there
  const int calls = std::clamp(static_cast<int>(round / std::max(seconds(1), 1e-9)), 1, 200);
  // Until it gets no faster: a device that had nothing to do starts slowly.
  double best = std::numeric_limits<double>::infinity();
  for (double spent = 0, before = best; spent < most; before = best) {
    const double t = seconds(calls);
    spent += t * calls;
    best = std::min(best, t);
    if (spent > enough && t > faster * before) break;
  }
  return best;
}

void set_tile_timer(TileTimer timer) {
  const std::scoped_lock lock(timer_mutex);
  other_timer() = std::move(timer);
}

std::optional<MatmulTile> fastest_tile(const MatmulProblem& problem, const Capabilities& device, const TileTimer& timer,
                                       const std::function<void(const std::string&)>& progress) {
  constexpr std::size_t most = 16;  // they come by what they should cost
  std::vector<MatmulTile> tiles = candidate_tiles(problem, device);
  if (tiles.size() > most) tiles.resize(most);
  const std::string what =
      fmt::format("[{}] tuning a product of {} {} x {} x {}{}", device.dialect->device, problem.dtype, problem.rows,
                  problem.columns, problem.depth, problem.batch > 1 ? fmt::format(", {} of them", problem.batch) : "");
  const double flops = 2.0 * static_cast<double>(problem.size()) * static_cast<double>(problem.depth);
  // A device's clock changes with what it has to do: what counts is the time beside that of the first, measured again
  // each time, and the first is the one that rules choose.
  constexpr double worth = 0.98;
  std::optional<MatmulTile> first, best;
  double least = 1, rate = 0;
  for (std::size_t k = 0; k < tiles.size(); ++k) {
    try {
      const double seconds = timer(problem, tiles[k]);
      const double beside = first ? seconds / timer(problem, *first) : 1;
      if (!first) first = tiles[k];
      if (!best || beside < worth * least) {
        least = beside;
        rate = flops / seconds * 1e-9;
        best = tiles[k];
      }
    } catch (const CompileError&) {  // the driver does not want it
    } catch (const OutOfMemoryError&) {
    }
    progress(best ? fmt::format("{}: {} of {}, {} is the best, {:.1f} GFLOP/s", what, k + 1, tiles.size(),
                                to_string(*best), rate)
                  : fmt::format("{}: {} of {}, none works", what, k + 1, tiles.size()));
  }
  return best;
}

void tune_if_wanted(const MatmulProblem& problem, const Capabilities& device, const TileTimer& on_device) {
  if (!autotune() || ForcedTile::current()) return;
  TileTable& table = tile_table(device);
  const std::string product = class_of(problem);
  if (table.find(product)) return;
  TileTimer timer;
  {
    const std::scoped_lock lock(timer_mutex);
    timer = other_timer();
  }
  Progress line;
  const auto best =
      fastest_tile(problem, device, timer ? timer : on_device, [&](const std::string& s) { line.say(s); });
  if (best) table.add(product, *best);
}

}  // namespace cotan::gpu
