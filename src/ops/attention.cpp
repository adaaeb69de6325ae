// Attention: softmax(query keyᵀ scale + bias, where mask) value, over heads. Devices may have a routine that never
// stores a score; on others it is the operations below. Its derivative is an operation too, linear in the tangents,
// whose transpose is the third one, so that reverse mode keeps no scores either. Derivatives of those go through the
// operations.
#include "ops/attention.hpp"

#include <cotan/numpy.hpp>
#include <numeric>

#include "ops/elementwise.hpp"

namespace cotan::ops {

namespace {

namespace np = numpy;

DType wide(DType dtype) { return dtype == f16 || dtype == bf16 ? f32 : dtype; }
Array widened(const Array& a) { return cast(a, wide(a.dtype())); }

Shape operator+(Shape a, const Shape& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}
Ints axes_up_to(std::size_t n) {
  Ints out(n);
  std::iota(out.begin(), out.end(), 0);
  return out;
}

/// Products over heads. Everything is [batch…, N, T, S] or has the layout of its operand.
class Products {
 public:
  Products(const AbstractValue& query, const AbstractValue& key)
      : at_(query, key), nb_(at_.batch.size()), n_(static_cast<std::int64_t>(nb_)) {}
  const AttentionSizes& sizes() const { return at_; }
  Shape scores_shape() const { return at_.batch + Shape{at_.heads, at_.queries, at_.keys}; }

  /// query keyᵀ for every head.
  Array scores(const Array& q, const Array& k) const {
    const Ints batch = axes_up_to(nb_);
    if (at_.group() == 1) return dot_general(q, k, {n_ + 2}, {n_ + 2}, batch + Ints{n_ + 1}, batch + Ints{n_ + 1});
    const Array s = dot_general(grouped(q), k, {n_ + 3}, {n_ + 2}, batch + Ints{n_ + 1}, batch + Ints{n_ + 1});
    // [batch, K, T, G, S]
    return reshape(transpose(s, batch + Ints{n_, n_ + 2, n_ + 1, n_ + 3}), scores_shape());
  }
  /// weights value: [batch, T, N, H].
  Array from_keys(const Array& weights, const Array& v) const {
    const Ints batch = axes_up_to(nb_);
    if (at_.group() == 1) {
      const Array y = dot_general(weights, v, {n_ + 2}, {n_}, batch + Ints{n_}, batch + Ints{n_ + 1});
      return transpose(y, batch + Ints{n_ + 1, n_, n_ + 2});
    }
    const Array y = dot_general(grouped_scores(weights), v, {n_ + 3}, {n_}, batch + Ints{n_}, batch + Ints{n_ + 1});
    // [batch, K, G, T, H]
    return reshape(transpose(y, batch + Ints{n_ + 2, n_, n_ + 1, n_ + 3}),
                   at_.batch + Shape{at_.queries, at_.heads, at_.width});
  }
  /// weightsᵀ query, summed over the heads that share a key: [batch, S, K, H].
  Array from_queries(const Array& weights, const Array& q) const {
    const Ints batch = axes_up_to(nb_);
    const Array y = at_.group() == 1 ? dot_general(weights, q, {n_ + 1}, {n_}, batch + Ints{n_}, batch + Ints{n_ + 1})
                                     : dot_general(grouped_scores(weights), grouped(q), {n_ + 1, n_ + 2}, {n_ + 2, n_},
                                                   batch + Ints{n_}, batch + Ints{n_ + 1});
    return transpose(y, batch + Ints{n_ + 1, n_, n_ + 2});
  }
  /// [batch, N, T] for every key.
  Array per_row(const Array& a) const { return broadcast_in_dim(a, scores_shape(), axes_up_to(nb_ + 2)); }
  Ints last_axis() const { return {n_ + 2}; }

 private:
  Array grouped(const Array& q) const {
    return reshape(q, at_.batch + Shape{at_.queries, at_.key_heads, at_.group(), at_.width});
  }
  Array grouped_scores(const Array& s) const {
    return reshape(s, at_.batch + Shape{at_.key_heads, at_.group(), at_.queries, at_.keys});
  }
  const AttentionSizes at_;
  const std::size_t nb_;
  const std::int64_t n_;
};

/// What all three compute first.
struct Scores {
  const AttentionOperands is;
  const Products by;
  Array query, key, value;
  Array scores;
  Array visible;  ///< undefined: all are

