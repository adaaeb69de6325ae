// Draws of what is given: categorical, permutation, choice.
#include <cmath>
#include <cotan/lax.hpp>
#include <cotan/numpy.hpp>

#include "random/sampling.hpp"

namespace cotan::random {

namespace np = numpy;

namespace {

/// The draws, `count` along a first axis, of each set of logits: the largest of logits plus Gumbel noise.
Array largest_without_replacement(const Array& noisy, int axis, std::int64_t count) {
  if (count > noisy.shape(axis))
    raise<ValueError>("[random.categorical] {} draws without replacement from {} classes; draw no more than there are.",
                      count, noisy.shape(axis));
  return np::moveaxis(lax::top_k(noisy, static_cast<int>(count), axis).second, axis, 0);
}

}  // namespace

Array categorical(const ArrayLike& key, const ArrayLike& logits, int axis, std::optional<Shape> shape, bool replace,
                  Mode mode) {
  check_key("categorical", key);
  check_floating("categorical", key, logits->dtype());
  const int along = np::resolve_axis(axis, logits->ndim(), "random.categorical");
  const std::int64_t classes = logits->shape()[along];
  if (classes == 0)
    raise<ShapeError>("[random.categorical] axis {} of {} is empty; there is nothing to draw from.", axis,
                      logits->aval());
  const Shape batch = ops::erase_axes(logits->shape(), {along});
  const Shape result = shape ? *shape : batch;
  check_shape("categorical", result);
  check_fits("categorical", "the batch of logits", batch, result);
  const auto samples = static_cast<std::ptrdiff_t>(result.size() - batch.size());
  const Array strong_logits = ops::cast(logits, logits->dtype());
  if (!replace) {
    if (Shape(result.begin() + samples, result.end()) != batch)
      raise<ShapeError>(
          "[random.categorical] shape {} does not end with that of the batch, {}; give one that does, or draw with "
          "replacement.",
          describe(result), describe(batch));
    const std::int64_t count = ops::product(Shape(result.begin(), result.begin() + samples));
    const Array noisy = strong_logits + gumbel(key, logits->shape(), logits->dtype(), mode);
    return ops::reshape(largest_without_replacement(noisy, along, count), result);
  }
  // Samples in front, then the batch with the classes in it.
  Shape noise = result;
  noise.insert(noise.begin() + samples + along, classes);
  return np::argmax(gumbel(key, noise, logits->dtype(), mode) + strong_logits, static_cast<int>(samples) + along);
}

namespace {

/// Sorts by fresh random keys until a collision in all rounds is unlikely enough.
Array shuffled(const Array& key, const Array& x, int axis = 0) {
  const double size = static_cast<double>(std::max<std::int64_t>(x.size(), 1));
  const int rounds = static_cast<int>(std::ceil(3.0 * std::log(size) / std::log(4294967295.0)));
  Array left = key, out = x;
  for (int i = 0; i < rounds; ++i) {
    const auto [next, used] = split_in_two(left);
    out = lax::sort({random_bits(used, x.shape(), u32), out}, axis)[1];
    left = next;
  }
  return out;
}

}  // namespace

Array permutation(const ArrayLike& key, std::int64_t n) {
  check_key("permutation", key);
  if (n < 0) raise<ValueError>("[random.permutation] the count {} is negative; give 0 or more.", n);
  return shuffled(key, ops::iota(n > INT32_MAX ? i64 : i32, {n}, 0));
}

Array permutation(const ArrayLike& key, const ArrayLike& x, int axis, bool independent) {
  check_key("permutation", key);
  if (x->ndim() == 0)
    raise<ShapeError>(
        "[random.permutation] {} has no axis to shuffle; pass a C++ integer to shuffle the integers below "
        "it.",
        x->aval());
  const int along = np::resolve_axis(axis, x->ndim(), "random.permutation");
  if (x->ndim() == 1 || independent) return shuffled(key, x, along);
  return np::take(x, permutation(key, x->shape()[along]), along);
}

namespace {

/// Of indices below n, with probabilities, after checks of the options.
Array chosen_indices(const Array& key, std::int64_t n, const Shape& shape, std::int64_t draws,
                     const ChoiceOptions& options) {
  if (!options.p.defined()) return randint(key, shape, 0, n, n > INT32_MAX ? i64 : i32);
  const Array p = np::to_inexact(options.p);
  check_floating("choice", key, p.dtype());
  if (p.shape() != Shape{n})
    raise<ShapeError>("[random.choice] p is {}, and there are {} slices to draw from; give one probability for each.",
                      p.aval(), n);
  check_probabilities("choice", p);
  if (options.replace) {
    const Array sums = np::cumsum(p), last = ops::reshape(ops::slice_axis(sums, 0, n - 1, n), {});
    const Array level = last * (scalar(p.dtype(), 1) - unit_interval(key, shape, p.dtype()));
    return np::searchsorted(sums, level);
  }
  if (concrete(p)) {
    const std::int64_t possible = np::sum(p > scalar(p.dtype(), 0)).item<std::int64_t>();
    if (possible < draws)
      raise<ValueError>(
          "[random.choice] {} draws without replacement, but only {} probabilities are above 0; draw fewer.", draws,
          possible);
  }
  const Array noisy = gumbel(key, {n}, p.dtype(), options.mode) + log(p);
  return ops::reshape(lax::top_k(noisy, static_cast<int>(draws)).second, shape);
}

void check_choice(const Array& key, std::int64_t n, const Shape& shape, std::int64_t draws, const ChoiceOptions& o) {
  check_key("choice", key);
  check_shape("choice", shape);
  if (draws > 0 && n <= 0) raise<ValueError>("[random.choice] there are {} slices to draw from; give one or more.", n);
  if (!o.replace && draws > n)
    raise<ValueError>(
        "[random.choice] {} draws without replacement from {} slices; draw no more than there are, or with "
        "replacement.",
        draws, n);
}

}  // namespace

Array choice(const ArrayLike& key, std::int64_t n, const Shape& shape, const ChoiceOptions& options) {
  const std::int64_t draws = ops::product(shape);
  check_choice(key, n, shape, draws, options);
  if (draws == 0) return np::zeros(shape, i32);
  if (!options.replace && !options.p.defined())
    return ops::reshape(ops::slice_axis(permutation(key, n), 0, 0, draws), shape);
  return chosen_indices(key, n, shape, draws, options);
}

Array choice(const ArrayLike& key, const ArrayLike& a, const Shape& shape, const ChoiceOptions& options) {
  check_key("choice", key);
  if (a->ndim() == 0)
    raise<ShapeError>("[random.choice] {} has no axis to draw from; pass a C++ integer to draw integers below it.",
                      a->aval());
  const int along = np::resolve_axis(options.axis, a->ndim(), "random.choice");
  const std::int64_t n = a->shape()[along], draws = ops::product(shape);
  check_choice(key, n, shape, draws, options);
  Shape result = a->shape();
  result.erase(result.begin() + along);
  result.insert(result.begin() + along, shape.begin(), shape.end());
  if (draws == 0) return np::zeros(result, a->dtype());
  if (!options.replace && !options.p.defined())
    return ops::reshape(ops::slice_axis(permutation(key, a, along), along, 0, draws), result);
  return np::take(a, chosen_indices(key, n, shape, draws, options), along);
}

}  // namespace cotan::random
