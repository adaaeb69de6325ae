// Trigonometric functions and their inverses. Polynomials as in math_exp_log.cpp.
#include "expr/math.hpp"
#include "expr/math_support.hpp"

namespace cotan::expr::math {

const Function sin_function{"cotan_sin", 1}, cos_function{"cotan_cos", 1}, tan_function{"cotan_tan", 1};

namespace {

constexpr double pi = 0x1.921fb54442d18p+1, pi_tail = 0x1.1a62633145c07p-53;
// Each part rounded down, so that x minus 0 times it keeps the sign of a zero.
constexpr Real pi_parts[] = {{0x1.921fb4p+1, 0x1.921fb54442d18p+1},
                             {0x1.4442dp-23, 0x1.1a62633145c06p-53},
                             {0x1.846988p-47, 0x1.c1cd129024e08p-106}};

/// x = n pi/2 + r, |r| <= pi/4 and a little more; shifted by a quarter of the circle for cos.
struct Quadrant {
  Expr sine, cosine;  ///< of r
  Expr odd;           ///< whether n is
  Expr bits;          ///< end in those of n
};
Quadrant quadrant(Expr r, Expr bits) {
  const Expr z = r * r;
  // (sin(r)/r - 1)/r^2 in r^2: f32 2^-27.8, f64 2^-57.7.
  const Expr sine = horner(z, {-0.166666538, 0.00833210628, -0.000195078828},
                           {-0.16666666666666627, 0.0083333333333210687, -0.00019841269828698067,
                            2.7557313298466147e-06, -2.505069544675413e-08, 1.5893110965559913e-10});
  // (cos(r) - 1)/r^2: f32 2^-31.8, f64 2^-63.7.
  const Expr cosine = horner(z, {-0.5, 0.0416666456, -0.00138872978, 2.44291405e-05},
                             {-0.5, 0.041666666666666581, -0.001388888888887097, 2.4801587287528079e-05,
                              -2.7557313791656416e-07, 2.0875647510414014e-09, -1.1355745422589312e-11});
  return {with_sign_of(r, fma(r * z, sine, r)), fma(z, cosine, 1.0), ne(bits & like_bits(bits, 1), like_bits(bits, 0)),
          bits};
}
Quadrant quadrant(Expr x, int shift) {
  const Nearest n = nearest_integer(x, 2 / pi, 1 + shift);  // exponent_bias + 1 is a multiple of 4
  Expr r = x;
  for (Real part : pi_parts) r = fma(n.value, -0.5 * pick(x, part), r);  // the first step is exact
  return quadrant(r, bits_of(n.shifted));
}
/// Beyond, the three parts of pi are too short, or n is not the nearest integer.
Expr too_large(Expr x) { return lt(pick(x, {0x1p17, 0x1p40}), abs(x)); }

Expr wave(Expr x, const Quadrant& q) {
  // The sine changes its sign where the second lowest bit of n does.
  const Expr sign = shift_left(q.bits, x->dtype == DType::f32 ? 30 : 62) & sign_mask(x);
  return flip_sign(select(q.odd, q.cosine, q.sine), sign);
}
Expr quotient(const Quadrant& q) { return select(q.odd, -q.cosine, q.sine) / select(q.odd, q.sine, q.cosine); }

}  // namespace

Expr sin(Expr x) { return patch(too_large(x), wave(x, quadrant(x, 0)), sin_function, {x}); }
Expr cos(Expr x) { return patch(too_large(x), wave(x, quadrant(x, 1)), cos_function, {x}); }
Expr tan(Expr x) { return patch(too_large(x), quotient(quadrant(x, 0)), tan_function, {x}); }

Expr sin_of_large(std::span<const Expr> x) {
  const Turn turn = reduce_large(x[0]);
  return flip_sign(wave(x[0], quadrant(turn.rest, turn.quarters)), sign_bit(x[0]));
}
Expr cos_of_large(std::span<const Expr> x) {
  const Turn turn = reduce_large(x[0]);
  return wave(x[0], quadrant(turn.rest, turn.quarters + like_bits(turn.quarters, 1)));
}
Expr tan_of_large(std::span<const Expr> x) {
  const Turn turn = reduce_large(x[0]);
  return flip_sign(quotient(quadrant(turn.rest, turn.quarters)), sign_bit(x[0]));
}

namespace {

/// asin(s) for z = s^2 <= 1/4.
Expr asin_of_small(Expr s, Expr z) {
  // (asin(s)/s - 1)/z: f32 2^-27.6, f64 2^-55.8.
  const Expr p = horner(z, {0.166667521, 0.0749530643, 0.0454697683, 0.0241808165, 0.0421662964},
                        {0.16666666666665403, 0.07500000000338615, 0.044642856826875375, 0.030381959201546151,
                         0.022371756406100125, 0.01735973081230895, 0.01388496735260104, 0.012171035106496701,
                         0.0065198400800353194, 0.019551171525850831, -0.016261185933647136, 0.031938270571721154});
  return fma(s * z, p, s);
}
/// asin(a), or for a > 1/2 the half of acos(a) = 2 asin(sqrt((1-a)/2)).
struct HalfRange {
  Expr large, value;
};
HalfRange asin_by_halves(Expr a) {
  const Expr large = lt(0.5, a);
  const Expr z = select(large, fma(a, -0.5, 0.5), a * a);
  return {large, asin_of_small(select(large, sqrt(z), a), z)};
}
constexpr Tailed half_pi = tailed(pi / 2, pi_tail / 2);

}  // namespace

Expr asin(Expr x) {
  const HalfRange half = asin_by_halves(abs(x));
  const Expr rest = fma(half.value, -2, pick(x, half_pi.high));
  return with_sign_of(x, select(half.large, rest + pick(x, half_pi.low), half.value));
}
Expr acos(Expr x) {
  const HalfRange half = asin_by_halves(abs(x));
  const Expr small = pick(x, half_pi.high) - (with_sign_of(x, half.value) - pick(x, half_pi.low));
  const Expr twice = half.value + half.value;
  const Expr large = select(lt(x, 0), 2 * pick(x, half_pi.high) - (twice - 2 * pick(x, half_pi.low)), twice);
  return select(half.large, large, small);
}

namespace {

/// atan(q) for 0 <= q <= 1.
Expr atan_of_quotient(Expr q) {
  // (atan(q)/q - 1)/q^2 in q^2: f32 2^-28.5, f64 2^-57.6.
  const Expr z = q * q;
  const Expr p =
      horner(z,
             {-0.333332986, 0.199985355, -0.142641261, 0.109516539, -0.0840205029, 0.0579356179, -0.0311574973,
              0.0109043466, -0.00179144985},
             {-0.33333333333333071,   0.19999999999951756,    -0.14285714282588582,    0.11111111007356726,
              -0.090909070080449447,  0.076922798915618887,   -0.066664044430784608,   0.058805299152573626,
              -0.052535272194788284,  0.047223497426585125,   -0.042192469717332669,   0.036643225483882935,
              -0.029905846530229825,  0.021987194310064108,   -0.0139026821177452,     0.0071979543750101569,
              -0.0028856422217136933, 0.00083157015702704264, -0.00015221323722204382, 1.3230193083907878e-05});
  return fma(q * z, p, q);
}

}  // namespace

Expr atan(Expr x) {
  const Expr a = abs(x), large = lt(1, a);
  const Expr angle = atan_of_quotient(select(large, 1.0 / a, a));
  const Expr rest = pick(x, half_pi.high) - (angle - pick(x, half_pi.low));
  return with_sign_of(x, select(large, rest, angle));
}

Expr atan2(Expr y, Expr x) {
  const Expr ax = abs(x), ay = abs(y), steep = lt(ax, ay);
  const Expr small = select(steep, ax, ay), large = select(steep, ay, ax);
  // Equal operands: 0/0 stands for 0, inf/inf for 1.
  const Expr quotient = select(eq(ax, ay), select(eq(ax, 0), 0, like(x, 1)), small / large);
  const Expr angle = atan_of_quotient(quotient);
  const Expr first_quadrant = select(steep, pick(x, half_pi.high) - (angle - pick(x, half_pi.low)), angle);
  const Expr x_negative = ne(sign_bit(x), like_bits(sign_bit(x), 0));
  const Expr upper =
      select(x_negative, 2 * pick(x, half_pi.high) - (first_quadrant - 2 * pick(x, half_pi.low)), first_quadrant);
  return with_sign_of(y, upper);
}

}  // namespace cotan::expr::math
