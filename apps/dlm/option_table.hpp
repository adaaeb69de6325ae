// What can be asked for on the command line, by command.
#pragma once
#include <CLI/CLI.hpp>

#include "options.hpp"

namespace apps {

/// Adds the options of a command. Each is applied to `options` where it stands on the command line.
void add_options(CLI::App& app, Options& options, Command command);

}  // namespace apps
