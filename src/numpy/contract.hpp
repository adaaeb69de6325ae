// One contraction of two labelled operands: what matmul, tensordot and einsum come down to.
#pragma once
#include <algorithm>
#include <cotan/array.hpp>
#include <string_view>
#include <vector>

namespace cotan::numpy {

/// One label per axis; equal labels are summed over unless they are in the result.
using Labels = std::vector<int>;

inline bool has(const Labels& labels, int label) {
  return std::find(labels.begin(), labels.end(), label) != labels.end();
}

/// The product of `a` and `b` with axes `out`, of their common dtype. Within an operand labels are unique;
/// labels in neither the other operand nor the result are summed away; an axis of size 1 broadcasts against
/// its namesake.
Array contract(std::string_view op, const Array& a, Labels labels_a, const Array& b, Labels labels_b,
               const Labels& out);

}  // namespace cotan::numpy
