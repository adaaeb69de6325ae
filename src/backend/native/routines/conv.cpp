// Convolution as matrix products: blocks of lhs are unfolded into a panel that stays in cache and multiplied
// with the kernel. Blocks are cut by the problem's shape alone, and each result is summed in a fixed order.
#include "backend/native/routines/conv.hpp"

#include <type_traits>

#include "backend/native/routines/conv_direct.hpp"
#include "backend/native/routines/conv_shifted.hpp"
#include "backend/native/routines/conv_unfold.hpp"
#include "backend/native/routines/gemm.hpp"
#include "backend/native/routines/gemm_partition.hpp"
#include "backend/native/routines/gemm_scratch.hpp"
#include "backend/native/runtime/thread_pool.hpp"
#include "core/typed.hpp"

namespace cotan::native {
namespace {

/// Multiples of a cache line, so that the panels' rows and the products' columns begin on one.
constexpr std::int64_t granule = 16;
/// For a panel and the results that it adds to, in the second-level cache; and of the panel, the steps of the
/// reduction at most and the positions at least.
constexpr std::int64_t cache_bytes = 512 << 10, longest_reduction = 384, shortest_positions = 128;
/// How many tasks there should be before blocks are as large as the cache allows; and what one task's results
/// may be where there are several sums of them.
constexpr std::int64_t enough_tasks = 16, largest_tile = 256 << 10;

std::int64_t rounded_up(std::int64_t n) { return ceil_divide(n, granule) * granule; }
/// Rows this long do not fall on the same few cache sets.
std::int64_t panel_stride(std::int64_t n) { return rounded_up(n) + (rounded_up(n) / granule % 2 ? 0 : granule); }

/// Positions or reduction steps as blocks; a block never crosses a multiple of `whole`.
class Blocks {
 public:
  Blocks() = default;
  Blocks(std::int64_t steps, std::int64_t whole, std::int64_t longest)
      : whole_(whole),
        wholes_(steps / whole),
        parts_(Partition::with_longest(ceil_divide(whole, granule), std::max<std::int64_t>(longest / granule, 1))) {}
  std::int64_t count() const { return wholes_ * parts_.parts; }
  std::int64_t longest() const { return std::min(parts_.longest() * granule, whole_); }
  ConvRange range(std::int64_t block) const {
    const std::int64_t base = block / parts_.parts * whole_, part = block % parts_.parts;
    return {base + parts_.begin(part) * granule, base + std::min(parts_.begin(part + 1) * granule, whole_)};
  }

 private:
  std::int64_t whole_ = 1, wholes_ = 0;
  Partition parts_{1, 1};
};

template <class T>
class ConvByGemm {
  /// What is computed in, and so what the panels hold.
  using Element = Compute<T>;
  static constexpr bool reads_in_place = std::is_same_v<T, Element>;

 public:
  ConvByGemm(const ConvLoops& loops, const T* lhs, const T* rhs, T* out)
      : loops_(loops), lhs_(lhs), rhs_(rhs + loops.rhs), out_(out + loops.out) {
    choose_layout();
    choose_blocks();
  }

  void run() {
    const Scratch<Element> packed(packs_kernel_ ? loops_.groups.size * features() * depth() : 0);
    if (packs_kernel_) pack_kernel(packed.data());
    const std::int64_t tasks = loops_.groups.size * positions_.count();
    if (slices_ == 1) {
      parallel_for(tasks, [&](std::int64_t task) {
        const Scratch<Element> scratch(panel_size() + tile_size());
        Element* tile = scratch.data() + panel_size();
        multiply(task, {0, reduction_.count()}, scratch.data(), tile);
        if (!writes_in_place_) store(task, tile);
      });
      return;
    }
    const Scratch<Element> partial(slices_ * tasks * tile_size());
    const Partition slices{reduction_.count(), slices_};
    parallel_for(slices_ * tasks, [&](std::int64_t i) {
      const Scratch<Element> panel(panel_size());
      const std::int64_t slice = i % slices_;
      multiply(i / slices_, {slices.begin(slice), slices.begin(slice + 1)}, panel.data(),
               partial.data() + i * tile_size());
    });
    parallel_for(tasks, [&](std::int64_t task) {
      Element* sum = partial.data() + task * slices_ * tile_size();
      for (std::int64_t slice = 1; slice < slices_; ++slice)
        for (std::int64_t i = 0; i < tile_size(); ++i) sum[i] += sum[slice * tile_size() + i];
      store(task, sum);
    });
  }

