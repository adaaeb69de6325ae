// Unfolding ("im2col"): the elements of lhs that some positions meet over some steps of the reduction, as a
// matrix.
#pragma once
#include <type_traits>

#include "backend/native/routines/conv_loops.hpp"

namespace cotan::native {

/// Unfolds with one side of the convolution (positions or reduction) along the rows of the matrix and the
/// other along its columns, which are contiguous. Holds a table of the runs that the columns consist of: one
/// per thread.
template <class T, class Element>
class Unfold {
 public:
  Unfold(const ConvLoops& loops, const std::vector<ConvLoop>& rows, const std::vector<ConvLoop>& columns)
      : loops_(loops), rows_(rows), columns_(columns), checked_(axes_to_check(loops, columns.back())) {}

  /// Chooses the columns for the calls of fill to come.
  void set_columns(ConvRange range) {
    runs_.clear();
    coordinates_.clear();
    const std::int64_t length = columns_.back().size;
    for (std::int64_t i = range.begin, end; i < range.end; i = end) {
      end = std::min(range.end, (i / length + 1) * length);
      runs_.push_back({i - range.begin, end - i, offset_at(columns_, i, &ConvLoop::lhs)});
      coordinates_.resize(coordinates_.size() + loops_.extent.size(), 0);
      add_coordinates(columns_, i, coordinates_.data() + coordinates_.size() - loops_.extent.size());
    }
  }

  /// Writes the rows `range` over the chosen columns; `matrix` has `stride` elements from row to row.
  void fill(const T* lhs, ConvRange range, Element* matrix, std::int64_t stride) const {
    Cursor cursor(*this, range.begin);
    for (std::int64_t row = range.begin; row < range.end; ++row, matrix += stride) {
      fill_row(lhs, cursor, matrix);
      cursor.advance(rows_);
    }
  }

 private:
  struct Run {
    std::int64_t column, length, offset;
  };

  /// A row: its offset in lhs and its coordinates there.
  struct Cursor {
    std::int64_t offset;
    std::vector<std::int64_t> at, index;

    Cursor(const Unfold& unfold, std::int64_t row)
        : offset(unfold.loops_.lhs + offset_at(unfold.rows_, row, &ConvLoop::lhs)),
          at(unfold.loops_.origin),
          index(unfold.rows_.size()) {
      add_coordinates(unfold.rows_, row, at.data());
      for (std::size_t i = index.size(); i-- > 0; row /= unfold.rows_[i].size) index[i] = row % unfold.rows_[i].size;
    }
    void move(const ConvLoop& loop, std::int64_t by) {
      offset += by * loop.lhs;
      if (loop.axis >= 0) at[loop.axis] += by * loop.step;
    }
    void advance(const std::vector<ConvLoop>& rows) {
      for (std::size_t i = rows.size(); i-- > 0;) {
        move(rows[i], 1);
        if (++index[i] < rows[i].size) return;
        move(rows[i], -rows[i].size);
        index[i] = 0;
      }
    }
  };

  void fill_row(const T* lhs, const Cursor& row, Element* to) const {
    const ConvLoop& inner = columns_.back();
    const std::int64_t* extent = loops_.extent.data();
    const std::int64_t* at = coordinates_.data();  // of the run
    for (const Run& run : runs_) {
      ConvRange inside{0, run.length};
      if (inner.axis >= 0)
        inside = steps_inside(inner, row.at[inner.axis] + at[inner.axis], extent[inner.axis], run.length);
      for (std::size_t axis : checked_) {
        const std::int64_t x = row.at[axis] + at[axis];
        if (x < 0 || x >= extent[axis]) inside.end = inside.begin;
      }
      Element* y = to + run.column;
      std::fill(y, y + inside.begin, Element(0));
      if (inside.size() > 0)
        copy(lhs + (row.offset + run.offset + inside.begin * inner.lhs), inner.lhs, inside.size(), y + inside.begin);
      std::fill(y + inside.end, y + run.length, Element(0));
      at += loops_.extent.size();
    }
  }
  static void copy(const T* from, std::int64_t stride, std::int64_t count, Element* to) {
    if (stride == 1 && std::is_same_v<T, Element>)
      std::copy(from, from + count, to);
    else
      for (std::int64_t i = 0; i < count; ++i) to[i] = static_cast<Element>(from[i * stride]);
  }

  const ConvLoops& loops_;
  const std::vector<ConvLoop>&rows_, &columns_;
  const std::vector<std::size_t> checked_;
  std::vector<Run> runs_;
  std::vector<std::int64_t> coordinates_;  // of the runs, one after the other
};

}  // namespace cotan::native
