// What every report carries: its style, and the script that lets readers point and zoom. Without the script a page is
// whole.
#pragma once
#include <string_view>

namespace apps {

extern const std::string_view report_style;
/// Has no "<", so that the page is clean XML, too.
extern const std::string_view report_script;

}  // namespace apps