 private:
  std::int64_t features() const { return loops_.features.size; }
  std::int64_t depth() const { return steps(loops_.reduction); }
  std::int64_t tile_size() const { return writes_in_place_ ? 0 : rounded_up(features() * positions_.longest()); }
  std::int64_t panel_size() const {
    if (unfolded_in_place_) return 0;
    const std::int64_t columns = positions_first_ ? reduction_.longest() : positions_.longest(),
                       rows = positions_first_ ? positions_.longest() : reduction_.longest();
    return rows * panel_stride(columns);
  }

  /// Panels are unfolded along the loop that runs through lhs in longer pieces. If that is one of the
  /// reduction, the product is out[position, feature], else out[feature, position]: both read their operands
  /// as they lie.
  void choose_layout() {
    // The time per element of a run, as a share of that of a single strided element.
    const auto cost = [](const ConvLoop& loop) {
      return 8.0 / static_cast<double>(loop.size) + (std::abs(loop.lhs) == 1 ? 0.1 : 1.0);
    };
    positions_first_ = cost(loops_.reduction.back()) < cost(loops_.positions.back());
  }

  void choose_blocks() {
    const std::int64_t positions = steps(loops_.positions);
    const ConvLoop &place = loops_.positions.back(), &tap = loops_.reduction.back();
    // Long enough for good products within a piece; otherwise blocks should cross the gaps.
    constexpr std::int64_t long_enough = 128;
    const auto enough = [&](std::int64_t run, std::int64_t all) { return run == all || run >= long_enough; };

    const std::int64_t even_in_rhs = even_steps(loops_.reduction, &ConvLoop::rhs);
    packs_kernel_ = !reads_in_place || !enough(even_in_rhs, depth());
    const std::int64_t whole_reduction = packs_kernel_ ? depth() : even_in_rhs;
    // A kernel that is stored across the product is transposed by it once per block of positions: those blocks are
    // long.
    const bool turns_kernel = positions_first_ && !packs_kernel_ && loops_.features.rhs != 1;
    reduction_ = Blocks(depth(), whole_reduction, turns_kernel ? longest_reduction / 3 : longest_reduction);

    // As they lie in out: contiguous along the product's rows.
    const std::int64_t even_in_out = even_steps(loops_.positions, &ConvLoop::out);
    writes_in_place_ = reads_in_place && enough(even_in_out, positions) &&
                       (positions_first_ ? loops_.features.out == 1 : place.out == 1);
    unfolded_in_place_ = reads_in_place && loops_.reduction.size() == 1 && tap.axis < 0 && place.axis < 0 &&
                         (positions_first_ ? tap.lhs == 1 : place.lhs == 1) && enough(place.size, positions);
    std::int64_t whole = positions;
    if (writes_in_place_) whole = std::min(whole, even_in_out);
    if (unfolded_in_place_) whole = std::min(whole, place.size);
    if (unfolded_in_place_) reduction_ = Blocks(depth(), whole_reduction, whole_reduction);

    const std::int64_t per_position =
        std::min(reduction_.longest(), longest_reduction) + (turns_kernel ? 0 : features());
    std::int64_t longest =
        std::max(cache_bytes / static_cast<std::int64_t>(sizeof(Element)) / per_position, shortest_positions);
    positions_ = Blocks(positions, whole, longest);
    const auto tasks = [&] { return loops_.groups.size * positions_.count(); };
    const auto too_long = [&] { return !turns_kernel || features() * positions_.longest() > largest_tile; };
    while (tasks() < enough_tasks && longest > shortest_positions && work_per_task() > 4'000'000 && too_long())
      positions_ = Blocks(positions, whole, longest /= 2);
    // Few results, each of which is a long sum: the weights' gradient. Then the sum is cut as well.
    slices_ = std::clamp<std::int64_t>(work_per_task() / 4'000'000, 1, ceil_divide(enough_tasks, tasks()));
    slices_ = std::min(slices_, reduction_.count());
    if (slices_ > 1) writes_in_place_ = false;
  }
  std::int64_t work_per_task() const { return features() * positions_.longest() * depth(); }

