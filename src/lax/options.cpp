#include "lax/options.hpp"

#include <algorithm>

#include "ops/ops.hpp"
#include "ops/promote.hpp"

namespace cotan::lax {

std::int64_t dilated(std::int64_t size, std::int64_t dilation) {
  return size == 0 ? 0 : std::min(element_count({size - 1, dilation}), too_long) + 1;
}

ConvPadding::Pairs padding_by_name(std::string_view op, const std::string& name, const Ints& sizes, const Ints& windows,
                                   const Ints& strides, const Ints& window_dilation) {
  if (name != "SAME" && name != "SAME_LOWER" && name != "VALID")
    raise<ValueError>("[{}] there is no padding '{}'; use SAME, SAME_LOWER, VALID or pairs.", op, name);
  ConvPadding::Pairs pairs(sizes.size());
  if (name == "VALID") return pairs;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const std::int64_t size = sizes[i], stride = strides[i], window = dilated(windows[i], window_dilation[i]);
    const std::int64_t places = size / stride + (size % stride != 0);
    const std::int64_t total = std::max<std::int64_t>((places - 1) * stride + window - size, 0);
    const std::int64_t less = total / 2, more = total - less;
    pairs[i] = name == "SAME" ? std::pair(less, more) : std::pair(more, less);
  }
  return pairs;
}

Ints resolved(const Array& a, const std::vector<std::int64_t>& axes, std::string_view op) {
  std::vector<int> list(axes.begin(), axes.end());
  list = Axes(list).resolve(a.ndim(), op);
  return Ints(list.begin(), list.end());
}

Arrays in_preferred_type(std::span<const Array> operands, std::optional<DType> wanted) {
  numpy::ResultType type = numpy::result_type(operands);
  if (wanted) {
    const Array both[] = {ops::zeros_of({type.dtype, {}, false}), ops::zeros_of({*wanted, {}, false})};
    type = {numpy::result_type(both).dtype, false};
  }
  return numpy::cast_all(operands, type);
}

}  // namespace cotan::lax
