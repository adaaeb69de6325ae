// exp as XLA computes it, for samplers (S. Moshier, Cephes: expf and exp), and the multiply-add that they are made of.
#include <algorithm>
#include <bit>
#include <numbers>

#include "expr/math.hpp"
#include "ops/sampler_math.hpp"

namespace cotan::ops {

namespace {

struct Fma {
  template <class T>
  COTAN_INLINE static T of(T a, T b, T c) {
    return std::fma(a, b, c);
  }
};

struct SamplerExp {
  COTAN_INLINE static float of(float x) {
    if (std::isnan(x)) return x;
    x = std::clamp(x, -87.8f, 88.8f);
    const float n = std::clamp(std::floor(std::fma(x, std::numbers::log2e_v<float>, 0.5f)), -127.0f, 127.0f);
    const float r = std::fma(-n, -2.12194440e-4f, std::fma(-n, 0.693359375f, x));
    const float series =
        horner(r, {1.9875691500E-4f, 1.3981999507E-3f, 8.3334519073E-3f, 4.1665795894E-2f, 1.6666665459E-1f, 0.5f});
    const auto scale = std::bit_cast<float>((static_cast<std::uint32_t>(static_cast<std::int32_t>(n) + 127)) << 23);
    return (1.0f + std::fma(series, r * r, r)) * scale;
  }
  COTAN_INLINE static double of(double x) {
    constexpr double low = -0x1.6232bdd7abcd2p+9, high = 0x1.62e42fefa39efp+9;
    if (std::isnan(x)) return x;
    if (x < low) return 0;
    if (x > high) return std::numeric_limits<double>::infinity();
    const double n = std::floor(std::fma(x, std::numbers::log2e, 0.5));
    const double g = std::fma(-n, 1.42860682030941723212E-6, std::fma(-n, 6.93145751953125E-1, x)), g2 = g * g;
    const double p = horner(g2, {1.26177193074810590878E-4, 3.02994407707441961300E-2, 1.0}) * g;
    const double q = horner(g2, {3.00198505138664455042E-6, 2.52448340349684104192E-3, 2.27265548208155028766E-1, 2.0});
    const double half = std::floor(n * 0.5);
    const auto power = [](double k) {
      return std::bit_cast<double>(static_cast<std::uint64_t>(static_cast<std::int64_t>(k) + 1023) << 52);
    };
    return std::fma(p / (q - p), 2.0, 1.0) * power(half) * power(n - half);
  }
};

}  // namespace

const Primitive fma_p =
    sampler_function<Fma, 3>("fma",
                             {[](const Partial& p) { return p.t * p.x[1]; },
                              [](const Partial& p) { return p.x[0] * p.t; }, [](const Partial& p) { return p.t; }},
                             [](Xs x, const Params&) { return fma(x[0], x[1], x[2]); });
const Primitive sampler_exp_p =
    sampler_function<SamplerExp>("sampler_exp", {[](const Partial& p) { return p.t * p.y; }},
                                 [](Xs x, const Params&) { return expr::math::sampler_exp(x[0]); });
const Listed sampler_exp_listed{&fma_p, &sampler_exp_p};

}  // namespace cotan::ops
