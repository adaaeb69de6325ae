// Random tensors, and where their numbers come from.
#include <fmt/format.h>

#include <atomic>
#include <cotan/numpy.hpp>
#include <cotan/random.hpp>
#include <cotan/torch/creation.hpp>

#include "torch/graph/generator.hpp"
#include "torch/ops/families.hpp"
#include "torch/ops/making.hpp"

namespace cotan::torch {

using namespace detail;

struct Generator::State {
  std::atomic<std::uint64_t> seed{0}, draws{0};
};
Generator::Generator() : state_(std::make_shared<State>()) {}
void Generator::manual_seed(std::uint64_t seed) const {
  state_->seed = seed;
  state_->draws = 0;
}
std::uint64_t Generator::initial_seed() const { return state_->seed; }

const Generator& default_generator() {
  static const Generator& generator = *new Generator;
  return generator;
}
void manual_seed(std::uint64_t seed) { default_generator().manual_seed(seed); }

namespace {

thread_local const Generator* drawing = nullptr;

/// While it lives, numbers are the generator's that the options name.
class Drawing {
 public:
  explicit Drawing(const TensorOptions& options)
      : outer_(std::exchange(drawing, options.generator ? options.generator : drawing)) {}
  ~Drawing() { drawing = outer_; }
  Drawing(const Drawing&) = delete;

 private:
  const Generator* outer_;
};

}  // namespace

Draw detail::next_draw() { return (drawing ? *drawing : default_generator()).draw(); }
detail::Draw Generator::draw() const { return {state_->seed.load(), state_->draws.fetch_add(1)}; }

Tensor randn(const Shape& size, const TensorOptions& options, std::source_location where) {
  static const auto op = define(
      "randn", {}, [](const Shape& shape, DType t, Place, Key key) { return random::normal(key.array, shape, t); });
  const At at(where);
  const Drawing of(options);
  return finished(op(size, options.dtype.value_or(f32), place(options)), options);
}
Tensor rand(const Shape& size, const TensorOptions& options, std::source_location where) {
  static const auto op = define(
      "rand", {}, [](const Shape& shape, DType t, Place, Key key) { return random::uniform(key.array, shape, t); });
  const At at(where);
  const Drawing of(options);
  return finished(op(size, options.dtype.value_or(f32), place(options)), options);
}
Tensor randint(std::int64_t low, std::int64_t high, const Shape& size, const TensorOptions& options,
               std::source_location where) {
  static const auto op =
      define("randint", {}, [](std::int64_t from, std::int64_t to, const Shape& shape, DType t, Place, Key key) {
        const bool narrow = from >= -(std::int64_t{1} << 31) && to <= (std::int64_t{1} << 31) - 1;
        const DType drawn = narrow ? i32 : i64;
        return random::randint(key.array, shape, numpy::full({}, from, drawn), numpy::full({}, to, drawn), drawn)
            .astype(t);
      });
  const At at(where);
  const Drawing of(options);
  if (low >= high)
    throw_with_line<ValueError>(fmt::format("[randint] there is no integer from {} to before {}.", low, high));
  return finished(op(low, high, size, whole_type_of(options), place(options)), options);
}
Tensor randint(std::int64_t high, const Shape& size, const TensorOptions& options, std::source_location where) {
  return randint(0, high, size, options, where);
}
Tensor randperm(std::int64_t n, const TensorOptions& options, std::source_location where) {
  static const auto op = define("randperm", {}, [](std::int64_t count, DType t, Place, Key key) {
    return random::permutation(key.array, count).astype(t);
  });
  const At at(where);
  const Drawing of(options);
  return finished(op(n, whole_type_of(options), place(options)), options);
}
Tensor randn_like(const Input& x, const TensorOptions& options) { return randn(x->sizes(), alike(*x, options), {}); }
Tensor rand_like(const Input& x, const TensorOptions& options) { return rand(x->sizes(), alike(*x, options), {}); }
Tensor randint_like(const Input& x, std::int64_t low, std::int64_t high, const TensorOptions& options) {
  return randint(low, high, x->sizes(), alike(*x, options), {});
}

Tensor normal(double mean, double std, const Shape& size, const TensorOptions& options, std::source_location where) {
  static const auto op =
      define("normal", {}, [](const Shape& shape, DType t, Place, Number center, Number spread, Key key) {
        return center.array.astype(t) + spread.array.astype(t) * random::normal(key.array, shape, t);
      });
  const At at(where);
  const Drawing of(options);
  if (std < 0) throw_with_line<ValueError>(fmt::format("[normal] the standard deviation {} is negative.", std));
  return finished(op(size, options.dtype.value_or(f32), place(options), mean, std), options);
}
Tensor normal(const Input& mean, const Input& std) {
  static const auto op = define("normal", {}, [](const Array& center, const Array& spread, Key key) {
    const Shape shape = numpy::broadcast_shapes({center.shape(), spread.shape()});
    return center + spread * random::normal(key.array, shape, center.dtype());
  });
  return op(*mean, *std);
}
Tensor bernoulli(const Input& p) {
  static const auto op = define("bernoulli", {.differentiable = false}, [](const Array& probability, Key key) {
    return (random::uniform(key.array, probability.shape(), probability.dtype()) < probability)
        .astype(probability.dtype());
  });
  if (!is_floating(p->dtype()))
    throw_with_line<TypeError>(fmt::format("[bernoulli] probabilities are floats, not {}.", name(p->dtype())));
  return op(*p);
}

Tensor multinomial(const Input& weights, std::int64_t num_samples, bool replacement) {
  static const auto again =
      define("multinomial", {.differentiable = false}, [](const Array& w, std::int64_t count, DType t, Key key) {
        // Draws come first, so that they broadcast against the rows.
        Shape shape = w.shape();
        shape.pop_back();
        shape.insert(shape.begin(), count);
        return numpy::moveaxis(random::categorical(key.array, numpy::log(w), -1, shape), 0, -1).astype(t);
      });
  static const auto first =
      define("multinomial", {.differentiable = false}, [](const Array& w, std::int64_t count, DType t, Key key) {
        const Array order = numpy::argsort(-(numpy::log(w) + random::gumbel(key.array, w.shape(), w.dtype())), -1);
        std::vector<Index> indices(static_cast<std::size_t>(w.ndim() - 1), Index(cotan::all));
        indices.emplace_back(range(count));
        return cotan::detail::get_index(order, indices).astype(t);
      });
  if (weights->dim() < 1 || weights->dim() > 2 || !is_floating(weights->dtype()))
    throw_with_line<ShapeError>(fmt::format("[multinomial] weights are a vector or a matrix of floats; got {}.",
                                            weights->impl().type()->str()));
  if (!replacement && num_samples > weights->size(-1))
    throw_with_line<ValueError>(fmt::format("[multinomial] {} samples of {} are not possible without replacement.",
                                            num_samples, weights->size(-1)));
  if (replacement) return again(*weights, num_samples, whole_type(*weights));
  return first(*weights, num_samples, whole_type(*weights));
}

}  // namespace cotan::torch
