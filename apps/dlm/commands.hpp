// What the commands of cotan-dlm do.
#pragma once
#include "options.hpp"

namespace apps {

void run_analysis(const Options& options);  ///< fit and forecast
void run_demo(const Options& options);
void run_datasets(const Options& options);

}  // namespace apps