  Scores(std::span<const Array> x, const Params& params)
      : is(params), by(x[0].aval(), x[1].aval()), query(widened(x[0])), key(widened(x[1])), value(widened(x[2])) {
    const Shape shape = by.scores_shape();
    scores = by.scores(query, key) * scalar(query.dtype(), is.scale);
    if (is.has_bias) scores = scores + broadcast_to(cast(x[is.bias()], query.dtype()), shape);
    if (is.has_mask) visible = broadcast_to(x[is.mask()], shape);
    if (is.is_causal) {
      const auto rows = static_cast<int>(shape.size()) - 2;
      const Array causal = bind1(ge_p, {iota(i32, shape, rows), iota(i32, shape, rows + 1)});
      visible = visible.defined() ? bind1(and_p, {visible, causal}) : causal;
    }
    if (visible.defined()) scores = select(visible, scores, full(shape, scalar(query.dtype(), masked_score)));
  }
  Array exponentials(const Array& maximum) const { return np::exp(scores - by.per_row(maximum)); }
  Array weights(const Array& maximum, const Array& sum) const { return exponentials(maximum) / by.per_row(sum); }
  /// Hidden scores have no derivative.
  Array where_visible(const Array& a) const { return visible.defined() ? select(visible, a, zeros_like(a)) : a; }
};

// Types ---------------------------------------------------------------------------------------------------

void check_broadcasts(const Primitive& self, const AbstractValue& x, const Shape& to, const char* what) {
  bool fits = x.shape.size() == to.size();
  for (std::size_t i = 0; fits && i < to.size(); ++i) fits = x.shape[i] == 1 || x.shape[i] == to[i];
  if (!fits)
    raise<ShapeError>("[{}] the {} has shape {}, which does not broadcast to {}; give each axis that size, or one.",
                      self.name, what, describe(x.shape), describe(to));
}

struct Layout {
  AttentionOperands is;
  AttentionSizes at;
  AbstractValue output, row;
  Layout(const Primitive& self, std::span<const AbstractValue> x, const Params& params) : is(params), at(x[0], x[1]) {
    check_dtype(self, x[0].dtype, Accepts::floating);
    if (x[1].shape != x[2].shape || x[0].dtype != x[1].dtype || x[0].dtype != x[2].dtype || at.heads % at.key_heads)
      raise<ShapeError>(
          "[{}] query {}, key {} and value {} do not fit; give them [T, N, H] and [S, K, H] twice, of one dtype.",
          self.name, x[0], x[1], x[2]);
    const Shape scores = at.batch + Shape{at.heads, at.queries, at.keys};
    if (is.has_bias) check_broadcasts(self, x[is.bias()], scores, "bias");
    if (is.has_mask) check_broadcasts(self, x[is.mask()], scores, "mask");
    output = {x[0].dtype, x[0].shape, false};
    row = {wide(x[0].dtype), at.batch + Shape{at.heads, at.queries}, false};
  }
};

Types forward_type(const Primitive& self, std::span<const AbstractValue> x, const Params& params) {
  const Layout l(self, x, params);
  return {l.output, l.row, l.row};
}
Types tangent_type(const Primitive& self, std::span<const AbstractValue> x, const Params& params) {
  const Layout l(self, x, params);
  return {l.output, l.row};
}
Types backward_type(const Primitive& self, std::span<const AbstractValue> x, const Params& params) {
  const Layout l(self, x, params);
  Types out{l.output, {x[1].dtype, x[1].shape, false}, {x[2].dtype, x[2].shape, false}};
  if (params.flag("gives_scores"))
    out.push_back({l.row.dtype, l.at.batch + Shape{l.at.heads, l.at.queries, l.at.keys}, false});
  return out;
}

// Rules ---------------------------------------------------------------------------------------------------

using Program = Arrays (*)(std::span<const Array>, const Params&);
template <Program program>
Arrays evaluate(const Primitive&, std::span<const Array> x, const Params& params) {
  return program(x, params);
}

std::string operand_path(std::size_t i) { return fmt::format("operand {}", i); }

/// The program as a function of the operands where `chosen`.
FlatFunction function_of(Program program, std::span<const Array> x, std::vector<bool> chosen, const Params& params) {
  return [program, all = Arrays(x.begin(), x.end()), chosen = std::move(chosen), params](std::span<const Array> given) {
    Arrays args = all;
    for (std::size_t i = 0, k = 0; i < args.size(); ++i)
      if (chosen[i]) args[i] = given[k++];
    return program(args, params);
  };
}

/// Forward mode of the program.
template <Program program>
JvpResult program_jvp(const Primitive&, std::span<const Array> primals, std::span<const Array> tangents,
                      const Params& params) {
  std::vector<bool> active;
  Arrays at, along;
  for (std::size_t i = 0; i < primals.size(); ++i) {
    active.push_back(tangents[i].defined());
    if (!active[i]) continue;
    at.push_back(primals[i]);
    along.push_back(tangents[i]);
  }
  auto [results, changes] = flat::jvp(function_of(program, primals, active, params), at, along, operand_path);
  return {results, changes};
}

/// Its transpose, for operands that it is linear in.
template <Program program>
Arrays program_transpose(const Primitive& self, std::span<const Array> cts, std::span<const LinearInput> in,
                         const Params& params) {
  Arrays args, like, out(in.size());
  Types types;
  std::vector<bool> linear;
  for (const LinearInput& i : in) {
    linear.push_back(i.linear);
    types.push_back(i.aval);
    args.push_back(i.value);
    if (i.linear) like.push_back(abstract_array(i.aval));
  }
  const Types results = self.type(self, types, params);
  Arrays given;
  for (std::size_t k = 0; k < cts.size(); ++k) given.push_back(cts[k].defined() ? cts[k] : zeros_of(results[k]));
  const Arrays back =
      flat::linear_transpose(function_of(program, args, linear, params), like, given, operand_path, operand_path);
  for (std::size_t i = 0, k = 0; i < in.size(); ++i)
    if (linear[i]) out[i] = back[k++];
  return out;
}

/// One more batch axis. Biases and masks that are the same in the whole batch stay as they are.
BatchResult batch(const Primitive& self, std::span<const Array> x, std::span<const int> dims, std::int64_t size,
                  const Params& params) {
  const AttentionOperands is(params);
  const bool has_bias_tangent = params.has("active") && params.ints("active").back() != 0;
  Arrays args;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const bool broadcasts = (i >= 3 && i < is.count) || (has_bias_tangent && i + 1 == x.size());
    if (broadcasts && dims[i] == not_batched)
      args.push_back(reshape(x[i], Shape{1} + x[i].shape()));
    else
      args.push_back(batch_at_front(x[i], dims[i], size));
  }
  Arrays out = bind(self, args, params);
  return {out, std::vector<int>(out.size(), 0)};
}

JvpResult forward_jvp(const Primitive& self, std::span<const Array> x, std::span<const Array> tangents,
                      const Params& params) {
  const AttentionOperands is(params);
  const Arrays y = bind(self, x, params);
  Arrays args(x.begin(), x.end());
  args.insert(args.end(), y.begin(), y.end());
  Ints active;
  for (std::size_t i = 0; i < 4; ++i) {
    const bool there = i < 3u + is.has_bias && tangents[i].defined();
    active.push_back(there);
    if (there) args.push_back(tangents[i]);
  }
  const Arrays t = bind(attention_tangent_p, args, params.with("active", active));
  return {y, {t[0], Array(), t[1]}};
}

Array summed_to(Array a, const AbstractValue& type) {
  for (int axis = 0; axis < a.ndim(); ++axis)
    if (type.shape[static_cast<std::size_t>(axis)] == 1 && a.shape()[static_cast<std::size_t>(axis)] != 1)
      a = reshape(reduce_sum(a, {axis}), [&] {
        Shape s = a.shape();
        s[static_cast<std::size_t>(axis)] = 1;
        return s;
      }());
  return cast(a, type.dtype);
}

Arrays tangent_transpose(const Primitive& self, std::span<const Array> cts, std::span<const LinearInput> in,
                         const Params& params) {
  const AttentionOperands is(params);
  const std::size_t first = is.count + 3;  // of the tangents
  for (std::size_t i = 0; i < first; ++i)
    if (in[i].linear) return program_transpose<attention_tangent>(self, cts, in, params);
  const Ints& active = params.ints("active");
  const Array &output = in[is.count].value, &maximum = in[is.count + 1].value, &sum = in[is.count + 2].value;
  const bool wants_bias = active[3] && in.back().linear;
  const int width = output.ndim() - 1;
  Array delta;
  if (cts[0].defined()) delta = move_axis(reduce_sum(widened(cts[0]) * widened(output), {width}), width - 2, width - 1);
  if (cts[1].defined()) delta = delta.defined() ? delta - sum * cts[1] : -(sum * cts[1]);
  Arrays args;
  for (std::size_t i = 0; i < is.count; ++i) args.push_back(in[i].value);
  for (const Array& a : {maximum, sum, delta, cts[0].defined() ? cts[0] : zeros_of(output.aval())}) args.push_back(a);
  Params with{{"has_bias", is.has_bias},
              {"has_mask", is.has_mask},
              {"is_causal", is.is_causal},
              {"scale", is.scale},
              {"gives_scores", wants_bias}};
  const Arrays back = bind(attention_backward_p, args, with);
  Arrays out(in.size());
  for (std::size_t i = 0, k = first; i < 4; ++i) {
    if (!active[i]) continue;
    if (in[k].linear) out[k] = i < 3 ? back[i] : summed_to(back[3], in[k].aval);
    ++k;
  }
  return out;
}

}  // namespace

