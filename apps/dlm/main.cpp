// cotan-dlm: state-space models of time series from the command line.
#include <exception>
#include <iostream>

#include "commands.hpp"
#include "errors.hpp"

int main(int argc, char** argv) {
  try {
    const apps::Options options = apps::parse_options({argv + 1, argv + argc});
    switch (options.command) {
      case apps::Command::fit:
      case apps::Command::forecast:
        apps::run_analysis(options);
        break;
      case apps::Command::demo:
        apps::run_demo(options);
        break;
      case apps::Command::datasets:
        apps::run_datasets(options);
        break;
      case apps::Command::help:
        std::cout << apps::help_text(options.topic);
        break;
      case apps::Command::version:
        std::cout << "cotan-dlm " COTAN_VERSION "\n";
        break;
    }
    return 0;
  } catch (const apps::UsageError& e) {
    std::cerr << "cotan-dlm: " << e.what() << "\n";
    return 2;
  } catch (const std::exception& e) {
    std::cerr << "cotan-dlm: " << e.what() << "\n";
    return 1;
  }
}
