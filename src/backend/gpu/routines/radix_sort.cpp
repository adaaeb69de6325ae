#include "backend/gpu/routines/radix_sort.hpp"

#include "backend/gpu/codegen/reduction.hpp"
#include "backend/gpu/routines/cumulative.hpp"
#include "expansions/expansions.hpp"

namespace cotan::gpu {

namespace {

constexpr int digit_bits = 8, digits = 1 << digit_bits, passes = 32 / digit_bits;
constexpr std::uint32_t subgroups_of_group = 8;
constexpr std::int64_t rounds = 8;  ///< elements of a thread

std::int64_t threads_of(const Capabilities& device) { return std::int64_t{subgroups_of_group} * device.subgroup_size; }
std::int64_t tiles_of(std::int64_t length, const Capabilities& device) {
  const std::int64_t tile = threads_of(device) * rounds;
  return (length + tile - 1) / tile;
}

/// The scratch: how often each digit is in each tile, with one more column for what that comes to; two copies of the
/// keys and of the positions.
struct Layout {
  std::int64_t length, tiles;
  std::int64_t columns() const { return tiles + 1; }
  std::int64_t keys(int copy) const { return digits * columns() + copy * length; }
  std::int64_t positions(int copy) const { return keys(2) + copy * length; }
  std::int64_t words() const { return positions(2); }
};

class RadixWriter {
 public:
  RadixWriter(const Program& program, const compiler::Routine& routine, BufferId scratch, int pass, const char* name,
              const Surroundings& around, const Capabilities& device)
      : at_{routine.operands[0].type.size(), tiles_of(routine.operands[0].type.size(), device)},
        routine_(routine),
        scratch_(scratch),
        pass_(pass),
        size_(device.subgroup_size),
        threads_(static_cast<std::uint32_t>(threads_of(device))),
        device_(device),
        s_(program, name, device),
        w_(s_.body),
        d_(w_.dialect()) {
    s_.enter(around, threads_);
    w_.let("tile", "i32(group.y * groups.x + group.x)");
    if (at_.tiles > device.groups) w_.line(fmt::format("if (tile >= {}) {{ return; }}", at_.tiles));
    // A subgroup has neighbours: one after the other in rounds.
    w_.let("part", fmt::format("thread / {}u", size_));
    w_.let("first",
           fmt::format("tile * {} + i32(part * {}u + thread % {}u)", threads_ * rounds, size_ * rounds, size_));
  }

  /// How often each digit is in each tile.
  Shader count() {
    s_.declare_shared("counts", d_.atomic("u32"), digits);
    count_digits("digit");
    each_digit([&] {
      w_.line(s_.store(scratch_, DType::u32, fmt::format("i32(digit) * {} + tile", at_.columns()),
                       d_.atomic_load("counts[digit]")));
      w_.line(fmt::format(
          "if (tile == 0) {{ {} }}",
          s_.store(scratch_, DType::u32, fmt::format("i32(digit) * {} + {}", at_.columns(), at_.tiles), "0u")));
    });
    return finish();
  }

