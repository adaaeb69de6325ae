// The page is written as XML-clean HTML, so that a test can check that every tag is closed.
#include "report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "text.hpp"

namespace apps {
namespace {

constexpr std::string_view style = R"(
:root { color-scheme: light; --ink: #1f2328; --soft: #5f6670; --rule: #d8dce1; --accent: #0072B2; }
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body { margin: 0; background: #f4f5f6; color: var(--ink);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, Helvetica, Arial, sans-serif; }
main { max-width: 980px; margin: 28px auto; padding: 40px 48px 32px; background: #fff;
  border: 1px solid var(--rule); border-radius: 6px; }
header { border-bottom: 3px solid var(--accent); padding-bottom: 14px; margin-bottom: 22px; }
h1, h2 { font-family: Charter, "Iowan Old Style", Georgia, "DejaVu Serif", serif; line-height: 1.2;
  overflow-wrap: anywhere; }
h1 { font-size: 27px; margin: 0; text-wrap: balance; }
h2 { font-size: 21px; margin: 40px 0 8px; }

p { margin: 0 0 12px; max-width: 46em; overflow-wrap: anywhere; }
.subtitle { color: var(--soft); margin: 6px 0 0; max-width: none; }
.facts { display: grid; grid-template-columns: repeat(auto-fit, minmax(150px, 1fr)); gap: 1px;
  margin: 0 0 26px; border: 1px solid var(--rule); border-radius: 6px; overflow: hidden; }
.facts div { box-shadow: 0 0 0 1px var(--rule); padding: 12px 16px; }
.facts dt { color: var(--soft); font-size: 13px; }
.facts dd { margin: 0; font-size: 21px; font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }
.facts dd.note { font-size: 13px; color: var(--soft); }
.tables { display: flex; flex-wrap: wrap; gap: 8px 48px; align-items: flex-start; }
.table { overflow-x: auto; max-width: 100%; margin: 6px 0 14px; }
table { border-collapse: collapse; font-size: 15px; font-variant-numeric: tabular-nums; }
caption, summary { text-align: left; font-weight: 600; padding: 0 0 6px; }
summary { cursor: pointer; color: var(--accent); padding: 4px 0; }
th, td { padding: 5px 22px 5px 0; text-align: left; vertical-align: top; }
th:last-child, td:last-child { padding-right: 0; }
th { color: var(--soft); font-weight: 500; font-size: 13px; border-bottom: 1px solid #8a919b;
  vertical-align: bottom; }
tbody tr + tr td { border-top: 1px solid #eceef0; }
tbody tr:last-child td { border-bottom: 1px solid #8a919b; }
.number { text-align: right; white-space: nowrap; }
/* As wide as the table, and no reason for it to be wider. */
.tablenote { color: var(--soft); font-size: 13px; margin: 6px 0 0; width: 0; min-width: 100%; }
.charts { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(380px, 100%), 1fr)); gap: 12px 20px;
  margin: 10px 0 4px; }
figure { margin: 0; min-width: 0; overflow-x: auto; border: 1px solid #eceef0; border-radius: 4px; }
figure.wide { grid-column: 1 / -1; }
figure > svg { display: block; width: 100%; height: auto; }
figure.wide > svg { min-width: 600px; }
figure.narrow > svg { min-width: 320px; }
footer { margin-top: 40px; padding-top: 12px; border-top: 1px solid var(--rule); color: var(--soft);
  font-size: 13px; overflow-wrap: anywhere; }
@media (max-width: 640px) {
  main { margin: 0; padding: 22px 16px; border: 0; border-radius: 0; }
  h1 { font-size: 25px; }
  .facts { grid-template-columns: repeat(2, 1fr); }
  .facts dd { font-size: 18px; }
  th, td { padding-right: 14px; }
}
@media print {
  @page { margin: 16mm 14mm; }
  body { background: #fff; font-size: 10pt; }
  h1 { font-size: 19pt; }
  h2 { font-size: 13pt; margin-top: 22px; }
  section > p { break-after: avoid; }
  table { font-size: 9.5pt; }
  th, td { padding-top: 2px; padding-bottom: 2px; }
  .facts { grid-template-columns: repeat(auto-fit, minmax(115px, 1fr)); margin-bottom: 16px; }
  .facts div { padding: 7px 10px; }
  .facts dd { font-size: 13pt; }
  main { margin: 0; padding: 0; border: 0; max-width: none; }
  h2 { break-after: avoid; }
  figure, tr, .facts { break-inside: avoid; }
  figure { border: 0; overflow: visible; }
  figure.wide > svg, figure.narrow > svg { min-width: 0; }
  .charts { grid-template-columns: 1fr 1fr; }
  details::details-content { content-visibility: visible; block-size: auto; }
}
)";

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
  if (!table.folded && !table.caption.empty())
    out += fmt::format("<caption>{}</caption>\n", xml_escape(table.caption));
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
      title, style);
  if (!report.subtitle.empty())
    out += fmt::format("<p class='subtitle'>{}</p>\n", xml_escape(report.subtitle));
  out += "</header>\n";
  if (!report.facts.empty()) {
    out += "<dl class='facts'>\n";
    for (const Fact& fact : report.facts)
      out += fmt::format(
          "<div><dt>{}</dt><dd>{}</dd>{}</div>\n", xml_escape(fact.name), xml_escape(fact.value),
          fact.note.empty() ? "" : fmt::format("<dd class='note'>{}</dd>", xml_escape(fact.note)));
    out += "</dl>\n";
  }
  out += tables_html(report.tables);
  for (const Section& section : report.sections) {
    out += "<section>\n";
    if (!section.heading.empty()) out += fmt::format("<h2>{}</h2>\n", xml_escape(section.heading));
    out +=
        paragraphs(section.text) + charts_html(section.charts) + tables_html(section.tables) + "</section>\n";
  }
  if (!report.footer.empty()) out += fmt::format("<footer>{}</footer>\n", xml_escape(report.footer));
  return out + "</main>\n</body>\n</html>\n";
}

}  // namespace apps
