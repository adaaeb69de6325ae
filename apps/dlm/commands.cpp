// Each command analyses, prints, writes, and says what it has written.
#include "commands.hpp"

#include <filesystem>
#include <iostream>
#include <utility>

#include "analysis.hpp"
#include "datasets.hpp"
#include "errors.hpp"
#include "files.hpp"
#include "pages.hpp"
#include "tables.hpp"
#include "text.hpp"

namespace apps {
namespace {

/// Writes what the options ask for; the paths, for people.
std::vector<std::string> write_results(const Analysis& a, const Options& o) {
  std::vector<std::string> written;
  const auto write = [&](const std::string& path, std::string (*text)(const Analysis&)) {
    if (path.empty()) return;
    write_file(path, text(a));
    if (path != "-") written.push_back(path);
  };
  write(o.json, json_text);
  write(o.csv, csv_text);
  write(o.plot, plot_svg);
  write(o.report, report_html);
  return written;
}

void say_written(std::ostream& out, const std::vector<std::string>& paths) {
  if (!paths.empty()) out << "\n  written: " << fmt::format("{}", fmt::join(paths, ", ")) << "\n";
}

}  // namespace

void run_analysis(const Options& o) {
  const std::string* const outputs[] = {&o.json, &o.csv, &o.plot, &o.report};
  int to_stdout = 0;
  for (const std::string* path : outputs) {
    std::error_code ignored;
    if (!path->empty() && std::filesystem::equivalent(*path, o.source, ignored))
      complain<UsageError>("[{}] it is the file that the series is read from; give the result another name.", *path);
    check_writable(*path);
    to_stdout += *path == "-";
  }
  if (to_stdout > 1) complain<UsageError>("[-] two results cannot share standard output; give one of them a file.");
  const Analysis a = analyse(o);
  std::ostream& out = to_stdout ? std::cerr : std::cout;
  if (!o.quiet) {
    out << summary_text(a);
    if (a.holdout) out << holdout_text(a);
    if (a.forecast) out << forecast_text(a);
  } else {
    for (const std::string& note : a.notes) std::cerr << "cotan-dlm: note: " << note << "\n";
  }
  const std::vector<std::string> written = write_results(a, o);
  if (!o.quiet) say_written(out, written);
}

void run_demo(const Options& o) {
  std::error_code error;
  std::filesystem::create_directories(o.out, error);
  if (error)
    complain<InputError>("[{}] the folder cannot be made: {}; give another one with --out.", o.out, error.message());
  const auto analysis_of = [&](Options with, const std::string& source, const std::string& file) {
    with.command = Command::fit;
    with.source = source;
    with.report = (std::filesystem::path(o.out) / (file + ".html")).string();
    with.plot = (std::filesystem::path(o.out) / (file + ".svg")).string();
    check_writable(with.report);
    check_writable(with.plot);
    const Analysis a = analyse(with);
    if (!o.quiet) std::cout << summary_text(a);
    return std::pair(a, write_results(a, with));
  };
  Options nile = o;
  nile.steps = 10;
  nile.order = 0;
  const auto [level, level_files] = analysis_of(nile, "nile", "nile");
  nile.order = 1;
  const auto [trend, trend_files] = analysis_of(nile, "nile", "nile-trend");
  if (!o.quiet)
    std::cout << fmt::format(
        "\n  AIC prefers the {} for the Nile: {:.2f} for the local level, {:.2f} for the local linear "
        "trend.\n",
        level.aic() <= trend.aic() ? "local level" : "local linear trend", level.aic(), trend.aic());
  Options airline = o;
  airline.log = true;
  airline.seasons = {{12}};
  airline.steps = 24;
  const auto [seasonal, seasonal_files] = analysis_of(airline, "airline", "airline");
  if (!o.quiet) std::cout << forecast_text(seasonal);
  std::cout << "\nReports and plots:\n";
  for (const auto* files : {&level_files, &trend_files, &seasonal_files})
    for (const std::string& file : *files) std::cout << "  " << file << "\n";
}

void run_datasets(const Options& o) {
  if (!o.source.empty()) {
    if (const Dataset* dataset = find_dataset(o.source)) {
      std::cout << csv_of(*dataset);
      return;
    }
    std::vector<std::string> names;
    for (const Dataset& dataset : datasets()) names.push_back(dataset.name);
    const std::string nearest = nearest_spelling(o.source, names);
    complain<InputError>("[datasets] there is no series {}{}; built in are: {}.", shown(o.source),
                         nearest.empty() ? "" : fmt::format(" (did you mean {}?)", nearest), fmt::join(names, ", "));
  }
  for (const Dataset& dataset : datasets())
    std::cout << fmt::format("{:<10} {:>4} values  {}, {}\n", dataset.name, dataset.values.size(), dataset.title,
                             dataset.value_label);
}

}  // namespace apps
