#include "option_table.hpp"

#include "date_patterns.hpp"
#include "option_values.hpp"

namespace apps {
namespace {

using cotan::dlm::Algorithm;
using cotan::optim::Method;

/// Options under one heading of the help.
struct OptionGroup {
  CLI::App& app;
  const char* title;

  void value(const char* name, const char* argument, const char* help,
             const std::function<void(const std::string&)>& apply) const {
    app.add_option_function<std::string>(name, apply, help)->type_name(argument)->group(title)->trigger_on_parse();
  }
  void flag(const char* name, const char* help, const std::function<void()>& apply) const {
    app.add_flag_callback(name, apply, help)->group(title)->trigger_on_parse();
  }
};

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

void set_order(Options& o, DateOrder order) {
  if (o.dates.order != DateOrder::by_data && o.dates.order != order)
    complain<UsageError>("[--day-first] it excludes --month-first; give one of them.");
  o.dates.order = order;
}

void add_data(CLI::App& app, Options& o) {
  const OptionGroup g{app, "Data"};
  g.value("--column", "NAME",
          "the series; default: the first column of numbers that is no index, no time and not the same "
          "throughout",
          [&](const std::string& v) { o.column = v; });
  g.value("--time", "NAME|none",
          "dates or numbers of the rows; default: a column of dates, or one that counts; none: the rows are "
          "counted. "
          "The most common step counts as 1; uneven steps are part of the model",
          [&](const std::string& v) { o.time = v; });
  g.value(
      "--date-format", "FORMAT",
      "how dates are written, as for strftime: '%d/%m/%Y', '%b-%y', '%Y%m%d %H:%M'. Also %q for the quarter, %i for "
      "half a "
      "year, %N for the second year of 2019/20, %Q for Unix milliseconds, %n for days since 1970, %x for serial days "
      "of a "
      "spreadsheet",
      [&](const std::string& v) {
        if (const std::string flaw = flaw_of_pattern(v); !flaw.empty())
          complain<UsageError>("[--date-format] {} cannot be read by: {}; write it like '%d/%m/%Y'.", shown(v), flaw);
        o.dates.format = v;
      });
  g.flag("--day-first", "01/06/2020 is the first of June", [&] { set_order(o, DateOrder::day_first); });
  g.flag("--month-first", "01/06/2020 is January 6", [&] { set_order(o, DateOrder::month_first); });
  g.value(
      "--time-step", "NAME",
      "what makes a step: calendar (the most common step between dates), business-days (Monday comes after Friday) or "
      "rows (each row a step). Default: calendar, refused where a row lies so far away that its date is in doubt",
      [&](const std::string& v) {
        o.time_steps = choice<TimeSteps>("--time-step", v,
                                         {{"calendar", TimeSteps::calendar},
                                          {"business-days", TimeSteps::business_days},
                                          {"rows", TimeSteps::rows}});
      });
  g.value("--missing", "VALUE[,VALUE…]",
          "numbers or words that mean that nothing was observed, such as -999; none: no number does, however large",
          [&](const std::string& v) {
            for (const std::string& word : pieces(v, ',')) o.missing.push_back(word);
          });
  g.value("--regress", "COL[,COL…]",
          "regressors, whose effects are part of the model. Rows without a value at the end give a forecast its "
          "regressors",
          [&](const std::string& v) {
            for (const std::string& name : pieces(v, ',')) o.regress.push_back(name);
          });
  g.value("--sd-column", "NAME", "standard deviation of each observation; the parameter obs multiplies it",
          [&](const std::string& v) { o.sd_column = v; });
  g.flag("--log", "model the logarithm; plots, tables and forecasts are on the original scale", [&] { o.log = true; });
  g.value(
      "--skip-rows", "N",
      "lines of the file above the header, which are no part of the table; lines there that begin with # are left out "
      "in any case",
      [&](const std::string& v) { o.skip_rows = static_cast<std::size_t>(whole("--skip-rows", v, 0, 1000000)); });
  g.value("--separator", "CHAR", "between fields, or tab; default: found out",
          [&](const std::string& v) { o.separator = one_character("--separator", v); });
  g.value("--decimal", "CHAR", "decimal mark: . or ,; default: what each column shows",
          [&](const std::string& v) { o.decimal = choice<char>("--decimal", v, {{".", '.'}, {",", ','}}); });
}

void add_model(CLI::App& app, Options& o) {
  const OptionGroup g{app, "Model"};
  g.value("--order", "0|1|2|none",
          "trend: level, with slope, with changing slope, none; default: 1 (none with --spline)",
          [&](const std::string& v) { o.order = trend_order(v); });
  g.value("--season", "N",
          "a season of N steps, one effect for each. Several are several seasons: --season 7 --season 365.25 "
          "--harmonics 3",
          [&](const std::string& v) { add_season(o, v); });
  g.value("--harmonics", "K", "of the season before it, its first K harmonics instead of all effects",
          [&](const std::string& v) { add_harmonics(o, v); });
  g.value("--ar", "P", "a stationary autoregression of order P",
          [&](const std::string& v) { o.ar = whole("--ar", v, 1, 100); });
  g.flag("--spline", "a cubic smoothing spline", [&] { o.spline = true; });
  g.value("--tie", "A=B", "one parameter B for both",
          [&](const std::string& v) { o.tie.push_back(named("--tie", v, "slope=level")); });
}

void add_parameters(CLI::App& app, Options& o) {
  const OptionGroup g{app, "Parameters"};
  g.value("--set", "NAME=VALUE[,VALUE…]", "a parameter that is known and not estimated",
          [&](const std::string& v) { set_values("--set", v, o.set); });
  g.value("--start", "NAME=VALUE[,VALUE…]", "where the search for a parameter begins",
          [&](const std::string& v) { set_values("--start", v, o.start); });
  g.flag("--fixed", "estimate nothing; standard deviations without --set are 0", [&] { o.fixed = true; });
  g.value("--first-state", "diffuse|toolbox",
          "what is assumed of it. diffuse: nothing, but that autoregressions have settled; toolbox: as the DLM "
          "toolbox for MATLAB (M. Laine) does, the first season's mean, as unsure as half of it, so that likelihoods "
          "depend on where zero is. Default: diffuse",
          [&](const std::string& v) {
            o.toolbox_start = choice<bool>("--first-state", v, {{"diffuse", false}, {"toolbox", true}});
          });
  g.value("--method", "lbfgs|adam|newton", "of the search; default: lbfgs", [&](const std::string& v) {
    o.method =
        choice<Method>("--method", v, {{"lbfgs", Method::lbfgs}, {"adam", Method::adam}, {"newton", Method::newton}});
  });
  g.value("--starts", "K", "search from K different starts and keep the best; default: 1",
          [&](const std::string& v) { o.starts = whole("--starts", v, 1, 10000); });
}

void add_computing(CLI::App& app, Options& o) {
  const OptionGroup g{app, "Computing"};
  g.value("--algorithm", "NAME", "sequential, associative or square-root; default: sequential",
          [&](const std::string& v) {
            o.algorithm = choice<Algorithm>("--algorithm", v,
                                            {{"sequential", Algorithm::sequential},
                                             {"associative", Algorithm::associative},
                                             {"square-root", Algorithm::square_root}});
          });
  g.value("--dtype", "f32|f64", "of smoothing and forecast (estimation is in f64); default: f64",
          [&](const std::string& v) { o.single = choice<bool>("--dtype", v, {{"f64", false}, {"f32", true}}); });
  g.value("--device", "NAME", "where to compute; an unknown name lists them",
          [&](const std::string& v) { o.device = v; });
  g.value("--threads", "N", "default: the number of cores",
          [&](const std::string& v) { o.threads = whole("--threads", v, 1, 4096); });
}

void add_results(CLI::App& app, Options& o) {
  const OptionGroup g{app, "Results"};
  g.value("--steps", "H", "forecast H steps; fit adds it to its results",
          [&](const std::string& v) { o.steps = whole("--steps", v, 1, 1000000); });
  g.value("--holdout", "N",
          "also fit without the last N values, forecast them, and score the forecast beside one that repeats the last "
          "season, or the last value; all other results are of a fit to the whole series",
          [&](const std::string& v) { o.holdout = whole("--holdout", v, 1, 1000000); });
  g.value("--level", "P", "probability inside of bands; default: 0.95", [&](const std::string& v) {
    o.level = real("--level", v);
    if (!(o.level > 0 && o.level < 1))
      complain<UsageError>("[--level] {} is no probability between 0 and 1; give one like 0.9.", v);
  });
  g.value("--json", "FILE",
          "everything there is to know of the fit, with standard deviations of states instead of covariances; - for "
          "standard output",
          [&](const std::string& v) { o.json = named_as("--json", "JSON", {"json"}, v); });
  g.flag("--json-covariances",
         "in --json also the covariances of states (C, Cf), a matrix for each step: large files where there are many "
         "rows or states",
         [&] { o.json_covariances = true; });
  g.value("--csv", "FILE", "fitted values, predictions, components and forecast, a row for each step; see below",
          [&](const std::string& v) { o.csv = named_as("--csv", "CSV", {"csv"}, v); });
  g.value("--plot", "FILE.svg", "a picture, as SVG",
          [&](const std::string& v) { o.plot = named_as("--plot", "SVG", {"svg"}, v); });
  g.value(
      "--report", "FILE.html",
      "a page with figures, tables and diagnostics that needs nothing else; point at a figure for its values, drag to "
      "look closer",
      [&](const std::string& v) { o.report = named_as("--report", "HTML", {"html", "htm", "xhtml"}, v); });
}

void add_folder(CLI::App& app, Options& o) {
  const OptionGroup g{app, "Results"};
  g.value("--out", "FOLDER", "of the demo's files; default: out", [&](const std::string& v) { o.out = v; });
}

void add_quiet(CLI::App& app, Options& o) {
  const OptionGroup g{app, "Results"};
  g.flag("--quiet", "no summary and no progress bar", [&] { o.quiet = true; });
}

}  // namespace

void add_options(CLI::App& app, Options& options, Command command) {
  const bool analysis = command == Command::fit || command == Command::forecast, demo = command == Command::demo;
  if (analysis) {
    add_data(app, options);
    add_model(app, options);
    add_parameters(app, options);
  }
  if (analysis || demo) add_computing(app, options);
  if (analysis) add_results(app, options);
  if (demo) add_folder(app, options);
  if (analysis || demo) add_quiet(app, options);
}

}  // namespace apps
