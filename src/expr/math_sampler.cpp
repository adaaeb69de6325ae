// The functions that samplers transform uniform numbers with, bit for bit as ops/sampler_math.cpp defines
// them (and sampler_exp.cpp): the same operations in the same order, and the same coefficients, here from the constant
// term up.
#include <numbers>

#include "expr/math.hpp"
#include "expr/math_support.hpp"

namespace cotan::expr::math {

const Function log_function{"cotan_log", 1};

Expr sampler_exp(Expr x) {
  if (x->dtype == DType::f32) {
    const Expr inside = at_most(at_least(x, -87.8f), 88.8f);
    const Expr n = at_most(at_least(floor(fma(inside, std::numbers::log2e_v<float>, 0.5)), -127), 127);
    const Expr r = fma(-n, -2.12194440e-4f, fma(-n, 0.693359375f, inside));
    const Expr series =
        horner(r, {0.5, 1.6666665459E-1f, 4.1665795894E-2f, 8.3334519073E-3f, 1.3981999507E-3f, 1.9875691500E-4f});
    const Expr scale = bitcast(shift_left(cast(n, DType::i32) + 127, 23), DType::f32);
    return (fma(series, r * r, r) + 1.0) * scale;
  }
  constexpr double low = -0x1.6232bdd7abcd2p+9, high = 0x1.62e42fefa39efp+9;
  const Expr inside = at_most(at_least(x, low), high), n = floor(fma(inside, std::numbers::log2e, 0.5));
  const Expr g = fma(-n, 1.42860682030941723212E-6, fma(-n, 6.93145751953125E-1, inside)), g2 = g * g;
  const Expr p = horner(g2, {1, 3.02994407707441961300E-2, 1.26177193074810590878E-4}) * g;
  const Expr q = horner(g2, {2, 2.27265548208155028766E-1, 2.52448340349684104192E-3, 3.00198505138664455042E-6});
  // Of 2^n in two factors neither overflows.
  const Expr half = floor(n * 0.5);
  const auto power = [](Expr k) { return bitcast(shift_left(cast(k, DType::i64) + 1023, 52), DType::f64); };
  const Expr value = fma(p / (q - p), 2.0, 1.0) * power(half) * power(n - half);
  return select(lt(x, low), 0, select(lt(high, x), infinity, value));
}

Expr sampler_log(Expr x) {
  if (x->dtype == DType::f64) return call(log_function, {x});
  const Expr bits = bits_of(at_least(x, 0x1p-126));  // subnormal numbers count as the smallest normal one
  const Expr exponent = cast(bitcast(shift_right(bits, 23), DType::i32) - 126, DType::f32);
  const Expr mantissa = from_bits((bits & like_bits(bits, 0x007fffff)) | like_bits(bits, 0x3f000000));
  const Expr low = lt(mantissa, 0.707106781186547524f);
  const Expr m = (mantissa - 1.0) + select(low, mantissa, 0);
  const Expr e = select(low, exponent - 1.0, exponent);
  const Expr m2 = m * m, m3 = m2 * m;
  const Expr high = horner(m, {1.1676998740E-1f, -1.1514610310E-1f, 7.0376836292E-2f});
  const Expr middle = horner(m, {-1.6668057665E-1f, 1.4249322787E-1f, -1.2420140846E-1f});
  const Expr bottom = horner(m, {3.3333331174E-1f, -2.4999993993E-1f, 2.0000714765E-1f});
  const Expr series = fma(fma(high, m3, middle), m3, bottom);
  const Expr tail = fma(series, m3, e * -2.12194440e-4f);
  const Expr value = fma(e, 0.693359375f, fma(m2, -0.5, m) + tail);
  return select(lt(0, x), select(eq(x, infinity), x, value), select(eq(x, 0), -infinity, like(x, nan)));
}

Expr sampler_log1p(Expr x) {
  const Expr numerator = horner(x, {2.0039553499201281259648E1, 5.7112963590585538103336E1, 6.0949667980987787057556E1,
                                    2.9911919328553073277375E1, 6.5787325942061044846969E0, 4.9854102823193375972212E-1,
                                    4.5270000862445199635215E-5});
  const Expr denominator =
      horner(x, {6.0118660497603843919306E1, 2.1642788614495947685003E2, 3.0909872225312059774938E2,
                 2.2176239823732856465394E2, 8.3047565967967209469434E1, 1.5062909083469192043167E1, 1});
  const Expr x2 = x * x;
  const Expr series = x + fma(x2, like(x, -0.5), (x * x2) * (numerator / denominator));
  const Expr small = lt(abs(x), std::numbers::sqrt2 - 1.0);
  if (x->dtype == DType::f64) return patch(~small, series, log_function, {x + 1.0});
  return select(small, series, sampler_log(x + 1.0));
}

Expr sampler_erf_inv(Expr x) {
  const Expr w = -sampler_log1p(x * -x), root = sqrt(w);
  Expr series;
  if (x->dtype == DType::f32) {
    const Expr centre = horner(w - 2.5, {1.50140941f, 0.246640727f, -0.00417768164f, -0.00125372503f, 0.00021858087f,
                                         -4.39150654e-06f, -3.5233877e-06f, 3.43273939e-07f, 2.81022636e-08f});
    const Expr tail = horner(root - 3.0, {2.83297682f, 1.00167406f, 0.00943887047f, -0.0076224613f, 0.00573950773f,
                                          -0.00367342844f, 0.00134934322f, 0.000100950558f, -0.000200214257f});
    series = select(lt(w, 5), centre, tail);
  } else {
    const Expr centre = horner(
        w - 3.125,
        {1.6536545626831027356,      0.24015818242558961693,     -0.0060336708714301490533,  -0.00074070253416626697512,
         0.0001867342080340571352,   -1.3882523362786468719e-05, -1.3654692000834678645e-06, 4.2347877827932403518e-07,
         -2.9070369957882005086e-08, -4.1126339803469836976e-09, 1.051212273321532285e-09,   -5.4154120542946279317e-11,
         -1.2975133253453532498e-11, 2.6335093153082322977e-12,  -8.1519341976054721522e-14, -4.0545662729752068639e-14,
         6.6376381343583238325e-15,  2.0972767875968561637e-17,  -1.333171662854620906e-16,  1.115787767802518096e-17,
         1.2858480715256400167e-18,  -1.685059138182016589e-19,  -3.6444120640178196996e-21});
    const Expr middle = horner(
        root - 3.25,
        {3.0838856104922207635, 1.0052589676941592334, 0.005370914553590063617, -0.0037512085075692412107,
         0.0024914420961078508066, -0.0016882755560235047313, 0.00095328937973738049703, -0.0003550375203628474796,
         2.4031110387097893999e-05, 6.8284851459573175448e-05, -4.7318229009055733981e-05, 1.2475304481671778723e-05,
         2.9234449089955446044e-06, -4.013867526981545969e-06, 1.5027403968909827627e-06, 1.8239629214389227755e-08,
         -2.7517406297064545428e-07, 9.0756561938885390979e-08, 2.2137376921775787049e-09});
    const Expr tail =
        horner(root - 5.0, {4.8499064014085844221, 1.0103004648645343977, -0.00013871931833623122026,
                            -0.00021503011930044477347, 7.5995277030017761139e-05, -1.9681778105531670567e-05,
                            4.5260625972231537039e-06, -9.9298272942317002539e-07, 2.2900482228026654717e-07,
                            -6.7711997758452339498e-08, 2.9147953450901080826e-08, -1.4960026627149240478e-08,
                            7.6157012080783393804e-09, -3.7894654401267369937e-09, 1.5076572693500548083e-09,
                            -2.5556418169965252055e-10, -2.7109920616438573243e-11});
    series = select(lt(w, 6.25), centre, select(lt(w, 16), middle, tail));
  }
  return select(eq(abs(x), 1), x * infinity, x * series);
}

}  // namespace cotan::expr::math
