// The page is written as XML-clean HTML, so that a test can check that every tag is closed.
#include "report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "report_assets.hpp"
#include "text.hpp"

namespace apps {
namespace {

/// Whether a cell is set as a number: it begins with a digit, after signs and spaces, or stands for none.
bool reads_as_number(std::string_view cell) {
  for (const std::string_view sign : {"−", "-", "+", "±", "<", "≤", "≈", "~", " "})
    if (cell.starts_with(sign) && cell.size() > sign.size()) return reads_as_number(cell.substr(sign.size()));
  return cell == "–" || cell == "∞" || (!cell.empty() && cell[0] >= '0' && cell[0] <= '9');
}

std::string table_html(const ReportTable& table) {
  std::size_t columns = table.header.size();
  for (const auto& row : table.rows) columns = std::max(columns, row.size());
  std::vector<bool> numeric(columns, true);
  for (std::size_t i = 0; i < columns; ++i) {
    bool any = false;
    for (const auto& row : table.rows) {
      if (i >= row.size() || row[i].empty()) continue;
      any = true;
      numeric[i] = numeric[i] && reads_as_number(row[i]);
    }
    numeric[i] = numeric[i] && any;
  }
  const auto row_html = [&](const std::vector<std::string>& cells, std::string_view tag) {
    std::string out = "<tr>";
    for (std::size_t i = 0; i < columns; ++i)
      out += fmt::format("<{0}{1}>{2}</{0}>", tag, numeric[i] ? " class='number'" : "",
                         i < cells.size() ? xml_escape(cells[i]) : "");
    return out + "</tr>\n";
  };
  std::string out = "<table>\n";
  if (!table.folded && !table.caption.empty()) out += fmt::format("<caption>{}</caption>\n", xml_escape(table.caption));
  if (!table.header.empty()) out += "<thead>" + row_html(table.header, "th") + "</thead>\n";
  out += "<tbody>\n";
  for (const auto& row : table.rows) out += row_html(row, "td");
  out += "</tbody>\n</table>\n";
  if (!table.note.empty()) out += fmt::format("<p class='tablenote'>{}</p>\n", xml_escape(table.note));
  if (table.folded)
    return fmt::format("<details><summary>{}</summary>\n<div class='table'>{}</div></details>\n",
                       xml_escape(table.caption.empty() ? "Table" : table.caption), out);
  return fmt::format("<div class='table'>{}</div>\n", out);
}

std::string tables_html(const std::vector<ReportTable>& tables) {
  std::string open, folded;
  for (const ReportTable& table : tables) (table.folded ? folded : open) += table_html(table);
  return (open.empty() ? "" : "<div class='tables'>\n" + open + "</div>\n") + folded;
}

std::string paragraphs(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find("\n\n"), text.size());
    if (text.substr(0, end).find_first_not_of(" \n\t") != std::string_view::npos)
      out += fmt::format("<p>{}</p>\n", xml_escape(text.substr(0, end)));
    text.remove_prefix(std::min(end + 2, text.size()));
  }
  return out;
}

/// Charts keep their own proportions; two narrow ones share a row.
std::string charts_html(const std::vector<std::string>& charts) {
  constexpr double narrow = 600;
  if (charts.empty()) return "";
  std::string out = "<div class='charts'>\n";
  for (const std::string& svg : charts) {
    const std::size_t at = svg.find(" width='");
    const double width = at == std::string::npos ? narrow : std::strtod(svg.c_str() + at + 8, nullptr);
    out += fmt::format("<figure class='{}'>\n{}</figure>\n", width < narrow ? "narrow" : "wide", svg);
  }
  return out + "</div>\n";
}

}  // namespace

std::string to_html(const Report& report) {
  const std::string title = xml_escape(report.title.empty() ? "Report" : report.title);
  std::string out = fmt::format(
      "<!DOCTYPE html>\n<html lang='en'>\n<head>\n<meta charset='utf-8'/>\n"
      "<meta name='viewport' content='width=device-width, initial-scale=1'/>\n<title>{0}</title>\n"
      "<style>{1}</style>\n</head>\n<body>\n<main>\n<header>\n<h1>{0}</h1>\n",
      title, report_style);
  if (!report.subtitle.empty()) out += fmt::format("<p class='subtitle'>{}</p>\n", xml_escape(report.subtitle));
  out += "</header>\n";
  if (!report.facts.empty()) {
    out += "<dl class='facts'>\n";
    for (const Fact& fact : report.facts)
      out += fmt::format("<div><dt>{}</dt><dd>{}</dd>{}</div>\n", xml_escape(fact.name), xml_escape(fact.value),
                         fact.note.empty() ? "" : fmt::format("<dd class='note'>{}</dd>", xml_escape(fact.note)));
    out += "</dl>\n";
  }
  out += tables_html(report.tables);
  for (const Section& section : report.sections) {
    out += "<section>\n";
    if (!section.heading.empty()) out += fmt::format("<h2>{}</h2>\n", xml_escape(section.heading));
    out += paragraphs(section.text) + charts_html(section.charts) + tables_html(section.tables) + "</section>\n";
  }
  if (!report.footer.empty()) out += fmt::format("<footer>{}</footer>\n", xml_escape(report.footer));
  return out + fmt::format("</main>\n<script>{}</script>\n</body>\n</html>\n", report_script);
}

}  // namespace apps
