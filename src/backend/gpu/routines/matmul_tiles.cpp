// Which tile a product gets: by a rough model of how long a device takes, or by what the environment says.
#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cotan/device.hpp>

#include "backend/gpu/routines/matmul_parts.hpp"
#include "backend/gpu/routines/matmul_table.hpp"
#include "core/environment.hpp"
#include "core/error.hpp"

namespace cotan::gpu {

using Kind = MatmulTile::Kind;

namespace {

/// Columns of a product that one thread computes without a tile.
constexpr int most_narrow = 8;

bool is_narrow(const MatmulProblem& p) { return std::min(p.rows, p.columns) <= most_narrow; }

/// Groups that run at the same time. There is no way to ask a device; this is a large GPU.
double cores(const Capabilities& device) { return device.software ? 2 : 132; }

std::int64_t tiles_of(const MatmulProblem& p, const MatmulTile& t) {
  return group_count(p, t) / depth_parts(p, t).count;
}

/// What reading and adding up parts costs, in cycles: a dispatch, and memory.
double cost_of_parts(const MatmulProblem& p, std::int64_t parts) {
  constexpr double dispatch = 7000, bytes_per_cycle = 2000;
  if (parts == 1) return 0;
  return dispatch + 2.0 * 4 * static_cast<double>(p.size() * parts) / bytes_per_cycle;
}

/// Cycles that a product takes, roughly. A core is kept busy by sums that do not wait for each other, of all groups
/// that it runs at once, which is worst for what is left after the last full round; and threads with more sums read
/// less of shared memory for each. The constants were fitted to an H200.
class Busy {
 public:
  Busy(double sums, double groups, const Capabilities& device)
      : sums_(sums),
        at_once_(std::max(std::floor(most_sums / sums), 1.0)),
        in_rounds_(std::floor(groups / cores(device) / at_once_) * at_once_),
        rest_(std::ceil(groups / cores(device) - in_rounds_)) {}
  /// What a core does one after the other, in groups; and the same as if none had to wait.
  double groups() const { return in_rounds_ + rest_; }
  double turns() const { return in_rounds_ / at_once_ * waiting(at_once_) + waiting(rest_); }

