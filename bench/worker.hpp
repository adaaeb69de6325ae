// The worker's side of the driver's protocol: a JSON object per line in, one per line out.
#pragma once
#include <string>

namespace bench {

/// Answers requests on stdin for one peer until stdin closes.
int serve(const std::string& peer);

}  // namespace bench
