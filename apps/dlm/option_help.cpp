// The help of cotan-dlm.
#include "option_table.hpp"
#include "option_values.hpp"

namespace apps {
namespace {

constexpr std::size_t help_width = 100;

/// Words in lines of the usual width, all but the first indented.
std::string wrapped(const std::string& text, std::size_t indent) {
  std::string out;
  std::size_t column = indent;
  for (const std::string& word : pieces(text, ' ')) {
    const std::size_t width = letters_of(word);
    if (column > indent && column + 1 + width > help_width) {
      out += "\n" + std::string(indent, ' ');
      column = indent;
    } else if (column > indent) {
      out += ' ';
      ++column;
    }
    out += word;
    column += width;
  }
  return out;
}

std::string option_help(Command command) {
  constexpr std::size_t indent = 30;
  Options unused;
  CLI::App app;
  app.set_help_flag();
  add_options(app, unused, command);
  std::string out, group;
  for (const CLI::Option* option : app.get_options()) {
    if (group != option->get_group()) out += fmt::format("\n{}\n", group = option->get_group());
    const bool is_flag = option->get_items_expected_max() == 0;
    std::string head = "  " + option->get_name() + (is_flag ? "" : " " + option->get_type_name());
    const std::size_t width = letters_of(head);
    head += width + 2 > indent ? "\n" + std::string(indent, ' ') : std::string(indent - width, ' ');
    out += head + wrapped(option->get_description(), indent) + "\n";
  }
  return out;
}

constexpr const char* general_help = R"(cotan-dlm: state-space models of time series (dynamic linear models)

usage: cotan-dlm COMMAND [ARGUMENTS] [OPTIONS]

Commands
  fit FILE.csv        estimate a model, smooth the series, say how well it fits
  forecast FILE.csv   the same, then forecast
  demo                fit the built-in series, write reports and plots
  datasets [NAME]     list the built-in series, or print one as CSV

  cotan-dlm COMMAND --help   explains a command and its options
  cotan-dlm --version

Instead of a file: - reads standard input, nile or airline are built in.
Exit codes: 0, 1 for input that cannot be used, 2 for a wrong command line.

Examples
  cotan-dlm fit nile --order 0 --report nile.html
  cotan-dlm forecast airline --log --season 12 --steps 24 --plot airline.svg
  cotan-dlm fit sales.csv --column sales --season 12 --harmonics 2 --ar 1 --json fit.json
  cotan-dlm fit nile --order 1 --set obs=122 --set slope=0
)";

constexpr const char* analysis_help = R"(
Parameters are standard deviations, named by what they move: obs (the observations), level, slope,
curvature, season, "harmonic 1", "harmonic 1 conjugate", …, ar, spline; and phi, the coefficients of the
autoregression. With several seasons their names end in the period: "season 7", "harmonic 1 of 365.25".
They are estimated by maximum likelihood unless --set fixes them.

The file has a row for each time, and commas, semicolons, tabs or bars between columns; in UTF-8, UTF-16 or
Latin-1. Lines above the header are left out where they begin with #, or by --skip-rows. Times are dates (2020-06-01, 01/06/2020, 1 Jun 2020, Jan 2010, 2010M01, 2010Q1, 2010H1, 2010W05,
2019/20, with a time of day or not, 20200601, 202006, years, decimal years, Unix times), in one column or
several (year and month or week, date and time or hour), or numbers that grow. Whether the day or the month
comes first, and what digits mean, is decided by the column's name and by all of its fields, and asked for
where these do not tell. Numbers may have decimal commas, separators of thousands, a currency, % or a unit.
The summary says which column was taken for what.

The summary lists outliers and level shifts: values, and jumps of the level, that the model does not expect
(auxiliary residuals beyond a threshold that half of one is expected to pass by chance). Where no --season is
given it suggests those that the series seems to have, and takes none.
)";

constexpr const char* csv_help = R"(
Columns of --csv, empty in rows that have no such thing (forecasts are of rows after the last value)
  fitted, fitted_lower, fitted_upper
                              the smoothed signal, and the band of its own uncertainty
  predicted, predicted_lower, predicted_upper
                              the prediction from the steps before, and the band of an observation
  residual                    the error of the prediction in its standard deviations
  forecast, forecast_lower, forecast_upper
                              the forecast, and the band of an observation
  NAME, NAME sd               each component (of the logarithm with --log), and its standard deviation
)";

}  // namespace

std::string help_text(const std::string& topic) {
  if (topic == "fit")
    return "cotan-dlm fit FILE.csv [OPTIONS]\n\nEstimates a state-space model of a column of the file, "
           "smooths the series, and prints a summary.\n" +
           std::string(analysis_help) + option_help(Command::fit) + csv_help;
  if (topic == "forecast")
    return "cotan-dlm forecast FILE.csv --steps H [OPTIONS]\n\nEstimates a state-space model and forecasts H "
           "steps after the last value (default: two seasons, or 12\n"
           "steps). Rows at the end that have a date but no value are steps to forecast.\n" +
           std::string(analysis_help) + option_help(Command::forecast) + csv_help;
  if (topic == "demo")
    return "cotan-dlm demo [--out FOLDER]\n\nFits the Nile's flow by two models and the airline passengers "
           "by a seasonal one, prints summaries and\nwrites a "
           "report and a plot of each into the folder.\n" +
           option_help(Command::demo);
  if (topic == "datasets")
    return "cotan-dlm datasets [NAME]\n\nLists the built-in series; with a name, prints that series as "
           "CSV.\n";
  return general_help;
}

}  // namespace apps
