// What samplers share: checks of their arguments, words of the cipher, uniform numbers made of them.
#pragma once
#include <cotan/random.hpp>

#include "core/backend.hpp"
#include "core/construct.hpp"
#include "ops/ops.hpp"
#include "ops/promote.hpp"

namespace cotan::random {

// Checks (checks.cpp): all raise with the sampler's name `op` ------------------------------------------------

void check_key(std::string_view op, const Array& key);
void check_shape(std::string_view op, const Shape& shape);
/// Bits are drawn in words as wide as their dtype: a device without that dtype would raise.
void check_device(std::string_view op, const Array& key, DType dtype);
void check_floating(std::string_view op, const Array& key, DType dtype);
/// Floating or complex.
void check_inexact(std::string_view op, const Array& key, DType dtype);
void check_integer(std::string_view op, const Array& key, DType dtype);
/// Key, shape and a floating dtype at once.
void check_draw(std::string_view op, const Array& key, const Shape& shape, DType dtype);
/// That `a` broadcasts to the result's shape.
void check_fits(std::string_view op, std::string_view what, const Shape& a, const Shape& shape);
/// That probabilities which are known are none negative and sum to 1 along their last axis.
void check_probabilities(std::string_view op, const Array& p);

/// A parameter of a distribution, by its name.
struct Parameter {
  std::string_view name;
  const Array& value;
};
/// The shape of the result: that of the parameters unless one is given, to which they must broadcast then.
Shape shape_of_draws(std::string_view op, const std::optional<Shape>& shape,
                     std::initializer_list<Parameter> parameters);
/// `a` in the result's shape; 0-d stays 0-d.
Array parameter(std::string_view op, std::string_view what, const Array& a, const Shape& shape);
/// The same, as a float of `dtype`, which must not be narrower than its own.
Array float_parameter(std::string_view op, const Parameter& p, DType dtype, const Shape& shape);

// Words (words.cpp) --------------------------------------------------------------------------------------------

/// Two u32 arrays: a key, a counter, or what the cipher makes of them; 0-d or one pair for each element.
struct Words {
  Array high, low;
};
Words words_of_key(const Array& key);
/// The other way: u32[2] of 0-d words.
Array key_of(const Words& words);
Words cipher(const Words& key, const Words& counter);
/// The positions in an array of this shape, flattened, as counters.
Words positions(const Shape& shape);
/// Key number i of split(key, …); words number i of bits(key, …).
Words child(const Words& key, std::uint32_t i);
/// Two keys of one.
std::pair<Array, Array> split_in_two(const Array& key);

/// Random bits of an unsigned dtype.
Array bits_of(const Words& words, DType dtype);
Array random_bits(const Array& key, const Shape& shape, DType dtype);

// Uniform numbers (uniform.cpp) ----------------------------------------------------------------------------------

struct FloatFormat {
  DType bits;
  int width, mantissa;
  std::int64_t one;  ///< the bits of 1.0
  double below_one;  ///< the largest number below 1
  double tiny;       ///< the smallest normal number
  double epsilon;    ///< what is between 1 and the next number
};
FloatFormat format_of(DType dtype);

/// Uniform in [0, 1): random mantissa bits under the exponent of 1, minus 1.
Array unit_of(const Words& words, DType dtype);
Array unit_interval(const Array& key, const Shape& shape, DType dtype);
/// u scaled to [low, high), both of u's dtype and 0-d or of its shape.
Array scaled(const Array& u, const Array& low, const Array& high);
Array uniform_between(const Array& key, const Shape& shape, DType dtype, double low, double high);
/// Uniform in (0, 1): 0 becomes the smallest normal number.
Array positive_unit(const Array& key, const Shape& shape, DType dtype);
/// Uniform as normal numbers are made of it: in (-1, 1).
Array symmetric_of(const Array& u);

// Functions with XLA's bits (ops/sampler_math.cpp) -----------------------------------------------------------------

Array log(const Array& x);
Array log1p(const Array& x);
Array exp(const Array& x);
/// a b + c as XLA computes it: rounded once on f32 and f64, after each operation on the halves.
Array multiply_add(const Array& a, const Array& b, const Array& c);
/// Whether XLA treats a parameter as one number for all elements, whose products and reciprocals it takes first. On
/// bf16 it keeps the order.
bool is_one_number(const Array& a);
/// a / b as XLA computes it: by the reciprocal of a number that is one for all elements.
Array quotient(const Array& a, const Array& b);
/// The inverse error function, and the quantile function of the normal distribution of a uniform number in (-1, 1).
Array quantile_of(const Array& u);
Array normal_of(const Array& u);

}  // namespace cotan::random
