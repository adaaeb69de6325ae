// One table of options: parsing, help and the nearest spelling all come from it.
#include "options.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>

#include "date_patterns.hpp"
#include "errors.hpp"
#include "text.hpp"

namespace apps {
namespace {

using cotan::dlm::Algorithm;
using cotan::optim::Method;

// ---- values

template <class T>
bool parses(std::string_view text, T& value) {
  if (text.starts_with('+') && text.size() > 1 && text[1] != '-') text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size();
}

int whole(const std::string& option, const std::string& text, int least, int most) {
  int value = 0;
  if (!parses(text, value) || value < least || value > most)
    complain<UsageError>("[{}] {} is not a whole number from {} to {}; give one.", option, shown(text), least, most);
  return value;
}

double real(const std::string& where, const std::string& text) {
  double value = 0;
  if (!parses(text, value))
    complain<UsageError>("[{}] {} is not a number; write it like 0.85 or 1e-3.", where, shown(text));
  return value;
}

std::vector<std::string> pieces(const std::string& text, char separator) {
  std::vector<std::string> out;
  for (std::size_t at = 0;;) {
    const std::size_t end = text.find(separator, at);
    out.push_back(text.substr(at, end - at));
    if (end == std::string::npos) return out;
    at = end + 1;
  }
}

/// name=rest
std::pair<std::string, std::string> named(const std::string& option, const std::string& text, const char* example) {
  const std::size_t at = text.find('=');
  if (at == std::string::npos || at == 0 || at + 1 == text.size())
    complain<UsageError>("[{}] {} is not name=value; write it like {} {}.", option, shown(text), option, example);
  return {text.substr(0, at), text.substr(at + 1)};
}

void set_values(const std::string& option, const std::string& text, std::map<std::string, std::vector<double>>& to) {
  const auto [name, list] = named(option, text, "obs=120");
  std::vector<double> values;
  for (const std::string& piece : pieces(list, ',')) values.push_back(real(fmt::format("{} {}", option, name), piece));
  if (!to.emplace(name, values).second)
    complain<UsageError>("[{}] {} is given twice; give it once.", option, shown(name));
}

template <class T>
T choice(const std::string& option, const std::string& text, const std::vector<std::pair<std::string, T>>& choices) {
  std::vector<std::string> names;
  for (const auto& [name, value] : choices) {
    if (name == text) return value;
    names.push_back(name);
  }
  const std::string nearest = nearest_spelling(text, names);
  complain<UsageError>("[{}] there is no {}{}; choose one of: {}.", option, shown(text),
                       nearest.empty() ? "" : fmt::format(" (did you mean {}?)", nearest), fmt::join(names, ", "));
}

/// An order of the trend: its range is said, as no other number is nearer than another.
int trend_order(const std::string& text) {
  if (text == "none") return Options::no_trend;
  int order = 0;
  if (!parses(text, order) || order < 0 || order > 2)
    complain<UsageError>(
        "[--order] there is no order {}; it goes from 0 to 2: give 0 (a level), 1 (with a slope), 2 (with a "
        "slope "
        "that changes) or none.",
        shown(text));
  return order;
}

void add_season(Options& o, const std::string& text) {
  const double period = real("--season", text);
  if (!(period >= 2 && period <= 1e6))
    complain<UsageError>("[--season] {} steps make no season; give 2 or more.", text);
  // Harmonics that came first wait for their season.
  if (!o.seasons.empty() && o.seasons.back().period == 0)
    o.seasons.back().period = period;
  else
    o.seasons.push_back({period, 0});
}

void add_harmonics(Options& o, const std::string& text) {
  const int count = whole("--harmonics", text, 1, 1000);
  if (o.seasons.empty()) o.seasons.push_back({0, 0});
  if (o.seasons.back().harmonics)
    complain<UsageError>("[--harmonics] {} and {} harmonics of one season; give --harmonics once after each --season.",
                         o.seasons.back().harmonics, count);
  o.seasons.back().harmonics = count;
}

/// What a file is by the end of its name must be what is written into it: `own`, or no known kind of file.
std::string named_as(const char* option, const char* format, std::initializer_list<std::string_view> own,
                     const std::string& path) {
  constexpr std::string_view known[] = {"csv",  "json", "svg", "html", "htm",  "xhtml", "png",     "jpg", "jpeg",
                                        "gif",  "webp", "bmp", "tif",  "tiff", "pdf",   "ps",      "eps", "tex",
                                        "docx", "doc",  "xls", "xlsx", "ods",  "zip",   "parquet", "md",  "tsv"};
  const std::size_t slash = path.find_last_of('/'), dot = path.find_last_of('.');
  if (path == "-" || dot == std::string::npos || (slash != std::string::npos && dot < slash) || dot + 1 >= path.size())
    return path;
  const std::string end = lower(std::string_view(path).substr(dot + 1));
  if (std::find(own.begin(), own.end(), end) != own.end()) return path;
  if (std::find(std::begin(known), std::end(known), end) == std::end(known)) return path;
  complain<UsageError>("[{}] {} would not be a .{} file: {} is written here; name it {}.{}, and convert that.", option,
                       shown(path), end, format, path.substr(0, dot), *own.begin());
}

char one_character(const std::string& option, const std::string& text) {
  if (text == "tab" || text == "\\t") return '\t';
  if (text.size() != 1) complain<UsageError>("[{}] {} is not one character; give one, or tab.", option, shown(text));
  return text[0];
}

void set_order(Options& o, DateOrder order) {
  if (o.dates.order != DateOrder::by_data && o.dates.order != order)
    complain<UsageError>("[--day-first] it excludes --month-first; give one of them.");
  o.dates.order = order;
}

// ---- the table

enum Group { data, model, parameters, computing, results };
constexpr const char* group_names[] = {"Data", "Model", "Parameters", "Computing", "Results"};

struct OptionSpec {
  std::string name;
  std::string argument;  ///< "" for a switch
  Group group;
  std::string help;
  std::function<void(Options&, const std::string&)> apply;
};

const std::vector<OptionSpec>& table() {
  using O = Options;
  using S = const std::string&;
  static const std::vector<OptionSpec> specs = {
      {"--column", "NAME", data,
       "the series; default: the first column of numbers that is no index, no time and not the same "
       "throughout",
       [](O& o, S v) { o.column = v; }},
      {"--time", "NAME|none", data,
       "dates or numbers of the rows; default: a column of dates, or one that counts; none: the rows are "
       "counted. "
       "The most common step counts as 1; uneven steps are part of the model",
       [](O& o, S v) { o.time = v; }},
      {"--date-format", "FORMAT", data,
       "how dates are written, as for strftime: '%d/%m/%Y', '%b-%y', '%Y%m%d %H:%M'. Also %q for the quarter, %i for "
       "half a "
       "year, %N for the second year of 2019/20, %Q for Unix milliseconds, %n for days since 1970, %x for serial days "
       "of a "
       "spreadsheet",
       [](O& o, S v) {
         if (const std::string flaw = flaw_of_pattern(v); !flaw.empty())
           complain<UsageError>("[--date-format] {} cannot be read by: {}; write it like '%d/%m/%Y'.", shown(v), flaw);
         o.dates.format = v;
       }},
      {"--day-first", "", data, "01/06/2020 is the first of June", [](O& o, S) { set_order(o, DateOrder::day_first); }},
      {"--month-first", "", data, "01/06/2020 is January 6", [](O& o, S) { set_order(o, DateOrder::month_first); }},
      {"--time-step", "NAME", data,
       "what makes a step: calendar (the most common step between dates), business-days (Monday comes after Friday) or "
       "rows (each row a step). Default: calendar, refused where a row lies so far away that its date is in doubt",
       [](O& o, S v) {
         o.time_steps = choice<TimeSteps>("--time-step", v,
                                          {{"calendar", TimeSteps::calendar},
                                           {"business-days", TimeSteps::business_days},
                                           {"rows", TimeSteps::rows}});
       }},
      {"--missing", "VALUE[,VALUE…]", data,
       "numbers or words that mean that nothing was observed, such as -999; none: no number does, however large",
       [](O& o, S v) {
         for (const std::string& word : pieces(v, ',')) o.missing.push_back(word);
       }},
      {"--regress", "COL[,COL…]", data,
       "regressors, whose effects are part of the model. Rows without a value at the end give a forecast its "
       "regressors",
       [](O& o, S v) {
         for (const std::string& name : pieces(v, ',')) o.regress.push_back(name);
       }},
      {"--sd-column", "NAME", data, "standard deviation of each observation; the parameter obs multiplies it",
       [](O& o, S v) { o.sd_column = v; }},
      {"--log", "", data, "model the logarithm; plots, tables and forecasts are on the original scale",
       [](O& o, S) { o.log = true; }},
      {"--separator", "CHAR", data, "between fields, or tab; default: found out",
       [](O& o, S v) { o.separator = one_character("--separator", v); }},
      {"--decimal", "CHAR", data, "decimal mark: . or ,; default: what each column shows",
       [](O& o, S v) { o.decimal = choice<char>("--decimal", v, {{".", '.'}, {",", ','}}); }},

      {"--order", "0|1|2|none", model,
       "trend: level, with slope, with changing slope, none; default: 1 (none with --spline)",
       [](O& o, S v) { o.order = trend_order(v); }},
      {"--season", "N", model,
       "a season of N steps, one effect for each. Several are several seasons: --season 7 --season 365.25 "
       "--harmonics 3",
       [](O& o, S v) { add_season(o, v); }},
      {"--harmonics", "K", model, "of the season before it, its first K harmonics instead of all effects",
       [](O& o, S v) { add_harmonics(o, v); }},
      {"--ar", "P", model, "a stationary autoregression of order P",
       [](O& o, S v) { o.ar = whole("--ar", v, 1, 100); }},
      {"--spline", "", model, "a cubic smoothing spline", [](O& o, S) { o.spline = true; }},
      {"--tie", "A=B", model, "one parameter B for both",
       [](O& o, S v) { o.tie.push_back(named("--tie", v, "slope=level")); }},

      {"--set", "NAME=VALUE[,VALUE…]", parameters, "a parameter that is known and not estimated",
       [](O& o, S v) { set_values("--set", v, o.set); }},
      {"--start", "NAME=VALUE[,VALUE…]", parameters, "where the search for a parameter begins",
       [](O& o, S v) { set_values("--start", v, o.start); }},
      {"--fixed", "", parameters, "estimate nothing; standard deviations without --set are 0",
       [](O& o, S) { o.fixed = true; }},
      {"--first-state", "diffuse|toolbox", parameters,
       "what is assumed of it. diffuse: nothing, but that autoregressions have settled; toolbox: as the DLM "
       "toolbox for MATLAB (M. Laine) does, the first season's mean, as unsure as half of it, so that likelihoods "
       "depend on where zero is. Default: diffuse",
       [](O& o, S v) { o.toolbox_start = choice<bool>("--first-state", v, {{"diffuse", false}, {"toolbox", true}}); }},
      {"--method", "lbfgs|adam|newton", parameters, "of the search; default: lbfgs",
       [](O& o, S v) {
         o.method = choice<Method>("--method", v,
                                   {{"lbfgs", Method::lbfgs}, {"adam", Method::adam}, {"newton", Method::newton}});
       }},
      {"--starts", "K", parameters, "search from K different starts and keep the best; default: 1",
       [](O& o, S v) { o.starts = whole("--starts", v, 1, 10000); }},

      {"--algorithm", "NAME", computing, "sequential, associative or square-root; default: sequential",
       [](O& o, S v) {
         o.algorithm = choice<Algorithm>("--algorithm", v,
                                         {{"sequential", Algorithm::sequential},
                                          {"associative", Algorithm::associative},
                                          {"square-root", Algorithm::square_root}});
       }},
      {"--dtype", "f32|f64", computing, "of smoothing and forecast (estimation is in f64); default: f64",
       [](O& o, S v) { o.single = choice<bool>("--dtype", v, {{"f64", false}, {"f32", true}}); }},
      {"--device", "NAME", computing, "where to compute; an unknown name lists them", [](O& o, S v) { o.device = v; }},
      {"--threads", "N", computing, "default: the number of cores",
       [](O& o, S v) { o.threads = whole("--threads", v, 1, 4096); }},

      {"--steps", "H", results, "forecast H steps; fit adds it to its results",
       [](O& o, S v) { o.steps = whole("--steps", v, 1, 1000000); }},
      {"--holdout", "N", results,
       "also fit without the last N values, forecast them, and score the forecast beside one that repeats the last "
       "season, or the last value; all other results are of a fit to the whole series",
       [](O& o, S v) { o.holdout = whole("--holdout", v, 1, 1000000); }},
      {"--level", "P", results, "probability inside of bands; default: 0.95",
       [](O& o, S v) {
         o.level = real("--level", v);
         if (!(o.level > 0 && o.level < 1))
           complain<UsageError>("[--level] {} is no probability between 0 and 1; give one like 0.9.", v);
       }},
      {"--json", "FILE", results, "everything there is to know of the fit; - for standard output",
       [](O& o, S v) { o.json = named_as("--json", "JSON", {"json"}, v); }},
      {"--csv", "FILE", results, "fitted values, predictions, components and forecast, a row for each step; see below",
       [](O& o, S v) { o.csv = named_as("--csv", "CSV", {"csv"}, v); }},
      {"--plot", "FILE.svg", results, "a picture, as SVG",
       [](O& o, S v) { o.plot = named_as("--plot", "SVG", {"svg"}, v); }},
      {"--report", "FILE.html", results,
       "a page with figures, tables and diagnostics that needs nothing else; point at a figure for its values, drag to "
       "look closer",
       [](O& o, S v) { o.report = named_as("--report", "HTML", {"html", "htm", "xhtml"}, v); }},
      {"--out", "FOLDER", results, "of the demo's files; default: out", [](O& o, S v) { o.out = v; }},
      {"--quiet", "", results, "no summary and no progress bar", [](O& o, S) { o.quiet = true; }},
  };
  return specs;
}

bool belongs(const OptionSpec& spec, Command command) {
  if (command == Command::demo) return spec.name == "--out" || spec.name == "--quiet" || spec.group == computing;
  if (command == Command::fit || command == Command::forecast) return spec.name != "--out";
  return false;
}

const std::vector<std::pair<std::string, Command>> commands = {{"fit", Command::fit},
                                                               {"forecast", Command::forecast},
                                                               {"demo", Command::demo},
                                                               {"datasets", Command::datasets},
                                                               {"help", Command::help}};

std::string name_of(Command command) {
  for (const auto& [name, c] : commands)
    if (c == command) return name;
  return "";
}

/// An option with its value, from "--name value" or "--name=value".
void take_option(Options& options, const std::vector<std::string>& arguments, std::size_t& i) {
  const std::size_t equals = arguments[i].find('=');
  const std::string name = arguments[i].substr(0, equals), command = name_of(options.command);
  std::vector<std::string> known;
  for (const OptionSpec& spec : table()) {
    if (!belongs(spec, options.command)) continue;
    known.push_back(spec.name);
    if (spec.name != name) continue;
    if (spec.argument.empty()) {
      if (equals != std::string::npos)
        complain<UsageError>("[{}] it takes no value; leave out {}.", name, shown(arguments[i].substr(equals)));
      return spec.apply(options, "");
    }
    if (equals != std::string::npos) return spec.apply(options, arguments[i].substr(equals + 1));
    if (i + 1 >= arguments.size())
      complain<UsageError>("[{}] its value is missing; write {} {}.", name, name, spec.argument);
    return spec.apply(options, arguments[++i]);
  }
  const std::string nearest = nearest_spelling(name, known);
  complain<UsageError>("[{}] there is no option {}{}; see cotan-dlm {} --help.", command, shown(name),
                       nearest.empty() ? "" : fmt::format(" (did you mean {}?)", nearest), command);
}

/// Whether two seasons hold the same wave, between which no data can tell.
bool share_a_wave(const Season& a, const Season& b) {
  const auto waves = [](const Season& s) { return s.harmonics ? s.harmonics : static_cast<int>(s.period / 2); };
  for (int i = 1; i <= waves(a); ++i)
    for (int j = 1; j <= waves(b); ++j)
      if (std::abs(i * b.period - j * a.period) < 1e-9 * a.period * b.period) return true;
  return false;
}

void check_seasons(const Options& o) {
  for (const Season& s : o.seasons) {
    if (s.period == 0)
      complain<UsageError>("[--harmonics] {} harmonics of no season; give --season N too.", s.harmonics);
    if (!s.harmonics && s.period != std::floor(s.period))
      complain<UsageError>("[--season] a season of {} steps has no whole number of effects; add --harmonics K.",
                           s.period);
    if (s.period > 400 && !s.harmonics)
      complain<UsageError>("[--season] a season of {} steps has as many states; describe it with --harmonics K.",
                           s.period);
    if (2 * s.harmonics > s.period)
      complain<UsageError>("[--harmonics] a season of {} steps has 1 to {} harmonics; give fewer than {}.", s.period,
                           static_cast<int>(s.period / 2), s.harmonics);
  }
  for (std::size_t i = 0; i < o.seasons.size(); ++i)
    for (std::size_t j = i + 1; j < o.seasons.size(); ++j)
      if (share_a_wave(o.seasons[i], o.seasons[j]))
        complain<UsageError>(
            "[--season] seasons of {} and {} steps share a wave, and no data can tell whose it is; give one "
            "of them, or "
            "fewer --harmonics.",
            o.seasons[i].period, o.seasons[j].period);
}

void check(const Options& o) {
  const bool analysis = o.command == Command::fit || o.command == Command::forecast;
  const std::string command = name_of(o.command);
  if (analysis && o.source.empty())
    complain<UsageError>(
        "[{0}] the series is missing; give a CSV file, - for standard input, or a built-in series: cotan-dlm "
        "{0} nile.",
        command);
  if (!analysis) return;
  check_seasons(o);
  if (!o.dates.format.empty() && o.dates.order != DateOrder::by_data)
    complain<UsageError>(
        "[--date-format] it says all about the order of day and month; leave out --day-first and "
        "--month-first.");
  for (const auto& [name, values] : o.start)
    if (o.set.contains(name))
      complain<UsageError>("[--start] {} is fixed by --set; give only one of them.", shown(name));
  if (o.fixed && !o.start.empty())
    complain<UsageError>("[--start] nothing is estimated with --fixed; use --set, or leave out --fixed.");
}

// ---- help

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
  std::string out;
  int group = -1;
  for (const OptionSpec& spec : table()) {
    if (!belongs(spec, command)) continue;
    if (group != spec.group) out += fmt::format("\n{}\n", group_names[group = spec.group]);
    std::string head = "  " + spec.name + (spec.argument.empty() ? "" : " " + spec.argument);
    const std::size_t width = letters_of(head);
    head += width + 2 > indent ? "\n" + std::string(indent, ' ') : std::string(indent - width, ' ');
    out += head + wrapped(spec.help, indent) + "\n";
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
Latin-1. Times are dates (2020-06-01, 01/06/2020, 1 Jun 2020, Jan 2010, 2010M01, 2010Q1, 2010H1, 2010W05,
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

Options parse_options(const std::vector<std::string>& arguments) {
  Options o;
  if (arguments.empty())
    complain<UsageError>("[command] no command is given; try cotan-dlm demo, or see cotan-dlm --help.");
  const std::string& first = arguments[0];
  if (first == "--version" || first == "-V") return o.command = Command::version, o;
  if (first == "--help" || first == "-h" || first == "help") {
    if (arguments.size() > 1) o.topic = arguments[1];
    if (!o.topic.empty()) choice<Command>("help", o.topic, commands);
    return o;
  }
  o.command = choice<Command>("command", first, commands);
  o.steps_suit = o.command == Command::forecast;
  std::vector<std::string> operands;
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    const std::string& a = arguments[i];
    if (a == "--help" || a == "-h") {
      o.topic = first;
      o.command = Command::help;
      return o;
    }
    if (a == "-" || !a.starts_with('-'))
      operands.push_back(a);
    else
      take_option(o, arguments, i);
  }
  const std::size_t most = o.command == Command::demo ? 0 : 1;
  if (operands.size() > most)
    complain<UsageError>("[{}] {} is one argument too many; see cotan-dlm {} --help.", first, shown(operands[most]),
                         first);
  if (!operands.empty()) o.source = operands[0];
  check(o);
  return o;
}

}  // namespace apps
