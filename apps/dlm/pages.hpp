// An analysis as a picture and as a page.
#pragma once
#include <string>

#include "analysis.hpp"

namespace apps {

std::string plot_svg(const Analysis& analysis);
std::string report_html(const Analysis& analysis);

}  // namespace apps
