// A loop over parts of a batch, and what becomes of their results.
#include <cotan/optax/microbatching.hpp>
#include <numeric>

#include "optax/core.hpp"

namespace cotan::optax {

namespace {

/// A way to accumulate, for results of M parts.
Accumulator accumulator_of(AccumulationType type, std::int64_t parts) {
  const auto zeros = [](const Array& like) { return np::zeros(like.shape(), like.dtype()); };
  const auto zeros_to_divide = [](const Array& like) {
    if (!is_floating(like.dtype()) && !is_complex(like.dtype()))
      throw_with_line<TypeError>(
          fmt::format("[microbatch] the mean of results that are {} is no such thing; take "
                      "AccumulationType::sum, or cast the result to a float.",
                      like.aval().str()));
    return np::zeros(like.shape(), like.dtype());
  };
  const auto add = [](const Array& carry, const Array& value, const Array&) {
    return (carry + value).astype(carry.dtype());
  };
  switch (type) {
    case AccumulationType::sum:
      return {zeros, add};
    case AccumulationType::mean:
      return {zeros_to_divide, add, [parts](const Array& carry) { return carry / static_cast<double>(parts); }};
    case AccumulationType::running_mean:
      return {zeros_to_divide, [](const Array& carry, const Array& value, const Array& index) {
                const Array before = index.astype(real_dtype(carry.dtype())), share = before / (before + 1.0);
                return carry * share + value * (1.0 - share);
              }};
    case AccumulationType::concat:
      break;
  }
  return {[parts](const Array& like) {
            if (like.ndim() == 0)
              throw_with_line<ShapeError>(
                  "[microbatch] a result is a single number for each part, and AccumulationType::concat wants an axis "
                  "to put them side by side on; take sum or mean for it.");
            Shape shape = like.shape();
            shape.insert(shape.begin(), parts);
            return np::zeros(shape, like.dtype());
          },
          [](const Array& carry, const Array& value, const Array& index) { return carry.at(index).set(value); },
          [](const Array& carry) {  // example j of part m is number j M + m of the batch
            Shape shape = carry.shape();
            shape[1] *= shape[0];
            shape.erase(shape.begin());
            return np::reshape(np::swapaxes(carry, 0, 1), shape);
          }};
}

struct Batch {
  std::vector<std::optional<int>> axes;  ///< of each leaf, where it has one
  std::int64_t parts = 1;
};
Batch batch_of(const detail::BatchArguments& args, const MicrobatchOptions& o) {
  const std::int64_t size = *o.microbatch_size;
  if (size < 1)
    throw_with_line<ValueError>(fmt::format("[microbatch] microbatch_size is {}; it must be positive.", size));
  if (o.argnums.empty())
    throw_with_line<ValueError>("[microbatch] argnums is empty; name the arguments that have an axis of the batch.");
  if (o.in_axes.size() != 1 && o.in_axes.size() != o.argnums.size())
    throw_with_line<ValueError>(
        fmt::format("[microbatch] in_axes has {} entries for {} argnums; give one for each, or "
                    "one for all.",
                    o.in_axes.size(), o.argnums.size()));
  Batch out{std::vector<std::optional<int>>(args.leaves.size())};
  std::optional<std::int64_t> batch;
  for (std::size_t k = 0; k < o.argnums.size(); ++k) {
    const int argument = o.argnums[k];
    if (argument < 0 || static_cast<std::size_t>(argument) >= args.counts.size())
      throw_with_line<ValueError>(fmt::format("[microbatch] argnums names argument {} of {}; they count from 0.",
                                              argument, args.counts.size()));
    const auto at = static_cast<std::size_t>(argument);
    const std::size_t first = std::accumulate(args.counts.begin(), args.counts.begin() + argument, std::size_t{0});
    for (std::size_t leaf = first; leaf < first + args.counts[at]; ++leaf) {
      const Array& x = args.leaves[leaf];
      const int given = o.in_axes[o.in_axes.size() == 1 ? 0 : k], axis = given < 0 ? given + x.ndim() : given;
      if (axis < 0 || axis >= x.ndim())
        throw_with_line<ShapeError>(
            fmt::format("[microbatch] argument {} is {} and has no axis {}; in_axes says where its batch is.", argument,
                        x.aval().str(), given));
      const std::int64_t length = x.shape()[static_cast<std::size_t>(axis)];
      if (batch.value_or(length) != length)
        throw_with_line<ShapeError>(
            fmt::format("[microbatch] arguments have batches of {} and {} examples; they must agree.", *batch, length));
      batch = length;
      out.axes[leaf] = axis;
    }
  }
  if (!batch)
    throw_with_line<ValueError>(
        "[microbatch] the arguments in argnums have no Arrays; name one that has an axis of the batch.");
  if (*batch == 0 || *batch % size != 0)
    throw_with_line<ShapeError>(
        fmt::format("[microbatch] a batch of {} examples cannot be cut into parts of {}; microbatch_size must divide "
                    "it.",
                    *batch, size));
  out.parts = *batch / size;
  return out;
}
/// Part `index` of an argument.
Array part_of(const Array& x, int axis, std::int64_t parts, const Array& index) {
  Shape shape = x.shape();
  const auto at = static_cast<std::size_t>(axis);
  shape[at] /= parts;
  shape.insert(shape.begin() + axis + 1, parts);
  return lax::dynamic_index_in_dim(np::reshape(x, shape), index, axis + 1, false);
}

}  // namespace

std::vector<std::variant<AccumulationType, Accumulator>> Accumulators::expand(
    const std::vector<std::size_t>& counts) const {
  std::vector<std::variant<AccumulationType, Accumulator>> out;
  const auto check = [](std::size_t listed, std::size_t there, const char* what) {
    if (listed != there)
      throw_with_line<TreeError>(
          fmt::format("[microbatch] {} accumulators are listed for {} {} of the result; give "
                      "one for each, or one for all.",
                      listed, there, what));
  };
  if (is_list_) check(list_.size(), counts.size(), "parts");
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const Accumulators& part = is_list_ ? list_[i] : *this;
    if (part.is_list_) check(part.list_.size(), counts[i], "leaves");
    for (std::size_t leaf = 0; leaf < counts[i]; ++leaf) {
      const Accumulators& chosen = part.is_list_ ? part.list_[leaf] : part;
      if (chosen.is_list_)
        throw_with_line<TreeError>("[microbatch] accumulators are nested too deeply; list one for each leaf.");
      out.push_back(chosen.one_);
    }
  }
  return out;
}

