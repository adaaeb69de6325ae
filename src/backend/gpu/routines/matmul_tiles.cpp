// Which tile a product gets: by a rough model of how long a device takes, or by what the environment says.
#include <algorithm>
#include <charconv>
#include <cmath>

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

std::int64_t pieces(std::int64_t extent, std::int64_t step) { return (extent + step - 1) / step; }

std::int64_t tiles_of(const MatmulProblem& p, const MatmulTile& t) {
  if (t.kind == Kind::tiled) return p.batch * pieces(p.rows, t.rows) * pieces(p.columns, t.columns);
  return p.batch * pieces(std::max(p.rows, p.columns), t.rows) * pieces(std::min(p.rows, p.columns), t.columns);
}

/// What reading and adding up parts costs, in cycles: a dispatch, and memory.
double cost_of_parts(const MatmulProblem& p, std::int64_t parts) {
  constexpr double dispatch = 5000, bytes_per_cycle = 2000;
  if (parts == 1) return 0;
  return dispatch + 2.0 * 4 * static_cast<double>(p.size() * parts) / bytes_per_cycle;
}

/// Cycles that a product takes, roughly: larger tiles make better use of what was read.
double cost_of(const MatmulProblem& p, const MatmulTile& t, const Capabilities& device) {
  constexpr double lanes = 128, start = 1000;
  const DepthParts parts = depth_parts(p, t);
  const double waves = std::ceil(static_cast<double>(tiles_of(p, t) * parts.count) / cores(device));
  const double reads = 1.0 / t.thread_rows + 1.0 / t.thread_columns;  // of shared memory per product
  const double moves = 8.0 / t.rows + 8.0 / t.columns;                // to shared memory
  const double products = static_cast<double>(t.rows * t.columns) * static_cast<double>(parts.length) / lanes;
  return waves * (start + products * (1 + reads + moves)) + cost_of_parts(p, parts.count);
}

/// Parts of the depth that keep all cores busy, none of them too short to be worth its sum.
std::vector<int> splits_of(const MatmulProblem& p, const MatmulTile& t, std::int64_t shortest,
                           const Capabilities& device) {
  constexpr std::int64_t most_bytes = 256 << 20;
  const auto wanted = static_cast<std::int64_t>(4 * cores(device)) / std::max<std::int64_t>(tiles_of(p, t), 1);
  const std::int64_t room =
      std::min<std::int64_t>(most_bytes, static_cast<std::int64_t>(device.binding_bytes / 2)) / (4 * p.size());
  const std::int64_t most = std::min({wanted, p.depth / shortest, room, std::int64_t{64}});
  std::vector<int> out{1};
  for (int s = 2; s <= most; s *= 2) out.push_back(s);
  return out;
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
    t.splits = splits_of(p, t, shortest, device).back();
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

std::vector<MatmulTile> large_tiles(const MatmulProblem& p, const Capabilities& device) {
  std::vector<MatmulTile> out;
  for (MatmulTile t : {MatmulTile{.rows = 128, .columns = 128, .depth = 8, .thread_rows = 8, .thread_columns = 8},
                       MatmulTile{.rows = 128, .columns = 128, .depth = 16, .thread_rows = 8, .thread_columns = 8},
                       MatmulTile{.rows = 128, .columns = 64, .depth = 16, .thread_rows = 8, .thread_columns = 8},
                       MatmulTile{.rows = 64, .columns = 128, .depth = 16, .thread_rows = 8, .thread_columns = 8},
                       MatmulTile{.rows = 64, .columns = 64, .depth = 16, .thread_rows = 8, .thread_columns = 4},
                       MatmulTile{.rows = 64, .columns = 32, .depth = 16, .thread_rows = 4, .thread_columns = 4},
                       MatmulTile{.rows = 32, .columns = 64, .depth = 16, .thread_rows = 4, .thread_columns = 4},
                       MatmulTile{.rows = 32, .columns = 32, .depth = 16, .thread_rows = 4, .thread_columns = 4}}) {
    if (device.software) t.unroll = 1;  // its compiler takes longer than the product
    constexpr std::int64_t shortest_steps = 8;
    for (int splits : splits_of(p, t, shortest_steps * t.depth, device)) {
      t.splits = splits;
      if (fits(t, p, device)) out.push_back(t);
    }
  }
  std::stable_sort(out.begin(), out.end(), [&](const MatmulTile& x, const MatmulTile& y) {
    return cost_of(p, x, device) < cost_of(p, y, device);
  });
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
