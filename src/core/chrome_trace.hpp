// Profiles in the format of chrome://tracing and https://ui.perfetto.dev.
#pragma once
#include <cotan/profile.hpp>

namespace cotan {

/// The host's threads are one process of the trace, each device is another. Raises IoError.
void write_chrome_trace(const std::string& file, const std::vector<ProfileEvent>& events,
                        const std::vector<std::string>& notes);

}  // namespace cotan
