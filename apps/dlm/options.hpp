// The command line of cotan-dlm: what can be asked for, and its help.
#pragma once
#include <cotan/dlm.hpp>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "data_options.hpp"

namespace apps {

enum class Command { fit, forecast, demo, datasets, help, version };

struct Options : DataOptions {
  Command command = Command::help;
  std::string topic = "";  ///< of help: a command, or "" for all

  // Model, besides the seasons
  static constexpr int no_trend = -1, default_trend = -2;
  int order = default_trend;
  int ar = 0;
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
  int holdout = 0;  ///< values at the end that a first fit does not see; 0: none
  std::string json = "", csv = "", plot = "", report = "", out = "out";
  bool json_covariances = false;  ///< of states, at each step
  bool quiet = false;
};

/// Throws UsageError.
Options parse_options(const std::vector<std::string>& arguments);

/// The help of a command, or of the whole program for "".
std::string help_text(const std::string& topic);

}  // namespace apps
