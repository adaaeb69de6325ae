#include "backend/native/routines/scatter_windows.hpp"

#include <algorithm>

#include "core/typed.hpp"
#include "ops/gather_scatter.hpp"

namespace cotan::native {
namespace {

/// Appends a loop, or joins it with the one before where they are alike and that one steps over all of it.
/// `strides` are pointers to members.
template <class Loop, class... Strides>
void append(std::vector<Loop>& loops, const Loop& loop, bool alike, Strides... strides) {
  if (loop.size == 1) return;
  const auto follows = [&](const Loop& outer) { return ((outer.*strides == loop.size * loop.*strides) && ...); };
  const std::int64_t size = loops.empty() || !alike || !follows(loops.back()) ? 1 : loops.back().size;
  if (size > 1) loops.pop_back();
  loops.push_back(loop);
  loops.back().size *= size;
}

template <class Index>
std::int64_t start_of(Index index) {
  if constexpr (std::is_same_v<Index, std::uint64_t>)
    return static_cast<std::int64_t>(std::min<std::uint64_t>(index, INT64_MAX));
  else
    return index;
}

}  // namespace

Windows::Windows(const RoutineCall& call)
    : index_type_(call.routine.operands[1].type.dtype),
      indices_(call.operand(1)),
      clip_(call.routine.params.text("mode") == ops::mode_clip) {
  const Params& params = call.routine.params;
  const Ints &window_axes = params.ints("update_window_dims"), &inserted = params.ints("inserted_window_dims"),
             &indexed = params.ints("scatter_dims_to_operand_dims"),
             &operand_batching = params.ints("operand_batching_dims"),
             &index_batching = params.ints("scatter_indices_batching_dims");
  const Shape &operand = call.routine.operands[0].type.shape, &indices = call.routine.operands[1].type.shape,
              &updates = call.routine.operands[2].type.shape;
  const Ints operand_strides = ops::strides_of(operand), update_strides = ops::strides_of(updates);
  const auto rank = static_cast<std::int64_t>(operand.size());
  count_ = ops::product(Shape(indices.begin(), indices.end() - 1));

  // Axes along which windows have one element, at a position of their own: these tell windows apart.
  Ints sizes(rank, 1);
  std::vector<bool> tells_apart(rank);
  for (std::int64_t axis = 0, k = 0; axis < rank; ++axis) {
    const bool batching = ops::contains(operand_batching, axis), collapsed = ops::contains(inserted, axis);
    if (!batching && !collapsed) {
      const std::int64_t update_axis = window_axes[k++];
      sizes[axis] = updates[update_axis];
      const bool fixed = count_ == 1 || !ops::contains(indexed, axis);
      append(loops_, {sizes[axis], operand_strides[axis], update_strides[update_axis], fixed},
             !loops_.empty() && loops_.back().fixed == fixed, &WindowLoop::operand, &WindowLoop::update);
    }
    tells_apart[axis] = sizes[axis] == 1 && (batching || ops::contains(indexed, axis));
  }
  // Keys count in the smallest stride of those axes.
  std::int64_t unit = 1;
  for (std::int64_t axis = 0; axis < rank; ++axis)
    if (tells_apart[axis]) unit = operand_strides[axis];
  for (std::int64_t axis = 0; axis < rank; ++axis)
    if (tells_apart[axis]) keys_ += (operand[axis] - 1) * (operand_strides[axis] / unit);

  const auto key_stride = [&](std::int64_t axis) { return tells_apart[axis] ? operand_strides[axis] / unit : 0; };
  for (auto axis : indexed)
    components_.push_back({operand[axis] - sizes[axis], operand_strides[axis], key_stride(axis)});
  const Ints batch_axes = ops::batch_axes(static_cast<std::int64_t>(updates.size()), window_axes);
  for (std::size_t k = 0; k + 1 < indices.size(); ++k) {
    Batch b{indices[k], 0, update_strides[batch_axes[k]], 0};
    for (std::size_t j = 0; j < index_batching.size(); ++j)
      if (index_batching[j] == static_cast<std::int64_t>(k)) {
        b.operand = operand_strides[operand_batching[j]];
        b.key = key_stride(operand_batching[j]);
      }
    append(batch_, b, true, &Batch::operand, &Batch::update, &Batch::key);
  }
}

std::optional<ElementWindows> Windows::as_elements() const {
  const bool simple = loops_.empty() && components_.size() == 1 && batch_.size() <= 1 &&
                      (batch_.empty() || batch_[0].operand == 0) &&
                      (index_type_ == DType::i32 || index_type_ == DType::i64);
  if (!simple) return std::nullopt;
  return ElementWindows{index_type_,
                        indices_,
                        count_,
                        clip_,
                        components_[0].last,
                        components_[0].stride,
                        batch_.empty() ? 0 : batch_[0].update};
}

void Windows::find(std::int64_t begin, std::int64_t end, Window* out) const {
  if (begin >= end) return;
  dispatch(index_type_, [&]<class Index>() {
    if constexpr (std::is_integral_v<Index>) find(reinterpret_cast<const Index*>(indices_), begin, end, out);
  });
}

template <class Index>
void Windows::find(const Index* indices, std::int64_t begin, std::int64_t end, Window* out) const {
  // Where the first window is in the loops over all of them.
  std::vector<std::int64_t> at(batch_.size());
  Window base{0, 0, 0};
  std::int64_t rest = begin;
  for (std::size_t k = batch_.size(); k-- > 0; rest /= batch_[k].size) {
    at[k] = rest % batch_[k].size;
    base.operand += at[k] * batch_[k].operand;
    base.update += at[k] * batch_[k].update;
    base.key += at[k] * batch_[k].key;
  }
  indices += begin * static_cast<std::int64_t>(components_.size());
  for (std::int64_t number = begin; number < end; ++number, ++out) {
    *out = base;
    for (const Component& c : components_) {
      std::int64_t start = start_of(*indices++);
      if (clip_) start = std::clamp<std::int64_t>(start, 0, c.last);
      if (start < 0 || start > c.last) {
        out->key = -1;
        indices += &components_.back() - &c;
        break;
      }
      out->operand += start * c.stride;
      out->key += start * c.key;
    }
    for (std::size_t k = batch_.size(); k-- > 0;) {
      const Batch& b = batch_[k];
      base.operand += b.operand, base.update += b.update, base.key += b.key;
      if (++at[k] < b.size) break;
      base.operand -= b.size * b.operand, base.update -= b.size * b.update, base.key -= b.size * b.key;
      at[k] = 0;
    }
  }
}

std::int64_t Windows::size() const {
  std::int64_t n = 1;
  for (const WindowLoop& loop : loops_) n *= loop.size;
  return n;
}

}  // namespace cotan::native
