// The fuzzer's judgement: what may differ between two devices, and by how much.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <sstream>

#include "core/buffer.hpp"
#include "native/fuzz_program.hpp"

namespace fuzz {

namespace {

/// Disturbed runs show how far results move when each operation is off by about a unit …
constexpr int disturbances = 4;
/// … and so many units are allowed.
constexpr double allowed_units = 16;

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

/// x with each element moved by one or two units in its last place, and by `drift` units of f32 or f64, in
/// which sums are computed.
Array moved(const Array& x, Draw& draw, double drift = 0) {
  if (!is_real(x) || x.size() == 0) return x;
  const double unit = unit_in_last_place(x.dtype());
  const double shift = drift * std::min(unit, unit_in_last_place(DType::f32));
  std::vector<double> v = x.to_vector<double>();
  for (double& e : v) e += e * (unit * (draw.one_in(2) ? 1 : -1) * draw.uniform(1, 2) + shift);
  return ct::device_put(Array::from_host(v, x.shape()), "reference").astype(x.dtype());
}

/// How many terms the sums of an operation have, about.
double terms_of(const Arrays& operands, const Array& result) {
  double n = 1;
  for (const Array& a : operands) {
    n = std::max(n, static_cast<double>(a.size()) / static_cast<double>(std::max<std::int64_t>(result.size(), 1)));
    for (auto d : a.shape()) n = std::max(n, static_cast<double>(d));
  }
  return n;
}

}  // namespace

Arrays Program::disturbed(Draw& draw) const {
  const OnReference scope;
  Arrays values;
  for (const Slot& s : slots) {
    if (!s.apply || s.exact) {
      values.push_back(s.value);
      continue;
    }
    Arrays operands = values_at(values, s.operands);
    if (s.rounding != Rounding::exact)
      for (Array& a : operands) a = moved(a, draw);
    const Array result = s.apply(operands);
    // Halves are rounded after every operation: what comes before that may tip over to a neighbour.
    if (s.rounding == Rounding::exact && ct::itemsize(result.dtype()) > 2)
      values.push_back(result);
    else if (s.rounding == Rounding::sum)  // n equal terms, one after another, may be off by n/2 units
      values.push_back(moved(result, draw, terms_of(operands, result) / allowed_units));
    else
      values.push_back(moved(result, draw));
  }
  return values_at(values, results);
}

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

/// Bit by bit, but for the bits of a NaN.
std::string compare_bits(const Array& got, const Array& want) {
  const std::byte *a = ct::data<std::byte>(got), *b = ct::data<std::byte>(want);
  const std::size_t size = ct::itemsize(want.dtype()), elements = static_cast<std::size_t>(want.size());
  std::vector<double> x, y;
  for (std::size_t k = 0; k < elements; ++k) {
    if (std::memcmp(a + k * size, b + k * size, size) == 0) continue;
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

/// In f64, or where the device has none by how far results move with the inputs. Where the reference has no number (a
/// derivative at a kink), none is asked for.
std::string transformed_difference(const Program& program, Draw& draw) {
  const auto call = [&](const Arrays& x) { return program.transformed(x); };
  Arrays inputs = program.inputs(), want;
  std::vector<Arrays> disturbed;
  try {
    const OnReference scope;
    want = call(inputs);
    for (int k = 0; k < disturbances && program.device != "native"; ++k) {
      Arrays near = inputs;
      for (Array& a : near) a = moved(a, draw);
      disturbed.push_back(call(near));
    }
  } catch (const ct::TransformError&) {
    return {};  // not differentiable
  }
  constexpr double double_tolerance = 1e-10, single_tolerance = 1e-5;
  try {
    const OnDevice scope(program.device);
    for (Array& a : inputs) a = ct::device_put(a, program.device);
    leave_garbage(want);
    const Arrays got = ct::jit(call)(inputs);
    for (std::size_t r = 0; r < want.size(); ++r) {
      if (!is_real(want[r])) {
        if (const std::string fault = compare_bits(got[r], want[r]); !fault.empty()) return "compiled: " + fault + "\n";
        continue;
      }
      const auto x = got[r].to_vector<double>(), y = want[r].to_vector<double>();
      double largest = 1;
      for (double v : y)
        if (std::isfinite(v)) largest = std::max(largest, std::abs(v));
      double tolerance = (disturbed.empty() ? double_tolerance : single_tolerance) * largest;
      for (const Arrays& d : disturbed) {
        const auto z = d[r].to_vector<double>();
        double motion = 0;
        for (std::size_t k = 0; k < y.size(); ++k)
          if (std::isfinite(y[k])) motion = std::max(motion, std::isfinite(z[k]) ? std::abs(z[k] - y[k]) : HUGE_VAL);
        tolerance = std::max(tolerance, allowed_units * motion);
      }
      for (std::size_t k = 0; k < y.size(); ++k)
        if (std::isfinite(y[k]) && !(std::abs(x[k] - y[k]) <= tolerance))
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
  Draw draw(seed);
  if (program.around != Around::nothing) return transformed_difference(program, draw);
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
        return std::string(how) + ": result " + std::to_string(r) + " (v" + std::to_string(program.results[r]) +
               "): " + fault + "\n";
    }
    return {};
  };
  try {
    const auto fresh = [&] {
      Arrays inputs = program.inputs();
      for (Array& a : inputs) a = ct::device_put(a, program.device);
      return inputs;
    };
    const OnDevice scope(program.device);
    const auto call = [&](const Arrays& inputs) { return program(inputs); };
    const Arrays inputs = fresh();
    const auto compiled = ct::jit(call);
    leave_garbage(want);
    std::string fault = compare("compiled", compiled(inputs));
    if (fault.empty() && seed % 4 == 0) fault = compare("called again", compiled(inputs));
    if (fault.empty() && seed % 4 == 1) fault = compare("donated", ct::jit(call, {.donate = {0}})(fresh()));
    const bool native = program.device == "native";
    if (fault.empty() && seed % 4 == 2 && native) fault = compare("eager", call(inputs));
    if (fault.empty() && seed % 4 == 3 && native) fault = compare_threads(compiled, inputs);
    return fault;
  } catch (const std::exception& error) {
    return std::string("raised: ") + error.what() + "\n";
  }
}

}  // namespace fuzz
