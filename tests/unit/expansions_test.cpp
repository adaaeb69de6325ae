// Expansions against the evaluation rules of their primitives, on the reference device and compiled on the
// native one: dtypes, sizes, batches, parameters and special values. Integers, sorts and permutations are
// exact; what is computed in floating point is within a stated multiple of the largest element.
#include "expansions/expansions.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cotan/cotan.hpp>
#include <random>
#include <set>

#include "core/backend.hpp"
#include "core/construct.hpp"
#include "core/trace.hpp"
#include "core/typed.hpp"
#include "ops/collectives/axes.hpp"
#include "ops/conv.hpp"
#include "ops/gather_scatter.hpp"
#include "ops/linalg/matrix.hpp"
#include "ops/ops.hpp"
#include "unit/random_arrays.hpp"

namespace {

using namespace cotan;
using random_arrays::Integer;
using random_arrays::Values;

random_arrays::Source& source() {
  static random_arrays::Source s(29, host_backend());
  return s;
}
Integer between(Integer lo, Integer hi) { return source().between(lo, hi); }
Array random_array(DType dtype, const Shape& shape, Values values = Values::plain) {
  return source().array(dtype, shape, values);
}
Array random_indices(DType dtype, const Shape& shape, Integer lo, Integer hi) {
  return source().indices(dtype, shape, lo, hi);
}

/// Everything that is not said to be elsewhere is on the reference device.
class Expansions : public testing::Test {
 protected:
  Expansions() : before_(default_device().name()) { default_device("reference"); }
  ~Expansions() override { default_device(before_); }