  /// The kernel dense, group by group, as the product reads it best.
  void pack_kernel(Element* to) {
    packed_kernel_ = to;
    const std::int64_t m = features(), k = depth();
    const std::int64_t feature_stride = positions_first_ ? 1 : k, step_stride = positions_first_ ? m : 1;
    std::vector<std::int64_t> offsets(k);
    for (std::int64_t i = 0; i < k; ++i) offsets[i] = offset_at(loops_.reduction, i, &ConvLoop::rhs);
    const auto pack = [&](std::int64_t group) {
      const T* from = rhs_ + group * loops_.groups.rhs;
      Element* y = to + group * m * k;
      for (std::int64_t o = 0; o < m; ++o)
        for (std::int64_t i = 0; i < k; ++i)
          y[o * feature_stride + i * step_stride] = static_cast<Element>(from[o * loops_.features.rhs + offsets[i]]);
    };
    if (m * k * loops_.groups.size > 100'000)
      parallel_for(loops_.groups.size, pack);
    else
      for (std::int64_t group = 0; group < loops_.groups.size; ++group) pack(group);
  }

  /// The kernel's matrix [feature, step of the reduction] from step `begin` on.
  Matrix<const Element> kernel(std::int64_t group, std::int64_t begin) const {
    if (packs_kernel_) {
      const Element* data = packed_kernel_ + group * features() * depth();
      if (positions_first_) return {data + begin * features(), 1, features()};
      return {data + begin, depth(), 1};
    }
    if constexpr (reads_in_place)
      return {rhs_ + group * loops_.groups.rhs + offset_at(loops_.reduction, begin, &ConvLoop::rhs),
              loops_.features.rhs, loops_.reduction.back().rhs};
    return {};
  }
  /// Where the results of a task go, as a matrix [feature, position].
  Matrix<Element> results(std::int64_t group, ConvRange range, Element* tile) const {
    if constexpr (reads_in_place)
      if (writes_in_place_)
        return {out_ + group * loops_.groups.out + offset_at(loops_.positions, range.begin, &ConvLoop::out),
                loops_.features.out, loops_.positions.back().out};
    if (positions_first_) return {tile, 1, features()};
    return {tile, range.size(), 1};
  }

  /// One task's results, summed over some blocks of the reduction.
  void multiply(std::int64_t task, ConvRange blocks, Element* panel, Element* tile) const {
    const std::int64_t group = task / positions_.count();
    const ConvRange range = positions_.range(task % positions_.count());
    const Matrix<Element> y = results(group, range, tile);
    const T* lhs = lhs_ + group * loops_.groups.lhs;
    Unfold<T, Element> unfold(loops_, positions_first_ ? loops_.positions : loops_.reduction,
                              positions_first_ ? loops_.reduction : loops_.positions);
    if (!positions_first_ && !unfolded_in_place_) unfold.set_columns(range);
    for (std::int64_t block = blocks.begin; block < blocks.end; ++block) {
      const ConvRange sum = reduction_.range(block);
      Matrix<const Element> x;  // [step of the reduction, position]
      if (unfolded_in_place_) {
        if constexpr (reads_in_place)
          x = {lhs + loops_.lhs + offset_at(loops_.positions, range.begin, &ConvLoop::lhs) +
                   sum.begin * loops_.reduction.back().lhs,
               loops_.reduction.back().lhs, loops_.positions.back().lhs};
      } else if (positions_first_) {
        const std::int64_t stride = panel_stride(sum.size());
        unfold.set_columns(sum);
        unfold.fill(lhs, range, panel, stride);
        x = {panel, 1, stride};
      } else {
        const std::int64_t stride = panel_stride(range.size());
        unfold.fill(lhs, sum, panel, stride);
        x = {panel, stride, 1};
      }
      const Matrix<const Element> w = kernel(group, sum.begin);
      const bool accumulate = block > blocks.begin;
      if (positions_first_)
        gemm<Element>(range.size(), features(), sum.size(), {x.data, x.column_stride, x.row_stride},
                      {w.data, w.column_stride, w.row_stride}, {y.data, y.column_stride, y.row_stride}, accumulate);
      else
        gemm<Element>(features(), range.size(), sum.size(), w, x, y, accumulate);
    }
  }

  /// A finished tile into its places.
  void store(std::int64_t task, const Element* tile) const {
    const std::int64_t group = task / positions_.count();
    const ConvRange range = positions_.range(task % positions_.count());
    const ConvLoop &inner = loops_.positions.back(), &feature = loops_.features;
    T* out = out_ + group * loops_.groups.out;
    const std::int64_t feature_stride = positions_first_ ? 1 : range.size(),
                       position_stride = positions_first_ ? features() : 1;
    const auto for_each_run = [&](auto&& f) {
      for (std::int64_t p = range.begin, end; p < range.end; p = end) {
        end = std::min(range.end, (p / inner.size + 1) * inner.size);
        f(tile + (p - range.begin) * position_stride, out + offset_at(loops_.positions, p, &ConvLoop::out), end - p);
      }
    };
    // In the order of memory.
    if (std::abs(feature.out) < std::abs(inner.out))
      for_each_run([&](const Element* x, T* y, std::int64_t count) {
        for (std::int64_t i = 0; i < count; ++i)
          for (std::int64_t o = 0; o < features(); ++o)
            y[i * inner.out + o * feature.out] = static_cast<T>(x[i * position_stride + o * feature_stride]);
      });
    else
      for (std::int64_t o = 0; o < features(); ++o)
        for_each_run([&](const Element* x, T* y, std::int64_t count) {
          for (std::int64_t i = 0; i < count; ++i)
            y[o * feature.out + i * inner.out] = static_cast<T>(x[o * feature_stride + i * position_stride]);
        });
  }

  const ConvLoops& loops_;
  const T *lhs_, *rhs_;
  T* out_;
  bool positions_first_ = false;    ///< the product is out[position, feature]
  bool packs_kernel_ = false;       ///< not a matrix as it lies
  bool writes_in_place_ = false;    ///< not through a tile
  bool unfolded_in_place_ = false;  ///< lhs is the unfolded matrix as it lies
  Blocks positions_, reduction_;
  std::int64_t slices_ = 1;  ///< of the reduction, summed one by one
  const Element* packed_kernel_ = nullptr;
};

/// Places whose windows lie entirely on padding.
template <class T>
void fill_with_zeros(const ConvLoops& loops, T* out) {
  const std::int64_t positions = steps(loops.positions);
  for (std::int64_t group = 0; group < loops.groups.size; ++group)
    for (std::int64_t o = 0; o < loops.features.size; ++o)
      for (std::int64_t p = 0; p < positions; ++p)
        out[loops.out + group * loops.groups.out + o * loops.features.out +
            offset_at(loops.positions, p, &ConvLoop::out)] = T(0);
}

}  // namespace

template <class T>
void conv(const Convolution& problem, const T* lhs, const T* rhs, T* out) {
  if constexpr (std::is_integral_v<T> && std::is_signed_v<T>) {  // signed integers wrap like unsigned ones
    using Unsigned = std::make_unsigned_t<T>;
    return conv(problem, reinterpret_cast<const Unsigned*>(lhs), reinterpret_cast<const Unsigned*>(rhs),
                reinterpret_cast<Unsigned*>(out));
  } else {
    for (const ConvLoops& loops : loops_of(problem)) {
      if (loops.groups.size == 0 || loops.features.size == 0 || steps(loops.positions) == 0) continue;
      if (steps(loops.reduction) == 0) {
        fill_with_zeros(loops, out);
        continue;
      }
      if constexpr (std::is_floating_point_v<T>)
        if (conv_direct(loops, lhs, rhs, out) || conv_shifted(loops, lhs, rhs, out)) continue;
      ConvByGemm<T>(loops, lhs, rhs, out).run();
    }
  }
}

#define COTAN_INSTANTIATE_CONV(T) template void conv(const Convolution&, const T*, const T*, T*);
COTAN_INSTANTIATE_CONV(float)
COTAN_INSTANTIATE_CONV(double)
COTAN_INSTANTIATE_CONV(float16)
COTAN_INSTANTIATE_CONV(bfloat16)
COTAN_INSTANTIATE_CONV(bool)
COTAN_INSTANTIATE_CONV(std::int8_t)
COTAN_INSTANTIATE_CONV(std::int16_t)
COTAN_INSTANTIATE_CONV(std::int32_t)
COTAN_INSTANTIATE_CONV(std::int64_t)
COTAN_INSTANTIATE_CONV(std::uint8_t)
COTAN_INSTANTIATE_CONV(std::uint16_t)
COTAN_INSTANTIATE_CONV(std::uint32_t)
COTAN_INSTANTIATE_CONV(std::uint64_t)
#undef COTAN_INSTANTIATE_CONV

}  // namespace cotan::native