Arrays detail::microbatch(const FlatFn& f, const BatchArguments& args, const MicrobatchOptions& options,
                          const std::function<std::vector<std::size_t>()>& result_counts) {
  if (!options.microbatch_size) return f(args.leaves);
  const Batch batch = batch_of(args, options);
  const auto on_part = [&](const Array& index) {
    Arrays leaves(args.leaves.begin(), args.leaves.end());
    for (std::size_t i = 0; i < leaves.size(); ++i)
      if (batch.axes[i]) leaves[i] = part_of(leaves[i], *batch.axes[i], batch.parts, index);
    return f(leaves);
  };
  const Array zero = np::zeros({}, i32);
  const auto of_index = [&](std::span<const Array> in) { return on_part(in[0]); };
  const Arrays like = flat::eval_shape(of_index, std::span(&zero, 1), [](std::size_t) { return "index"; });
  std::vector<Accumulator> accumulators;
  for (const auto& chosen : options.accumulator.expand(result_counts()))
    accumulators.push_back(std::holds_alternative<Accumulator>(chosen)
                               ? std::get<Accumulator>(chosen)
                               : accumulator_of(std::get<AccumulationType>(chosen), batch.parts));
  Arrays carry;
  for (std::size_t i = 0; i < like.size(); ++i) carry.push_back(accumulators[i].init(like[i]));
  // A bound that is a number makes a scan of the loop, and reverse mode goes through it.
  const Array steps = options.num_real_microbatches ? *options.num_real_microbatches : ArrayLike(batch.parts).array();
  const auto body = [&](std::span<const Array> in) {
    const Arrays values = on_part(in[0]);
    Arrays next;
    for (std::size_t i = 0; i < values.size(); ++i) next.push_back(accumulators[i].update(in[i + 1], values[i], in[0]));
    return next;
  };
  Arrays out = flat::fori_loop(ArrayLike(0).array(), steps, body, carry,
                               [](std::size_t i) { return fmt::format("result {}", i); });
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = accumulators[i].finalize(out[i]);
  return out;
}

}  // namespace cotan::optax
