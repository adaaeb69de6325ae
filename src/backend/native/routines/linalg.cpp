// Decompositions of batches of matrices: small ones by loops of their own, larger ones by LAPACK.
#include <algorithm>
#include <cstring>

#include "backend/native/routines/gemm_partition.hpp"
#include "backend/native/routines/linalg_small.hpp"
#include "backend/native/routines/routine_call.hpp"
#include "backend/native/routines/temporary.hpp"
#include "backend/native/routines/vectorized.hpp"
#include "backend/native/runtime/thread_pool.hpp"
#include "core/trace.hpp"
#include "ops/linalg/matrix.hpp"
#include "ops/ops.hpp"

namespace cotan::native {
namespace {

std::int64_t matrices_in(const compiler::Operand& o) { return ops::product(ops::with_core(o.type.shape, {})); }

std::int64_t bytes_of(const AbstractValue& type) {
  return type.size() * static_cast<std::int64_t>(itemsize(type.dtype));
}

/// Calls f(begin, end) for ranges of matrices, which take about `cost` operations each.
template <class F>
void for_matrices(std::int64_t count, std::int64_t cost, F&& f) {
  constexpr std::int64_t task_cost = 1 << 15;
  const std::int64_t per_task = std::max<std::int64_t>(1, task_cost / cost);
  // Whole sets of lanes, so that only the last task has a part of one.
  const std::int64_t step = ceil_divide(per_task, Lanes<float>::size) * Lanes<float>::size;
  parallel_for(ceil_divide(count, step),
               [&](std::int64_t task) { f(task * step, std::min(count, (task + 1) * step)); });
}

template <class F>
void dispatch_matrix(DType t, F&& f) {
  if (t == DType::f32)
    f(float());
  else
    f(double());
}

/// An offset into an array of `size` elements per matrix, or nowhere if the array is not wanted.
template <class T>
T* at_matrix(T* array, std::int64_t matrix, std::int64_t size) {
  return array ? array + matrix * size : nullptr;
}

template <class T>
void cholesky_of(const RoutineCall& call, std::int64_t n) {
  const T* const in = reinterpret_cast<const T*>(call.operand(0));
  T* const out = reinterpret_cast<T*>(call.result(0));
  constexpr int lanes = Lanes<T>::size;
  with_size(n, [&]<int size>() {
    for_matrices(matrices_in(call.routine.operands[0]), size * size * size, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t m = begin; m < end; m += lanes) {
        const std::int64_t count = std::min<std::int64_t>(lanes, end - m);
        MatrixLanes<T, size> a;
        load_lanes<T, size>(in + m * size * size, count, a);
        cholesky_lanes<T, size>(a);
        store_lanes<T, size>(a, count, out + m * size * size);
      }
    });
  });
}

/// Right-hand sides from `k` on; element i of the k-th is at b[i * unknown + k * side], and in x alike.
template <int lanes, class T, int n>
COTAN_VECTORIZED void solve_block(const LowerTriangle<T, n>& a, const T* b, T* x, std::int64_t unknown,
                                  std::int64_t side, std::int64_t k) {
  T block[n][lanes];
  for (int i = 0; i < n; ++i)
    for (int lane = 0; lane < lanes; ++lane) block[i][lane] = b[i * unknown + (k + lane) * side];
  a.template solve<lanes>(block);
  for (int i = 0; i < n; ++i)
    for (int lane = 0; lane < lanes; ++lane) x[i * unknown + (k + lane) * side] = block[i][lane];
}
template <class T, int n>
void solve_sides(const LowerTriangle<T, n>& a, const T* b, T* x, std::int64_t unknown, std::int64_t side,
                 std::int64_t count) {
  std::int64_t k = 0;
  for (; k + 8 <= count; k += 8) solve_block<8>(a, b, x, unknown, side, k);
  if (k + 4 <= count) solve_block<4>(a, b, x, unknown, side, k), k += 4;
  if (k + 2 <= count) solve_block<2>(a, b, x, unknown, side, k), k += 2;
  if (k < count) solve_block<1>(a, b, x, unknown, side, k);
}

template <class T>
void triangular_solve_of(const RoutineCall& call, std::int64_t n) {
  const Params& params = call.routine.params;
  const bool left = params.flag("left_side"), lower = params.flag("lower"), unit = params.flag("unit_diagonal");
  // x op(a) = b is op(a)ᵀ xᵀ = bᵀ.
  const bool transposed = params.flag("transpose_a") == left;
  const Shape& shape = call.routine.operands[1].type.shape;
  const std::int64_t rows = ops::rows_of(shape), columns = ops::columns_of(shape), sides = left ? columns : rows;
  const T* const a = reinterpret_cast<const T*>(call.operand(0));
  const T* const b = reinterpret_cast<const T*>(call.operand(1));
  T* const x = reinterpret_cast<T*>(call.result(0));
  with_size(n, [&]<int size>() {
    for_matrices(matrices_in(call.routine.operands[0]), size * size * sides, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t m = begin; m < end; ++m) {
        const LowerTriangle<T, size> triangle(a + m * size * size, lower, transposed, unit);
        // Unknowns that are numbered backwards start at the last one.
        std::int64_t unknown = left ? columns : 1, at = m * rows * columns;
        if (lower == transposed) at += (size - 1) * unknown, unknown = -unknown;
        solve_sides(triangle, b + at, x + at, unknown, left ? 1 : columns, sides);
      }
    });
  });
}

