#include "native/fuzz_program.hpp"

#include <algorithm>
#include <sstream>

namespace fuzz {

Arrays values_at(const Arrays& values, const std::vector<std::size_t>& at) {
  Arrays out;
  for (std::size_t k : at) out.push_back(values[k]);
  return out;
}

bool is_real(const Array& a) { return ct::is_floating(a.dtype()); }
bool is_integral(const Array& a) { return ct::is_integer(a.dtype()); }
std::string text(const std::vector<std::int64_t>& numbers) {
  std::string out;
  for (auto n : numbers) out += (out.empty() ? "" : ",") + std::to_string(n);
  return "[" + out + "]";
}

Arrays Program::inputs() const {
  Arrays out;
  for (const Slot& s : slots)
    if (!s.apply) out.push_back(s.value);
  return out;
}
Arrays Program::operator()(const Arrays& inputs) const {
  Arrays values;
  std::size_t next = 0;
  for (const Slot& s : slots) values.push_back(s.apply ? s.apply(values_at(values, s.operands)) : inputs[next++]);
  return values_at(values, results);
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
      Array sum = np::full({}, 0.0, device == "webgpu" ? ct::f32 : ct::f64);
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
std::string Program::str() const {
  std::ostringstream out;
  for (std::size_t k = 0; k < slots.size(); ++k) {
    out << "  v" << k << ": " << ct::describe(slots[k].value.dtype(), slots[k].value.shape()) << " = " << slots[k].name;
    for (std::size_t o : slots[k].operands) out << " v" << o;
    out << (slots[k].exact ? "\n" : "  (inexact)\n");
  }
  out << "  return";
  for (std::size_t r : results) out << " v" << r;
  out << "\n";
  return out.str();
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
  out.device = p.device;
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