AttentionSizes::AttentionSizes(const AbstractValue& query, const AbstractValue& key)
    : batch(query.shape.begin(), query.shape.end() - 3),
      queries(query.shape.end()[-3]),
      keys(key.shape.end()[-3]),
      heads(query.shape.end()[-2]),
      key_heads(key.shape.end()[-2]),
      width(query.shape.back()) {}

Arrays attention_forward(std::span<const Array> x, const Params& params) {
  const Scores s(x, params);
  const Array maximum = bind1(stop_gradient_p, {reduce_max(s.scores, s.by.last_axis())});
  const Array e = s.exponentials(maximum), sum = reduce_sum(e, s.by.last_axis());
  return {cast(s.by.from_keys(s.weights(maximum, sum), s.value), x[0].dtype()), maximum, sum};
}

Arrays attention_tangent(std::span<const Array> x, const Params& params) {
  const Scores s(x, params);
  const Ints& active = params.ints("active");
  const std::span<const Array> rest = x.subspan(s.is.count);
  const Array& sum = rest[2];
  const Array weights = s.weights(rest[1], sum);
  std::size_t next = 3;
  Array t[4], scores;
  for (std::size_t i = 0; i < 4; ++i)
    if (active[i]) t[i] = widened(rest[next++]);
  if (t[0].defined()) scores = s.by.scores(t[0], s.key);
  if (t[1].defined()) scores = add_cotangents(scores, s.by.scores(s.query, t[1]));
  if (scores.defined()) scores = scores * scalar(scores.dtype(), s.is.scale);
  if (t[3].defined()) scores = add_cotangents(scores, broadcast_to(cast(t[3], s.query.dtype()), s.by.scores_shape()));
  Array output, change_of_sum = zeros_like(sum);
  if (scores.defined()) {
    const Array weighted = weights * s.where_visible(scores), mean = reduce_sum(weighted, s.by.last_axis());
    output = s.by.from_keys(weighted - weights * s.by.per_row(mean), s.value);
    change_of_sum = sum * mean;
  }
  if (t[2].defined()) output = add_cotangents(output, s.by.from_keys(weights, t[2]));
  return {cast(output, x[0].dtype()), change_of_sum};
}

