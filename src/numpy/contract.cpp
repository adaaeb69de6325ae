#include "numpy/contract.hpp"

#include <algorithm>

#include "numpy/preferred.hpp"
#include "ops/ops.hpp"
#include "ops/promote.hpp"

namespace cotan::numpy {

namespace {

std::int64_t axis_of(const Labels& labels, int label) {
  return std::find(labels.begin(), labels.end(), label) - labels.begin();
}

struct Operand {
  Array array;
  Labels labels;
  std::int64_t size(int label) const { return array.shape()[axis_of(labels, label)]; }
};

/// Takes away axes of size 1 that the other operand has in full.
void drop_broadcast_axes(std::string_view op, Operand& x, const Operand& other) {
  Ints dropped;
  Labels kept;
  for (int label : x.labels) {
    const bool shared = has(other.labels, label);
    if (shared && x.size(label) == 1 && other.size(label) != 1) {
      dropped.push_back(axis_of(x.labels, label));
      continue;
    }
    if (shared && x.size(label) != other.size(label) && other.size(label) != 1)
      raise<ShapeError>("[{}] shapes {} and {} meet along an axis of sizes {} and {}; those must be equal.", op,
                        describe(x.array.shape()), describe(other.array.shape()), x.size(label), other.size(label));
    kept.push_back(label);
  }
  x = {ops::reshape(x.array, ops::erase_axes(x.array.shape(), dropped)), kept};
}
/// Sums over what neither the other operand nor the result has.
void sum_private_axes(Operand& x, const Operand& other, const Labels& out) {
  Ints summed;
  Labels kept;
  for (int label : x.labels) {
    if (has(other.labels, label) || has(out, label))
      kept.push_back(label);
    else
      summed.push_back(axis_of(x.labels, label));
  }
  if (summed.empty()) return;
  const bool boolean = x.array.dtype() == DType::bool_;
  x = {bind1(boolean ? ops::reduce_or_p : ops::reduce_sum_p, {x.array}, {{"axes", summed}}), kept};
}
Array arranged(const Operand& x, const Labels& order) {
  Ints permutation;
  for (int label : order) permutation.push_back(axis_of(x.labels, label));
  return ops::transpose(x.array, permutation);
}
/// `x` with the axes `out`; those it does not have get size 1.
Array spread(const Operand& x, const Labels& out) {
  Labels order;
  Shape shape;
  for (int label : out) {
    if (has(x.labels, label)) order.push_back(label);
    shape.push_back(has(x.labels, label) ? x.size(label) : 1);
  }
  const Array y = arranged(x, order);
  return order.empty() ? y : ops::reshape(y, shape);
}

}  // namespace

Array contract(std::string_view op, const Array& a, Labels labels_a, const Array& b, Labels labels_b,
               const Labels& out) {
  const Array operands[] = {a, b};
  const Arrays cast = cast_all(operands, result_type(operands));
  Operand x{cast[0], std::move(labels_a)}, y{cast[1], std::move(labels_b)};
  drop_broadcast_axes(op, x, y);
  drop_broadcast_axes(op, y, x);
  sum_private_axes(x, y, out);
  sum_private_axes(y, x, out);

  Ints contract_x, contract_y, batch_x, batch_y;
  Labels batch, free;
  for (int label : x.labels) {
    if (!has(y.labels, label)) {
      free.push_back(label);
      continue;
    }
    const bool kept = has(out, label);
    (kept ? batch_x : contract_x).push_back(axis_of(x.labels, label));
    (kept ? batch_y : contract_y).push_back(axis_of(y.labels, label));
    if (kept) batch.push_back(label);
  }
  if (contract_x.empty()) {
    const Arrays factors = broadcast_operands(op, {spread(x, out), spread(y, out)});
    return bind1(ops::mul_p, factors);
  }
  for (int label : y.labels)
    if (!has(x.labels, label)) free.push_back(label);
  Operand product{ops::dot_general(x.array, y.array, contract_x, contract_y, batch_x, batch_y), std::move(batch)};
  product.labels.insert(product.labels.end(), free.begin(), free.end());
  return arranged(product, out);
}

void check_precision(std::string_view op, std::string_view precision) {
  for (std::string_view known : {"", "default", "high", "highest", "bfloat16", "tensorfloat32", "float32"})
    if (precision == known) return;
  raise<ValueError>("[{}] there is no precision '{}'; use default, high or highest.", op, precision);
}
Arrays widened(std::span<const Array> operands, DType preferred) {
  return cast_all(operands, {promote_types(result_type(operands).dtype, preferred), false});
}

}  // namespace cotan::numpy
