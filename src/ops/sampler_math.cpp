// The functions that samplers transform uniform numbers with. jax.random's samples are defined by what
// XLA computes, so these follow the same published approximations operation by operation, fused
// multiply-adds included, where log, log1p and erf_inv of this library would be closer to the exact value:
//   log f32, log1p: S. Moshier, Cephes.  erf_inv: M. Giles, "Approximating the erfinv function".
#include "ops/sampler_math.hpp"

#include <bit>
#include <cotan/numpy.hpp>
#include <numbers>

#include "expr/math.hpp"

namespace cotan::ops {

namespace {

namespace np = numpy;

struct SamplerLog {
  COTAN_INLINE static float of(float x) {
    if (x == 0.0f) return -std::numeric_limits<float>::infinity();
    if (!(x > 0.0f)) return std::numeric_limits<float>::quiet_NaN();
    if (std::isinf(x)) return x;
    // x = 2^e (1 + m) with 1 + m from sqrt(1/2) to sqrt(2); subnormal numbers count as the smallest normal
    // one.
    const auto bits = std::bit_cast<std::uint32_t>(std::max(x, std::numeric_limits<float>::min()));
    float e = static_cast<float>(static_cast<int>(bits >> 23) - 126);
    float m = std::bit_cast<float>((bits & 0x007fffffu) | 0x3f000000u);
    const bool low = m < 0.707106781186547524f;
    m = (m - 1.0f) + (low ? m : 0.0f);
    e = low ? e - 1.0f : e;
    const float m2 = m * m, m3 = m2 * m;
    // Three polynomials of degree 2 in m, then one of degree 2 in m^3.
    const float high = horner(m, {7.0376836292E-2f, -1.1514610310E-1f, 1.1676998740E-1f});
    const float middle = horner(m, {-1.2420140846E-1f, 1.4249322787E-1f, -1.6668057665E-1f});
    const float bottom = horner(m, {2.0000714765E-1f, -2.4999993993E-1f, 3.3333331174E-1f});
    const float series = horner(m3, {high, middle, bottom});
    // log 2 in two parts, the larger one exact in few bits.
    const float tail = std::fma(series, m3, e * -2.12194440e-4f);
    return std::fma(e, 0.693359375f, std::fma(m2, -0.5f, m) + tail);
  }
  COTAN_INLINE static double of(double x) { return std::log(x); }
};

struct SamplerLog1p {
  template <class T>
  COTAN_INLINE static T of(T x) {
    if (!(std::fabs(x) < static_cast<T>(std::numbers::sqrt2 - 1.0))) return SamplerLog::of(x + T(1));
    const T numerator =
        horner(x, {T(4.5270000862445199635215E-5), T(4.9854102823193375972212E-1), T(6.5787325942061044846969E0),
                   T(2.9911919328553073277375E1), T(6.0949667980987787057556E1), T(5.7112963590585538103336E1),
                   T(2.0039553499201281259648E1)});
    const T denominator =
        horner(x, {T(1), T(1.5062909083469192043167E1), T(8.3047565967967209469434E1), T(2.2176239823732856465394E2),
                   T(3.0909872225312059774938E2), T(2.1642788614495947685003E2), T(6.0118660497603843919306E1)});
    const T x2 = x * x;
    return x + std::fma(x2, T(-0.5), (x * x2) * (numerator / denominator));
  }
};

struct SamplerErfInv {
  COTAN_INLINE static float of(float x) {
    if (std::fabs(x) == 1.0f) return x * std::numeric_limits<float>::infinity();
    const float w = -SamplerLog1p::of(x * -x);
    if (w < 5.0f)
      return x * horner(w - 2.5f, {2.81022636e-08f, 3.43273939e-07f, -3.5233877e-06f, -4.39150654e-06f, 0.00021858087f,
                                   -0.00125372503f, -0.00417768164f, 0.246640727f, 1.50140941f});
    return x * horner(std::sqrt(w) - 3.0f, {-0.000200214257f, 0.000100950558f, 0.00134934322f, -0.00367342844f,
                                            0.00573950773f, -0.0076224613f, 0.00943887047f, 1.00167406f, 2.83297682f});
  }
  COTAN_INLINE static double of(double x) {
    if (std::fabs(x) == 1.0) return x * std::numeric_limits<double>::infinity();
    const double w = -SamplerLog1p::of(x * -x);
    if (w < 6.25)
      return x * horner(w - 3.125, {-3.6444120640178196996e-21, -1.685059138182016589e-19,  1.2858480715256400167e-18,
                                    1.115787767802518096e-17,   -1.333171662854620906e-16,  2.0972767875968561637e-17,
                                    6.6376381343583238325e-15,  -4.0545662729752068639e-14, -8.1519341976054721522e-14,
                                    2.6335093153082322977e-12,  -1.2975133253453532498e-11, -5.4154120542946279317e-11,
                                    1.051212273321532285e-09,   -4.1126339803469836976e-09, -2.9070369957882005086e-08,
                                    4.2347877827932403518e-07,  -1.3654692000834678645e-06, -1.3882523362786468719e-05,
                                    0.0001867342080340571352,   -0.00074070253416626697512, -0.0060336708714301490533,
                                    0.24015818242558961693,     1.6536545626831027356});
    if (w < 16.0)
      return x *
             horner(std::sqrt(w) - 3.25,
                    {2.2137376921775787049e-09, 9.0756561938885390979e-08, -2.7517406297064545428e-07,
                     1.8239629214389227755e-08, 1.5027403968909827627e-06, -4.013867526981545969e-06,
                     2.9234449089955446044e-06, 1.2475304481671778723e-05, -4.7318229009055733981e-05,
                     6.8284851459573175448e-05, 2.4031110387097893999e-05, -0.0003550375203628474796,
                     0.00095328937973738049703, -0.0016882755560235047313, 0.0024914420961078508066,
                     -0.0037512085075692412107, 0.005370914553590063617, 1.0052589676941592334, 3.0838856104922207635});
    return x * horner(std::sqrt(w) - 5.0,
                      {-2.7109920616438573243e-11, -2.5556418169965252055e-10, 1.5076572693500548083e-09,
                       -3.7894654401267369937e-09, 7.6157012080783393804e-09, -1.4960026627149240478e-08,
                       2.9147953450901080826e-08, -6.7711997758452339498e-08, 2.2900482228026654717e-07,
                       -9.9298272942317002539e-07, 4.5260625972231537039e-06, -1.9681778105531670567e-05,
                       7.5995277030017761139e-05, -0.00021503011930044477347, -0.00013871931833623122026,
                       1.0103004648645343977, 4.8499064014085844221});
  }
};

}  // namespace

const Primitive sampler_log_p =
    sampler_function<SamplerLog>("sampler_log", {[](const Partial& p) { return p.t / p.x[0]; }},
                                 [](Xs x, const Params&) { return expr::math::sampler_log(x[0]); });
const Primitive sampler_log1p_p =
    sampler_function<SamplerLog1p>("sampler_log1p", {[](const Partial& p) { return p.t / (p.x[0] + 1.0); }},
                                   [](Xs x, const Params&) { return expr::math::sampler_log1p(x[0]); });
const Primitive sampler_erf_inv_p = sampler_function<SamplerErfInv>(
    "sampler_erf_inv",
    {[](const Partial& p) { return p.t * (0.5 / std::numbers::inv_sqrtpi * np::exp(np::square(p.y))); }},
    [](Xs x, const Params&) { return expr::math::sampler_erf_inv(x[0]); });
const Listed sampler_math_listed{&sampler_log_p, &sampler_log1p_p, &sampler_erf_inv_p};

}  // namespace cotan::ops
