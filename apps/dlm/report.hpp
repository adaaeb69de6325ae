// A statistical report as one HTML page that needs nothing else: no script, no font, no picture from outside.
#pragma once
#include <string>
#include <vector>

#include "text.hpp"

namespace apps {

/// One figure of the summary at the top: "observations", "100", "2 missing".
struct Fact {
  std::string name, value, note = "";
};

/// Cells that read as numbers are set flush right. A folded table opens on a click, and in print
/// where the browser can.
struct ReportTable {
  std::string caption;
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;
  std::string note = "";
  bool folded = false;
};

/// Charts are SVG text of chart.hpp: wide ones one below the other, narrow ones side by side where there is
/// room. Blank lines in a text separate paragraphs.
struct Section {
  std::string heading, text;
  std::vector<std::string> charts = {};
  std::vector<ReportTable> tables = {};
};

struct Report {
  std::string title, subtitle;
  std::vector<Fact> facts;
  std::vector<ReportTable> tables;
  std::vector<Section> sections;
  std::string footer;
};

/// The page. All texts are escaped; only the charts go in as they are.
std::string to_html(const Report& report);

}  // namespace apps
