// Fourier transforms.
#include <cotan/cotan.hpp>

#include "cases/case_ops.hpp"

namespace cases {

namespace fft = cotan::fft;
using cotan::ArrayLike;

namespace {

/// norm keeps the text that the options look at.
fft::Options options(const Params& p, const std::string& norm) {
  return {p.has("n") ? std::optional(p.integer("n")) : std::nullopt, p.axis("axis", -1), norm};
}
fft::AxesOptions axes_options(const Params& p, const std::string& norm) {
  return {p.has("s") ? p.shape("s") : cotan::Shape{}, p.axes("axes"), norm};
}
std::string norm_of(const Params& p) { return p.text("norm", "backward"); }

OpFunction along_axis(Array (*f)(const ArrayLike&, const fft::Options&)) {
  return [f](Args x, const Params& p) {
    const std::string norm = norm_of(p);
    return Arrays{f(x[0], options(p, norm))};
  };
}
OpFunction along_axes(Array (*f)(const ArrayLike&, const fft::AxesOptions&)) {
  return [f](Args x, const Params& p) {
    const std::string norm = norm_of(p);
    return Arrays{f(x[0], axes_options(p, norm))};
  };
}

}  // namespace

void add_fft_ops(OpTable& t) {
  t["fft.fft"] = along_axis(fft::fft);
  t["fft.ifft"] = along_axis(fft::ifft);
  t["fft.rfft"] = along_axis(fft::rfft);
  t["fft.irfft"] = along_axis(fft::irfft);
  t["fft.hfft"] = along_axis(fft::hfft);
  t["fft.ihfft"] = along_axis(fft::ihfft);
  t["fft.fft2"] = along_axes(fft::fft2);
  t["fft.ifft2"] = along_axes(fft::ifft2);
  t["fft.rfft2"] = along_axes(fft::rfft2);
  t["fft.irfft2"] = along_axes(fft::irfft2);
  t["fft.fftn"] = along_axes(fft::fftn);
  t["fft.ifftn"] = along_axes(fft::ifftn);
  t["fft.rfftn"] = along_axes(fft::rfftn);
  t["fft.irfftn"] = along_axes(fft::irfftn);
  t["fft.fftfreq"] = one([](Args, const Params& p) { return fft::fftfreq(p.integer("n"), p.real("d", 1), p.dtype()); });
  t["fft.rfftfreq"] =
      one([](Args, const Params& p) { return fft::rfftfreq(p.integer("n"), p.real("d", 1), p.dtype()); });
  t["fft.fftshift"] = one([](Args x, const Params& p) { return fft::fftshift(x[0], p.axes("axes")); });
  t["fft.ifftshift"] = one([](Args x, const Params& p) { return fft::ifftshift(x[0], p.axes("axes")); });
}

}  // namespace cases
