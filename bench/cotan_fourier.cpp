// cotan's side of: Fourier transforms, and arithmetic and products of complex numbers.
#include "cotan_case.hpp"

namespace bench {
namespace {

using ct::Array;

const Register all[] = {
    {"cotan", "fft",
     [](const Parameters& p) {
       return jitted([](const Array& x) { return ct::fft::fft(x); }, random_complex(p.list("shape"), 1, p.is_double()));
     }},
    {"cotan", "rfft",
     [](const Parameters& p) {
       return jitted([](const Array& x) { return ct::fft::rfft(x); }, random_array(p.list("shape"), 1, p.is_double()));
     }},
    {"cotan", "fft2",
     [](const Parameters& p) {
       return jitted([](const Array& x) { return ct::fft::fft2(x); },
                     random_complex(p.list("shape"), 1, p.is_double()));
     }},
    {"cotan", "complex_gemm",
     [](const Parameters& p) {
       const ct::Shape shape{p["n"], p["n"]};
       return jitted([](const Array& a, const Array& b) { return np::matmul(a, b); },
                     random_complex(shape, 1, p.is_double()), random_complex(shape, 2, p.is_double()));
     }},
    {"cotan", "complex_arithmetic",
     [](const Parameters& p) {
       return jitted([](const Array& x, const Array& y) { return x * y / (x + 2.0) - np::conj(y); },
                     random_complex({p["n"]}, 1, p.is_double()), random_complex({p["n"]}, 2, p.is_double()));
     }},
    {"cotan", "complex_exp",
     [](const Parameters& p) {
       return jitted([](const Array& x) { return np::exp(x) * np::abs(x); },
                     random_complex({p["n"]}, 1, p.is_double()));
     }},
};

}  // namespace
}  // namespace bench
