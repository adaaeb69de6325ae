#include "native/fuzz_program.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <sstream>

namespace fuzz {

namespace {

/// Arrays are made on, and constants go to, the reference device as long as this lives.
struct OnReference {
  std::string before = ct::default_device().name();
  OnReference() { ct::default_device("reference"); }
  ~OnReference() { ct::default_device(before); }
};

double unit_in_last_place(DType t) {
  switch (t) {
    case DType::bf16:
      return 0x1p-8;
    case DType::f16:
      return 0x1p-11;
    case DType::f32:
      return 0x1p-24;
    default:
      return 0x1p-53;
  }
}

std::vector<std::byte> bytes_of(const Array& a) {
  std::vector<std::byte> out;
  const auto copy = [&]<class T>() {
    const std::vector<T> v = a.to_vector<T>();
    out.resize(v.size() * sizeof(T));
    if (!v.empty()) std::memcpy(out.data(), v.data(), out.size());
  };
  switch (a.dtype()) {
    case DType::bool_:
    case DType::u8:
      copy.operator()<std::uint8_t>();
      break;
    case DType::i8:
      copy.operator()<std::int8_t>();
      break;
    case DType::i16:
      copy.operator()<std::int16_t>();
      break;
    case DType::i32:
      copy.operator()<std::int32_t>();
      break;
    case DType::i64:
      copy.operator()<std::int64_t>();
      break;
    case DType::u16:
      copy.operator()<std::uint16_t>();
      break;
    case DType::u32:
      copy.operator()<std::uint32_t>();
      break;
    case DType::u64:
      copy.operator()<std::uint64_t>();
      break;
    case DType::f16:
      copy.operator()<ct::float16>();
      break;
    case DType::bf16:
      copy.operator()<ct::bfloat16>();
      break;
    case DType::f32:
      copy.operator()<float>();
      break;
    case DType::f64:
      copy.operator()<double>();
      break;
  }
  return out;
}

Arrays pick(const Arrays& values, const std::vector<std::size_t>& at) {
  Arrays out;
  for (std::size_t k : at) out.push_back(values[k]);
  return out;
}

/// x with each element moved by half a unit to a unit in its last place.
Array moved(const Array& x, Draw& draw) {
  if (!is_real(x) || x.size() == 0) return x;
  const double unit = unit_in_last_place(x.dtype());
  std::vector<double> v = x.to_vector<double>();
  for (double& e : v) e += e * unit * (draw.one_in(2) ? 1 : -1) * draw.uniform(1, 2);
  return ct::device_put(Array::from_host(v, x.shape()), "reference").astype(x.dtype());
}

}  // namespace

bool is_real(const Array& a) { return ct::is_floating(a.dtype()); }
bool is_integral(const Array& a) { return ct::is_integer(a.dtype()); }
std::string text(const std::vector<std::int64_t>& numbers) {
  std::string out;
  for (auto n : numbers) out += (out.empty() ? "" : ",") + std::to_string(n);
  return "[" + out + "]";
}

// Programs ------------------------------------------------------------------------------------------

Arrays Program::inputs() const {
  Arrays out;
  for (const Slot& s : slots)
    if (!s.apply) out.push_back(s.value);
  return out;
}
Arrays Program::operator()(const Arrays& inputs) const {
  Arrays values;
  std::size_t next = 0;
  for (const Slot& s : slots) values.push_back(s.apply ? s.apply(pick(values, s.operands)) : inputs[next++]);
  return pick(values, results);
}
Arrays Program::transformed(const Arrays& inputs) const {
  if (around == Around::grad) {
    Arrays real;
    for (const Array& a : inputs)
      if (is_real(a)) real.push_back(a);
    return ct::grad([&](const Arrays& x) {
      Arrays all = inputs;
      std::size_t next = 0;
      for (Array& a : all)
        if (is_real(a)) a = x[next++];
      Array sum = np::full({}, 0.0, ct::f64);
      for (const Array& r : (*this)(all))
        if (is_real(r)) sum = sum + np::sum(r);
      return sum;
    })(real);
  }
  if (around == Around::vmap && !inputs.empty()) {
    Arrays several;
    for (const Array& a : inputs)
      several.push_back(np::stack(a.dtype() == DType::bool_ ? Arrays{a, ~a, a} : Arrays{a, a + 1, a * 2}));
    return ct::vmap([&](const Arrays& x) { return (*this)(x); })(several);
  }
  return (*this)(inputs);
}
Arrays Program::disturbed(Draw& draw) const {
  const OnReference scope;
  Arrays values;
  for (const Slot& s : slots) {
    if (!s.apply || s.exact) {
      values.push_back(s.value);
      continue;
    }
    Arrays operands = pick(values, s.operands);
    if (s.rounding == Rounding::terms)
      for (Array& a : operands) a = moved(a, draw);
    Array result = s.apply(operands);
    // Halves are rounded after every operation: what comes before that may tip over to a neighbour.
    values.push_back(s.rounding == Rounding::exact && ct::itemsize(result.dtype()) > 2 ? result
                                                                                       : moved(result, draw));
  }
  return pick(values, results);
}
std::string Program::str() const {
  std::ostringstream out;
  for (std::size_t k = 0; k < slots.size(); ++k) {
    out << "  v" << k << ": " << ct::describe(slots[k].value.dtype(), slots[k].value.shape()) << " = "
        << slots[k].name;
    for (std::size_t o : slots[k].operands) out << " v" << o;
    out << (slots[k].exact ? "\n" : "  (inexact)\n");
  }
  out << "  return";
  for (std::size_t r : results) out << " v" << r;
  out << "\n";
  return out.str();
}

// Choices -------------------------------------------------------------------------------------------

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
std::optional<std::size_t> Pool::pick_partner(const Array& a,
                                              const std::function<bool(const Array&)>& fits) const {
  return pick([&](const Array& b) {
    if (!fits(b)) return false;
    std::int64_t elements = 1;
    for (int k = 1; k <= std::max(a.ndim(), b.ndim()); ++k) {
      const std::int64_t m = k <= a.ndim() ? a.shape(a.ndim() - k) : 1,
                         n = k <= b.ndim() ? b.shape(b.ndim() - k) : 1;
      if (m != n && m != 1 && n != 1) return false;
      elements *= m == 1 ? n : m;
    }
    return elements <= options.most_elements;
  });
}

// Generation ----------------------------------------------------------------------------------------

namespace {

const std::vector<DType> real_types{DType::f32, DType::f32, DType::f32, DType::f64, DType::f16, DType::bf16};
const std::vector<DType> other_types{DType::i32, DType::i64, DType::u8,  DType::bool_, DType::i8,
                                     DType::i16, DType::u16, DType::u32, DType::u64};

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

Program random_program(Draw& draw, const Options& options) {
  const OnReference scope;
  static const std::vector<std::vector<Op>> families{elementwise_ops(), view_ops(), movement_ops(),
                                                     reduction_ops(), product_ops()};
  std::vector<std::size_t> which;
  for (std::size_t k = 0; k < families.size(); ++k)
    which.insert(which.end(), static_cast<std::size_t>(options.weights[k]), k);
  std::vector<std::int64_t> sizes;
  for (int k = 0; k < options.axes; ++k)
    sizes.push_back(draw.one_in(options.zero_axis) ? 0
                                                   : draw.between(static_cast<int>(options.smallest_axis),
                                                                  static_cast<int>(options.largest_axis)));
  Program p;
  p.around = options.around;
  const bool wide = p.around != Around::nothing;
  const DType main_type = wide ? DType::f64 : draw.pick(real_types);
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
    const DType dtype = kind < 3             ? main_type
                        : kind == 3 && !wide ? draw.pick(real_types)
                                             : draw.pick(other_types);
    const Array value = random_values(draw, dtype, shape, options.special);
    p.slots.push_back({"input", {}, nullptr, Rounding::exact, value, true});
  }
  for (int tries = 0, made = 0; made < options.nodes && tries < 40 * options.nodes; ++tries) {
    const Op& op = draw.pick(families[draw.pick(which)]);
    if (options.special && !op.exact) continue;
    auto slot = op.make(Pool(p.slots, draw, options));
    if (!slot) continue;
    Arrays operands;
    bool exact = slot->rounding == Rounding::exact;
    for (std::size_t k : slot->operands) {
      operands.push_back(p.slots[k].value);
      exact &= p.slots[k].exact;
    }
    slot->value = slot->apply(operands);
    if (wide && is_real(slot->value) && slot->value.dtype() != DType::f64) continue;
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

// Comparison ----------------------------------------------------------------------------------------

namespace {

/// Freed memory is used again: what a program reads before it has written it must not look right by chance.
void leave_garbage(const Arrays& like) {
  Arrays held;
  const auto add = [&](std::int64_t bytes) {
    const std::vector<std::byte> garbage(static_cast<std::size_t>(bytes), std::byte{0xa5});
    held.push_back(Array::from_bytes(DType::u8, {bytes}, garbage));
  };
  for (std::int64_t bytes = 64; bytes <= 4096; bytes += 64) add(bytes);
  for (const Array& a : like) add(static_cast<std::int64_t>(a.nbytes()));
}

constexpr int disturbances = 4;
/// Disturbed runs show how far results move when each operation is off by about a unit; this many units are
/// allowed.
constexpr double allowed_units = 24;

/// Bit by bit, but for the bits of a NaN.
std::string compare_bits(const Array& got, const Array& want) {
  const auto a = bytes_of(got), b = bytes_of(want);
  const std::size_t size = ct::itemsize(want.dtype());
  std::vector<double> x, y;
  for (std::size_t k = 0; k * size < b.size(); ++k) {
    if (std::memcmp(&a[k * size], &b[k * size], size) == 0) continue;
    if (x.empty()) x = got.to_vector<double>(), y = want.to_vector<double>();
    if (is_real(want) && std::isnan(x[k]) && std::isnan(y[k])) continue;
    std::ostringstream out;
    out.precision(17);
    out << "element " << k << " is " << x[k] << " instead of " << y[k] << ", which is exact";
    return out.str();
  }
  return {};
}

/// The same bits, whatever the number of threads.
template <class F>
std::string compare_threads(const F& compiled, const Arrays& inputs) {
  const int before = ct::num_threads();
  ct::set_num_threads(1);
  const Arrays one = compiled(inputs);
  ct::set_num_threads(3);
  const Arrays three = compiled(inputs);
  ct::set_num_threads(before);
  for (std::size_t r = 0; r < one.size(); ++r)
    if (const std::string fault = compare_bits(three[r], one[r]); !fault.empty())
      return "three threads: result " + std::to_string(r) + ": " + fault + " with one thread\n";
  return {};
}

std::string compare_values(const Array& got, const Array& want, const Arrays& disturbed) {
  const auto x = got.to_vector<double>(), y = want.to_vector<double>();
  double largest = 0, motion = 0;
  for (double v : y) largest = std::max(largest, std::abs(v));
  for (const Array& d : disturbed) {
    const auto z = d.to_vector<double>();
    for (std::size_t k = 0; k < y.size(); ++k) motion = std::max(motion, std::abs(z[k] - y[k]));
  }
  const double tolerance = allowed_units * motion + 2 * unit_in_last_place(want.dtype()) * largest;
  for (std::size_t k = 0; k < y.size(); ++k) {
    if (std::abs(x[k] - y[k]) <= tolerance) continue;
    std::ostringstream out;
    out.precision(17);
    out << "element " << k << " is " << x[k] << " instead of " << y[k] << "; tolerance " << tolerance;
    return out.str();
  }
  return {};
}

}  // namespace

namespace {

/// In f64; where the reference has no number (a derivative at a kink), none is asked for.
std::string transformed_difference(const Program& program) {
  const auto call = [&](const Arrays& x) { return program.transformed(x); };
  Arrays inputs = program.inputs(), want;
  try {
    const OnReference scope;
    want = call(inputs);
  } catch (const ct::TransformError&) {
    return {};  // not differentiable
  }
  try {
    for (Array& a : inputs) a = ct::device_put(a, "native");
    leave_garbage(want);
    const Arrays got = ct::jit(call)(inputs);
    for (std::size_t r = 0; r < want.size(); ++r) {
      if (!is_real(want[r])) {
        if (const std::string fault = compare_bits(got[r], want[r]); !fault.empty())
          return "compiled: " + fault + "\n";
        continue;
      }
      const auto x = got[r].to_vector<double>(), y = want[r].to_vector<double>();
      double largest = 1;
      for (double v : y)
        if (std::isfinite(v)) largest = std::max(largest, std::abs(v));
      for (std::size_t k = 0; k < y.size(); ++k)
        if (std::isfinite(y[k]) && !(std::abs(x[k] - y[k]) <= 1e-10 * largest))
          return "compiled: result " + std::to_string(r) + ", element " + std::to_string(k) + " is " +
                 std::to_string(x[k]) + " instead of " + std::to_string(y[k]) + "\n";
    }
  } catch (const std::exception& error) {
    return std::string("raised: ") + error.what() + "\n";
  }
  return {};
}

}  // namespace

std::string difference(const Program& program, std::uint64_t seed) {
  if (program.around != Around::nothing) return transformed_difference(program);
  Draw draw(seed);
  Arrays want;
  bool all_exact = true;
  for (std::size_t r : program.results) {
    want.push_back(program.slots[r].value);
    all_exact &= program.slots[r].exact;
  }
  std::vector<Arrays> disturbed(program.results.size());
  for (int k = 0; k < disturbances && !all_exact; ++k) {
    const Arrays run = program.disturbed(draw);
    for (std::size_t r = 0; r < run.size(); ++r) disturbed[r].push_back(run[r]);
  }
  const auto compare = [&](std::string_view how, const Arrays& got) -> std::string {
    for (std::size_t r = 0; r < want.size(); ++r) {
      std::string fault;
      if (got[r].dtype() != want[r].dtype() || got[r].shape() != want[r].shape())
        fault = "type is " + ct::describe(got[r].dtype(), got[r].shape());
      else if (got[r].weak_type() != want[r].weak_type())
        fault = got[r].weak_type() ? "is weakly typed" : "is not weakly typed";
      else if (program.slots[program.results[r]].exact)
        fault = compare_bits(got[r], want[r]);
      else
        fault = compare_values(got[r], want[r], disturbed[r]);
      if (!fault.empty())
        return std::string(how) + ": result " + std::to_string(r) + " (v" +
               std::to_string(program.results[r]) + "): " + fault + "\n";
    }
    return {};
  };
  try {
    const auto fresh = [&] {
      Arrays inputs = program.inputs();
      for (Array& a : inputs) a = ct::device_put(a, "native");
      return inputs;
    };
    const auto call = [&](const Arrays& inputs) { return program(inputs); };
    const Arrays inputs = fresh();
    const auto compiled = ct::jit(call);
    leave_garbage(want);
    std::string fault = compare("compiled", compiled(inputs));
    if (fault.empty() && seed % 4 == 0) fault = compare("called again", compiled(inputs));
    if (fault.empty() && seed % 4 == 1) fault = compare("donated", ct::jit(call, {.donate = {0}})(fresh()));
    if (fault.empty() && seed % 4 == 2) fault = compare("eager", call(inputs));
    if (fault.empty() && seed % 4 == 3) fault = compare_threads(compiled, inputs);
    return fault;
  } catch (const std::exception& error) {
    return std::string("raised: ") + error.what() + "\n";
  }
}

// Shrinking -----------------------------------------------------------------------------------------

namespace {

/// Without slots that no result needs.
Program pruned(const Program& p) {
  std::vector<bool> needed(p.slots.size(), false);
  for (std::size_t r : p.results) needed[r] = true;
  for (std::size_t k = p.slots.size(); k-- > 0;)
    if (needed[k])
      for (std::size_t o : p.slots[k].operands) needed[o] = true;
  Program out;
  out.around = p.around;
  std::vector<std::size_t> number(p.slots.size());
  for (std::size_t k = 0; k < p.slots.size(); ++k) {
    if (!needed[k]) continue;
    number[k] = out.slots.size();
    out.slots.push_back(p.slots[k]);
    for (std::size_t& o : out.slots.back().operands) o = number[o];
  }
  for (std::size_t r : p.results) out.results.push_back(number[r]);
  return out;
}

}  // namespace

Program shrink(Program program, const std::function<bool(const Program&)>& fails) {
  const auto attempt = [&](Program smaller) {
    smaller = pruned(smaller);
    if (!fails(smaller)) return false;
    program = std::move(smaller);
    return true;
  };
  bool again = true;
  while (again) {
    again = false;
    for (std::size_t r = program.results.size(); r-- > 0 && program.results.size() > 1;) {
      Program fewer = program;
      fewer.results.erase(fewer.results.begin() + static_cast<std::ptrdiff_t>(r));
      again |= attempt(std::move(fewer));
    }
    for (std::size_t k = program.slots.size(); k-- > 0;) {
      if (k >= program.slots.size() || !program.slots[k].apply) continue;
      Program cut = program;
      cut.slots[k] = {"input", {}, nullptr, Rounding::exact, program.slots[k].value, true};
      // Values after it that were inexact because of it stay so: their tolerance only shrinks.
      again |= attempt(std::move(cut));
    }
  }
  return program;
}

}  // namespace fuzz
