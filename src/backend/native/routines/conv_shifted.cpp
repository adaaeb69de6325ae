#include "backend/native/routines/conv_shifted.hpp"

#include <optional>

#include "backend/native/routines/gemm_kernels.hpp"
#include "backend/native/routines/gemm_partition.hpp"
#include "backend/native/routines/gemm_scratch.hpp"
#include "backend/native/runtime/thread_pool.hpp"

namespace cotan::native {
namespace {

/// The loops of a convolution by what they do here. Loops that it lacks have one step.
struct ImageLoops {
  ConvLoop x, y;          ///< places along a row of the image, and rows
  ConvLoop x_tap, y_tap;  ///< taps along them
  std::vector<ConvLoop> images, channels;

  std::int64_t taps() const { return x_tap.size * y_tap.size; }
  std::int64_t padded_width() const { return x.size + (x_tap.size - 1) * x_tap.step; }
  std::int64_t padded_rows(std::int64_t rows) const { return rows + (y_tap.size - 1) * y_tap.step; }
};

std::optional<ImageLoops> image_loops(const ConvLoops& loops) {
  ImageLoops image;
  image.images = loops.positions;
  image.x = image.images.back();
  image.images.pop_back();
  if (image.x.slides < 0 || image.x.lhs != 1 || image.x.step != 1) return {};
  if (!image.images.empty() && image.images.back().slides >= 0) {
    image.y = image.images.back();
    image.images.pop_back();
    if (image.y.step != 1 || image.y.lhs <= 0) return {};
  }
  for (const ConvLoop& loop : image.images)
    if (loop.slides >= 0) return {};
  for (const ConvLoop& loop : loops.reduction) {
    if (loop.slides < 0)
      image.channels.push_back(loop);
    else if (loop.slides == image.x.slides)
      image.x_tap = loop;
    else if (loop.slides == image.y.slides)
      image.y_tap = loop;
    else
      return {};
  }
  return image;
}

template <class T>
class ConvShifted {
 public:
  ConvShifted(const ConvLoops& loops, const ImageLoops& image, const T* lhs, const T* rhs, T* out)
      : loops_(loops),
        image_(image),
        lhs_(lhs + loops.lhs),
        rhs_(rhs + loops.rhs),
        out_(out + loops.out),
        channels_(Partition::with_longest(steps(image.channels), longest_sum)),
        rows_(Partition::with_longest(image.y.size, longest_block())) {}

  void run() {
    const Scratch<T> packed(loops_.groups.size * kernel_size());
    packed_kernel_ = packed.data();
    parallel_for(loops_.groups.size * row_panels(), [&](std::int64_t i) {
      pack_kernel(i / row_panels(), i % row_panels(), packed.data() + i * panel_size());
    });
    const std::int64_t images = steps(image_.images);
    parallel_for(loops_.groups.size * images * rows_.parts, [&](std::int64_t task) {
      const std::int64_t image = task / rows_.parts;
      compute(image / images, image % images, {rows_.begin(task % rows_.parts), rows_.begin(task % rows_.parts + 1)});
    });
  }

 private:
  /// Channels that are summed before results go back to memory, and bytes of the copies of rows at a time.
  static constexpr std::int64_t longest_sum = 128, cache_bytes = 192 << 10;

  std::int64_t features() const { return loops_.features.size; }
  /// As many rows as fit, or fewer so that there are enough tasks. By the problem alone, not by the threads.
  std::int64_t longest_block() const {
    constexpr std::int64_t enough_tasks = 16, worth_a_task = 4'000'000;
    const std::int64_t row_bytes = channels_.longest() * image_.padded_width() * static_cast<std::int64_t>(sizeof(T)),
                       row_work = features() * steps(image_.channels) * image_.taps() * image_.x.size;
    const std::int64_t shared = image_.y.size * loops_.groups.size * steps(image_.images) / enough_tasks;
    return std::max<std::int64_t>(
        1, std::min(cache_bytes / row_bytes - image_.padded_rows(0), std::max(shared, worth_a_task / row_work)));
  }
  std::int64_t row_panels() const { return ceil_divide(features(), kernels_.tile_rows); }
  std::int64_t panel_size() const { return kernels_.tile_rows * steps(image_.channels) * image_.taps(); }
  std::int64_t kernel_size() const { return row_panels() * panel_size(); }
  /// From one channel of the copied rows to the next: not on the same few cache sets.
  std::int64_t plane_stride() const {
    const std::int64_t lines = ceil_divide(image_.padded_rows(rows_.longest()) * image_.padded_width(), line);
    return (lines + (lines % 2 == 0)) * line;
  }
  static constexpr std::int64_t line = 64 / sizeof(T);

