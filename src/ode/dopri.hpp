// Steps of Dormand and Prince's method of order 5, with an error of order 4, and how long they may be.
#pragma once
#include <array>
#include <cotan/numpy.hpp>
#include <functional>

namespace cotan::ode {

/// dy/dt of a vector at a time.
using Slope = std::function<Array(const Array& y, const Array& t)>;

struct Step {
  Array y, slope;   ///< at its end
  Array error;      ///< of y
  Array at_middle;  ///< y in the middle
};
/// From (t, y), where the slope is known, on by dt.
Step dopri_step(const Slope& f, const Array& y, const Array& slope, const Array& t, const Array& dt);
/// Coefficients of the polynomial in the share of a step, the highest power first.
using Polynomial = std::array<Array, 5>;
Polynomial dopri_polynomial(const Step& step, const Array& y, const Array& slope, const Array& dt);
/// The error as a multiple of what may be: a scalar.
Array error_ratio(const Array& error, double rtol, double atol, const Array& y0, const Array& y1);
/// A length to begin with (Hairer, Nørsett and Wanner, II.4).
Array first_step(const Slope& f, const Array& y, const Array& slope, const Array& t, double rtol, double atol);
/// The length of the next step, or of another try.
Array next_length(const Array& dt, const Array& ratio);
/// A time, or a length of time, in the dtype of the parts of y.
Array as_part_of(const Array& y, const Array& time);

}  // namespace cotan::ode
