#include "backend/native/routines/conv_direct.hpp"

#include "backend/native/routines/conv_direct_kernels.hpp"
#include "backend/native/routines/gemm_partition.hpp"
#include "backend/native/runtime/thread_pool.hpp"

namespace cotan::native {
namespace {

/// Which loop is the innermost.
enum class Along { groups, positions, reduction };

template <class T>
class ConvDirect {
 public:
  ConvDirect(const ConvLoops& loops, Along along, const T* lhs, const T* rhs, T* out)
      : loops_(loops), along_(along), taps_(loops.reduction), lhs_(lhs), rhs_(rhs), out_(out) {
    rows_ = loops.positions;
    rows_.insert(rows_.begin(), {loops.features, loops.groups});
    if (along == Along::groups) {
      rows_.erase(rows_.begin() + 1);
      inner_ = loops.groups;
    } else {
      std::vector<ConvLoop>& shorter = along == Along::positions ? rows_ : taps_;
      inner_ = shorter.back();
      shorter.pop_back();
    }
    checked_ = axes_to_check(loops, inner_);
    make_table();
  }

  void run() const {
    const std::int64_t rows = steps(rows_), work = rows * static_cast<std::int64_t>(table_.size()) * inner_.size;
    constexpr std::int64_t worth_a_task = 100'000, most_tasks = 256;
    const Partition tasks{rows, std::clamp<std::int64_t>(work / worth_a_task, 1, std::min(rows, most_tasks))};
    parallel_for(tasks.parts, [&](std::int64_t task) {
      std::vector<std::int64_t> at(loops_.extent.size());
      for (std::int64_t row = tasks.begin(task); row < tasks.begin(task + 1); ++row) {
        at = loops_.origin;
        add_coordinates(rows_, row, at.data());
        compute(row, at.data());
      }
    });
  }

 private:
  /// A step of all summed loops except the innermost.
  struct Tap {
    std::int64_t lhs, rhs;
  };

  void make_table() {
    const std::int64_t count = steps(taps_);
    const std::size_t axes = loops_.extent.size();
    table_.resize(static_cast<std::size_t>(count));
    coordinates_.resize(axes * table_.size(), 0);
    for (std::int64_t i = 0; i < count; ++i) {
      table_[i] = {offset_at(taps_, i, &ConvLoop::lhs), offset_at(taps_, i, &ConvLoop::rhs)};
      add_coordinates(taps_, i, coordinates_.data() + i * static_cast<std::int64_t>(axes));
    }
  }

  /// The results of one row, whose first window stands at coordinates `at`: one, or as many as the innermost
  /// loop has steps.
  void compute(std::int64_t row, const std::int64_t* at) const {
    const T* lhs = lhs_ + loops_.lhs;
    const std::int64_t lhs_row = offset_at(rows_, row, &ConvLoop::lhs);
    const T* rhs = rhs_ + loops_.rhs + offset_at(rows_, row, &ConvLoop::rhs);
    T* out = out_ + loops_.out + offset_at(rows_, row, &ConvLoop::out);
    const DirectKernels<T>& kernels = direct_kernels<T>();
    T sum = 0;
    if (along_ != Along::reduction) std::fill(out, out + inner_.size, T(0));
    const std::int64_t* tap_at = coordinates_.data();
    for (const Tap& tap : table_) {
      const ConvRange range = inside(at, tap_at);
      tap_at += loops_.extent.size();
      if (range.size() <= 0) continue;
      const T* x = lhs + (lhs_row + tap.lhs + range.begin * inner_.lhs);
      const T* w = rhs + tap.rhs;
      if (along_ == Along::positions)
        kernels.add_scaled(range.size(), *w, x, inner_.lhs, out + range.begin);
      else if (along_ == Along::groups)
        kernels.add_products(range.size(), w + range.begin, x, out + range.begin);
      else
        sum += kernels.dot(range.size(), w + range.begin, x);
    }
    if (along_ == Along::reduction) *out = sum;
  }

  /// The innermost loop's steps that a tap has on elements of lhs.
  ConvRange inside(const std::int64_t* at, const std::int64_t* tap_at) const {
    for (std::size_t axis : checked_) {
      const std::int64_t x = at[axis] + tap_at[axis];
      if (x < 0 || x >= loops_.extent[axis]) return {0, 0};
    }
    if (inner_.axis < 0) return {0, inner_.size};
    return steps_inside(inner_, at[inner_.axis] + tap_at[inner_.axis], loops_.extent[inner_.axis], inner_.size);
  }

  const ConvLoops& loops_;
  const Along along_;
  std::vector<ConvLoop> rows_;  ///< what is not summed over, without the innermost
  std::vector<ConvLoop> taps_;  ///< what is summed over, without the innermost
  ConvLoop inner_;
  std::vector<std::size_t> checked_;
  std::vector<Tap> table_;
  std::vector<std::int64_t> coordinates_;  // of the taps, one after the other
  const T *lhs_, *rhs_;
  T* out_;
};

}  // namespace

template <class T>
bool conv_direct(const ConvLoops& loops, const T* lhs, const T* rhs, T* out) {
  constexpr std::int64_t few_features = 2, long_enough = 8;
  if (loops.features.size > few_features) return false;
  const ConvLoop &groups = loops.groups, &places = loops.positions.back(), &taps = loops.reduction.back();
  const auto run = [&](Along along) {
    ConvDirect<T>(loops, along, lhs, rhs, out).run();
    return true;
  };
  if (groups.size >= long_enough && groups.lhs == 1 && groups.rhs == 1 && groups.out == 1) return run(Along::groups);
  if (places.size >= long_enough && places.out == 1) return run(Along::positions);
  if (taps.size >= long_enough && taps.lhs == 1 && taps.rhs == 1) return run(Along::reduction);
  return false;
}

template bool conv_direct(const ConvLoops&, const float*, const float*, float*);
template bool conv_direct(const ConvLoops&, const double*, const double*, double*);

}  // namespace cotan::native