  /// Some features of the kernel, in the order in which they are multiplied: by part of the channels, tap, channel.
  void pack_kernel(std::int64_t group, std::int64_t panel, T* to) const {
    const std::int64_t first = panel * kernels_.tile_rows,
                       count = std::min<std::int64_t>(kernels_.tile_rows, features() - first);
    const T* const from = rhs_ + group * loops_.groups.rhs + first * loops_.features.rhs;
    for (std::int64_t part = 0; part < channels_.parts; ++part)
      for (std::int64_t tap = 0; tap < image_.taps(); ++tap)
        for (std::int64_t c = channels_.begin(part); c < channels_.begin(part + 1); ++c) {
          const T* const weights = from + offset_at(image_.channels, c, &ConvLoop::rhs) +
                                   tap / image_.x_tap.size * image_.y_tap.rhs +
                                   tap % image_.x_tap.size * image_.x_tap.rhs;
          for (std::int64_t o = 0; o < count; ++o) *to++ = weights[o * loops_.features.rhs];
        }
  }
  /// By how much each tap shifts the copied rows.
  std::vector<std::int64_t> shifts() const {
    std::vector<std::int64_t> shifts;
    for (std::int64_t y = 0; y < image_.y_tap.size; ++y)
      for (std::int64_t x = 0; x < image_.x_tap.size; ++x)
        shifts.push_back(y * image_.y_tap.step * image_.padded_width() + x * image_.x_tap.step);
    return shifts;
  }

  /// All features of some rows of one image.
  void compute(std::int64_t group, std::int64_t image, ConvRange rows) const {
    const std::int64_t width = image_.padded_width(), positions = (rows.size() - 1) * width + image_.x.size;
    const std::int64_t tile_stride = ceil_divide(positions, line) * line;
    const std::int64_t planes = channels_.longest() * plane_stride();
    // Kernels that read whole vectors read past the last row.
    const Scratch<T> scratch(planes + Kernels<T>::max_vectors * kernels_.lanes + features() * tile_stride);
    T* const tile = scratch.data() + planes + Kernels<T>::max_vectors * kernels_.lanes;
    const T* const lhs = lhs_ + group * loops_.groups.lhs + offset_at(image_.images, image, &ConvLoop::lhs);
    for (std::int64_t part = 0; part < channels_.parts; ++part) {
      const ConvRange channels{channels_.begin(part), channels_.begin(part + 1)};
      copy_rows(lhs, channels, rows, scratch.data());
      multiply(group, channels, positions, scratch.data(), tile, tile_stride);
    }
    store(tile, tile_stride, rows, out_ + group * loops_.groups.out + offset_at(image_.images, image, &ConvLoop::out));
  }

  /// What the windows of these rows meet, with zeros where they leave the image.
  void copy_rows(const T* lhs, ConvRange channels, ConvRange rows, T* planes) const {
    const std::int64_t width = image_.padded_width(), height = image_.padded_rows(rows.size());
    const ConvRange inside = inside_of(image_.x, image_.x_tap, 0, width);
    for (std::int64_t c = channels.begin; c < channels.end; ++c, planes += plane_stride()) {
      const T* const from = lhs + offset_at(image_.channels, c, &ConvLoop::lhs);
      const ConvRange real = inside_of(image_.y, image_.y_tap, rows.begin, height);
      T* to = planes;
      for (std::int64_t row = 0; row < height; ++row, to += width) {
        if (row < real.begin || row >= real.end) {
          std::fill(to, to + width, T(0));
          continue;
        }
        const T* const x = from + (rows.begin + row) * image_.y.lhs;
        std::fill(to, to + inside.begin, T(0));
        std::copy(x + inside.begin, x + inside.end, to + inside.begin);
        std::fill(to + inside.end, to + width, T(0));
      }
    }
  }
  /// Which of `count` elements along an axis of the image, from place `first` on, there are.
  ConvRange inside_of(const ConvLoop& place, const ConvLoop& tap, std::int64_t first, std::int64_t count) const {
    const int axis = std::max(place.axis, tap.axis);
    if (axis < 0) return {0, count};
    const std::int64_t at = loops_.origin[static_cast<std::size_t>(axis)] + first,
                       extent = loops_.extent[static_cast<std::size_t>(axis)];
    const std::int64_t begin = std::clamp<std::int64_t>(-at, 0, count);
    return {begin, std::clamp<std::int64_t>(extent - at, begin, count)};
  }

