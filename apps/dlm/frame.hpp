// What all charts have in common: the frame of axes, title and legend, and the marks inside of it.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "axis.hpp"
#include "chart.hpp"
#include "readout.hpp"

namespace apps {

// Okabe and Ito's colours, which people with any kind of colour vision can tell apart.
constexpr const char* blue = "#0072B2";
constexpr const char* vermilion = "#D55E00";
constexpr const char* green = "#009E73";
constexpr const char* purple = "#AA4499";
constexpr const char* ink = "#222222";
constexpr const char* dark = "#4a4f57";
constexpr const char* grey = "#5f6670";
constexpr const char* middle_grey = "#8a919b";
constexpr const char* light_grey = "#b9bec6";
constexpr const char* faint = "#e4e7eb";

struct LegendItem {
  enum class Mark { dots, line, area, ring, tick } mark;
  std::string label;
  const char* color;
  double opacity = 1;
};

struct FrameOptions {
  std::string title = "", value_label = "", time_label = "";
  std::vector<LegendItem> legend = {};
  TimeUnit unit = TimeUnit::none;
  double width = 860, height = 380;
  bool whole_x = false;            ///< no ticks between whole numbers
  std::vector<Tick> x_ticks = {};  ///< instead of round numbers or dates
};

/// Axes, grid, title and legend around a plot area whose marks are drawn in between.
class Frame {
 public:
  Frame(Range x, Range y, const FrameOptions& options);

  double width() const { return plot_width_; }
  double height() const { return plot_height_; }
  double x(double value) const { return bounded(plot_width_ * x_.fraction(value)); }
  double y(double value) const { return bounded(plot_height_ * (1 - y_.fraction(value))); }

  /// The picture with marks in the plot area's coordinates.
  std::string with(std::string_view marks, const Readout& readout = {}) const;

 private:
  static double bounded(double coordinate) { return std::isfinite(coordinate) ? std::clamp(coordinate, -1e5, 1e5) : 0; }
  std::string place_legend(const std::vector<LegendItem>& legend, double y, double width);
  void draw_axes(const std::vector<Tick>& x_ticks, const std::vector<Tick>& y_ticks, double width);

  Range x_, y_;
  double left_ = 0, top_ = 0, plot_width_ = 0, plot_height_ = 0, legend_bottom_ = 0;
  std::string head_;
};

/// A line with gaps. Of points in one pixel column only the outer ones and the ends are drawn, so that a
/// million of them make a picture of the usual size. A point on its own becomes a dot.
std::string line(const Frame& frame, const std::vector<double>& time, const std::vector<double>& values,
                 const char* color, double stroke);
std::string area(const Frame& frame, const std::vector<double>& time, const Band& band, const char* color,
                 double opacity);
std::string dots(const Frame& frame, const std::vector<double>& x, const std::vector<double>& y, double radius,
                 const char* color, double opacity);
/// Vertical lines across the plot.
std::string time_lines(const Frame& frame, const std::vector<double>& time, const char* color);
/// The bounds of a band, as two columns that a page reads out.
void add_bounds(Readout& readout, const Band& band, const char* color);
/// A horizontal line across the plot.
std::string level_line(const Frame& frame, double value, const char* color, bool dashed);
/// Words in the middle of an empty plot.
std::string message(const Frame& frame, std::string_view text);

}  // namespace apps
