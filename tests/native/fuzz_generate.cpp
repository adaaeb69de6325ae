// Drawing programs for the fuzzer.
#include <algorithm>
#include <cmath>

#include "native/fuzz_program.hpp"

namespace fuzz {

std::optional<std::size_t> Pool::pick(const std::function<bool(const Array&)>& fits) const {
  std::vector<std::size_t> found;
  for (std::size_t k = 0; k < slots_.size(); ++k)
    if (fits(slots_[k].value)) found.push_back(k);
  return choose(found);
}
std::optional<std::size_t> Pool::pick_exact(const std::function<bool(const Array&)>& fits) const {
  std::vector<std::size_t> found;
  for (std::size_t k = 0; k < slots_.size(); ++k)
    if (slots_[k].exact && fits(slots_[k].value)) found.push_back(k);
  return choose(found);
}
std::optional<std::size_t> Pool::choose(const std::vector<std::size_t>& found) const {
  if (found.empty()) return std::nullopt;
  const auto n = static_cast<int>(found.size());
  std::size_t chosen = 0;
  for (int tries = 0; tries < 4; ++tries) {
    chosen = found[static_cast<std::size_t>(std::max(draw.below(n), draw.below(n)))];
    if (slots_[chosen].value.size() > 1) break;
  }
  return chosen;
}
std::optional<std::size_t> Pool::pick_partner(const Array& a, const std::function<bool(const Array&)>& fits) const {
  return pick([&](const Array& b) {
    if (!fits(b)) return false;
    std::int64_t elements = 1;
    for (int k = 1; k <= std::max(a.ndim(), b.ndim()); ++k) {
      const std::int64_t m = k <= a.ndim() ? a.shape(a.ndim() - k) : 1, n = k <= b.ndim() ? b.shape(b.ndim() - k) : 1;
      if (m != n && m != 1 && n != 1) return false;
      elements *= m == 1 ? n : m;
    }
    return elements <= options.most_elements;
  });
}

namespace {

const std::vector<DType> real_types{DType::f32, DType::f32, DType::f32, DType::f64, DType::f16, DType::bf16};
const std::vector<DType> other_types{DType::i32, DType::i64, DType::u8,  DType::bool_, DType::i8,
                                     DType::i16, DType::u16, DType::u32, DType::u64};
const std::vector<DType> narrow_types{DType::i32, DType::u8,  DType::bool_, DType::i8,
                                      DType::i16, DType::u16, DType::u32};

Array random_values(Draw& draw, DType dtype, const Shape& shape, bool special) {
  std::int64_t n = 1;
  for (auto d : shape) n *= d;
  std::vector<double> v;
  const std::vector<double> extremes{0.0,    -0.0,    1.0,  -1.0,  std::nan(""), HUGE_VAL, -HUGE_VAL,
                                     1e-310, 1e-40,   6e-8, 65504, 3e38,         -1e300,   0x1p31,
                                     0x1p63, -0x1p63, 0.5,  2.5,   -1.5,         255,      -129};
  for (std::int64_t k = 0; k < n; ++k) {
    if (special && draw.one_in(3))
      v.push_back(draw.pick(extremes));
    else if (ct::is_floating(dtype))
      v.push_back(draw.one_in(8) ? draw.between(-3, 3) : draw.uniform(-2, 2));
    else
      v.push_back(draw.one_in(4) ? draw.between(-300, 300) : draw.between(-4, 9));
  }
  const Array a = Array::from_host(v, shape);
  return dtype == DType::bool_ ? a.astype(ct::i32) % 2 == 0 : a.astype(dtype);
}

/// Whether values stay where tolerances mean something.
bool is_tame(const Array& a) {
  if (!is_real(a)) return true;
  const double limit = a.dtype() == DType::f16 ? 1e3 : 1e5;
  const auto v = a.to_vector<double>();
  return std::all_of(v.begin(), v.end(), [&](double e) { return std::abs(e) <= limit; });
}

}  // namespace

std::int64_t random_size(Draw& draw, const Options& options) {
  static const std::vector<int> corners{1, 2, 3, 4, 5, 7, 8, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65};
  if (!options.corner_sizes)
    return draw.between(static_cast<int>(options.smallest_axis), static_cast<int>(options.largest_axis));
  // Two axes of a matrix should have room.
  for (;;)
    if (const std::int64_t size = draw.pick(corners); size * size <= options.most_elements || draw.one_in(4))
      return size;
}

Program random_program(Draw& draw, const Options& options) {
  const OnReference scope;
  static const std::vector<std::vector<Op>> families{elementwise_ops(), view_ops(), movement_ops(), reduction_ops(),
                                                     product_ops()};
  std::vector<std::size_t> which;
  for (std::size_t k = 0; k < families.size(); ++k)
    which.insert(which.end(), static_cast<std::size_t>(options.weights[k]), k);
  std::vector<std::int64_t> sizes;
  for (int k = 0; k < options.axes; ++k)
    sizes.push_back(draw.one_in(options.zero_axis) ? 0 : random_size(draw, options));
  Program p;
  p.around = options.around;
  p.device = options.device;
  const bool gpu = options.device == "webgpu";
  const bool one_type = p.around != Around::nothing || gpu;
  const DType main_type = gpu ? DType::f32 : one_type ? DType::f64 : draw.pick(real_types);
  const int inputs = draw.between(1, 4);
  for (int k = 0; k < inputs; ++k) {
    Shape shape;
    std::int64_t elements = 1;
    for (auto d : sizes) {
      if (draw.one_in(4)) continue;
      shape.push_back(draw.one_in(6) || elements * d > options.most_elements ? 1 : d);
      elements *= shape.back();
    }
    const int kind = draw.below(6);
    const DType dtype = kind < 3                 ? main_type
                        : kind == 3 && !one_type ? draw.pick(real_types)
                                                 : draw.pick(gpu ? narrow_types : other_types);
    const Array value = random_values(draw, dtype, shape, options.special);
    p.slots.push_back({"input", {}, nullptr, Rounding::exact, value, true});
  }
  const int nodes = options.most_nodes ? draw.between(options.nodes, options.most_nodes) : options.nodes;
  for (int tries = 0, made = 0; made < nodes && tries < 40 * nodes; ++tries) {
    const std::size_t family = draw.pick(which);
    const Op& op = draw.pick(families[family]);
    if (options.special && !op.exact) continue;
    auto slot = op.make(Pool(p.slots, draw, options));
    if (!slot) continue;
    Arrays operands;
    constexpr std::size_t views = 1, movement = 2;
    bool exact = slot->rounding == Rounding::exact && (!gpu || family == views || family == movement);
    for (std::size_t k : slot->operands) {
      operands.push_back(p.slots[k].value);
      exact &= p.slots[k].exact;
    }
    slot->value = slot->apply(operands);
    if (one_type && is_real(slot->value) && slot->value.dtype() != main_type) continue;
    if (gpu && ct::itemsize(slot->value.dtype()) > 4) continue;
    slot->exact = exact || !is_real(slot->value);
    if (slot->value.size() > options.most_elements || (!options.special && !is_tame(slot->value))) continue;
    p.slots.push_back(std::move(*slot));
    ++made;
  }
  // All that nobody reads, so that nothing is dead code; and sometimes a value inside, an input, a value
  // twice.
  std::vector<bool> read(p.slots.size(), false);
  for (const Slot& s : p.slots)
    for (std::size_t o : s.operands) read[o] = true;
  for (std::size_t k = 0; k < p.slots.size(); ++k)
    if (!read[k] && p.slots[k].apply) p.results.push_back(k);
  for (int more = draw.below(3); more > 0 || p.results.empty(); --more)
    p.results.push_back(static_cast<std::size_t>(draw.below(static_cast<int>(p.slots.size()))));
  return p;
}

}  // namespace fuzz
