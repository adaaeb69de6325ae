// Functions of batches, evaluated on a part of the batch after the other: the same results in less memory.
#pragma once
#include <cotan/control_flow.hpp>

namespace cotan::optax {

/// How results of parts of a batch become one: `optax.microbatching.AccumulationType`.
enum class AccumulationType {
  sum,
  mean,          ///< of floats and complex numbers
  running_mean,  ///< the mean of those that were evaluated, where num_real_microbatches stops early
  concat         ///< along the first axis, in the order of the batch
};
/// One's own way: carry = init(likeness of a result), then update(carry, result, index) for each, then finalize(carry).
/// `optax.microbatching.Accumulator`.
struct Accumulator {
  std::function<Array(const Array& like)> init;  ///< `like` has a shape and a dtype and no elements
  std::function<Array(const Array& carry, const Array& value, const Array& index)> update;
  std::function<Array(const Array& carry)> finalize = [](const Array& carry) { return carry; };
};
/// One for all results, or a list: one for each part of a result that is a tuple, or inside it for each of its leaves.
class Accumulators {
 public:
  Accumulators(AccumulationType type) : one_(type) {}
  Accumulators(Accumulator accumulator) : one_(std::move(accumulator)) {}
  Accumulators(std::initializer_list<Accumulators> list) : list_(list), is_list_(true) {}
  /// For `counts[i]` leaves of each of several parts.
  std::vector<std::variant<AccumulationType, Accumulator>> expand(const std::vector<std::size_t>& counts) const;

 private:
  std::variant<AccumulationType, Accumulator> one_ = AccumulationType::sum;
  std::vector<Accumulators> list_;
  bool is_list_ = false;
};

/// Of microbatch.
struct MicrobatchOptions {
  std::vector<int> argnums = {0};                    ///< arguments that have an axis of the batch
  std::optional<std::int64_t> microbatch_size = {};  ///< examples at a time, a divisor of their number; none: all
  Accumulators accumulator = AccumulationType::sum;  ///< of the results
  std::vector<int> in_axes = {0};                    ///< the batch's axis in each of argnums, or one for all
  std::optional<Array> num_real_microbatches = {};   ///< stop after so many; may be known only when it runs
};

namespace detail {
/// Leaves of all arguments, and how many each argument has.
struct BatchArguments {
  std::span<const Array> leaves;
  std::vector<std::size_t> counts;
};
Arrays microbatch(const FlatFn& f, const BatchArguments& args, const MicrobatchOptions& options,
                  const std::function<std::vector<std::size_t>()>& result_counts);
}  // namespace detail

/// f on a part of the batch after the other, in a loop of the program, and the results as one: memory of one part.
/// Part m of M has the examples m, m + M, m + 2 M …, as optax takes them. `optax.microbatch`.
///
///     auto gradient = optax::microbatch(ct::grad(loss), {.argnums = {1}, .microbatch_size = 32, .accumulator =
///         optax::AccumulationType::mean});
template <class F>
auto microbatch(F f, MicrobatchOptions options = {}, const std::source_location& where = COTAN_HERE) {
  return cotan::detail::like_function(
      std::move(f),
      [options = std::move(options)](auto& flat, const Arrays& leaves) {
        return detail::microbatch(flat, {leaves, cotan::detail::leaf_counts(flat.arguments())}, options,
                                  [&] { return cotan::detail::leaf_counts(flat.output()); });
      },
      where);
}

}  // namespace cotan::optax