  void multiply(std::int64_t group, ConvRange channels, std::int64_t positions, const T* planes, T* tile,
                std::int64_t tile_stride) const {
    const std::int64_t widest = Kernels<T>::max_vectors * kernels_.lanes;
    TileProduct<T> product;
    product.k = channels.size();
    product.a_row_stride = 1;
    product.b_k_stride = plane_stride();
    product.c_row_stride = tile_stride;
    product.accumulate = channels.begin > 0;
    product.shifts = image_.taps();
    product.b_shifts = shifts_.data();
    for (std::int64_t column = 0; column < positions; column += widest) {
      product.columns = std::min(widest, positions - column);
      const std::int64_t vectors = ceil_divide(product.columns, kernels_.lanes);
      for (std::int64_t panel = 0; panel < row_panels(); ++panel) {
        const std::int64_t first = panel * kernels_.tile_rows,
                           rows = std::min<std::int64_t>(kernels_.tile_rows, features() - first);
        const auto multiply_tile = kernels_.multiply[vectors - 1][rows - 1];
        const T* const weights = packed_kernel_ + group * kernel_size() + panel * panel_size();
        product.a = weights + channels.begin * image_.taps() * rows;
        product.a_k_stride = rows;
        product.b = planes + column;
        product.c = tile + first * tile_stride + column;
        multiply_tile(product);
      }
    }
  }

  /// Rows of results without the places between them, where windows crossed the end of a row.
  void store(const T* tile, std::int64_t tile_stride, ConvRange rows, T* out) const {
    for (std::int64_t o = 0; o < features(); ++o)
      for (std::int64_t row = rows.begin; row < rows.end; ++row) {
        const T* const from = tile + o * tile_stride + (row - rows.begin) * image_.padded_width();
        T* const to = out + o * loops_.features.out + row * image_.y.out;
        if (image_.x.out == 1)
          std::copy(from, from + image_.x.size, to);
        else
          for (std::int64_t i = 0; i < image_.x.size; ++i) to[i * image_.x.out] = from[i];
      }
  }

  const ConvLoops& loops_;
  const ImageLoops& image_;
  const T *lhs_, *rhs_;
  T* out_;
  const Kernels<T>& kernels_ = kernels<T>();
  const Partition channels_;
  const Partition rows_;
  const std::vector<std::int64_t> shifts_ = shifts();
  const T* packed_kernel_ = nullptr;
};

}  // namespace

template <class T>
bool conv_shifted(const ConvLoops& loops, const T* lhs, const T* rhs, T* out) {
  const std::optional<ImageLoops> image = image_loops(loops);
  if (!image) return false;
  // For each tap, summing over channels has to be worth moving the results to memory and back; and rows so short that
  // much of what is computed falls between them are better unfolded.
  constexpr std::int64_t enough_channels = 16, enough_features = 8, enough_taps = 2;
  const std::int64_t width = image->padded_width();
  if (steps(image->channels) < enough_channels || loops.features.size < enough_features ||
      image->taps() < enough_taps || image->x.size * 4 < width * 3)
    return false;
  ConvShifted<T>(loops, *image, lhs, rhs, out).run();
  return true;
}

template bool conv_shifted(const ConvLoops&, const float*, const float*, float*);
template bool conv_shifted(const ConvLoops&, const double*, const double*, double*);

}  // namespace cotan::native
