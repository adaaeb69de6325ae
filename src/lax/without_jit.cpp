#include <algorithm>

#include "core/trace.hpp"
#include "lax/control_flow.hpp"
#include "ops/ops.hpp"
#include "transforms/traces.hpp"

namespace cotan::flat {

Arrays scan_without_jit(const FlatFn& body, std::span<const Array> init, std::span<const Array> xs, std::int64_t length,
                        bool reverse) {
  Arrays carry(init.begin(), init.end());
  std::vector<Arrays> ys;
  std::int64_t slice = 0;
  const StepScope scope(slice);
  for (std::int64_t step = 0; step < length; ++step) {
    slice = reverse ? length - 1 - step : step;
    Arrays in = carry;
    for (const Array& x : xs)
      in.push_back(
          ops::reshape(ops::slice_axis(x, 0, slice, slice + 1), Shape(x.shape().begin() + 1, x.shape().end())));
    const Arrays out = body(in);
    check_outputs_defined(out, "scan");
    const auto first_y = out.begin() + static_cast<std::ptrdiff_t>(carry.size());
    ys.resize(out.size() - carry.size());
    carry.assign(out.begin(), first_y);
    for (std::size_t k = 0; k < ys.size(); ++k) {
      Shape row = first_y[static_cast<std::ptrdiff_t>(k)].shape();
      row.insert(row.begin(), 1);
      ys[k].push_back(ops::reshape(first_y[static_cast<std::ptrdiff_t>(k)], row));
    }
  }
  for (Arrays& rows : ys) {
    if (reverse) std::reverse(rows.begin(), rows.end());
    carry.push_back(ops::concatenate(rows, 0));
  }
  return carry;
}

Arrays while_without_jit(const FlatFn& condition, const FlatFn& body, std::span<const Array> init) {
  Arrays carry(init.begin(), init.end());
  std::int64_t step = 0;
  const StepScope scope(step);
  for (; condition(carry)[0].item<bool>(); ++step) carry = body(carry);
  return carry;
}

std::size_t branch_of(const Array& index, std::size_t branches) {
  const auto last = static_cast<std::int64_t>(branches) - 1;
  return static_cast<std::size_t>(std::clamp<std::int64_t>(index.item<std::int64_t>(), 0, last));
}

}  // namespace cotan::flat