Arrays attention_backward(std::span<const Array> x, const Params& params) {
  const Scores s(x, params);
  const std::span<const Array> rest = x.subspan(s.is.count);
  const Array weights = s.weights(rest[0], rest[1]), cotangent = widened(rest[3]);
  const Array of_weights = s.by.scores(cotangent, s.value);
  const Array of_scores = s.where_visible(weights * (of_weights - s.by.per_row(rest[2])));
  const Array of_products = of_scores * scalar(of_scores.dtype(), s.is.scale);
  Arrays out{cast(s.by.from_keys(of_products, s.key), x[0].dtype()),
             cast(s.by.from_queries(of_products, s.query), x[1].dtype()),
             cast(s.by.from_queries(weights, cotangent), x[2].dtype())};
  if (params.flag("gives_scores")) out.push_back(of_scores);
  return out;
}

const Primitive attention_p{.name = "attention",
                            .op_class = OpClass::routine,
                            .type = forward_type,
                            .eval = evaluate<attention_forward>,
                            .jvp = forward_jvp,
                            .transpose = program_transpose<attention_forward>,
                            .batch = batch,
                            .is_composed = true};
const Primitive attention_tangent_p{.name = "attention_tangent",
                                    .op_class = OpClass::routine,
                                    .type = tangent_type,
                                    .eval = evaluate<attention_tangent>,
                                    .jvp = program_jvp<attention_tangent>,
                                    .transpose = tangent_transpose,
                                    .batch = batch,
                                    .is_composed = true};
const Primitive attention_backward_p{.name = "attention_backward",
                                     .op_class = OpClass::routine,
                                     .type = backward_type,
                                     .eval = evaluate<attention_backward>,
                                     .jvp = program_jvp<attention_backward>,
                                     .transpose = program_transpose<attention_backward>,
                                     .batch = batch,
                                     .is_composed = true};
const Listed attention_listed{&attention_p, &attention_tangent_p, &attention_backward_p};

}  // namespace cotan::ops
