// sort and top_k as a bitonic network: in a loop over its stages, every element is compared with the one at
// its position xor the stage's distance. The position an element came from is its last key: it makes the
// order total, hence the sort stable, and says where the operands' elements go. A long vector of keys that are
// words is left to devices that have a routine for that.
#include <algorithm>
#include <bit>
#include <numeric>

#include "expansions/expansions.hpp"
#include "expansions/tools.hpp"

namespace cotan::expansions {

namespace {

constexpr std::int64_t longest_lane = 2048;  ///< elements that a lane sorts; a power of two

DType bits_of(DType dtype) { return dtype == f64 ? u64 : u32; }
/// The bits of f32 or f64 numbers, as constants.
struct Bits {
  std::uint64_t sign, infinity, ones;
  explicit Bits(DType bits)
      : sign(bits == u64 ? std::uint64_t{1} << 63 : std::uint64_t{1} << 31),
        infinity(bits == u64 ? 0x7ff0'0000'0000'0000u : 0x7f80'0000u),
        ones(sign | (sign - 1)) {}
};
Array constant(DType bits, std::uint64_t value) { return scalar(bits, static_cast<std::int64_t>(value)); }

/// Floats as integers in the order of their bits: negative ones count downwards.
Array bit_order(const Array& x) {
  const DType bits = bits_of(x.dtype());
  const Array y = bind1(ops::bitcast_convert_type_p, {x}, {{"new_dtype", bits}}),
              sign = constant(bits, Bits(bits).sign);
  return ops::select((y & sign) != constant(bits, 0), ~y, y | sign);
}
/// The same, but every NaN is the largest and -0 is +0.
Array numeric_order(const Array& x) {
  const Array zero = scalar(x.dtype(), 0);
  const Array order = bit_order(ops::select(x == zero, zero, x));
  // By bits: some compilers (of shaders) assume that there is no NaN.
  const DType bits = bits_of(x.dtype());
  const Bits c(bits);
  const std::uint64_t infinity = c.infinity | c.sign, minus_infinity = c.ones ^ infinity;
  const Array is_number = (order <= constant(bits, infinity)) & (order >= constant(bits, minus_infinity));
  return ops::select(is_number, order, constant(bits, c.ones));
}
/// An integer array that orders as `x` does.
Array ascending(const Array& x) {
  if (is_floating(x.dtype())) return numeric_order(ops::cast(x, wide(x.dtype())));
  return x.dtype() == bool_ ? ops::cast(x, i32) : x;
}
/// The reverse of JAX's order for top_k, which is the total one.
Array descending(const Array& x) {
  if (is_floating(x.dtype())) return ~bit_order(ops::cast(x, wide(x.dtype())));
  return ~(x.dtype() == bool_ ? ops::cast(x, i32) : x);
}
Array largest_of(DType dtype) {
  const bool is_signed = dtype == i8 || dtype == i16 || dtype == i32 || dtype == i64;
  const auto bits = static_cast<int>(8 * itemsize(dtype)) - (is_signed ? 1 : 0);
  return constant(dtype, ~std::uint64_t{0} >> (64 - bits));
}

/// Lexicographically less.
Array less(std::span<const Array> a, std::span<const Array> b) {
  const Array first = a[0] < b[0];
  return a.size() == 1 ? first : first | ((a[0] == b[0]) & less(a.subspan(1), b.subspan(1)));
}

/// Stages of the network. Blocks of 2^(t+1) are made sorted, every other one in descending order, by t + 1
/// stages that compare elements at distances 2^t, …, 1.
struct Stages {
  std::int64_t count;
  Array blocks, distances;

