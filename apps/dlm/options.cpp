// The command line, taken apart by CLI11: its messages are ours.
#include "options.hpp"

#include <algorithm>
#include <cmath>

#include "option_table.hpp"
#include "option_values.hpp"

namespace apps {
namespace {

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

/// What is written as `--name=` or given to a switch, which CLI11 would make sense of.
void check_values(const CLI::App& app, const std::vector<std::string>& arguments) {
  for (const std::string& a : arguments) {
    const std::size_t equals = a.find('=');
    const CLI::Option* option =
        a.starts_with("--") && equals != a.npos ? app.get_option_no_throw(a.substr(0, equals)) : nullptr;
    if (!option) continue;
    const std::string name = option->get_name();
    if (option->get_items_expected_max() == 0)
      complain<UsageError>("[{}] it takes no value; leave out {}.", name, shown(a.substr(equals)));
    if (equals + 1 == a.size())
      complain<UsageError>("[{}] its value is missing; write {} {}.", name, name, option->get_type_name());
  }
}

[[noreturn]] void refuse_option(const CLI::App& app, const std::string& argument, const std::string& command) {
  const std::string name = argument.substr(0, argument.find('='));
  std::vector<std::string> known;
  for (const CLI::Option* option : app.get_options()) known.push_back(option->get_name());
  const std::string nearest = nearest_spelling(name, known);
  complain<UsageError>("[{}] there is no option {}{}; see cotan-dlm {} --help.", command, shown(name),
                       nearest.empty() ? "" : fmt::format(" (did you mean {}?)", nearest), command);
}

/// The arguments after the command. Those that are no options:
std::vector<std::string> take_options(Options& o, const std::vector<std::string>& arguments) {
  const std::string command = name_of(o.command);
  CLI::App app;
  app.set_help_flag();
  app.allow_extras();
  add_options(app, o, o.command);
  app.add_flag_callback("--help,-h", [] { throw CLI::CallForHelp(); })->trigger_on_parse();
  check_values(app, arguments);
  try {
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::CallForHelp&) {
    o.topic = command;
    o.command = Command::help;
    return {};
  } catch (const CLI::ArgumentMismatch&) {  // the last one has no value
    const CLI::Option* option = app.get_option(arguments.back());
    complain<UsageError>("[{0}] its value is missing; write {0} {1}.", option->get_name(), option->get_type_name());
  }
  std::vector<std::string> operands = app.remaining();
  for (const std::string& a : operands)
    if (a != "-" && a.starts_with('-')) refuse_option(app, a, command);
  return operands;
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
  if (o.json_covariances && o.json.empty())
    complain<UsageError>("[--json-covariances] it is about what --json writes; add --json FILE.");
  for (const auto& [name, values] : o.start)
    if (o.set.contains(name))
      complain<UsageError>("[--start] {} is fixed by --set; give only one of them.", shown(name));
  if (o.fixed && !o.start.empty())
    complain<UsageError>("[--start] nothing is estimated with --fixed; use --set, or leave out --fixed.");
}

}  // namespace

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
  const std::vector<std::string> operands = take_options(o, {arguments.begin() + 1, arguments.end()});
  if (o.command == Command::help) return o;
  const std::size_t most = o.command == Command::demo ? 0 : 1;
  if (operands.size() > most)
    complain<UsageError>("[{}] {} is one argument too many; see cotan-dlm {} --help.", first, shown(operands[most]),
                         first);
  if (!operands.empty()) o.source = operands[0];
  check(o);
  return o;
}

}  // namespace apps
