// threefry2x32: the counter-based generator behind every random number (Salmon et al., SC 2011). Operands
// are the two words of a key and of a counter, results the two words of the cipher; all u32, elementwise.
#include <bit>

#include "expr/math.hpp"
#include "ops/elementwise.hpp"

namespace cotan::ops {

namespace {

struct Words {
  std::uint32_t a, b;
};

/// 20 rounds; after every four a word of the key schedule is added to each half.
Words threefry2x32(Words key, Words x) {
  constexpr int rotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
  const std::uint32_t schedule[3] = {key.a, key.b, key.a ^ key.b ^ 0x1BD11BDAu};
  x.a += schedule[0];
  x.b += schedule[1];
  for (std::uint32_t group = 0; group < 5; ++group) {
    for (int rotation : rotations[group % 2]) {
      x.a += x.b;
      x.b = std::rotl(x.b, rotation) ^ x.a;
    }
    x.a += schedule[(group + 1) % 3];
    x.b += schedule[(group + 2) % 3] + group + 1;
  }
  return x;
}

Types threefry_type(const Primitive& self, std::span<const AbstractValue> x, const Params&) {
  const Shape shape = elementwise_shape(self, x);
  for (const auto& operand : x)
    if (operand.dtype != DType::u32)
      raise<TypeError>("[threefry2x32] an operand is {}; keys and counters are u32.", operand);
  return {{DType::u32, shape, false}, {DType::u32, shape, false}};
}
Arrays threefry_eval(const Primitive& self, std::span<const Array> x, const Params& params) {
  const Types types = self.type(self, types_of(x), params);
  auto [first, first_buffer] = allocate_like(x, types[0]);
  auto [second, second_buffer] = allocate_like(x, types[1]);
  const std::int64_t n = first.size();
  const std::uint32_t* in[4];
  std::int64_t steps[4];
  for (int k = 0; k < 4; ++k) {
    in[k] = data<std::uint32_t>(x[k]);
    steps[k] = step(x[k], n);
  }
  auto* a = reinterpret_cast<std::uint32_t*>(first_buffer->data());
  auto* b = reinterpret_cast<std::uint32_t*>(second_buffer->data());
  for (std::int64_t i = 0; i < n; ++i) {
    const Words out =
        threefry2x32({in[0][i * steps[0]], in[1][i * steps[1]]}, {in[2][i * steps[2]], in[3][i * steps[3]]});
    a[i] = out.a;
    b[i] = out.b;
  }
  return {first, second};
}

}  // namespace

const Primitive threefry2x32_p{.name = "threefry2x32",
                               .op_class = OpClass::elementwise,
                               .type = threefry_type,
                               .eval = threefry_eval,
                               .batch = elementwise_batch,
                               .not_differentiable = true,
                               .scalars = [](std::span<const expr::Expr> x, const Params&) {
                                 const auto [a, b] = expr::math::threefry2x32(x[0], x[1], x[2], x[3]);
                                 return std::vector{a, b};
                               }};
const Listed random_bits_listed{&threefry2x32_p};

}  // namespace cotan::ops
