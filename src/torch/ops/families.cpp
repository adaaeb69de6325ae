// What operations share: writes into x of x.op_(…), numbers as tensors, axes.
#include "torch/ops/families.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "torch/graph/devices.hpp"

namespace cotan::torch::detail {

const Tensor& in_place(const Tensor& x, std::string_view op, const std::source_location& where,
                       const std::function<Tensor()>& f) {
  const At at(where);
  check_writable(x, op);
  const WriteScope scope(x.impl());
  return write_back(x, f(), op);
}

Tensor as_tensor(const Operand& operand, DType t, const Tensor& like) {
  static const auto real =
      define("number", {}, [](Place, Number number, DType dtype) { return number.array.astype(dtype); });
  static const auto whole =
      define("number", {}, [](Place, std::int64_t number, DType dtype) { return numpy::full({}, number, dtype); });
  if (!operand.is_number()) return operand.tensor();
  const Place place{like.impl().type()->device};
  const Scalar& number = operand.number();
  return number.kind == Scalar::Kind::real ? real(place, number.real, t) : whole(place, number.integer, t);
}

std::vector<int> axes_of(const Tensor& x, const std::vector<int>& dims, std::string_view op) {
  std::vector<int> out;
  for (const int d : dims) out.push_back(wrap_dim(d, x.dim(), op));
  std::sort(out.begin(), out.end());
  if (const auto twice = std::adjacent_find(out.begin(), out.end()); twice != out.end())
    throw_with_line<ValueError>(fmt::format("[{}] dimension {} is named twice.", op, *twice));
  return x.dim() == 0 ? std::vector<int>() : out;
}

DType whole_type(const Tensor& x) { return has_doubles(x.impl().type()->device) ? i64 : i32; }

}  // namespace cotan::torch::detail
