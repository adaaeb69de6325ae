// Signals: convolutions, spectra, short-time Fourier transforms.
#include <cotan/cotan.hpp>

#include "cases/case_ops.hpp"

namespace cases {

namespace {

namespace sg = cotan::scipy::signal;
using cotan::ArrayLike;

std::optional<std::int64_t> number(const Params& p, const char* key) {
  return p.has(key) ? std::optional(p.integer(key)) : std::nullopt;
}
sg::Window window(const Params& p) {
  if (!p.has("window")) return "hann";
  const auto& w = p["window"];
  if (w.is_array()) return {w[0].get<std::string>(), w[1].get<double>()};
  return w.get<std::string>();
}
sg::Detrending detrending(const Params& p, const char* otherwise) { return p.text("detrend", otherwise); }

/// The texts are kept as long as the options look at them.
struct Texts {
  std::string scaling, average, boundary;
  explicit Texts(const Params& p)
      : scaling(p.text("scaling", "density")),
        average(p.text("average", "mean")),
        boundary(p.has("boundary") && p["boundary"].is_string() ? p.text("boundary") : "zeros") {}
};
sg::SpectrumOptions spectrum_options(const Params& p, const Texts& texts) {
  return {.fs = p.real("fs", 1),
          .window = window(p),
          .nperseg = number(p, "nperseg"),
          .noverlap = number(p, "noverlap"),
          .nfft = number(p, "nfft"),
          .detrend = detrending(p, "constant"),
          .return_onesided = p.flag("return_onesided", true),
          .scaling = texts.scaling,
          .axis = p.axis("axis", -1),
          .average = texts.average};
}
Arrays both(const sg::Spectrum& s) { return {s.freqs, s.power}; }

Arrays stft(Args x, const Params& p) {
  const Texts texts(p);
  sg::StftOptions o{.fs = p.real("fs", 1),
                    .window = window(p),
                    .nperseg = p.integer("nperseg", 256),
                    .noverlap = number(p, "noverlap"),
                    .nfft = number(p, "nfft"),
                    .detrend = detrending(p, ""),
                    .return_onesided = p.flag("return_onesided", true),
                    .boundary = texts.boundary,
                    .padded = p.flag("padded", true),
                    .axis = p.axis("axis", -1)};
  if (p.is_null("boundary")) o.boundary = std::nullopt;
  const auto [freqs, times, z] = sg::stft(x[0], o);
  return {freqs, times, z};
}
Arrays istft(Args x, const Params& p) {
  const auto [times, signal] = sg::istft(x[0], {.fs = p.real("fs", 1),
                                                .window = window(p),
                                                .nperseg = number(p, "nperseg"),
                                                .noverlap = number(p, "noverlap"),
                                                .nfft = number(p, "nfft"),
                                                .input_onesided = p.flag("input_onesided", true),
                                                .boundary = p.flag("boundary", true),
                                                .time_axis = p.axis("time_axis", -1),
                                                .freq_axis = p.axis("freq_axis", -2)});
  return {times, signal};
}

}  // namespace

void add_signal_ops(OpTable& t) {
  t["signal.convolve"] = one([](Args x, const Params& p) {
    return sg::convolve(x[0], x[1], p.text("mode", "full"), p.text("method", "auto"));
  });
  t["signal.correlate"] = one([](Args x, const Params& p) {
    return sg::correlate(x[0], x[1], p.text("mode", "full"), p.text("method", "auto"));
  });
  t["signal.convolve2d"] =
      one([](Args x, const Params& p) { return sg::convolve2d(x[0], x[1], p.text("mode", "full")); });
  t["signal.correlate2d"] =
      one([](Args x, const Params& p) { return sg::correlate2d(x[0], x[1], p.text("mode", "full")); });
  t["signal.fftconvolve"] =
      one([](Args x, const Params& p) { return sg::fftconvolve(x[0], x[1], p.text("mode", "full"), p.axes("axes")); });
  t["signal.detrend"] = one([](Args x, const Params& p) {
    return sg::detrend(x[0], p.axis("axis", -1), p.text("type", "linear"),
                       p.has("bp") ? p.list("bp") : std::vector<std::int64_t>{0});
  });
  t["signal.stft"] = stft;
  t["signal.istft"] = istft;
  t["signal.welch"] = [](Args x, const Params& p) {
    const Texts texts(p);
    return both(sg::welch(x[0], spectrum_options(p, texts)));
  };
  t["signal.weighted_welch"] = [](Args x, const Params& p) {
    const Texts texts(p);
    auto options = spectrum_options(p, texts);
    options.window = x[1];
    return both(sg::welch(x[0], options));
  };
  t["signal.csd"] = [](Args x, const Params& p) {
    const Texts texts(p);
    return both(sg::csd(x[0], x[1], spectrum_options(p, texts)));
  };
}

}  // namespace cases