  /// Elements go where their digits go, in the order they are in. The scratch knows what is before each tile.
  Shader move() {
    s_.declare_shared("counts", d_.atomic("u32"), subgroups_of_group * digits);
    count_digits(fmt::format("part * {}u + digit", digits));
    // What is before each digit, then before each part of the tile.
    const std::int64_t own = digits / threads_;
    const auto word = [&](std::int64_t k, const std::string& column) {
      return s_.loaded(scratch_, DType::u32,
                       fmt::format("(i32(thread) * {} + {}) * {} + {}", own, k, at_.columns(), column));
    };
    std::string sum;
    for (std::int64_t k = 0; k < own; ++k) {
      w_.let(fmt::format("total{}", k), word(k, std::to_string(at_.tiles)));
      sum += (k ? " + " : "") + fmt::format("total{}", k);
    }
    scan_threads(s_, expr::ReduceOp::sum, DType::u32, threads_, sum);
    for (std::int64_t k = 0; k < own; ++k) {
      w_.variable(fmt::format("next{}", k), fmt::format("before + {}", word(k, "tile")));
      w_.line(fmt::format("before += total{};", k));
      w_.open_loop("p", "0u", fmt::format("{}u", subgroups_of_group));
      w_.line(fmt::format("next{} += {};", k,
                          d_.atomic_exchange(fmt::format("counts[p * {}u + thread * {}u + {}u]", digits, own, k),
                                             fmt::format("next{}", k))));
      w_.close();
    }
    w_.barrier();
    w_.open_loop("round", "0", rounds);
    w_.let("i", fmt::format("first + round * {}", size_));
    w_.let("inside", fmt::format("i < {}", at_.length));
    w_.let("at", fmt::format("min(i, {})", at_.length - 1));
    w_.let("key", key("at"));
    w_.let("position",
           pass_ == 0 ? "u32(at)" : s_.loaded(scratch_, DType::u32, fmt::format("{} + at", at_.positions(from()))));
    w_.let("digit", digit());
    // Who in the subgroup has the same digit.
    w_.variable("same", d_.ballot("inside"));
    for (int bit = 0; bit < digit_bits; ++bit) {
      w_.let(fmt::format("has{}", bit), fmt::format("(digit & {}u) != 0u", 1 << bit));
      w_.let(fmt::format("vote{}", bit), d_.ballot(fmt::format("has{}", bit)));
      w_.line(fmt::format("same &= select(~vote{}, vote{}, has{});", bit, bit, bit));
    }
    w_.let("me", fmt::format("thread % {}u", size_));
    w_.let("counter", fmt::format("part * {}u + digit", digits));
    w_.let("to",
           fmt::format("i32({} + {})", d_.atomic_load("counts[counter]"), d_.count_ones("same & ((1u << me) - 1u)")));
    w_.barrier();
    w_.line(fmt::format("if (inside && me == {}) {{ {}; }}", d_.highest_one("same"),
                        d_.atomic_add("counts[counter]", d_.count_ones("same"))));
    w_.barrier();
    w_.open("if (inside)");
    if (pass_ + 1 < passes) {
      w_.line(s_.store(scratch_, DType::u32, fmt::format("{} + to", at_.keys(pass_ % 2)), "key"));
      w_.line(s_.store(scratch_, DType::u32, fmt::format("{} + to", at_.positions(pass_ % 2)), "position"));
    } else {
      w_.line(s_.store(routine_.results[0], DType::i32, "to", "position"));
    }
    w_.close();
    w_.close();
    s_.uses_subgroups = true;
    return finish();
  }

 private:
  int from() const { return 1 - pass_ % 2; }
  std::string key(const std::string& at) {
    if (pass_ > 0) return s_.loaded(scratch_, DType::u32, fmt::format("{} + {}", at_.keys(from()), at));
    const compiler::Operand& x = routine_.operands[0];
    return s_.loaded(x.buffer, DType::u32, x.offset ? fmt::format("{} + {}", w_.value(x.offset), at) : at);
  }
  std::string digit() const { return fmt::format("(key >> {}u) & {}u", pass_ * digit_bits, digits - 1); }

  void count_digits(const std::string& counter) {
    w_.open_loop("round", "0", rounds);
    w_.let("i", fmt::format("first + round * {}", size_));
    w_.open(fmt::format("if (i < {})", at_.length));
    w_.let("key", key("i"));
    w_.let("digit", digit());
    w_.line(d_.atomic_add(fmt::format("counts[{}]", counter), "1u") + ";");
    w_.close();
    w_.close();
    w_.barrier();
  }
  template <class F>
  void each_digit(F&& f) {
    w_.open_loop("digit", "thread", fmt::format("{}u", digits), fmt::format("{}u", threads_));
    f();
    w_.close();
  }
  Shader finish() { return s_.finish(threads_, grid(at_.tiles, device_.groups)); }

  const Layout at_;
  const compiler::Routine& routine_;
  const BufferId scratch_;
  const int pass_;
  const std::uint32_t size_, threads_;
  const Capabilities& device_;
  ShaderBuilder s_;
  Writer& w_;
  const Dialect& d_;
};

}  // namespace

bool prefers_radix_sort(const Primitive& p, std::span<const AbstractValue> types, const Capabilities& device) {
  constexpr std::int64_t many_elements = 1 << 13, most_elements = 1 << 26;  // four copies must fit into a block
  constexpr std::uint32_t largest_subgroup = 32;                            // whose votes are one word
  return &p == &order_of_words_p && types[0].size() >= many_elements && types[0].size() <= most_elements &&
         device.subgroup_size >= 4 && device.subgroup_size <= largest_subgroup &&
         threads_of(device) <= device.workgroup_threads;
}

std::int64_t radix_sort_words(std::int64_t length, const Capabilities& device) {
  return Layout{length, tiles_of(length, device)}.words();
}

std::vector<Shader> radix_sort_shaders(const Program& program, const compiler::Routine& routine, BufferId scratch,
                                       const Surroundings& around, const Capabilities& device) {
  const Layout at{routine.operands[0].type.size(), tiles_of(routine.operands[0].type.size(), device)};
  std::vector<Shader> out;
  for (int pass = 0; pass < passes; ++pass) {
    out.push_back(RadixWriter(program, routine, scratch, pass, "count digits", around, device).count());
    out.push_back(exclusive_sums(program, scratch, digits, at.columns(), around, device));
    out.push_back(RadixWriter(program, routine, scratch, pass, "move by digits", around, device).move());
  }
  return out;
}

}  // namespace cotan::gpu
