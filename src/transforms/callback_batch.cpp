#include "transforms/callback_batch.hpp"

#include "core/effects.hpp"
#include "core/error.hpp"
#include "core/typed.hpp"
#include "ops/ops.hpp"

namespace cotan {

namespace {

Types stacked(Types types, std::int64_t size) {
  for (AbstractValue& t : types) t.shape.insert(t.shape.begin(), size);
  return types;
}
Array lane_of(const Array& a, std::int64_t lane) {
  return ops::reshape(ops::slice_axis(a, 0, lane, lane + 1), Shape(a.shape().begin() + 1, a.shape().end()));
}
Array with_new_axis(const Array& a) {
  Shape shape = a.shape();
  shape.insert(shape.begin(), 1);
  return ops::reshape(a, shape);
}

/// The callback for one lane after the other; operands that are `mapped` have the lanes in front. `masked`: the first
/// operand says which lanes run; results of the others are zero.
CallbackPtr for_each_lane(const CallbackPtr& one, std::vector<bool> mapped, bool masked, std::int64_t size) {
  auto function = [one, mapped = std::move(mapped), masked, size](std::span<const Array> in) {
    const auto runs = [&](std::int64_t lane) { return !masked || data<bool>(in[0])[lane]; };
    const auto operands = in.subspan(masked ? 1 : 0);
    std::vector<Arrays> rows(one->results.size());
    for (std::int64_t lane = 0; lane < size; ++lane) {
      Arrays results;
      if (runs(lane)) {
        Arrays given;
        for (std::size_t i = 0; i < operands.size(); ++i)
          given.push_back(mapped[i] ? lane_of(operands[i], lane) : operands[i]);
        results = one->function(given);
        if (results.size() != rows.size())
          raise<TreeError>("[{}] the function returned {} arrays, but {} were announced; return as many.", one->name,
                           results.size(), rows.size());
      } else {
        for (const AbstractValue& t : one->results) results.push_back(ops::zeros_of(t));
      }
      for (std::size_t k = 0; k < rows.size(); ++k) {
        const AbstractValue& want = one->results[k];
        if (!results[k].defined() || results[k].shape() != want.shape)
          raise<ShapeError>("[{}] the function returned {} as result {}, but {} was announced; return that shape.",
                            one->name, results[k].defined() ? results[k].aval().str() : "an empty Array", k, want);
        rows[k].push_back(with_new_axis(results[k]));
      }
    }
    Arrays out;
    const Types types = stacked(one->results, size);
    for (std::size_t k = 0; k < rows.size(); ++k)
      out.push_back(rows[k].empty() ? ops::zeros_of(types[k]) : ops::concatenate(rows[k], 0));
    return out;
  };
  return std::make_shared<const Callback>(one->name, std::move(function), stacked(one->results, size));
}

/// Operands with the batch in front where they have one.
struct Operands {
  Arrays values;
  std::vector<bool> mapped;
  Operands(std::span<const Array> x, std::span<const int> dims) {
    for (std::size_t i = 0; i < x.size(); ++i) {
      mapped.push_back(dims[i] != not_batched);
      values.push_back(mapped[i] ? ops::move_axis(x[i], dims[i], 0) : x[i]);
    }
  }
};

}  // namespace

BatchResult pure_callback_batch(const Primitive& self, std::span<const Array> x, std::span<const int> dims,
                                std::int64_t size, const Params& params) {
  const CallbackPtr one = callback_of(params);
  const std::string& method = params.text("vmap_method");
  Operands in(x, dims);
  CallbackPtr batched;
  if (method == "sequential" || method == "sequential_unrolled") {
    batched = for_each_lane(one, in.mapped, false, size);
  } else if (method == "expand_dims" || method == "broadcast_all" || method == "legacy_vectorized") {
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (in.mapped[i] || method == "legacy_vectorized") continue;
      in.values[i] = method == "expand_dims" ? with_new_axis(x[i]) : ops::batch_at_front(x[i], not_batched, size);
    }
    batched = std::make_shared<const Callback>(one->name, one->function, stacked(one->results, size));
  } else {
    raise<TransformError>(
        "[vmap] {} does not say how it is called for a batch; give it a vmap_method: \"sequential\" calls it once per "
        "element, \"expand_dims\" and \"broadcast_all\" once with the batch as the first axis.",
        one->name);
  }
  Arrays out = bind(self, in.values, params.with("callback", OpaquePtr(batched)));
  return {out, std::vector<int>(out.size(), 0)};
}

BatchResult effect_batch(const Primitive& self, std::span<const Array> x, std::span<const int> dims, std::int64_t size,
                         const Params& params) {
  const CallbackPtr one = callback_of(params);
  if (params.has("ordered") && params.flag("ordered"))
    raise<TransformError>(
        "[vmap] {} is ordered, and lanes have no order; leave out .ordered, or loop over the batch with lax::map.",
        one->name);
  // Loops and branches in which lanes go different ways give every carry a batch axis.
  const Array token = dims[0] == not_batched ? x[0] : ops::reduce_max(x[0], {dims[0]});
  const Operands in(x.subspan(1), dims.subspan(1));
  const Array mask = effects::RunningLanes::mask();
  Arrays operands{token};
  if (mask.defined()) operands.push_back(mask);
  operands.insert(operands.end(), in.values.begin(), in.values.end());
  const CallbackPtr lanes = for_each_lane(one, in.mapped, mask.defined(), size);
  Arrays out = bind(self, operands, params.with("callback", OpaquePtr(lanes)));
  std::vector<int> out_dims(out.size(), 0);
  out_dims[0] = not_batched;
  return {std::move(out), std::move(out_dims)};
}

CallbackPtr callback_on_parts(const CallbackPtr& whole, const std::vector<bool>& complex_operands) {
  Types results;
  for (const AbstractValue& t : whole->results) {
    results.push_back({real_dtype(t.dtype), t.shape, false});
    if (is_complex(t.dtype)) results.push_back(results.back());
  }
  auto function = [whole, complex_operands](std::span<const Array> in) {
    Arrays operands, out;
    std::size_t at = 0;
    for (const bool is_complex_operand : complex_operands) {
      const Array& re = in[at++];
      operands.push_back(is_complex_operand ? ops::complex(re, in[at++]) : re);
    }
    const Arrays given = whole->function(operands);
    for (std::size_t k = 0; k < given.size(); ++k) {
      if (k >= whole->results.size() || !is_complex(whole->results[k].dtype)) {
        out.push_back(given[k]);
        continue;
      }
      out.push_back(ops::real(given[k]));
      out.push_back(ops::imag(given[k]));
    }
    return out;
  };
  return std::make_shared<const Callback>(whole->name, std::move(function), std::move(results));
}

}  // namespace cotan