  /// All that sort so many elements.
  static Stages sorting(std::int64_t length) {
    const std::int64_t rounds = std::countr_zero(static_cast<std::uint64_t>(length)), count = before(rounds);
    const Array stage = numbers(count), one = scalar(i32, 1);
    Array round = ops::zeros_like(stage);
    for (std::int64_t t = 1; t < rounds; ++t) round = round + ops::cast(stage >= scalar(i32, before(t)), i32);
    const Array within = stage - bind1(ops::shift_right_logical_p, {round * (round + 1), one});
    return {count, bind1(ops::shift_left_p, {one, round + 1}), bind1(ops::shift_left_p, {one, round - within})};
  }
  /// Stages before those with distances from 2^t on.
  static std::int64_t before(std::int64_t t) { return t * (t + 1) / 2; }
  Stages part(std::int64_t first, std::int64_t size) const {
    return {size, ops::slice_axis(blocks, 0, first, first + size), ops::slice_axis(distances, 0, first, first + size)};
  }
};

/// Keys and positions along the last axis after these stages. `base` is where in its row the first of them
/// is.
Arrays after(const Stages& stages, const Arrays& elements, const Array& base) {
  const Shape& shape = elements[0].shape();
  const auto axis = static_cast<int>(shape.size()) - 1;
  const auto stage = [&](std::span<const Array> in) {
    const auto own = in.subspan(0, elements.size());
    const Array &block = in[elements.size()], &distance = in[elements.size() + 1];
    const Array here = numbers(shape.back()), at = here + base, zero = scalar(i32, 0);
    Arrays other, out;
    for (const Array& a : own) other.push_back(take(a, here ^ distance, axis));
    const Array wants_smaller = ((at & distance) == zero) == ((at & block) == zero);
    const Array takes_other = less(other, own) == ops::broadcast_to(wants_smaller, shape);
    for (std::size_t i = 0; i < own.size(); ++i) out.push_back(ops::select(takes_other, other[i], own[i]));
    return out;
  };
  return loop(stages.count, elements, {stages.blocks, stages.distances}, stage);
}

/// Rows that are too long for a lane, in chunks that are not: stages whose distances stay inside a chunk run
/// there, a loop per chunk; only the others go through all memory.
Arrays sorted_in_chunks(Arrays elements, std::int64_t length) {
  const Shape whole = elements[0].shape();
  const std::int64_t chunk = longest_lane, chunks = ops::product(whole) / chunk;
  const std::int64_t rounds = std::countr_zero(static_cast<std::uint64_t>(length)),
                     inside = std::countr_zero(static_cast<std::uint64_t>(chunk));
  const Array base = (numbers(chunks) & scalar(i32, length / chunk - 1)) * scalar(i32, chunk);
  const auto in_chunks = [&](const Stages& stages) {
    for (Array& a : elements) a = ops::reshape(a, {chunks, chunk});
    elements.push_back(base);
    elements = for_each_lane(elements, {}, [&](std::span<const Array> in) {
      return after(stages, Arrays(in.begin(), in.end() - 1), in.back());
    });
    for (Array& a : elements) a = ops::reshape(a, whole);
  };
  const Stages all = Stages::sorting(length);
  in_chunks(all.part(0, Stages::before(inside)));
  for (std::int64_t t = inside; t < rounds; ++t) {
    const std::int64_t first = Stages::before(t), across = t + 1 - inside;
    elements = after(all.part(first, across), elements, scalar(i32, 0));
    in_chunks(all.part(first + across, inside));
  }
  return elements;
}

/// Positions of the elements of each row, [rows, n] or [n], in ascending order of the keys.
Array sorted_positions(const Arrays& keys, std::int64_t n) {
  const Shape& shape = keys[0].shape();
  const auto axis = static_cast<int>(shape.size()) - 1;
  const auto length = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(n)));
  Ints none(shape.size(), 0), more = none;
  more.back() = length - n;
  Shape padded = shape;
  padded.back() = length;
  Arrays elements;
  for (const Array& key : keys) elements.push_back(ops::pad(key, largest_of(key.dtype()), none, more, none));
  elements.push_back(ops::iota(i32, padded, axis));
  const Arrays sorted = length <= longest_lane ? after(Stages::sorting(length), elements, scalar(i32, 0))
                                               : sorted_in_chunks(elements, length);
  return ops::slice_axis(sorted.back(), axis, 0, n);
}

