// Matrix products of whole arrays, by the GEMM of this folder.
#include <algorithm>
#include <memory_resource>
#include <span>

#include "backend/native/codegen/generate.hpp"
#include "backend/native/routines/gemm.hpp"
#include "backend/native/routines/routine_call.hpp"
#include "core/error.hpp"
#include "core/typed.hpp"
#include "ops/ops.hpp"
#include "ops/strided.hpp"

namespace cotan::native {

namespace {

/// A group of axes walked as one: only where each axis steps over all of the next.
struct Axis {
  std::int64_t extent = 1, stride = 0;
};
std::optional<Axis> merged(const compiler::Operand& o, std::span<const std::int64_t> axes) {
  Axis out;
  bool first = true;
  for (std::size_t k = axes.size(); k-- > 0;) {
    const auto axis = static_cast<std::size_t>(axes[k]);
    const std::int64_t extent = o.type.shape[axis], stride = o.strides[axis];
    if (extent == 1) continue;
    if (first)
      out = {extent, stride}, first = false;
    else if (stride == out.stride * out.extent)
      out.extent *= extent;
    else
      return std::nullopt;
  }
  return out;
}

/// On the stack, as a rule: a product in a loop must not allocate.
using FewAxes = std::pmr::vector<std::int64_t>;
FewAxes free_axes(const compiler::Operand& o, const Ints& contract, const Ints& batch,
                  std::pmr::memory_resource& memory) {
  FewAxes out(&memory);
  out.reserve(o.type.shape.size());
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(o.type.shape.size()); ++i)
    if (std::find(contract.begin(), contract.end(), i) == contract.end() &&
        std::find(batch.begin(), batch.end(), i) == batch.end())
      out.push_back(i);
  return out;
}

/// One operand: batch axes as they are, then a row and a column axis.
struct Side {
  const std::byte* data;
  Ints batch_strides;
  Axis free, contract;
  std::unique_ptr<std::byte[]> copy;
};

template <class T>
Side side(const RoutineCall& call, std::size_t k, const Ints& contract, const Ints& batch) {
  const compiler::Operand& o = call.routine.operands[k];
  std::byte space[512];
  std::pmr::monotonic_buffer_resource memory(space, sizeof space);
  const FewAxes free = free_axes(o, contract, batch, memory);
  Side out{call.operand(k), {}, {}, {}, nullptr};
  for (auto a : batch) out.batch_strides.push_back(o.strides[static_cast<std::size_t>(a)]);
  const auto f = merged(o, free), c = merged(o, contract);
  if (f && c) {
    out.free = *f;
    out.contract = *c;
    return out;
  }
  // Axes that no single stride walks: a dense copy, ordered batch, free, contract.
  Shape shape;
  Ints strides;
  std::int64_t rows = 1, inner = 1;
  const auto add = [&](const auto& axes) {
    std::int64_t n = 1;
    for (auto a : axes) {
      shape.push_back(o.type.shape[static_cast<std::size_t>(a)]);
      strides.push_back(o.strides[static_cast<std::size_t>(a)]);
      n *= shape.back();
    }
    return n;
  };
  add(batch);
  rows = add(free);
  inner = add(contract);
  out.copy.reset(new std::byte[static_cast<std::size_t>(o.type.size()) * sizeof(T)]);
  T* to = reinterpret_cast<T*>(out.copy.get());
  const T* from = reinterpret_cast<const T*>(out.data);
  ops::for_each_offset(shape, strides, strides, [&](std::int64_t at, std::int64_t) { *to++ = from[at]; });
  out.data = out.copy.get();
  out.free = {rows, inner};
  out.contract = {inner, 1};
  const Ints dense = ops::strides_of(shape);
  out.batch_strides.assign(dense.begin(), dense.begin() + static_cast<std::ptrdiff_t>(batch.size()));
  return out;
}

template <class T>
void multiply(const RoutineCall& call) {
  const Params& params = call.routine.params;
  const Ints &contract_a = params.ints("contract_lhs"), &contract_b = params.ints("contract_rhs"),
             &batch_a = params.ints("batch_lhs"), &batch_b = params.ints("batch_rhs");
  const Side a = side<T>(call, 0, contract_a, batch_a), b = side<T>(call, 1, contract_b, batch_b);
  const std::int64_t m = a.free.extent, n = b.free.extent, k = a.contract.extent;
  T* out = reinterpret_cast<T*>(call.result(0));
  const Matrix<const T> x{reinterpret_cast<const T*>(a.data), a.free.stride, a.contract.stride},
      y{reinterpret_cast<const T*>(b.data), b.contract.stride, b.free.stride};
  const Matrix<T> z{out, n, 1};
  Shape batch;
  for (auto axis : batch_a) batch.push_back(call.routine.operands[0].type.shape[static_cast<std::size_t>(axis)]);
  if (batch.empty()) {
    gemm<T>(m, n, k, x, y, z);
    return;
  }
  if (batch.size() == 1) {
    batched_gemm<T>(batch[0], {a.batch_strides[0], b.batch_strides[0], m * n}, m, n, k, x, y, z);
    return;
  }
  // All but the last batch axis one by one.
  Shape outer(batch.begin(), batch.end() - 1);
  const Ints outer_a(a.batch_strides.begin(), a.batch_strides.end() - 1),
      outer_b(b.batch_strides.begin(), b.batch_strides.end() - 1);
  std::int64_t at = 0;
  ops::for_each_offset(outer, outer_a, outer_b, [&](std::int64_t i, std::int64_t j) {
    batched_gemm<T>(batch.back(), {a.batch_strides.back(), b.batch_strides.back(), m * n}, m, n, k,
                    {x.data + i, x.row_stride, x.column_stride}, {y.data + j, y.row_stride, y.column_stride},
                    {out + at, n, 1});
    at += batch.back() * m * n;
  });
}

/// Others fuse with what is around them.
bool is_large(std::span<const AbstractValue> types, const Params& params) {
  // Small products and products with vectors are plain loops: they fuse with what is around them. What fits
  // into registers is unrolled.
  const std::int64_t lanes =
      vector_bytes() / static_cast<std::int64_t>(std::max<std::size_t>(itemsize(types[0].dtype), 4));
  const std::int64_t small_product = std::min<std::int64_t>(1 << 12, lanes << 10);
  const auto extent = [](const AbstractValue& t, const Ints& axes) {
    std::int64_t n = 1;
    for (auto a : axes) n *= t.shape[static_cast<std::size_t>(a)];
    return n;
  };
  const std::int64_t k = extent(types[0], params.ints("contract_lhs")),
                     batch = extent(types[0], params.ints("batch_lhs"));
  if (k == 0 || batch == 0) return false;
  const std::int64_t m = types[0].size() / (batch * k), n = types[1].size() / (batch * k);
  return m > 1 && n > 1 && k > 1 && m * n * k > small_product;
}

void dot_general(const RoutineCall& call) {
  dispatch(call.routine.operands[0].type.dtype, [&]<class T>() { multiply<T>(call); });
}

}  // namespace

const RuleFor<NativeRoutine> runs_dot_general{{&ops::dot_general_p},
                                              {.run = dot_general, .takes_strides = true, .pays = is_large}};

}  // namespace cotan::native
