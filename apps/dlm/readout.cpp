// Numbers have the digits that tell them apart, no more: a report holds many of them.
#include "readout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "axis.hpp"
#include "text.hpp"

namespace apps {
namespace {

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = utf8_length(std::string_view(text).substr(i));
    const char c = text[i];
    if (length == 0)
      out += "\\ufffd";
    else if (length == 1 &&
             (static_cast<unsigned char>(c) < 32 || std::string_view("\"\\<>&\x7f").find(c) != std::string_view::npos))
      out += fmt::format("\\u{:04x}", static_cast<int>(static_cast<unsigned char>(c)));
    else
      out += text.substr(i, length);
    i += std::max<std::size_t>(length, 1);
  }
  return out + "\"";
}

std::string number_list(const std::vector<double>& values, const std::vector<std::size_t>& rows, int digits) {
  std::string out = "[";
  for (const std::size_t row : rows) {
    if (out.size() > 1) out += ',';
    const double value = row < values.size() ? values[row] : std::nan("");
    out += std::isfinite(value) ? fmt::format("{:.{}g}", value, digits) : "null";
  }
  return out + "]";
}

int digits_for(const std::vector<double>& values) {
  Range range;
  range.include(values);
  if (range.empty()) return 5;
  return std::min(15, digits_to_tell(std::max(std::abs(range.lo), std::abs(range.hi)), range.half() / 5, 5));
}

std::vector<std::size_t> rows_kept(const Readout& r) {
  std::vector<std::size_t> rows(r.x.size());
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  if (rows.size() <= most_rows_read_out || r.columns.empty()) return rows;
  std::vector<std::size_t> kept;
  const std::vector<double>& values = r.columns[0].values;
  const std::size_t stretches = most_rows_read_out / 2;
  const auto rank = [&](std::size_t row) {
    return row < values.size() && std::isfinite(values[row]) ? values[row] : 0;
  };
  for (std::size_t k = 0; k < stretches; ++k) {
    const auto first = rows.begin() + static_cast<std::ptrdiff_t>(k * rows.size() / stretches),
               last = rows.begin() + static_cast<std::ptrdiff_t>((k + 1) * rows.size() / stretches);
    const auto [low, high] =
        std::minmax_element(first, last, [&](std::size_t a, std::size_t b) { return rank(a) < rank(b); });
    kept.push_back(std::min(*low, *high));
    if (*low != *high) kept.push_back(std::max(*low, *high));
  }
  return kept;
}

}  // namespace

std::string readout_json(const Readout& r) {
  const std::vector<std::size_t> rows = rows_kept(r);
  std::string labels, columns;
  for (const std::size_t row : rows)
    labels += (labels.empty() ? "" : ",") + quoted(row < r.labels.size() ? r.labels[row] : "");
  for (const Readout::Column& column : r.columns)
    columns += fmt::format("{}[{},\"{}\",{}]", columns.empty() ? "" : ",\n", quoted(column.name), column.color,
                           number_list(column.values, rows, digits_for(column.values)));
  return fmt::format("\"zoom\":{},\n\"at\":{},\n\"labels\":[{}],\n\"columns\":[{}]", r.zoom, number_list(r.x, rows, 12),
                     labels, columns);
}

}  // namespace apps