 private:
  std::string before_;
};

Types types_of(const Arrays& arrays) {
  Types out;
  for (const Array& a : arrays) out.push_back(a.aval());
  return out;
}
bool everything(const Primitive&, std::span<const AbstractValue>, const Params&) { return true; }

JaxprPtr expanded(const Primitive& p, const Types& types, const Params& params) {
  const JaxprPtr once = expansion_of(p, types, params);
  return once ? expand_routines(once, everything) : nullptr;
}
Arrays run_on(std::string_view device, const JaxprPtr& program, const Arrays& args) {
  Arrays there, back;
  for (const Array& a : args) there.push_back(device_put(a, device));
  for (const Array& a : find_backend(device).run_program(program, there, nullptr))
    back.push_back(device_put(a, "reference"));
  return back;
}
Arrays by_rule(const Primitive& p, const Arrays& args, const Params& params) {
  TraceScope scope(eval_trace());
  return p.eval(p, args, params);
}

/// f(program) for a program and all nested ones.
template <class F>
void for_each_program(const Jaxpr& jaxpr, F&& f) {
  f(jaxpr);
  for (const Equation& e : jaxpr.equations)
    for (const auto& [name, value] : e.params.items()) {
      if (const auto* j = std::get_if<JaxprPtr>(&value)) for_each_program(**j, f);
      if (const auto* js = std::get_if<std::vector<JaxprPtr>>(&value))
        for (const auto& j : *js) for_each_program(*j, f);
    }
}
/// No routines are left, and no 64-bit types that the operation itself has not.
void check_program(const Jaxpr& program, const std::string& what) {
  std::set<DType> own;
  for (const AbstractValue& t : program.input_types()) own.insert(t.dtype);
  const bool wide = own.contains(f64) || own.contains(i64) || own.contains(u64);
  for_each_program(program, [&](const Jaxpr& j) {
    for (const AbstractValue& t : j.types)
      EXPECT_TRUE(wide || itemsize(t.dtype) <= 4) << what << " has a value of type " << t.str();
    for (const Equation& e : j.equations) {
      const Primitive& p = *e.primitive;
      const bool known = p.scalar || p.scalars || p.element || p.op_class == OpClass::control;
      EXPECT_TRUE(known) << what << " has the routine " << p.name;
    }
  });
}

/// Equal up to a multiple of the largest finite element; NaN is NaN, infinities are equal.
void expect_close(const Array& actual, const Array& expected, double tolerance, const std::string& what) {
  ASSERT_EQ(actual.aval().str(), expected.aval().str()) << what;
  dispatch(expected.dtype(), [&]<class T>() {
    const auto value = [](const Array& a, Integer i) {
      return static_cast<double>(static_cast<Compute<T>>(data<T>(a)[i]));
    };
    double largest = 0;
    for (Integer i = 0; i < expected.size(); ++i)
      if (std::isfinite(value(expected, i))) largest = std::max(largest, std::abs(value(expected, i)));
    for (Integer i = 0; i < expected.size(); ++i) {
      const double a = value(actual, i), e = value(expected, i);
      bool same = (std::isnan(a) && std::isnan(e)) || a == e;
      if constexpr (std::is_integral_v<T>) same = data<T>(actual)[i] == data<T>(expected)[i];
      const bool near = std::isfinite(e) && std::abs(a - e) <= tolerance * largest;
      ASSERT_TRUE(same || near) << what << ": " << a << " instead of " << e << " at " << i << " of "
                                << expected.aval().str();
    }
  });
}

void check(const Primitive& p, const Arrays& args, const Params& params, double tolerance = 0, std::string what = {}) {
  for (const Array& a : args) what = a.aval().str() + " " + what;
  what = std::string(p.name) + " " + what;
  SCOPED_TRACE(what);
  const Arrays expected = by_rule(p, args, params);
  const JaxprPtr program = expanded(p, types_of(args), params);
  ASSERT_TRUE(program) << what << " has no expansion";
  check_program(*program, what);
  for (const char* device : {"reference", "native"}) {
    const Arrays actual = run_on(device, program, args);
    ASSERT_EQ(actual.size(), expected.size());
    for (std::size_t k = 0; k < expected.size(); ++k)
      expect_close(actual[k], expected[k], tolerance, what + " on " + device + ", result " + std::to_string(k));
  }
}

double epsilon(DType dtype) {
  return dtype == f64 ? 0x1p-52 : dtype == f32 ? 0x1p-23 : dtype == f16 ? 0x1p-10 : dtype == bf16 ? 0x1p-7 : 0;
}

// Cumulative operations -------------------------------------------------------------------------------

const Shape line_shapes[] = {{0}, {1}, {2}, {17}, {300}, {3, 5}, {0, 3}, {3, 0}, {4, 33, 2}};

Params along(Integer axis, bool reverse) { return {{"axis", axis}, {"reverse", reverse}}; }

TEST_F(Expansions, cumulative) {
  using namespace ops;
  for (const Primitive* p : {&cumsum_p, &cumprod_p, &cummax_p, &cummin_p})
    for (DType dtype : {f32, f64, f16, bf16, i8, i32, i64, u16, u32})
      for (const Shape& shape : line_shapes)
        for (std::size_t axis = 0; axis < shape.size(); ++axis)
          check(*p, {random_array(dtype, shape)}, along(static_cast<Integer>(axis), axis % 2 == 1),
                p == &cumprod_p ? 64 * epsilon(dtype) : 16 * epsilon(dtype));
  for (DType dtype : {f32, f64, f16})
    for (bool reverse : {false, true})
      for (const Shape& shape : line_shapes)
        check(cumlogsumexp_p, {random_array(dtype, shape)}, along(0, reverse), 16 * epsilon(dtype));
}
TEST_F(Expansions, cumulative_special_values) {
  using namespace ops;
  for (const Primitive* p : {&cumsum_p, &cumprod_p, &cummax_p, &cummin_p, &cumlogsumexp_p})
    for (bool reverse : {false, true})
      for (int trial = 0; trial < 20; ++trial)
        for (DType dtype : {f32, bf16})
          check(*p, {random_array(dtype, {2, 9}, Values::special)}, along(1, reverse), 16 * epsilon(dtype));
  const Array below = numpy::array({-INFINITY, -INFINITY, 1.f, INFINITY, 2.f, NAN, 1.f});
  check(cumlogsumexp_p, {below}, along(0, false), 1e-6);
  check(cumlogsumexp_p, {below}, along(0, true), 1e-6);
}
TEST_F(Expansions, linear_recurrence) {
  for (DType dtype : {f32, f64, f16, i32, u8})
    for (bool reverse : {false, true})
      for (const Shape& shape : line_shapes) {
        const Array half = dtype == f64 || dtype == f32 ? numpy::full({}, 0.4, dtype) : numpy::ones({}, dtype);
        const Array factors = random_array(dtype, shape) * half;
        check(ops::linear_recurrence_p, {factors, random_array(dtype, shape)},
              along(static_cast<Integer>(shape.size()) - 1, reverse), 32 * epsilon(dtype));
      }
}

// Factorisations ----------------------------------------------------------------------------------------

const Shape batches[] = {{}, {1}, {3}, {2, 2}, {0}};
/// Every one for f32; for f64, one of them.
std::vector<Shape> batches_for(DType dtype) {
  return dtype == f32 ? std::vector<Shape>(std::begin(batches), std::end(batches)) : std::vector<Shape>{{2}};
}

Shape with(const Shape& batch, std::initializer_list<Integer> core) {
  Shape out = batch;
  out.insert(out.end(), core);
  return out;
}
/// Far from singular.
Array positive_definite(DType dtype, const Shape& batch, Integer n) {
  const Array a = random_array(dtype, with(batch, {n, n}));
  return numpy::matmul(a, numpy::matrix_transpose(a)) + numpy::eye(n, {}, 0, dtype) * (0.1 * static_cast<double>(n));
}

TEST_F(Expansions, cholesky) {
  for (DType dtype : {f32, f64}) {
    for (Integer n : {0, 1, 2, 3, 4, 5, 8, 17, 33})
      check(ops::cholesky_p, {positive_definite(dtype, {}, n)}, {}, 64 * epsilon(dtype));
    for (const Shape& batch : batches)
      for (Integer n : {0, 3, 6}) check(ops::cholesky_p, {positive_definite(dtype, batch, n)}, {}, 64 * epsilon(dtype));
  }
}
TEST_F(Expansions, cholesky_in_blocks) {
  for (DType dtype : {f32, f64}) check(ops::cholesky_p, {positive_definite(dtype, {}, 100)}, {}, 256 * epsilon(dtype));
  const Array a = positive_definite(f32, {}, 100);
  for (float bad : {-1e3f, NAN}) check(ops::cholesky_p, {a.at(70, 70).set(bad)}, {});
  check(ops::cholesky_p, {positive_definite(f32, {2}, 97).at(0, 3, 90).set(NAN)}, {}, 1e-4);
}
TEST_F(Expansions, cholesky_of_no_positive_definite_matrix) {
  for (Integer n : {3, 6}) {
    const Array good = positive_definite(f32, {3}, n);
    for (float bad : {-1e3f, 0.0f, NAN, INFINITY})
      for (Integer row = 0; row < n; ++row) {
        if (std::isinf(bad) && row + 1 < n) continue;  // LAPACK's NaN on the way are its own
        const Array a = good.at(1, row, row).set(bad);
        check(ops::cholesky_p, {a}, {}, 1e-5);
      }
    // The upper triangle is not read.
    check(ops::cholesky_p, {good.at(0, 0, n - 1).set(NAN)}, {}, 1e-5);
  }
}
void check_triangular_solve(DType dtype, const Shape& batch, Integer n, Integer sides, int flags) {
  const bool left = flags & 1, lower = flags & 2, transposed = flags & 4, unit = flags & 8;
  const double size = static_cast<double>(n);
  const Array a = random_array(dtype, with(batch, {n, n})) * (unit ? 1 / (size + 1) : 1.0) +
                  numpy::eye(n, {}, 0, dtype) * (unit ? 0.0 : 2 + 2 * size);
  const Array b = random_array(dtype, left ? with(batch, {n, sides}) : with(batch, {sides, n}));
  check(ops::triangular_solve_p, {a, b},
        {{"left_side", left}, {"lower", lower}, {"transpose_a", transposed}, {"unit_diagonal", unit}},
        64 * epsilon(dtype));
}
TEST_F(Expansions, triangular_solve) {
  for (int flags = 0; flags < 16; ++flags)
    for (Integer n : {3, 6}) {
      check_triangular_solve(f32, {}, n, 2, flags);
      check_triangular_solve(f64, {3}, n, 2, flags);
    }
  for (const Shape& batch : batches)
    for (Integer n : {0, 1, 4, 5, 17})
      for (Integer sides : {0, 1, 5}) check_triangular_solve(f32, batch, n, sides, static_cast<int>(between(0, 15)));
}
TEST_F(Expansions, triangular_solve_reads_one_triangle) {
  for (Integer n : {3, 7}) {
    const Array a = random_array(f32, {n, n}) + numpy::eye(n) * 9.0, b = random_array(f32, {n, 2});
    const Array nan = numpy::full({n, n}, NAN);
    for (bool lower : {false, true})
      for (bool unit : {false, true}) {
        const Array part = lower ? numpy::where(numpy::tri(n, {}, unit ? -1 : 0) > 0, a, nan)
                                 : numpy::where(numpy::tri(n, {}, unit ? 0 : -1) > 0, nan, a);
        check(ops::triangular_solve_p, {part, b},
              {{"left_side", true}, {"lower", lower}, {"transpose_a", false}, {"unit_diagonal", unit}}, 1e-3);
      }
  }
}
TEST_F(Expansions, lu) {
  for (DType dtype : {f32, f64})
    for (const Shape& batch : batches_for(dtype))
      for (Integer m : {0, 1, 5, 17})
        for (Integer n : {0, 1, 5, 20})
          check(ops::lu_p, {random_array(dtype, with(batch, {m, n}))}, {}, 256 * epsilon(dtype));
  const Array singular = numpy::zeros({2, 4, 3});
  check(ops::lu_p, {singular}, {});
  check(ops::lu_p, {singular.at(0, numpy::array({1, 3}), 1).set(2.0)}, {});
  check(ops::lu_p, {random_array(f32, {2, 5, 5}).at(1, 2, 3).set(NAN)}, {}, 1e-5);
}
TEST_F(Expansions, qr) {
  for (DType dtype : {f32, f64})
    for (bool full : {false, true}) {
      const Params params{{"full_matrices", full}};
      for (const Shape& batch : batches_for(dtype))
        for (Integer m : {0, 1, 5, 9})
          for (Integer n : {0, 1, 5, 12})
            check(ops::qr_p, {random_array(dtype, with(batch, {m, n}))}, params, 1024 * epsilon(dtype));
      check(ops::qr_p, {numpy::zeros({4, 3}, dtype)}, params);
      check(ops::qr_p, {numpy::full({1, 1}, -2.0, dtype)}, params);
      for (float bad : {NAN, INFINITY})
        check(ops::qr_p, {random_array(dtype, {2, 4, 3}).at(1, 2, 1).set(bad)}, params, 1e-5);
    }
  const Array a = random_array(f32, {6, 4});
  for (double scale : {1e-30, 1e30}) check(ops::qr_p, {a * scale}, {{"full_matrices", false}}, 1e-5);
}

TEST_F(Expansions, reductions_of_matrices) {
  for (DType dtype : {f32, f64}) {
    const double near = 1024 * epsilon(dtype);
    for (const Shape& batch : batches_for(dtype)) {
      for (Integer m : {0, 1, 5, 9})
        for (Integer n : {0, 1, 5, 12}) {
          check(ops::geqrf_p, {random_array(dtype, with(batch, {m, n}))}, {}, near);
          check(ops::column_pivots_p, {random_array(dtype, with(batch, {m, n}))}, {});
        }
      for (Integer n : {0, 1, 2, 5, 9}) check(ops::hessenberg_p, {random_array(dtype, with(batch, {n, n}))}, {}, near);
      for (Integer n : {1, 2, 5, 9})
        for (bool lower : {true, false})
          check(ops::tridiagonal_p, {random_array(dtype, with(batch, {n, n}))}, {{"lower", lower}}, near);
    }
    const Params values_alone{{"lower", true}, {"compute_vectors", false}};
    for (const Shape& shape : {Shape{0, 0}, {1, 1}, {5, 5}, {2, 4, 4}})
      check(ops::eigh_p, {random_array(dtype, shape)}, values_alone, near);
    for (const Primitive* p : {&ops::geqrf_p, &ops::hessenberg_p}) {
      check(*p, {numpy::zeros({3, 3}, dtype)}, {});
      for (float bad : {NAN, INFINITY}) check(*p, {random_array(dtype, {2, 3, 3}).at(1, 2, 1).set(bad)}, {}, 1e-5);
    }
  }
}

// Sorting -------------------------------------------------------------------------------------------------

Params sorting(Integer axis, Integer keys) { return {{"dimension", axis}, {"is_stable", true}, {"num_keys", keys}}; }

TEST_F(Expansions, sort) {
  for (DType dtype : {f32, f64, f16, bf16, i8, i32, i64, u8, u32, u64, bool_})
    for (Values values : {Values::special, Values::few}) {
      check(ops::sort_p, {random_array(dtype, {33}, values), random_array(i32, {33})}, sorting(0, 1));
      check(ops::sort_p, {random_array(dtype, {17, 3}, values), random_array(i32, {17, 3})}, sorting(0, 1));
    }
  for (const Shape& shape : {Shape{0}, {1}, {2}, {64}, {3, 17}, {5, 2, 3}, {0, 3}, {2, 1}})
    for (Integer axis = 0; axis < static_cast<Integer>(shape.size()); ++axis)
      check(ops::sort_p, {random_array(f32, shape, Values::special), random_array(i32, shape)}, sorting(axis, 1));
}
TEST_F(Expansions, sort_by_several_keys) {
  for (Integer keys : {1, 2, 3})
    check(ops::sort_p,
          {random_array(i32, {3, 40}, Values::few), random_array(f32, {3, 40}, Values::special),
           random_array(u8, {3, 40}, Values::few), random_array(f16, {3, 40})},
          sorting(1, keys));
}
TEST_F(Expansions, sort_long_rows) {
  check(ops::sort_p, {random_array(f32, {2, 3000}, Values::special)}, sorting(1, 1));
  check(ops::sort_p, {random_array(u8, {20000}), random_array(f32, {20000})}, sorting(0, 1));
  check(ops::sort_p, {random_array(i32, {5000}, Values::few), random_array(f32, {5000})}, sorting(0, 1));
  check(order_of_words_p, {random_array(u32, {5000}, Values::few)}, {});
}
TEST_F(Expansions, top_k) {
  for (DType dtype : {f32, f64, bf16, i8, i32, u32, bool_})
    for (Values values : {Values::special, Values::few})
      check(ops::top_k_p, {random_array(dtype, {3, 17}, values)}, {{"k", Integer{5}}});
  for (const Shape& shape : {Shape{0}, {1}, {9}, {3, 17}, {2, 0}, {2, 2, 64}})
    for (Integer k : {0, 1, 5, 17})
      if (k <= shape.back()) check(ops::top_k_p, {random_array(f32, shape, Values::special)}, {{"k", k}});
}

// Scatters ------------------------------------------------------------------------------------------------

struct ScatterCase {
  Shape operand, indices, updates;
  ops::WindowDims dims;
};
const ScatterCase scatter_cases[] = {
    // One window, several, many: elements, rows, columns.
    {{9}, {1}, {4}, {{0}, {}, {0}}},
    {{9}, {5, 1}, {5}, {{}, {0}, {0}}},
    {{9}, {40, 1}, {40}, {{}, {0}, {0}}},
    {{7, 3}, {60, 1}, {60, 3}, {{1}, {0}, {0}}},
    {{3, 7}, {60, 1}, {3, 60}, {{0}, {1}, {1}}},
    // Windows narrower than the operand, and windows that overlap in part.
    {{7, 5}, {50, 1}, {50, 2}, {{1}, {0}, {0}}},
    {{12}, {30, 1}, {30, 4}, {{1}, {}, {0}}},
    {{6, 8}, {20, 2}, {20, 2, 3}, {{1, 2}, {}, {1, 0}}},
    {{6, 8}, {3, 2}, {3, 2, 3}, {{1, 2}, {}, {0, 1}}},
    // Index vectors in several axes, batching axes, a scalar operand, nothing at all.
    {{4, 5, 6}, {3, 9, 2}, {3, 9, 5}, {{2}, {0, 2}, {0, 2}}},
    {{3, 8}, {3, 20, 1}, {3, 20}, {{}, {1}, {1}, {0}, {0}}},
    {{3, 8}, {3, 1, 1}, {3, 1}, {{}, {1}, {1}, {0}, {0}}},
    {{}, {0}, {}, {{}, {}, {}}},
    {{}, {20, 0}, {20}, {{}, {}, {}}},
    {{4}, {0, 1}, {0}, {{}, {0}, {0}}},
    {{0}, {0, 1}, {0}, {{}, {0}, {0}}},
    {{2, 0}, {3, 1}, {3, 0}, {{1}, {0}, {0}}},
};

Params scatter_params(const ScatterCase& c, const char* mode, bool unique = false) {
  return {{"update_window_dims", c.dims.offset_dims},
          {"inserted_window_dims", c.dims.collapsed_slice_dims},
          {"scatter_dims_to_operand_dims", c.dims.start_index_map},
          {"operand_batching_dims", c.dims.operand_batching_dims},
          {"scatter_indices_batching_dims", c.dims.start_indices_batching_dims},
          {"mode", std::string(mode)},
          {"unique_indices", unique}};
}
const Primitive* const scatters[] = {&ops::scatter_p, &ops::scatter_add_p, &ops::scatter_mul_p, &ops::scatter_min_p,
                                     &ops::scatter_max_p};

TEST_F(Expansions, scatter) {
  for (const ScatterCase& c : scatter_cases)
    for (const Primitive* p : {&ops::scatter_p, &ops::scatter_add_p, &ops::scatter_max_p})
      for (const char* mode : {ops::mode_clip, ops::mode_fill_or_drop})
        check(*p, {random_array(f32, c.operand), random_indices(i32, c.indices, -2, 9), random_array(f32, c.updates)},
              scatter_params(c, mode), 1e-5, mode);
}
TEST_F(Expansions, scatter_of_other_dtypes) {
  for (std::size_t k : {1u, 3u})
    for (const Primitive* p : scatters)
      for (DType dtype : {f64, f16, i8, i32, u64, bool_}) {
        const ScatterCase& c = scatter_cases[k];
        // Halves are rounded less often than one after the other.
        const double tolerance = dtype == f16 ? 40 * epsilon(f16) : 1e-12;
        check(*p,
              {random_array(dtype, c.operand), random_indices(i32, c.indices, -2, 9), random_array(dtype, c.updates)},
              scatter_params(c, ops::mode_fill_or_drop), is_floating(dtype) ? tolerance : 0);
      }
}
TEST_F(Expansions, scatter_of_special_values) {
  for (std::size_t k : {1u, 2u, 6u})
    for (const Primitive* p : scatters)
      for (int trial = 0; trial < 5; ++trial) {
        const ScatterCase& c = scatter_cases[k];
        check(*p,
              {random_array(f32, c.operand, Values::special), random_indices(i32, c.indices, 0, 8),
               random_array(f32, c.updates, Values::special)},
              scatter_params(c, ops::mode_fill_or_drop), 1e-5);
      }
}
TEST_F(Expansions, scatter_with_indices_of_any_dtype) {
  const ScatterCase &few = scatter_cases[1], &many = scatter_cases[2];
  for (const ScatterCase* c : {&few, &many})
    for (const char* mode : {ops::mode_clip, ops::mode_fill_or_drop})
      for (DType dtype : {i8, u8, u32, i64, u64}) {
        Array at = random_indices(dtype, c->indices, 0, 10);
        if (dtype == i64 || dtype == u64)
          at = at.at(1, 0).set(Array::from_host(std::vector{Integer{1} << 40}, {}).astype(dtype));
        if (dtype == i64) at = at.at(2, 0).set(Array::from_host(std::vector{-(Integer{1} << 40)}, {}));
        if (dtype == u32) at = at.at(1, 0).set(Array::from_host(std::vector{0xfffffff0u}, {}));
        check(ops::scatter_add_p, {random_array(i32, c->operand), at, random_array(i32, c->updates)},
              scatter_params(*c, mode));
      }
}
TEST_F(Expansions, scatter_of_unique_indices) {
  const ScatterCase c{{50, 2}, {30, 1}, {30, 2}, {{1}, {0}, {0}}};
  const Array at = numpy::flip(numpy::arange(30)).reshape({30, 1}) * 2 - 4;
  for (const Primitive* p : scatters)
    check(*p, {random_array(f32, c.operand), at, random_array(f32, c.updates)},
          scatter_params(c, ops::mode_fill_or_drop, true));
}

// Eigenvalues and singular values: vectors may differ in sign, or altogether where values are equal
// ---------------

Array product(const Array& a, const Array& b) { return numpy::matmul(a, b); }
Array transposed(const Array& a) { return numpy::matrix_transpose(a); }
void expect_orthonormal(const Array& columns, double tolerance, const std::string& what) {
  const Array gram = product(transposed(columns), columns);
  const Array one = numpy::broadcast_to(numpy::eye(gram.shape().back(), {}, 0, gram.dtype()), gram.shape());
  expect_close(gram, one, tolerance, what + ": not orthonormal");
}

/// Values against the rule's, vectors by what they are for.
void check_eigh(const Array& a, bool lower, const std::string& name = {}) {
  const std::string what = "eigh " + a.aval().str() + " " + name;
  SCOPED_TRACE(what);
  const Params params{{"lower", lower}};
  const Array triangle = lower ? numpy::tril(a) : numpy::triu(a);
  const Array whole = triangle + transposed(lower ? numpy::tril(a, -1) : numpy::triu(a, 1));
  const double n = static_cast<double>(a.shape().back()), tolerance = 8 * (4 + n) * epsilon(a.dtype());
  const Arrays expected = by_rule(ops::eigh_p, {a}, params);
  const JaxprPtr program = expanded(ops::eigh_p, {a.aval()}, params);
  check_program(*program, what);
  for (const char* device : {"reference", "native"}) {
    const Arrays actual = run_on(device, program, {a});
    const Array &v = actual[0], &w = actual[1];
    expect_close(w, expected[1], tolerance, what + " on " + device);
    expect_orthonormal(v, tolerance, what);
    const Array back = product(v * numpy::expand_dims(w, -2), transposed(v));
    expect_close(back, whole, tolerance, what + " on " + device + ": V w Vᵀ is not the matrix");
  }
}
TEST_F(Expansions, eigh) {
  for (DType dtype : {f32, f64})
    for (Integer n : {1, 2, 3, 4, 5, 8, 17, 33}) check_eigh(random_array(dtype, {n, n}), n % 2 == 0);
  for (DType dtype : {f32, f64})
    for (Integer n : {2, 5, 8}) {
      check_eigh(random_array(dtype, {2, n, n}), n % 2 == 1);
      check_eigh(numpy::broadcast_to(numpy::eye(n, {}, 0, dtype), {n, n}), true, "identity");
      check_eigh(numpy::zeros({n, n}, dtype), true, "zeros");
      const Array column = random_array(dtype, {n, 1});
      check_eigh(product(column, transposed(column)), true, "of rank 1");
      check_eigh(numpy::ones({n, n}, dtype), true, "ones");
    }
  check_eigh(random_array(f32, {70, 70}), true);
  for (double scale : {1e-25, 1e25}) check_eigh(random_array(f32, {6, 6}) * scale, true, "scaled");
  const Params params{{"lower", true}};
  check(ops::eigh_p, {numpy::zeros({0, 0})}, params);
  check(ops::eigh_p, {numpy::zeros({0, 3, 3})}, params);
  check(ops::eigh_p, {numpy::zeros({2, 0, 0})}, params);
  for (float bad : {NAN, INFINITY}) {
    // Only the triangle that is read counts.
    const Array plain = numpy::broadcast_to(numpy::eye(4), {1, 4, 4}) * 3.0;
    for (Integer row : {0, 3}) {
      const Array a = plain.at(0, row, 3 - row).set(bad);
      const Arrays expected = by_rule(ops::eigh_p, {a}, params);
      const Arrays actual = run_on("native", expanded(ops::eigh_p, {a.aval()}, params), {a});
      expect_close(actual[1], expected[1], 1e-6, "eigh");
    }
  }
}

void check_svd(const Array& a, bool full, const std::string& name = {}) {
  const std::string what = "svd " + a.aval().str() + (full ? " full " : " thin ") + name;
  SCOPED_TRACE(what);
  const Params params{{"compute_uv", true}, {"full_matrices", full}};
  const Integer m = a.shape()[a.shape().size() - 2], n = a.shape().back(), k = std::min(m, n);
  const double tolerance = 8 * (4 + static_cast<double>(std::max(m, n))) * epsilon(a.dtype());
  const Arrays expected = by_rule(ops::svd_p, {a}, params);
  const JaxprPtr program = expanded(ops::svd_p, {a.aval()}, params);
  check_program(*program, what);
  for (const char* device : {"reference", "native"}) {
    const Arrays actual = run_on(device, program, {a});
    const Array &s = actual[0], &u = actual[1], &vt = actual[2];
    ASSERT_EQ(u.aval().str(), expected[1].aval().str());
    ASSERT_EQ(vt.aval().str(), expected[2].aval().str());
    expect_close(s, expected[0], tolerance, what + " on " + device);
    expect_orthonormal(u, tolerance, what + " U");
    expect_orthonormal(transposed(vt), tolerance, what + " V");
    const Array thin_u = ops::slice_axis(u, u.ndim() - 1, 0, k), thin_vt = ops::slice_axis(vt, vt.ndim() - 2, 0, k);
    expect_close(product(thin_u * numpy::expand_dims(s, -2), thin_vt), a, tolerance,
                 what + ": U s Vᵀ is not the matrix");
  }
  const Params only{{"compute_uv", false}, {"full_matrices", full}};
  check(ops::svd_p, {a}, only, tolerance);
}
TEST_F(Expansions, svd) {
  for (DType dtype : {f32, f64})
    for (bool full : {false, true}) {
      for (Integer m : {1, 5, 9})
        for (Integer n : {1, 4, 9}) {
          check_svd(random_array(dtype, {m, n}), full);
          check_svd(product(random_array(dtype, {m, 1}), random_array(dtype, {1, n})), full, "of rank 1");
          check_svd(numpy::zeros({m, n}, dtype), full, "zeros");
        }
      check_svd(random_array(dtype, {3, 4, 6}), full);
      check_svd(numpy::eye(5, {}, 0, dtype), full);
      for (const Shape& shape : {Shape{0, 0}, {3, 0}, {0, 3}, {2, 3, 0}, {0, 2, 2}})
        check(ops::svd_p, {numpy::zeros(shape, dtype)}, {{"compute_uv", true}, {"full_matrices", full}});
    }
  check_svd(random_array(f32, {40, 33}), true);
  for (double scale : {1e-25, 1e25}) check_svd(random_array(f32, {6, 4}) * scale, false, "scaled");
  for (float bad : {NAN, INFINITY})
    check(ops::svd_p, {numpy::zeros({4, 3}).at(1, 2).set(bad)}, {{"compute_uv", true}, {"full_matrices", true}});
}

// Special functions ---------------------------------------------------------------------------------------

TEST_F(Expansions, polygamma) {
  const std::vector<double> points{0.1,    0.5, 1,    2.5, 19, 21,       30,        500, -0.4, -1.4,
                                   -20.25, 0,   -0.0, -1,  -7, INFINITY, -INFINITY, NAN, -2e5};
  for (DType dtype : {f32, f64, f16})
    for (Integer n : {1, 2, 3, 6})
      for (double point : points)  // one by one: results differ by many orders of magnitude
        check(ops::polygamma_p, {Array::from_host(std::vector{point}, {1}).astype(dtype)}, {{"n", n}},
              dtype == f64 ? 1e-13 : 16 * epsilon(dtype), std::to_string(n) + " at " + std::to_string(point));
  check(ops::polygamma_p, {random_array(f32, {3, 5}) + 3.0}, {{"n", Integer{1}}}, 1e-6);
  check(ops::polygamma_p, {random_array(f32, {0, 5})}, {{"n", Integer{1}}});
}

// Convolution has no expansion but a lowering rule, which a compiler without the routine uses
// ------------------

TEST_F(Expansions, convolution_in_lanes) {
  // In the loop of a lane there are no routines: there the rule is what runs.
  const Array kernel = random_array(f32, {2, 3, 3}), images = random_array(f32, {5, 4, 3, 9});
  const auto f = [](const Array& x, const Array& k) {
    lax::ConvOptions options;
    options.window_strides = {2};
    options.padding = {{1, 2}};
    options.rhs_dilation = {2};
    return lax::scan(
               [&](const Array& c, const Array& image) {
                 const Array y = lax::conv_general_dilated(image.reshape({1, 3, 9}), k, options);
                 return std::pair{c + numpy::sum(y), y};
               },
               numpy::zeros({}), x)
        .second;
  };
  const Array expected = vmap(f, {.in_axes = {0, none}})(images, kernel);
  const Array there = device_put(images, "native"), taps = device_put(kernel, "native");
  default_device("native");
  const Array actual = jit(vmap(f, {.in_axes = {0, none}}))(there, taps);
  default_device("reference");
  expect_close(device_put(actual, "reference"), expected, 1e-6, "conv in lanes");
}

TEST_F(Expansions, bitcasts_between_widths) {
  for (const auto& [from, to, shape] : {std::tuple{f32, u8, Shape{3, 2}},
                                        {u8, f32, {3, 4}},
                                        {f16, u32, {5, 2}},
                                        {u32, f16, {5}},
                                        {i64, u16, {2}},
                                        {u8, i64, {3, 8}},
                                        {f64, u32, {2, 3}},
                                        {f32, i32, {4}},
                                        {bf16, u16, {4}}}) {
    const Array x = random_array(from, shape);
    const Params params{{"new_dtype", to}};
    const JaxprPtr program =
        trace_to_jaxpr([&](std::span<const Array> in) { return bind(ops::bitcast_convert_type_p, in, params); },
                       {x.aval()}, "jit")
            .jaxpr;
    expect_close(run_on("native", program, {x})[0], by_rule(ops::bitcast_convert_type_p, {x}, params)[0], 0, "bitcast");
  }
}

// All of them ---------------------------------------------------------------------------------------------

TEST_F(Expansions, every_routine_has_one) {
  // What is about complex numbers is rewritten before devices see it; LAPACK's routines for them are the CPU's
  // alone, and so is Schur's form. The CPU's lowering alone makes fft_pairs of fft.
  const std::set<std::string_view> of_complex{"complex",         "real",     "imag", "conj", "eig", "schur",
                                              "complex_routine", "fft_pairs"};
  for (const Primitive* p : ops::all_primitives()) {
    if (RuleFor<axes::AcrossAxis>::find(*p)) continue;  // collectives are gone once vmap has found their axis
    const bool lowered = p->scalar || p->scalars || p->element;
    EXPECT_TRUE(lowered || of_complex.contains(p->name) || has_expansion(*p)) << p->name;
  }
}
TEST_F(Expansions, are_found_inside_loops_and_calls) {
  const auto f = [](const Array& x) {
    return lax::scan([](const Array& c, const Array& row) { return std::pair{c + numpy::sort(row), lax::cumsum(c)}; },
                     numpy::zeros({6}), x);
  };
  const Array x = random_array(f32, {4, 6});
  const auto program = make_jaxpr(jit(f))(x);
  const JaxprPtr expanded = expand_routines(program.jaxpr(), everything);
  const auto [carry, ys] = f(x);
  const Arrays actual = run_on("native", expanded, {x});
  expect_close(actual[0], carry, 1e-6, "carry");
  expect_close(actual[1], ys, 1e-6, "ys");
  // Those that are not wanted stay.
  const auto only_sorts = [](const Primitive& p, std::span<const AbstractValue>, const Params&) {
    return &p == &ops::sort_p;
  };
  std::set<std::string_view> names;
  for_each_program(*expand_routines(program.jaxpr(), only_sorts), [&](const Jaxpr& j) {
    for (const Equation& e : j.equations) names.insert(e.primitive->name);
  });
  EXPECT_TRUE(names.contains("cumsum"));
  EXPECT_FALSE(names.contains("sort"));
}

}  // namespace