 private:
  static constexpr double half_busy = 5000, most_sums = 36864;
  double waiting(double n) const { return n == 0 ? 0 : n / (n * sums_ / (n * sums_ + half_busy)); }
  double sums_, at_once_, in_rounds_, rest_;
};

/// Cycles of one group that does not wait.
double cost_of_group(const MatmulProblem& p, const MatmulTile& t) {
  constexpr double lanes_of_core = 128;
  const double reads = 1.0 / t.thread_rows + 1.0 / t.thread_columns;  // of shared memory per product
  return static_cast<double>(t.rows * t.columns) * static_cast<double>(depth_parts(p, t).length) / lanes_of_core *
         (0.95 + 2.1 * reads);
}
double start_of_group(const MatmulTile& t) { return 1000 + 25 * t.thread_rows * t.thread_columns; }

double cost_of(const MatmulProblem& p, const MatmulTile& t, const Capabilities& device) {
  const Busy busy(static_cast<double>(t.rows * t.columns), static_cast<double>(group_count(p, t)), device);
  return busy.turns() * cost_of_group(p, t) + busy.groups() * start_of_group(t) +
         cost_of_parts(p, depth_parts(p, t).count);
}

/// The same for two at a time.
double cost_of_pair(const MatmulProblem& p, const MatmulTile& t, const MatmulProblem& q, const MatmulTile& u,
                    const Capabilities& device) {
  const double own = static_cast<double>(group_count(p, t)), other = static_cast<double>(group_count(q, u)),
               all = own + other, x = cost_of_group(p, t), y = cost_of_group(q, u);
  const auto mean = [&](double a, double b) { return (own * a + other * b) / all; };
  const Busy busy(mean(t.rows * t.columns, u.rows * u.columns), all, device);
  constexpr double uneven = 0.5;  // the last to begin may be one of those that take longest
  return busy.turns() * mean(x, y) + uneven * (std::max(x, y) - mean(x, y)) +
         busy.groups() * mean(start_of_group(t), start_of_group(u)) + cost_of_parts(p, depth_parts(p, t).count) +
         cost_of_parts(q, depth_parts(q, u).count);
}

/// The most parts of the depth: none of them too short to be worth its sum, and no more than keep all cores busy.
std::int64_t most_splits(const MatmulProblem& p, const MatmulTile& t, std::int64_t shortest,
                         const Capabilities& device) {
  constexpr std::int64_t most_bytes = 256 << 20;
  const auto wanted = static_cast<std::int64_t>(4 * cores(device)) / std::max<std::int64_t>(tiles_of(p, t), 1);
  const std::int64_t room =
      std::min<std::int64_t>(most_bytes, static_cast<std::int64_t>(device.binding_bytes / 2)) / (4 * p.size());
  return std::max<std::int64_t>(std::min({wanted, p.depth / shortest, room, std::int64_t{64}}), 1);
}

std::vector<MatmulTile> narrow_tiles(const MatmulProblem& p, const Capabilities& device) {
  const std::int64_t wide = std::max(p.rows, p.columns), thin = std::min(p.rows, p.columns);
  const MatmulSide& side = p.rows >= p.columns ? p.left : p.right;
  MatmulTile t{.kind = Kind::narrow,
               .columns = static_cast<int>(thin),
               .thread_rows = 1,
               .thread_columns = 1,
               .prefetch = false};
  const int threads = static_cast<int>(std::min(device.workgroup_threads, 256u));
  t.unroll = device.software ? 1 : thin > 4 ? 2 : 4;
  std::vector<MatmulTile> out;
  const auto add = [&](int rows, int thread_rows) {
    t.rows = rows;
    t.thread_rows = thread_rows;
    t.depth = threads / (rows / thread_rows);
    const std::int64_t shortest = std::int64_t{t.depth} * 4;
    t.splits = static_cast<int>(std::bit_floor(static_cast<std::uint64_t>(most_splits(p, t, shortest, device))));
    if (fits(t, p, device)) out.push_back(t);
  };
  if (side.along_depth()) {
    // Long rows for few of them, else several rows to a group.
    if (wide * p.batch >= 4096 && p.depth <= 4096) add(8, 2);
    add(4, 1);
    if (p.depth >= 2048) add(1, 1);
  } else {
    add(64, 1);
    add(32, 1);
  }
  return out;
}

/// The tile with its depth in one part, two, three, …
std::vector<MatmulTile> split_ways(const MatmulProblem& p, MatmulTile t, const Capabilities& device) {
  constexpr std::int64_t shortest_steps = 4;
  std::vector<MatmulTile> out;
  for (t.splits = 1; t.splits <= most_splits(p, t, shortest_steps * t.depth, device); ++t.splits)
    if (fits(t, p, device) && depth_parts(p, t).count == t.splits) out.push_back(t);
  return out;
}

std::vector<MatmulTile> large_tiles(const MatmulProblem& p, const Capabilities& device) {
  std::vector<MatmulTile> out;
  const auto cheaper = [&](const MatmulTile& x, const MatmulTile& y) {
    return cost_of(p, x, device) < cost_of(p, y, device);
  };
  for (MatmulTile t :
       {MatmulTile{.rows = 128, .columns = 128, .depth = 16, .thread_rows = 16, .thread_columns = 8, .unroll = 8},
        MatmulTile{.rows = 128, .columns = 128, .depth = 8, .thread_rows = 8, .thread_columns = 8},
        MatmulTile{.rows = 128, .columns = 64, .depth = 16, .thread_rows = 8, .thread_columns = 8, .unroll = 16},
        MatmulTile{.rows = 64, .columns = 128, .depth = 16, .thread_rows = 8, .thread_columns = 8, .unroll = 16},
        MatmulTile{.rows = 64, .columns = 64, .depth = 16, .thread_rows = 8, .thread_columns = 8, .unroll = 16},
        MatmulTile{.rows = 64, .columns = 64, .depth = 16, .thread_rows = 8, .thread_columns = 4},
        MatmulTile{.rows = 64, .columns = 32, .depth = 16, .thread_rows = 4, .thread_columns = 4},
        MatmulTile{.rows = 32, .columns = 64, .depth = 16, .thread_rows = 4, .thread_columns = 4},
        MatmulTile{.rows = 32, .columns = 32, .depth = 16, .thread_rows = 4, .thread_columns = 4}}) {
    if (device.software && t.thread_rows > 8) continue;
    if (device.software) t.unroll = 1;  // its compiler takes longer than the product
    constexpr std::ptrdiff_t kept = 3;  // of the ways to split a tile's depth
    std::vector<MatmulTile> ways = split_ways(p, t, device);
    std::stable_sort(ways.begin(), ways.end(), cheaper);
    out.insert(out.end(), ways.begin(), ways.begin() + std::min(kept, std::ssize(ways)));
  }
  std::stable_sort(out.begin(), out.end(), cheaper);
  return out;
}

}  // namespace

int MatmulTile::threads() const {
  return kind == Kind::tiled ? rows / thread_rows * (columns / thread_columns) : rows / thread_rows * depth;
}

std::size_t MatmulTile::shared_bytes() const {
  if (kind == Kind::narrow) return static_cast<std::size_t>(4 * threads() * thread_rows * columns);
  const int vectors = depth * (rows / 4 + 1 + columns / 4 + 1) * (two_buffers ? 2 : 1);
  return static_cast<std::size_t>(16 * vectors);
}

bool fits(const MatmulTile& t, const MatmulProblem& p, const Capabilities& device) {
  const auto threads = static_cast<std::uint32_t>(t.threads());
  constexpr std::size_t for_guards = 16;
  if (threads == 0 || threads > device.workgroup_threads || t.shared_bytes() + for_guards > device.workgroup_bytes)
    return false;
  if (t.splits < 1 || t.unroll < 1 || t.band < 1) return false;
  const auto is_power = [](int x) { return x > 0 && (x & (x - 1)) == 0; };
  if (!is_power(t.rows) || !is_power(t.depth) || !is_power(t.thread_rows)) return false;
  if (t.kind == Kind::narrow) return is_narrow(p) && t.columns <= most_narrow && t.rows % t.thread_rows == 0;
  // Threads that run in step are 4 x 8 of a tile, each with vectors of four; all of them load as much.
  if (!is_power(t.columns) || !is_power(t.thread_columns) || t.thread_rows < 4 || t.thread_columns < 4) return false;
  const int down = t.rows / t.thread_rows, across = t.columns / t.thread_columns;
  if (down % 4 || across % 8 || t.depth % t.unroll || (t.two_buffers && !t.prefetch)) return false;
  return t.depth <= static_cast<int>(threads) && t.rows * t.depth / 4 >= static_cast<int>(threads) &&
         t.columns * t.depth / 4 >= static_cast<int>(threads);
}

std::vector<MatmulTile> candidate_tiles(const MatmulProblem& p, const Capabilities& device) {
  return is_narrow(p) ? narrow_tiles(p, device) : large_tiles(p, device);
}

namespace {
thread_local const MatmulTile* forced_tile = nullptr;
}
ForcedTile::ForcedTile(const MatmulTile& tile) : tile_(tile) { forced_tile = &tile_; }
ForcedTile::~ForcedTile() { forced_tile = nullptr; }
const MatmulTile* ForcedTile::current() { return forced_tile; }

MatmulTile choose_tile(const MatmulProblem& p, const Capabilities& device) {
  const auto is_good = [&](const MatmulTile& t) {
    return (t.kind == Kind::narrow) == is_narrow(p) && fits(t, p, device);
  };
  if (forced_tile && is_good(*forced_tile)) return *forced_tile;
  if (const auto setting = environment::text("COTAN_WEBGPU_MATMUL"))
    if (const MatmulTile wanted = parse_tile(*setting); is_good(wanted)) return wanted;
  if (const auto found = tile_table(device).find(class_of(p)); found && is_good(*found)) return *found;
  const std::vector<MatmulTile> all = candidate_tiles(p, device);
  if (all.empty()) raise<InternalError>("[gpu] no tile fits a matrix product; this is a bug in cotan.");
  return all.front();
}

std::optional<std::pair<MatmulTile, MatmulTile>> tiles_of_pair(const MatmulProblem& p, const MatmulProblem& q,
                                                               const Capabilities& device) {
  constexpr double dispatch = 7000;
  const MatmulTile alone = choose_tile(p, device), other = choose_tile(q, device);
  if (alone.kind != Kind::tiled || other.kind != Kind::tiled) return std::nullopt;
  std::optional<std::pair<MatmulTile, MatmulTile>> best;
  double least = cost_of(p, alone, device) + cost_of(q, other, device) + dispatch;
  const auto consider = [&](const MatmulTile& t, const MatmulTile& u) {
    if (t.threads() != u.threads() || t.shared_bytes() + u.shared_bytes() + 32 > device.workgroup_bytes) return;
    const double cost = cost_of_pair(p, t, q, u, device);
    if (cost >= least) return;
    least = cost;
    best = {t, u};
    // Both loops have to stay in the cache of instructions.
    for (MatmulTile* tile : {&best->first, &best->second}) tile->unroll = std::min(tile->unroll, 4);
  };
  // What was asked for, or found by trying, stays.
  if (forced_tile || environment::text("COTAN_WEBGPU_MATMUL") || autotune()) {
    consider(alone, other);
    return best;
  }
  for (const MatmulTile& t : candidate_tiles(p, device))
    for (const MatmulTile& u : candidate_tiles(q, device)) {
      if (t.threads() != u.threads()) continue;
      for (const MatmulTile& way : split_ways(p, t, device))
        if (way.splits <= 8 || way.splits == t.splits) consider(way, u);
    }
  return best;
}

// As text ----------------------------------------------------------------------------------------------

namespace {

std::vector<int> numbers(std::string_view text, char separator) {
  std::vector<int> out;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at < end) {
    int n = 0;
    const auto [next, error] = std::from_chars(at, end, n);
    if (error != std::errc{} || n <= 0 || n > 4096) return {};
    out.push_back(n);
    if (next < end && *next != separator) return {};
    at = next + 1;
  }
  return out;
}

}  // namespace

