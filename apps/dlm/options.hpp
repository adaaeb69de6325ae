// The command line of cotan-dlm: what can be asked for, and its help.
#pragma once
#include <cotan/dlm.hpp>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace apps {

enum class Command { fit, forecast, demo, datasets, help, version };

struct Options {
  Command command = Command::help;
  std::string topic = "";   ///< of help: a command, or "" for all
  std::string source = "";  ///< a CSV file, "-", or a built-in series

  // Data
  std::string column = "", time = "", sd_column = "";
  std::vector<std::string> regress = {};
  char separator = 0, decimal = '.';
  bool log = false;
  // Model
  static constexpr int no_trend = -1, default_trend = -2;
  int order = default_trend;
  double season = 0;
  int harmonics = 0, ar = 0;
  bool spline = false;
  std::vector<std::pair<std::string, std::string>> tie = {};  ///< first takes the name of second
  // Parameters and estimation
  std::map<std::string, std::vector<double>> set = {}, start = {};
  bool fixed = false;
  bool toolbox_start = false;
  cotan::optim::Method method = cotan::optim::Method::lbfgs;
  int starts = 1;
  // Computing
  cotan::dlm::Algorithm algorithm = cotan::dlm::Algorithm::sequential;
  bool single = false;  ///< f32
  std::string device = "";
  int threads = 0;
  // Results
  double level = 0.95;
  int steps = 0;  ///< of the forecast; 0: none (fit), or a length that suits the series (forecast)
  std::string json = "", csv = "", plot = "", report = "", out = "out";
  bool quiet = false;
};

/// Throws UsageError.
Options parse_options(const std::vector<std::string>& arguments);

/// The help of a command, or of the whole program for "".
std::string help_text(const std::string& topic);

}  // namespace apps