/// `count` matrices, at most as many as there are lanes.
template <class T, int n>
void lu_block(const T* in, std::int64_t count, T* factors, std::int32_t* pivots, std::int32_t* permutations) {
  MatrixLanes<T, n> a;
  RowLanes<T, n> pivot, permutation;
  load_lanes<T, n>(in, count, a);
  lu_lanes<T, n>(a, pivot, permutation);
  if (factors) store_lanes<T, n>(a, count, factors);
  if (pivots) store_lanes<T, n>(pivot, count, pivots);
  if (permutations) store_lanes<T, n>(permutation, count, permutations);
}

template <class T>
void lu_of(const RoutineCall& call, std::int64_t n) {
  const T* const in = reinterpret_cast<const T*>(call.operand(0));
  T* const factors = reinterpret_cast<T*>(wanted_result(call, 0));
  auto* const pivots = reinterpret_cast<std::int32_t*>(wanted_result(call, 1));
  auto* const permutations = reinterpret_cast<std::int32_t*>(wanted_result(call, 2));
  constexpr int lanes = Lanes<T>::size;
  with_size(n, [&]<int size>() {
    for_matrices(matrices_in(call.routine.operands[0]), 2 * size * size * size,
                 [&](std::int64_t begin, std::int64_t end) {
                   for (std::int64_t m = begin; m < end; m += lanes)
                     lu_block<T, size>(in + m * size * size, std::min<std::int64_t>(lanes, end - m),
                                       at_matrix(factors, m, size * size), at_matrix(pivots, m, size),
                                       at_matrix(permutations, m, size));
                 });
  });
}

bool is_small(std::int64_t n) { return n >= 1 && n <= largest_small_matrix; }

void cholesky(const RoutineCall& call) {
  const AbstractValue& a = call.routine.operands[0].type;
  const std::int64_t n = ops::columns_of(a.shape);
  if (!is_small(n)) return evaluate_matrices(call);
  if (a.size() > 0) dispatch_matrix(a.dtype, [&]<class T>(T) { cholesky_of<T>(call, n); });
}

void triangular_solve(const RoutineCall& call) {
  const AbstractValue &a = call.routine.operands[0].type, &b = call.routine.operands[1].type;
  const std::int64_t n = ops::columns_of(a.shape);
  // With many right-hand sides the product of matrices that a BLAS makes of it is faster.
  const std::int64_t sides = call.routine.params.flag("left_side") ? ops::columns_of(b.shape) : ops::rows_of(b.shape);
  if (!is_small(n) || sides > 64) return evaluate_matrices(call);
  if (b.size() > 0) dispatch_matrix(a.dtype, [&]<class T>(T) { triangular_solve_of<T>(call, n); });
}

void lu(const RoutineCall& call) {
  const AbstractValue& a = call.routine.operands[0].type;
  const std::int64_t n = ops::columns_of(a.shape);
  if (!is_small(n) || ops::rows_of(a.shape) != n) return evaluate_matrices(call);
  if (a.size() > 0) dispatch_matrix(a.dtype, [&]<class T>(T) { lu_of<T>(call, n); });
}

}  // namespace

void evaluate_matrices(const RoutineCall& call) {
  const compiler::Routine& routine = call.routine;
  const std::int64_t count = matrices_in(routine.operands[0]);
  bool any_empty = count == 0, any_large = false;
  for (const compiler::Operand& o : routine.operands) {
    any_empty |= o.type.size() == 0;
    any_large |= !any_empty && o.type.size() / count >= lapack::large_matrix;
  }
  const Partition parts{count, any_empty || any_large ? 1 : std::min<std::int64_t>(count, 4 * num_threads())};
  const auto batch_axes = routine.operands[0].type.ndim() - 2;
  parallel_for(parts.parts, [&](std::int64_t p) {
    Arrays args;
    for (std::size_t k = 0; k < routine.operands.size(); ++k) {
      AbstractValue type = routine.operands[k].type;
      const std::int64_t matrix_bytes = count == 0 ? 0 : bytes_of(type) / count;
      if (parts.parts > 1) {
        type.shape.erase(type.shape.begin(), type.shape.begin() + batch_axes);
        type.shape.insert(type.shape.begin(), parts.length(p));
      }
      args.push_back(Array(std::make_shared<detail::Concrete>(
          type, std::make_shared<Buffer>(call.backend, call.operand(k) + parts.begin(p) * matrix_bytes,
                                         static_cast<std::size_t>(bytes_of(type))))));
    }
    TraceScope scope(eval_trace());
    const Arrays results = routine.primitive->eval(*routine.primitive, args, routine.params);
    for (std::size_t k = 0; k < results.size(); ++k) {
      const std::int64_t bytes = bytes_of(results[k].aval());
      std::byte* const to = bytes > 0 ? wanted_result(call, k) : nullptr;
      if (!to) continue;
      const std::int64_t before = parts.begin(p) * (bytes / std::max<std::int64_t>(1, parts.length(p)));
      std::memcpy(to + before, concrete(results[k])->buffer->data(), static_cast<std::size_t>(bytes));
    }
  });
}

const RuleFor<NativeRoutine> runs_cholesky{{&ops::cholesky_p}, {cholesky}};
const RuleFor<NativeRoutine> runs_triangular_solve{{&ops::triangular_solve_p}, {triangular_solve}};
const RuleFor<NativeRoutine> runs_lu{{&ops::lu_p}, {lu}};
const RuleFor<NativeRoutine> runs_by_matrix{{&ops::qr_p, &ops::eigh_p, &ops::svd_p, &ops::schur_p, &ops::geqrf_p,
                                             &ops::hessenberg_p, &ops::tridiagonal_p, &ops::column_pivots_p},
                                            {evaluate_matrices}};

}  // namespace cotan::native