bool is_word(const Array& key) { return is_integer(key.dtype()) && itemsize(key.dtype()) <= 4; }
/// A key as a word that orders as it does.
Array as_word(const Array& key) {
  const bool is_signed = key.dtype() == i8 || key.dtype() == i16 || key.dtype() == i32;
  if (!is_signed) return ops::cast(key, u32);
  return bind1(ops::bitcast_convert_type_p, {ops::cast(key, i32)}, {{"new_dtype", u32}}) ^
         constant(u32, Bits(u32).sign);
}
/// The same for one long vector of words per key: by the last key first, and all others keep that order where they are
/// equal.
Array order_of_vector(const Arrays& keys) {
  Array order;
  for (std::size_t k = keys.size(); k-- > 0;) {
    const Array word = as_word(keys[k]);
    if (k + 1 == keys.size())
      order = bind1(order_of_words_p, {word});
    else
      order = take(order, bind1(order_of_words_p, {take(word, order, 0)}), 0);
  }
  return order;
}

/// Positions of the first `wanted` elements in ascending order of the keys, along the last axis.
Array order_of(const Arrays& keys, std::int64_t wanted) {
  const Shape& shape = keys[0].shape();
  const std::int64_t n = shape.back(), rows = ops::product(shape) / n;
  Shape result = shape;
  result.back() = wanted;
  if (n == 1) return ops::zeros_of({i32, result, false});
  Arrays flat;
  for (const Array& key : keys) flat.push_back(ops::reshape(key, rows == 1 ? Shape{n} : Shape{rows, n}));
  if (rows == 1 && n > longest_lane && std::all_of(flat.begin(), flat.end(), is_word))
    return ops::reshape(ops::slice_axis(order_of_vector(flat), 0, 0, wanted), result);
  const auto row = [&](std::span<const Array> in) {
    const Array positions = sorted_positions(Arrays(in.begin(), in.end()), n);
    return Arrays{ops::slice_axis(positions, positions.ndim() - 1, 0, wanted)};
  };
  const Array order = rows > 1 && n <= longest_lane ? for_each_lane(flat, {}, row)[0] : row(flat)[0];
  return ops::reshape(order, result);
}

Arrays sort(const Primitive&, std::span<const Array> x, const Params& params) {
  if (x[0].size() == 0) return Arrays(x.begin(), x.end());
  const auto axis = static_cast<int>(params.integer("dimension"));
  const auto num_keys = static_cast<std::size_t>(params.integer("num_keys"));
  const int last = x[0].ndim() - 1;
  Arrays operands, keys;
  for (const Array& a : x) operands.push_back(ops::move_axis(a, axis, last));
  for (std::size_t k = 0; k < num_keys; ++k) keys.push_back(ascending(operands[k]));
  const Array order = order_of(keys, operands[0].shape().back());
  Arrays out;
  for (const Array& a : operands) out.push_back(ops::move_axis(take_along_last(a, order), last, axis));
  return out;
}

Arrays top_k(const Primitive& p, std::span<const Array> x, const Params& params) {
  const Types types = p.type(p, std::vector{x[0].aval()}, params);
  if (types[0].size() == 0) return {ops::zeros_of(types[0]), ops::zeros_of(types[1])};
  const Array order = order_of({descending(x[0])}, params.integer("k"));
  return {take_along_last(x[0], order), order};
}

Arrays order_of_words(const Primitive&, std::span<const Array> x, const Params&) {
  return {sorted_positions({x[0]}, x[0].size())};
}

}  // namespace

const RuleFor<Expansion> expands_sort{{&ops::sort_p}, {sort}};
const RuleFor<Expansion> expands_top_k{{&ops::top_k_p}, {top_k}};
const RuleFor<Expansion> expands_order{{&order_of_words_p}, {order_of_words}};

}  // namespace cotan::expansions

namespace cotan {

namespace {
Types order_type(const Primitive&, std::span<const AbstractValue> types, const Params&) {
  return {{i32, types[0].shape, false}};
}
Arrays order_eval(const Primitive&, std::span<const Array> x, const Params&) {
  const std::vector<std::uint32_t> words = x[0].to_vector<std::uint32_t>();
  std::vector<std::int32_t> order(words.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) {
    return words[static_cast<std::size_t>(a)] < words[static_cast<std::size_t>(b)];
  });
  return {Array::from_host(order, x[0].shape())};
}
}  // namespace

const Primitive order_of_words_p{.name = "order_of_words",
                                 .op_class = OpClass::routine,
                                 .type = order_type,
                                 .eval = order_eval,
                                 .not_differentiable = true};

}  // namespace cotan