MatmulTile parse_tile(std::string_view text) {
  MatmulTile t;
  t.prefetch = false;
  const auto bad = [&](std::string_view word) {
    raise<ValueError>("[webgpu] '{}' in COTAN_WEBGPU_MATMUL is not known; write as in {}.", word,
                      to_string(MatmulTile{}));
  };
  bool has_tile = false;
  while (!text.empty()) {
    const std::size_t end = text.find(',');
    const std::string_view word = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
    const auto sizes = numbers(word, 'x');
    const auto setting = [&](std::string_view name, int& value) {
      if (!word.starts_with(name)) return false;
      const auto n = numbers(word.substr(name.size()), 'x');
      if (n.size() != 1) bad(word);
      value = n[0];
      return true;
    };
    if (sizes.size() == 3) {
      t.rows = sizes[0], t.columns = sizes[1], t.depth = sizes[2];
      has_tile = true;
    } else if (sizes.size() == 2) {
      t.thread_rows = sizes[0], t.thread_columns = sizes[1];
    } else if (word == "narrow") {
      t.kind = Kind::narrow;
    } else if (word == "prefetch") {
      t.prefetch = true;
    } else if (word == "two_buffers") {
      t.prefetch = t.two_buffers = true;
    } else if (!setting("unroll=", t.unroll) && !setting("band=", t.band) && !setting("splits=", t.splits)) {
      bad(word);
    }
  }
  if (!has_tile) bad("no tile");
  return t;
}

std::string to_string(const MatmulTile& t) {
  return fmt::format("{}{}x{}x{},{}x{}{}{},unroll={},band={},splits={}", t.kind == Kind::narrow ? "narrow," : "",
                     t.rows, t.columns, t.depth, t.thread_rows, t.thread_columns, t.prefetch ? ",prefetch" : "",
                     t.two_buffers ? ",two_buffers" : "", t.unroll, t.band, t.splits);
}

}  // namespace cotan::gpu
