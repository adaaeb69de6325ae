// Errors of signals, images, rotations, segments, searches and differential equations.
#include <gtest/gtest.h>

#include "support/expect_error.hpp"

namespace {

using namespace cotan;
namespace np = cotan::numpy;
namespace sg = cotan::scipy::signal;

Array three_numbers() { return np::array({1.0, 2.0, 3.0}); }
Array plane() { return np::ones({3, 2}); }

TEST(ScipyMoreErrors, Convolutions) {
  const Array x = three_numbers();
  EXPECT_ERROR(ValueError, sg::convolve(x, x, "all"), "[convolve] there is no mode 'all'");
  EXPECT_ERROR(ValueError, sg::convolve(x, x, "full", "fast"), "[convolve] there is no method 'fast'");
  EXPECT_ERROR(ShapeError, sg::convolve(x, plane()), "[convolve] the arrays are f32[3] and f32[3,2]");
  EXPECT_ERROR(ShapeError, sg::convolve(x, np::ones({0})), "neither may be empty");
  EXPECT_ERROR(ShapeError, sg::convolve(plane(), np::ones({2, 3})), "[convolve] the shapes are (3, 2) and (2, 3)");
  EXPECT_ERROR(ShapeError, sg::convolve2d(x, x),
               "[convolve2d] the arrays are f32[3] and f32[3]; both must be matrices");
  EXPECT_ERROR(ValueError, sg::correlate2d(plane(), plane(), "full", "wrap"), "[correlate2d] the boundary is 'wrap'");
  EXPECT_ERROR(ShapeError, sg::fftconvolve(plane(), np::ones({2, 3}), "full", 0), "sizes must be equal");
  EXPECT_ERROR(ShapeError, sg::fftconvolve(plane(), np::ones({2, 3}), "valid"), "[fftconvolve] the shapes are");
}
TEST(ScipyMoreErrors, Spectra) {
  const Array x = np::ones({16});
  EXPECT_ERROR(ValueError, sg::detrend(x, 0, "cubic"), "[detrend] there is no type 'cubic'");
  EXPECT_ERROR(ValueError, sg::detrend(x, 0, "linear", {17}), "[detrend] the breakpoints (17,)");
  EXPECT_ERROR(ValueError, sg::welch(x, {.nperseg = 0}), "[welch] nperseg is 0");
  EXPECT_ERROR(ValueError, sg::welch(x, {.nperseg = 4, .noverlap = 4}), "[welch] noverlap is 4 for segments of 4");
  EXPECT_ERROR(ValueError, sg::welch(x, {.nperseg = 4, .nfft = 3}), "[welch] nfft is 3 for segments of 4");
  EXPECT_ERROR(ValueError, sg::welch(x, {.scaling = "power"}), "[welch] there is no scaling 'power'");
  EXPECT_ERROR(ValueError, sg::welch(x, {.average = "mode"}), "[welch] there is no average 'mode'");
  EXPECT_ERROR(ValueError, sg::welch(x, {.window = "flat"}), "[window] there is no window 'flat' with no parameter");
  EXPECT_ERROR(ValueError, sg::welch(x, {.window = {"hann", 2.0}}), "there is no window 'hann' with a parameter");
  EXPECT_ERROR(ShapeError, sg::welch(x, {.window = np::ones({17})}), "[welch] the window is f32[17], longer");
  EXPECT_ERROR(ShapeError, sg::welch(x, {.window = np::ones({5}), .nperseg = 4}), "[welch] the window is f32[5]");
  EXPECT_ERROR(ShapeError, sg::welch(x, {.fs = x}), "[welch] fs is f32[16]");
  EXPECT_ERROR(ShapeError, sg::csd(x, np::ones({1, 16})), "[csd] the signals are f32[16] and f32[1,16]");
  EXPECT_ERROR(ValueError, sg::stft(x, {.nperseg = 4, .boundary = "none"}), "[stft] there is no boundary 'none'");
  EXPECT_ERROR(ShapeError, sg::istft(x), "[istft] got f32[16]; it needs axes of frequencies and of times");
  EXPECT_ERROR(ValueError, sg::istft(plane(), {.time_axis = 0, .freq_axis = 0}), "are both axis 0");
  EXPECT_ERROR(ValueError, sg::istft(np::ones({1, 4})), "[istft] nperseg is 0");
}
TEST(ScipyMoreErrors, Transforms) {
  namespace ff = cotan::scipy::fft;
  const Array x = three_numbers();
  EXPECT_ERROR(ValueError, ff::dct(x, {.type = 3}), "[dct] the type is 3");
  EXPECT_ERROR(ValueError, ff::idct(x, {.norm = "forward"}), "[idct] norm is 'forward'");
  EXPECT_ERROR(ShapeError, ff::dct(x, {.n = 0}), "[dct] cannot transform f32[3] to length 0");
  EXPECT_ERROR(ShapeError, ff::dctn(x, {.s = {3, 3}}), "[dctn] s has 2 lengths");
  EXPECT_ERROR(ValueError, lax::fft(x, "dft", {3}), "[fft] there is no transform 'dft'");
  EXPECT_ERROR(ShapeError, lax::fft(x, "fft", {4}), "[fft] FFT of f32[3] with lengths (4,)");
  EXPECT_ERROR(TypeError, lax::fft(x.astype(c64), lax::FftType::RFFT, {3}), "[fft] RFFT is of real numbers");
}
TEST(ScipyMoreErrors, Interpolation) {
  namespace ip = cotan::scipy::interpolate;
  const Array x = three_numbers();
  const auto map = [&](const ArrayList& at, int order, std::string_view mode) {
    return scipy::ndimage::map_coordinates(x, at, order, mode);
  };
  EXPECT_ERROR(ValueError, map({x}, 2, "nearest"), "[map_coordinates] the order is 2");
  EXPECT_ERROR(ValueError, map({x}, 1, "grid-wrap"), "[map_coordinates] there is no mode 'grid-wrap'");
  EXPECT_ERROR(ShapeError, map({x, x}, 1, "wrap"), "[map_coordinates] 2 coordinates for an input f32[3]");
  EXPECT_ERROR(ValueError, ip::RegularGridInterpolator({x}, x, {.method = "cubic"}), "there is no method 'cubic'");
  EXPECT_ERROR(ValueError, ip::RegularGridInterpolator({x}, x, {.bounds_error = true}), "a program cannot stop");
  EXPECT_ERROR(ShapeError, ip::RegularGridInterpolator({x, x}, x), "2 vectors of points for values f32[3]");
  EXPECT_ERROR(ShapeError, ip::RegularGridInterpolator({x}, np::ones({4})), "along axis 0 are f32[3]");
  EXPECT_ERROR(ShapeError, ip::RegularGridInterpolator({x}, x)(np::ones({2, 2})), "for a grid of 1 axes");
  EXPECT_ERROR(ShapeError, scipy::cluster::vq::vq(x, plane()), "[vq] the observations are f32[3]");
  EXPECT_ERROR(ShapeError, scipy::cluster::vq::vq(plane(), np::ones({2, 3})), "rows must be equally long");
}
TEST(ScipyMoreErrors, Rotations) {
  using scipy::spatial::transform::Rotation;
  using scipy::spatial::transform::Slerp;
  const Array x = three_numbers();
  const Rotation one = Rotation::identity(), two = Rotation::identity(2);
  EXPECT_ERROR(ShapeError, Rotation::from_quat(x), "[Rotation::from_quat] quaternions are f32[3]");
  EXPECT_ERROR(ShapeError, Rotation::from_matrix(x), "[Rotation::from_matrix] matrices are f32[3]");
  EXPECT_ERROR(ShapeError, Rotation::from_euler("xy", x), "[Rotation::from_euler] angles are f32[3]");
  EXPECT_ERROR(ValueError, Rotation::from_euler("xYz", x), "[Rotation::from_euler] the axes are 'xYz'");
  EXPECT_ERROR(ValueError, Rotation::from_euler("xxy", x), "have one twice in a row");
  EXPECT_ERROR(ValueError, one.as_euler("xy"), "[Rotation::as_euler] the axes are 'xy'; give three");
  EXPECT_ERROR(ValueError, Rotation::identity(-1), "[Rotation::identity] there cannot be -1");
  EXPECT_ERROR(TypeError, Rotation::concatenate({one}), "[Rotation::concatenate] one of the rotations is single");
  EXPECT_ERROR(ShapeError, one.mean(), "[Rotation::mean] the quaternions are f32[4]");
  EXPECT_ERROR(ShapeError, two.mean(x), "[Rotation::mean] the weights are f32[3] for 2 rotations");
  EXPECT_ERROR(TypeError, one.size(), "a single rotation has no size");
  EXPECT_ERROR(TypeError, one[0], "a single rotation has no index");
  EXPECT_ERROR(ShapeError, one.apply(np::ones({2})), "[Rotation::apply] vectors are f32[2]");
  EXPECT_ERROR(ValueError, Slerp::init(x, one), "[Slerp] the rotations are f32[4]");
  EXPECT_ERROR(ShapeError, Slerp::init(x, two), "[Slerp] the times are f32[3] for 2 rotations");
  EXPECT_ERROR(ShapeError, Slerp::init(np::arange(2.0), two)(plane()), "[Slerp] the times are f32[3,2]");
}
TEST(ScipyMoreErrors, SegmentsAndImages) {
  const Array x = three_numbers(), ids = np::array({0, 1, 0});
  EXPECT_ERROR(TypeError, ops::segment_sum(x, x), "[segment_sum] the segments are f32[3]");
  EXPECT_ERROR(ShapeError, ops::segment_max(np::ones({2}), ids, 2), "[segment_max] the data is f32[2] for 3 numbers");
  EXPECT_ERROR(ValueError, ops::segment_min(x, ids, -1), "[segment_min] there cannot be -1 segments");
  EXPECT_ERROR(ValueError, ops::segment_sum(x, ids, 2, {.bucket_size = 0}), "[segment_sum] buckets of 0");
  EXPECT_ERROR(TypeError, ops::segment_max(x.astype(c64), ids), "complex numbers have no order");
  EXPECT_ERROR(ValueError, ops::segment_sum(np::ones({0}), np::zeros({0}, i32)), "give num_segments");
  EXPECT_ERROR(ConcretizationError, jit([&](Array i) { return ops::segment_sum(x, i); })(ids), "give num_segments");
  EXPECT_ERROR(ValueError, image::resize(plane(), {2, 2}, "best"), "[resize] there is no method 'best'");
  EXPECT_ERROR(ShapeError, image::resize(plane(), {2}, "linear"), "[resize] the image is f32[3,2], but the shape (2,)");
  EXPECT_ERROR(ShapeError, image::resize(np::ones({0}), {2}, "linear"), "which has no samples along axis 0");
  const Array one = np::ones({1});
  const auto moved = [&](const Shape& shape, const Array& scale, image::ResizeMethod method) {
    return image::scale_and_translate(plane(), shape, {0}, scale, one, method);
  };
  EXPECT_ERROR(ValueError, moved({4, 2}, one, "nearest"), "[scale_and_translate] is not by the nearest sample");
  EXPECT_ERROR(ShapeError, moved({4, 2}, x, "linear"), "[scale_and_translate] scale is f32[3]");
  EXPECT_ERROR(ShapeError, moved({4, 3}, one, "linear"), "axis 1 is not one of the spatial_dims");
  const auto unravel = flatten_util::ravel_pytree(std::pair{x, x.astype(f64)}).second;
  EXPECT_ERROR(ShapeError, unravel(x), "[unravel] the vector is f32[3], but the tree has 6 elements");
  EXPECT_ERROR(TypeError, unravel(np::ones({6})), "[unravel] the vector is f32[6], but was f64");
}
TEST(ScipyMoreErrors, SearchesAndEquations) {
  namespace so = cotan::scipy::optimize;
  const auto f = [](Array x) { return np::sum(x * x); };
  EXPECT_ERROR(ValueError, so::minimize(f, three_numbers(), {.method = "Powell"}), "there is no method 'Powell'");
  EXPECT_ERROR(ShapeError, so::minimize(f, plane()), "[minimize] the start is f32[3,2]");
  EXPECT_ERROR(ValueError, so::minimize(f, three_numbers(), {.options = {.maxiter = -1}}), "[minimize] maxiter is -1");
  const auto solved = [](const Array& y, const Array& t, experimental::ode::OdeintOptions o = {}) {
    return experimental::ode::odeint([](Array v, Array) { return -v; }, y, t, o);
  };
  const Array t = np::array({0.0, 1.0});
  EXPECT_ERROR(TypeError, solved(np::array({1, 2}), t), "[odeint] the state has i32[2]");
  EXPECT_ERROR(ShapeError, solved(three_numbers(), 1.0), "[odeint] the times are f32[]");
  EXPECT_ERROR(ValueError, solved(three_numbers(), t, {.rtol = -1}), "[odeint] rtol is -1");
  EXPECT_ERROR(ShapeError, experimental::ode::odeint([](Array, Array) { return np::ones({2}); }, three_numbers(), t),
               "[odeint] the function gives f32[2]");
  const auto by_start = [&](Array y) { return np::sum(solved(y, t)); };
  EXPECT_ERROR(TransformError, jvp(by_start, std::tuple{three_numbers()}, std::tuple{three_numbers()}), "odeint");
}
TEST(ScipyMoreErrors, OtherLibraries) {
  std::int64_t shape[] = {2};
  float data[] = {1, 2};
  dlpack::ManagedTensor tensor{{data, {2, 0}, 1, {2, 32, 1}, shape, nullptr, 0}, nullptr, nullptr};
  EXPECT_ERROR(DeviceError, np::from_dlpack(&tensor), "[from_dlpack] the elements are on a device of type 2");
  tensor.dl_tensor.device.device_type = 1;
  tensor.dl_tensor.dtype = {2, 8, 1};
  EXPECT_ERROR(TypeError, np::from_dlpack(&tensor), "[from_dlpack] there is no dtype for elements of code 2 with 8");
  dlpack::ManagedTensor* none = nullptr;
  EXPECT_ERROR(ValueError, np::from_dlpack(none), "[from_dlpack] the tensor is a null pointer");
}

}  // namespace
