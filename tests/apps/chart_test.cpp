// Charts and report of cotan-dlm: well-formed for any data, with nothing but finite numbers in them.
#include "../../apps/dlm/chart.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>
#include <random>

#include "../../apps/dlm/report.hpp"
#include "../../apps/dlm/statistics.hpp"

using namespace apps;

namespace {

constexpr double gap = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

/// What is wrong with a text of tags, or "": every tag closed in order, attributes quoted and escaped, text
/// escaped and valid UTF-8. Enough of XML for what this program writes.
std::string flaw(std::string_view text) {
  std::vector<std::string> open;
  std::size_t roots = 0;
  const auto bad_entity = [](std::string_view s) {
    for (std::size_t at = s.find('&'); at != s.npos; at = s.find('&', at + 1)) {
      bool known = false;
      for (const char* entity : {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"})
        known = known || s.substr(at).starts_with(entity);
      if (!known) return true;
    }
    return false;
  };
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = utf8_length(text.substr(i));
    if (length == 0) return "invalid UTF-8";
    if (text[i] != '<') {
      const std::size_t end = std::min(text.find('<', i), text.size());
      const std::string_view content = text.substr(i, end - i);
      const bool raw = !open.empty() && (open.back() == "style" || open.back() == "script");
      if (!raw && (content.find('>') != content.npos || bad_entity(content))) return "text not escaped";
      for (std::size_t k = 0; k < content.size(); k += std::max<std::size_t>(1, utf8_length(content.substr(k))))
        if (utf8_length(content.substr(k)) == 0) return "invalid UTF-8";
      if (open.empty() && content.find_first_not_of(" \n") != content.npos) return "text outside of the root";
      i = end;
      continue;
    }
    std::size_t end = i + 1;
    for (char quote = 0; end < text.size() && (quote || text[end] != '>'); ++end) {
      if (!quote && (text[end] == '\'' || text[end] == '"'))
        quote = text[end];
      else if (quote && text[end] == quote)
        quote = 0;
      if (text[end] == '<') return "< inside of a tag";
    }
    if (end >= text.size()) return "tag never ends";
    std::string_view tag = text.substr(i + 1, end - i - 1);
    i = end + 1;
    if (tag.starts_with("!DOCTYPE")) continue;
    if (tag.starts_with("/")) {
      if (open.empty() || open.back() != tag.substr(1)) return "closes " + std::string(tag);
      open.pop_back();
      continue;
    }
    const bool empty = tag.ends_with('/');
    if (empty) tag.remove_suffix(1);
    const std::size_t name_end = std::min(tag.find(' '), tag.size());
    const std::string name(tag.substr(0, name_end));
    if (bad_entity(tag)) return "attribute not escaped";
    std::string_view rest = tag.substr(name_end);
    std::vector<std::string> names;
    while (!rest.empty()) {
      const std::size_t equals = rest.find('=');
      if (rest[0] != ' ' || equals == rest.npos || rest[equals + 1] != '\'') return "bad attribute in " + name;
      const std::string attribute(rest.substr(1, equals - 1));
      if (std::find(names.begin(), names.end(), attribute) != names.end()) return "attribute twice: " + attribute;
      names.push_back(attribute);
      rest.remove_prefix(rest.find('\'', equals + 2) + 1);
    }
    if (open.empty()) ++roots;
    if (!empty) open.push_back(name);
  }
  if (!open.empty()) return "never closed: " + open.back();
  return roots == 1 ? "" : "not one root";
}

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

void expect_sound(const std::string& svg, std::string_view what) {
  EXPECT_EQ(flaw(svg), "") << what;
  EXPECT_EQ(lower(svg).find("nan"), std::string::npos) << what << "\n" << svg;
  EXPECT_EQ(lower(svg).find("inf"), std::string::npos) << what << "\n" << svg;
}

std::size_t count_of(std::string_view text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++count;
  return count;
}

std::vector<double> noise(std::size_t count, double scale = 1) {
  std::mt19937 random(7);
  std::normal_distribution<double> normal(0, scale);
  std::vector<double> out(count);
  for (double& value : out) value = normal(random);
  return out;
}

TimeChart full_chart() {
  TimeChart chart;
  chart.title = "Flow", chart.value_label = "m³", chart.time_label = "year", chart.unit = TimeUnit::year;
  chart.fan.resize(3);
  chart.fan[0].level = 0.5, chart.fan[1].level = 0.8, chart.fan[2].level = 0.95;
  for (int i = 0; i < 100; ++i) {
    chart.time.push_back(1871 + i);
    chart.observed.push_back(i % 9 == 0 ? gap : 900 + 30 * std::sin(i));
    chart.fitted.push_back(900);
    chart.fitted_band.lower.push_back(850), chart.fitted_band.upper.push_back(950);
  }
  for (int i = 0; i < 10; ++i) {
    chart.forecast_time.push_back(1971 + i);
    chart.forecast.push_back(900);
    for (std::size_t k = 0; k < 3; ++k) {
      chart.fan[k].lower.push_back(900 - 20.0 * static_cast<double>(k + 1));
      chart.fan[k].upper.push_back(900 + 20.0 * static_cast<double>(k + 1));
    }
  }
  return chart;
}

struct Label {
  double x, y;
  std::string text;
};
/// The texts that are centred on their place: the labels of the time axis.
std::vector<Label> centred_labels(const std::string& svg) {
  std::vector<Label> out;
  const std::string mark = "text-anchor='middle'>";
  for (std::size_t at = svg.find(mark); at != svg.npos; at = svg.find(mark, at + 1)) {
    const std::size_t tag = svg.rfind("<text x='", at), text = at + mark.size();
    out.push_back({std::stod(svg.substr(tag + 9)), std::stod(svg.substr(svg.find("y='", tag) + 3)),
                   svg.substr(text, svg.find('<', text) - text)});
  }
  return out;
}

bool has_label(const std::string& svg, std::string_view label) {
  return svg.find(">" + std::string(label) + "</text>") != std::string::npos;
}

const std::vector<std::vector<double>>& odd_series() {
  static const std::vector<std::vector<double>> series = {{},
                                                          {5},
                                                          {gap},
                                                          {gap, gap, gap},
                                                          {0, 0, 0},
                                                          {7, 7, 7, 7},
                                                          {1, gap, 2, gap, gap, 3},
                                                          {infinity, 1, -infinity},
                                                          {1e300, -1e300, 5e299},
                                                          {1.7e308, -1.7e308},
                                                          {1e-300, 2e-300},
                                                          {5e-324, 0},
                                                          {1e9, 1e9 + 1e-3, 1e9 + 2e-3},
                                                          {-1e-9, 1e-9},
                                                          {1e15, 1e15 + 1},
                                                          {123456, -98765},
                                                          {1, 1 + 1e-16, 1}};
  return series;
}

}  // namespace

TEST(Chart, CheckerFindsFlaws) {
  EXPECT_EQ(flaw("<a b='1'><c/>x &amp; y</a>"), "");
  for (const char* bad : {"<a>", "<a></b>", "<a>&</a>", "<a b=1/>", "<a b='&'/>", "<a/><b/>", "<a>\xff</a>",
                          "<a b='1' b='2'/>", "<a>></a>", "x<a/>"})
    EXPECT_NE(flaw(bad), "") << bad;
}
TEST(Chart, EscapesAnything) {
  EXPECT_EQ(xml_escape("a<b>&\"'é"), "a&lt;b&gt;&amp;&quot;&#39;é");
  EXPECT_EQ(xml_escape(std::string_view("\0\x01\xff", 3)), "\uFFFD\uFFFD\uFFFD");
  std::mt19937 random(3);
  for (int i = 0; i < 300; ++i) {
    std::string text(20, ' ');
    for (char& c : text) c = static_cast<char>(random());
    TimeChart chart = full_chart();
    chart.title = chart.value_label = chart.time_label = chart.fitted_label = chart.observed_label = text;
    EXPECT_EQ(flaw(to_svg(chart)), "");
  }
}
TEST(Chart, FullTimeChart) {
  const std::string svg = to_svg(full_chart());
  expect_sound(svg, "full");
  for (const char* label : {"Flow", "m³", "year", "observed", "smoothed level", "95 % band", "forecast", "50 %", "80 %",
                            "95 %", "now", "1900", "1950", "900"})
    EXPECT_TRUE(has_label(svg, label)) << label;
  EXPECT_EQ(count_of(svg, "<circle"), 88u + 1) << "observations that are present, and the legend";
}
TEST(Chart, PartsMayBeAbsent) {
  TimeChart chart;
  chart.fitted = {1, 2, 3};
  const std::string svg = to_svg(chart);
  expect_sound(svg, "fitted only");
  EXPECT_FALSE(has_label(svg, "observed"));
  EXPECT_FALSE(has_label(svg, "now"));
  chart = full_chart();
  chart.time.resize(50), chart.fitted.resize(70), chart.fan[1].upper.resize(2), chart.forecast.resize(3);
  expect_sound(to_svg(chart), "lengths that differ");
  TimeChart future;
  future.forecast_time = {1, 2}, future.forecast = {1, 2};
  expect_sound(to_svg(future), "forecast only");
}
TEST(Chart, GapsBreakLines) {
  TimeChart chart;
  chart.fitted = {1, 2, gap, 3, 4, gap, 5};
  const std::string svg = to_svg(chart);
  const std::size_t path = svg.find("<path d='");
  EXPECT_EQ(count_of(svg.substr(path, svg.find("fill", path) - path), "M"), 3u);
}
TEST(Chart, OddSeriesInEveryChart) {
  for (const auto& values : odd_series())
    for (const TimeUnit unit :
         {TimeUnit::none, TimeUnit::year, TimeUnit::quarter, TimeUnit::month, TimeUnit::day, TimeUnit::second}) {
      const std::string what = testing::PrintToString(values) + " " + std::string(name_of(unit));
      TimeChart chart;
      chart.unit = unit;
      chart.observed = chart.fitted = chart.fitted_band.lower = chart.fitted_band.upper = values;
      chart.forecast = values;
      chart.fan = {{0.5, values, values}};
      for (std::size_t i = 0; i < values.size(); ++i) chart.forecast_time.push_back(100.0 + static_cast<double>(i));
      expect_sound(to_svg(chart), what);
      chart.time = chart.forecast_time = values;  // odd times as well
      expect_sound(to_svg(chart), what);
      expect_sound(to_svg(ResidualChart{.unit = unit, .time = values, .residuals = values}), what);
    }
  for (const auto& values : odd_series()) {
    const std::string what = testing::PrintToString(values);
    expect_sound(to_svg(ResidualChart{.residuals = values}), what);
    expect_sound(to_svg(AutocorrelationChart{.values = autocorrelation(values, 10), .count = values.size()}), what);
    expect_sound(to_svg(AutocorrelationChart{.values = values, .count = 3}), what);
    expect_sound(to_svg(QuantileChart{.residuals = values}), what);
    expect_sound(to_svg(QuantileChart{.residuals = values, .standardised = false}), what);
    expect_sound(to_svg(HistogramChart{.residuals = values}), what);
  }
}
TEST(Chart, NoDataIsSaid) {
  EXPECT_TRUE(has_label(to_svg(TimeChart{}), "no data to show"));
  EXPECT_TRUE(has_label(to_svg(QuantileChart{}), "no residuals to show"));
}
TEST(Chart, OddSizes) {
  for (const double size : {0.0, -5.0, 1.0, 1e9, gap, infinity}) {
    TimeChart chart = full_chart();
    chart.width = chart.height = size;
    expect_sound(to_svg(chart), std::to_string(size));
  }
}
TEST(Chart, MillionPointsStaySmall) {
  TimeChart chart;
  chart.observed = noise(1000000);
  chart.fitted = chart.observed;
  chart.fitted_band = {0.95, chart.observed, chart.observed};
  const std::string svg = to_svg(chart);
  EXPECT_LT(svg.size(), 400000u);
  expect_sound(svg, "million");
  EXPECT_LT(to_svg(QuantileChart{.residuals = chart.observed}).size(), 150000u);
  EXPECT_LT(to_svg(ResidualChart{.residuals = chart.observed}).size(), 150000u);
}
TEST(Chart, ExplodingBandsDoNotFlattenTheData) {
  TimeChart chart = full_chart();
  chart.fitted_band.upper[0] = 1e7;
  const std::string svg = to_svg(chart);
  EXPECT_TRUE(has_label(svg, "900"));
  EXPECT_EQ(svg.find("×10"), std::string::npos);
}
TEST(Chart, NumberTicks) {
  const auto chart = [](std::vector<double> values) {
    TimeChart c;
    c.observed = std::move(values);
    return to_svg(c);
  };
  EXPECT_TRUE(has_label(chart({0, 100}), "20"));
  EXPECT_TRUE(has_label(chart({0, 1}), "0.4"));
  EXPECT_TRUE(has_label(chart({-1, 1}), "−0.5"));
  EXPECT_TRUE(has_label(chart({0, 4e6}), "×10⁶"));
  EXPECT_TRUE(has_label(chart({0, 4e-5}), "×10⁻⁶"));
  EXPECT_TRUE(has_label(chart({0, 40000}), "20\u2009000"));
  EXPECT_TRUE(has_label(chart({1e9, 1e9 + 0.01}), "+ 1000000000"));
}
TEST(Chart, DateTicks) {
  const auto chart = [](TimeUnit unit, double start, double step, int count) {
    TimeChart c;
    c.unit = unit;
    for (int i = 0; i < count; ++i) c.time.push_back(start + step * i), c.observed.push_back(i);
    return to_svg(c);
  };
  EXPECT_TRUE(has_label(chart(TimeUnit::year, 1871, 1, 100), "1900"));
  EXPECT_TRUE(has_label(chart(TimeUnit::month, 12 * 1949, 1, 144), "1955"));
  EXPECT_TRUE(has_label(chart(TimeUnit::month, 12 * 1949, 1, 10), "Mar"));
  EXPECT_TRUE(has_label(chart(TimeUnit::quarter, 4 * 2001, 1, 8), "Q3"));
  const std::string days = chart(TimeUnit::day, 19778, 1, 10);
  EXPECT_TRUE(has_label(days, "29 Feb") && has_label(days, "2024"));
  EXPECT_TRUE(has_label(chart(TimeUnit::day, 18276, 1, 365), "Jul"));
  const std::string hours = chart(TimeUnit::second, 19781 * 86400.0 + 20 * 3600, 3600, 12);
  EXPECT_TRUE(has_label(hours, "00:00") && has_label(hours, "29 Feb 2024"));
  EXPECT_TRUE(has_label(chart(TimeUnit::second, 1.7e9, 1, 50), "22:13:30"));
}
TEST(Chart, LabelsDoNotOverlap) {
  const double spans[] = {2, 5, 17, 60, 200, 366, 1000, 5000, 40000};
  for (const TimeUnit unit :
       {TimeUnit::none, TimeUnit::year, TimeUnit::quarter, TimeUnit::month, TimeUnit::day, TimeUnit::second})
    for (const double width : {300.0, 560.0, 860.0})
      for (const double span : spans) {
        TimeChart chart;
        chart.unit = unit, chart.width = width;
        chart.time = {1000, 1000 + span}, chart.observed = {0, 1};
        const std::string svg = to_svg(chart);
        const std::vector<Label> ticks = centred_labels(svg);
        EXPECT_GE(ticks.size(), 2u) << name_of(unit) << " " << span;
        for (const Label& a : ticks)
          for (const Label& b : ticks) {
            if (&a == &b || a.y != b.y) continue;
            const double letters = static_cast<double>(a.text.size() + b.text.size()) / 2;
            EXPECT_GT(std::abs(a.x - b.x), 6.5 * letters) << a.text << " " << b.text << " " << width;
          }
      }
}
TEST(Chart, Stack) {
  const std::string one = to_svg(full_chart()), small = to_svg(QuantileChart{.residuals = noise(50)});
  const std::string svg = stack_charts({{one}, {small, small}, {}});
  expect_sound(svg, "stack");
  EXPECT_NE(svg.find("width='860' height='720'"), std::string::npos);
  expect_sound(stack_charts({}), "empty");
  expect_sound(stack_charts({{"not a chart"}}), "wrong");
}

TEST(Statistics, NormalQuantile) {
  EXPECT_NEAR(normal_quantile(0.5), 0, 1e-15);
  EXPECT_NEAR(normal_quantile(0.975), 1.959963984540054, 1e-14);
  EXPECT_NEAR(normal_quantile(0.9), 1.2815515655446004, 1e-14);
  EXPECT_NEAR(normal_quantile(1e-10), -6.361340902404056, 1e-12);
  EXPECT_NEAR(normal_quantile(1e-300), -37.047096299361201, 1e-9);
  EXPECT_NEAR(normal_quantile(1 - 1e-10), 6.361340902404056, 1e-6) << "1 - p itself is rounded";
  for (double z = -8; z <= 5; z += 0.0625) {
    const double p = 0.5 * std::erfc(-z / std::sqrt(2.0));
    EXPECT_NEAR(normal_quantile(p), z, 1e-9);
  }
  EXPECT_EQ(normal_quantile(0), -infinity);
  EXPECT_EQ(normal_quantile(1), infinity);
  for (const double p : {-0.1, 1.1, gap}) EXPECT_TRUE(std::isnan(normal_quantile(p)));
  EXPECT_LT(normal_quantile(5e-324), -38);
}
TEST(Statistics, Autocorrelation) {
  const std::vector<double> values{1, 2, 3, 4, 5};  // R: acf(1:5)
  const std::vector<double> expected{1, 0.4, -0.1, -0.4, -0.4};
  const std::vector<double> r = autocorrelation(values, 6);
  ASSERT_EQ(r.size(), 7u);
  for (std::size_t i = 0; i < 5; ++i) EXPECT_NEAR(r[i], expected[i], 1e-15);
  EXPECT_TRUE(std::isnan(r[5]) && std::isnan(r[6]));
  // R: acf(c(1, 2, NA, 4, 5, 3), na.action = na.pass): mean 3, pairs at lag 1: (1,2), (4,5), (5,3)
  const std::vector<double> gapped = autocorrelation(std::vector<double>{1, 2, gap, 4, 5, 3}, 1);
  EXPECT_NEAR(gapped[1], ((-2.0 * -1 + 1 * 2 + 2 * 0) / 4) / (10.0 / 5), 1e-15);
  EXPECT_TRUE(std::isnan(autocorrelation(std::vector<double>{3, 3, 3}, 1)[1]));
  EXPECT_TRUE(std::isnan(autocorrelation(std::vector<double>{}, 1)[0]));
  const std::vector<double> huge = autocorrelation(std::vector<double>{1e300, 2e300, 3e300, 4e300, 5e300}, 1);
  EXPECT_NEAR(huge[1], 0.4, 1e-14);
  for (const double value : autocorrelation(noise(4000), 20)) EXPECT_LE(std::abs(value), 1);
}

TEST(Report, Page) {
  Report report;
  report.title = "Nile <1871>", report.subtitle = "a & b", report.footer = "made 'today'";
  report.facts = {{"observations", "100", "2 missing"}, {"AIC", "1099.8"}};
  report.tables = {{"Estimates", {"name", "value"}, {{"σ²", "15099"}, {"<W>"}, {"a", "b", "c"}}, "note"}};
  report.sections = {
      {"Series", "One.\n\nTwo & three.\n\n\n", {to_svg(full_chart())}, {}},
      {"Rest", "", {to_svg(QuantileChart{.residuals = noise(20)})}, {{"Long", {"x"}, {{"1"}}, "", true}}}};
  const std::string html = to_html(report);
  EXPECT_EQ(flaw(html), "");
  for (const char* part :
       {"<title>Nile &lt;1871&gt;</title>", "a &amp; b", "<dd>1099.8</dd>", "<caption>Estimates</caption>",
        "<td>&lt;W&gt;</td>", "<p>One.</p>", "<p>Two &amp; three.</p>", "<summary>Long</summary>", "class='wide'",
        "class='narrow'", "<td class='number'>1</td>"})
    EXPECT_NE(html.find(part), std::string::npos) << part;
  EXPECT_EQ(count_of(html, "<p>"), 2u);
  for (const char* outside : {"src=", "href=", "url(", "@import", "import(", "fetch("})
    EXPECT_EQ(html.find(outside), std::string::npos) << outside;
  EXPECT_EQ(count_of(html, "http"), 2u) << "only the name of the SVG namespace, once a chart";
}
TEST(Report, Empty) { EXPECT_EQ(flaw(to_html({})), ""); }
TEST(Report, AnyText) {
  std::mt19937 random(5);
  for (int i = 0; i < 200; ++i) {
    std::string text(30, ' ');
    for (char& c : text) c = static_cast<char>(random());
    const ReportTable table{text, {text, text}, {{text}, {text, text, text}}, text, i % 2 == 0};
    EXPECT_EQ(flaw(to_html({text, text, {{text, text, text}}, {table}, {{text, text, {}, {table}}}, text})), "");
  }
}
TEST(Report, NumberText) {
  EXPECT_EQ(number_text(1469.13, 5), "1469.1");
  EXPECT_EQ(number_text(-0.031234), "−0.03123");
  EXPECT_EQ(number_text(0), "0.000");
  EXPECT_EQ(number_text(-0.0), "0.000");
  EXPECT_EQ(number_text(123456), "123456");
  EXPECT_EQ(number_text(1.5e12, 3), "1.50×10¹²");
  EXPECT_EQ(number_text(-2e-7, 2), "−2.0×10⁻⁷");
  EXPECT_EQ(number_text(gap), "–");
  EXPECT_EQ(number_text(-infinity), "−∞");
  for (const double value : {5e-324, 1.7e308, 9.9999999, 1e-4, 1e7}) EXPECT_FALSE(number_text(value, 4).empty());
}
