// From options and a series to a dlm::Model, with what is known and what is to be estimated.
#pragma once
#include <string>
#include <vector>

#include "options.hpp"
#include "series.hpp"

namespace apps {

/// Part of a model that people look at on its own.
struct Part {
  enum class Kind { trend, season, autoregression, regression, spline } kind;
  std::string name;  ///< "season"
  int first, states;
};

struct Modelling {
  cotan::dlm::Model model;
  std::string description;  ///< in words
  std::vector<Part> parts;
  std::vector<std::string> state_names;
  std::vector<std::string> free;  ///< estimated
  cotan::dlm::Parameters fixed, start;
  std::vector<std::string> notes;
};

Modelling choose_model(const Options& options, const Series& series);

}  // namespace apps
