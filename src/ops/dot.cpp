// dot_general: products over contracted axes, with batch axes. Result axes: batch, free of a, free of b.
#include <algorithm>
#include <numeric>

#include "core/rows.hpp"
#include "expr/lowering.hpp"
#include "ops/parts.hpp"
#include "ops/strided.hpp"

namespace cotan::ops {

namespace {

struct Dimensions {
  const Ints &contract_a, &contract_b, &batch_a, &batch_b;
  explicit Dimensions(const Params& p)
      : contract_a(p.ints("contract_lhs")),
        contract_b(p.ints("contract_rhs")),
        batch_a(p.ints("batch_lhs")),
        batch_b(p.ints("batch_rhs")) {}
};

Ints free_axes(std::int64_t ndim, const Ints& contract, const Ints& batch) {
  Ints out;
  for (std::int64_t i = 0; i < ndim; ++i)
    if (std::find(contract.begin(), contract.end(), i) == contract.end() &&
        std::find(batch.begin(), batch.end(), i) == batch.end())
      out.push_back(i);
  return out;
}

void check_axes(const AbstractValue& x, const Ints& contract, const Ints& batch) {
  Ints all = contract;
  all.insert(all.end(), batch.begin(), batch.end());
  std::sort(all.begin(), all.end());
  const bool unique = std::adjacent_find(all.begin(), all.end()) == all.end();
  if (!unique || (!all.empty() && (all.front() < 0 || all.back() >= x.ndim())))
    raise<IndexError>(
        "[dot_general] contract axes {} and batch axes {} do not name different axes of {}; name each axis "
        "once.",
        describe(contract), describe(batch), x);
}

Types dot_type(const Primitive& self, std::span<const AbstractValue> x, const Params& params) {
  const Dimensions d(params);
  check_axes(x[0], d.contract_a, d.batch_a);
  check_axes(x[1], d.contract_b, d.batch_b);
  if (x[0].dtype != x[1].dtype)
    raise<TypeError>("[dot_general] operands are {} and {}; give them one dtype with astype.", x[0], x[1]);
  check_dtype(self, x[0].dtype, Accepts::any);
  if (d.contract_a.size() != d.contract_b.size() || d.batch_a.size() != d.batch_b.size())
    raise<ShapeError>(
        "[dot_general] the operands have different numbers of contract or batch axes; name as many of each.");
  const auto match = [&](const Ints& a, const Ints& b, const char* what) {
    for (std::size_t i = 0; i < a.size(); ++i)
      if (x[0].shape[a[i]] != x[1].shape[b[i]])
        raise<ShapeError>("[dot_general] {} and {} differ along {} axes {} and {}: {} against {}; those must be equal.",
                          x[0], x[1], what, a[i], b[i], x[0].shape[a[i]], x[1].shape[b[i]]);
  };
  match(d.contract_a, d.contract_b, "contract");
  match(d.batch_a, d.batch_b, "batch");
  Shape shape;
  for (auto i : d.batch_a) shape.push_back(x[0].shape[i]);
  for (auto i : free_axes(x[0].ndim(), d.contract_a, d.batch_a)) shape.push_back(x[0].shape[i]);
  for (auto i : free_axes(x[1].ndim(), d.contract_b, d.batch_b)) shape.push_back(x[1].shape[i]);
  return {{x[0].dtype, shape, x[0].weak_type && x[1].weak_type}};
}

/// The operand as a dense [batch, free, contract] array.
Array packed(const Array& x, const Ints& batch, const Ints& free, const Ints& contract) {
  const Ints from = strides_of(x.shape());
  Shape shape;
  Ints strides;
  for (const Ints* group : {&batch, &free, &contract})
    for (auto i : *group) {
      shape.push_back(x.shape()[i]);
      strides.push_back(from[i]);
    }
  return gather_strided(x, shape, 0, strides);
}

Arrays dot_eval(const Primitive& self, std::span<const Array> x, const Params& params) {
  const Dimensions d(params);
  auto [out, buffer] = allocate_like(x, result_type(self, x, params));
  const Ints free_a = free_axes(x[0].ndim(), d.contract_a, d.batch_a),
             free_b = free_axes(x[1].ndim(), d.contract_b, d.batch_b);
  const auto extent = [](const Array& a, const Ints& axes) {
    std::int64_t n = 1;
    for (auto i : axes) n *= a.shape()[i];
    return n;
  };
  const std::int64_t batch = extent(x[0], d.batch_a), rows = extent(x[0], free_a), columns = extent(x[1], free_b),
                     inner = extent(x[0], d.contract_a);
  const Array a = packed(x[0], d.batch_a, free_a, d.contract_a), b = packed(x[1], d.batch_b, free_b, d.contract_b);
  dispatch(out.dtype(), [&, &buf = buffer]<class T>() {
    using A = Accumulator<T>;
    T* y = reinterpret_cast<T*>(buf->data());
    for (std::int64_t n = 0; n < batch; ++n)
      for (std::int64_t i = 0; i < rows; ++i)
        for (std::int64_t j = 0; j < columns; ++j) {
          const T *p = data<T>(a) + (n * rows + i) * inner, *q = data<T>(b) + (n * columns + j) * inner;
          A sum = 0;
          for (std::int64_t k = 0; k < inner; ++k) sum += static_cast<A>(p[k]) * static_cast<A>(q[k]);
          *y++ = static_cast<T>(sum);
        }
  });
  return {out};
}

/// The cotangent of one operand: the result's cotangent times the other operand, axes put back in place.
Array transpose_operand(const Array& ct, const Array& other, bool first, const AbstractValue& operand,
                        const Dimensions& d) {
  const Ints &contract = first ? d.contract_a : d.contract_b, &batch = first ? d.batch_a : d.batch_b;
  const Ints &other_contract = first ? d.contract_b : d.contract_a, &other_batch = first ? d.batch_b : d.batch_a;
  const Ints free = free_axes(operand.ndim(), contract, batch),
             other_free = free_axes(other.ndim(), other_contract, other_batch);
  // In ct: batch axes, then a's free ones, then b's.
  const std::int64_t nb = static_cast<std::int64_t>(batch.size());
  const std::int64_t other_at = first ? nb + static_cast<std::int64_t>(free.size()) : nb;
  Ints ct_batch(batch.size()), ct_contract(other_free.size());
  std::iota(ct_batch.begin(), ct_batch.end(), 0);
  std::iota(ct_contract.begin(), ct_contract.end(), other_at);
  const Array product = dot_general(ct, other, ct_contract, other_free, ct_batch, other_batch);
  // Its axes: batch, our free ones, then the other's contracted ones in their own order.
  Ints order(other_contract.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](auto i, auto j) { return other_contract[i] < other_contract[j]; });
  Ints axes = batch;
  axes.insert(axes.end(), free.begin(), free.end());
  for (auto i : order) axes.push_back(contract[i]);
  Ints permutation(axes.size());
  for (std::size_t i = 0; i < axes.size(); ++i) permutation[axes[i]] = static_cast<std::int64_t>(i);
  return transpose(product, permutation);
}

Arrays dot_transpose(const Primitive&, std::span<const Array> ct, std::span<const LinearInput> in,
                     const Params& params) {
  const Dimensions d(params);
  Arrays out(2);
  if (in[0].linear) out[0] = transpose_operand(ct[0], in[1].value, true, in[0].aval, d);
  if (in[1].linear) out[1] = transpose_operand(ct[0], in[0].value, false, in[1].aval, d);
  return out;
}

Ints shifted_from(Ints axes, int around) {
  for (auto& a : axes) a += a >= around;
  return axes;
}

BatchResult dot_batch(const Primitive&, std::span<const Array> x, std::span<const int> dims, std::int64_t,
                      const Params& params) {
  const Dimensions d(params);
  if (dims[0] != not_batched && dims[1] != not_batched) {
    Ints batch_a = shifted_from(d.batch_a, dims[0]), batch_b = shifted_from(d.batch_b, dims[1]);
    batch_a.insert(batch_a.begin(), dims[0]);
    batch_b.insert(batch_b.begin(), dims[1]);
    return {{dot_general(x[0], x[1], shifted_from(d.contract_a, dims[0]), shifted_from(d.contract_b, dims[1]), batch_a,
                         batch_b)},
            {0}};
  }
  // One operand is batched: its batch axis becomes one more free axis, found again in the result.
  const bool first = dims[0] != not_batched;
  const int dim = first ? dims[0] : dims[1];
  const Ints contract_a = first ? shifted_from(d.contract_a, dim) : d.contract_a,
             batch_a = first ? shifted_from(d.batch_a, dim) : d.batch_a;
  const Ints contract_b = first ? d.contract_b : shifted_from(d.contract_b, dim),
             batch_b = first ? d.batch_b : shifted_from(d.batch_b, dim);
  const Array y = dot_general(x[0], x[1], contract_a, contract_b, batch_a, batch_b);
  const Ints free_a = free_axes(x[0].ndim(), contract_a, batch_a), free_b = free_axes(x[1].ndim(), contract_b, batch_b);
  const Ints& mine = first ? free_a : free_b;
  const auto at = std::find(mine.begin(), mine.end(), dim) - mine.begin();
  const auto result =
      static_cast<int>(batch_a.size()) + static_cast<int>(at) + (first ? 0 : static_cast<int>(free_a.size()));
  return {{y}, {result}};
}

/// A sum over the contracted axes, which come last; halves are multiplied as floats.
expr::Reduction dot_reduction(std::span<const AbstractValue> x, const Params& params) {
  Shape shape = dot_type(dot_general_p, x, params)[0].shape;
  std::vector<bool> reduced(shape.size(), false);
  for (auto axis : Dimensions(params).contract_a) {
    shape.push_back(x[0].shape[axis]);
    reduced.push_back(true);
  }
  return {x[0].dtype == DType::bool_ ? expr::ReduceOp::bit_or : expr::ReduceOp::sum, std::move(shape),
          std::move(reduced)};
}
expr::Expr dot_term(const expr::Operands& x, std::span<const expr::Expr> i, const Params& params) {
  const Dimensions d(params);
  const std::size_t first_contract = i.size() - d.contract_a.size();
  std::size_t next_free = d.batch_a.size();
  const auto operand = [&](std::size_t k, const Ints& batch, const Ints& contract) {
    std::vector<expr::Expr> at(x.type(k).shape.size());
    for (std::size_t j = 0; j < batch.size(); ++j) at[batch[j]] = i[j];
    for (std::size_t j = 0; j < contract.size(); ++j) at[contract[j]] = i[first_contract + j];
    for (auto axis : free_axes(x.type(k).ndim(), contract, batch)) at[axis] = i[next_free++];
    const expr::Expr e = x.at(k, at);
    return e->dtype == DType::f16 || e->dtype == DType::bf16 ? expr::cast(e, DType::f32) : e;
  };
  const expr::Expr a = operand(0, d.batch_a, d.contract_a), b = operand(1, d.batch_b, d.contract_b);
  return a->dtype == DType::bool_ ? a & b : a * b;
}

/// Results have batches first, then what is left of the left operand, then of the right one.
rows::Answer dot_on_rows(const rows::Question& q) {
  const Dimensions d(q.e.params);
  const int a = q.axes[0], b = q.axes[1], batches = static_cast<int>(d.batch_a.size());
  const auto free_before = [](int axis, const Ints& contract, const Ints& batch) {
    return static_cast<int>(free_axes(axis, contract, batch).size());
  };
  const auto answer = [&](int in_a, int in_b, int out, const Ints& batch_a, const Ints& batch_b) {
    const auto less = [](const Ints& axes, int gone) {
      return gone == rows::whole ? axes : rows::renumbered(axes, gone);
    };
    return rows::OnRows{{in_a, in_b},
                        out,
                        q.e.params.with("batch_lhs", less(batch_a, in_a))
                            .with("batch_rhs", less(batch_b, in_b))
                            .with("contract_lhs", less(d.contract_a, in_a))
                            .with("contract_rhs", less(d.contract_b, in_b))};
  };
  const int shared = a != rows::whole && b != rows::whole ? rows::place_in(d.batch_a, a) : batches;
  if (shared < batches && d.batch_b[static_cast<std::size_t>(shared)] == b)
    return answer(a, b, shared, rows::without(d.batch_a, shared), rows::without(d.batch_b, shared));
  const auto is_free = [](int axis, const Ints& contract, const Ints& batch) {
    return axis != rows::whole && !rows::has(batch, axis) && !rows::has(contract, axis);
  };
  if (is_free(a, d.contract_a, d.batch_a))
    return answer(a, rows::whole, batches + free_before(a, d.contract_a, d.batch_a), d.batch_a, d.batch_b);
  if (is_free(b, d.contract_b, d.batch_b))
    return answer(
        rows::whole, b,
        batches + free_before(q.in[0].ndim(), d.contract_a, d.batch_a) + free_before(b, d.contract_b, d.batch_b),
        d.batch_a, d.batch_b);
  return {};
}

double dot_flops(std::span<const AbstractValue> x, const AbstractValue& result, const Params& params) {
  double out = 2 * static_cast<double>(result.size());
  for (const auto axis : params.ints("contract_lhs"))
    out *= static_cast<double>(x[0].shape[static_cast<std::size_t>(axis)]);
  return out;
}

}  // namespace

const Primitive dot_general_p{
    .name = "dot_general",
    .op_class = OpClass::routine,
    .type = dot_type,
    .eval = dot_eval,
    .partials = {[](const Partial& p) { return bind1(dot_general_p, {p.t, p.x[1]}, p.params); },
                 [](const Partial& p) { return bind1(dot_general_p, {p.x[0], p.t}, p.params); }},
    .transpose = dot_transpose,
    .batch = dot_batch,
    .product_flops = dot_flops,
    .element = dot_term,
    .reduction = dot_reduction,
    .on_rows = dot_on_rows,
    .on_parts = bilinear_on_parts};
const Listed dot_listed{&dot_general_p};

Array dot_general(const Array& a, const Array& b, const Ints& contract_a, const Ints& contract_b, const Ints& batch_a,
                  const Ints& batch_b) {
  return bind1(
      dot_general_p, {a, b},
      {{"contract_lhs", contract_a}, {"contract_rhs", contract_b}, {"batch_lhs", batch_a}, {"batch_rhs", batch_b}});
}

}  // namespace cotan::ops
