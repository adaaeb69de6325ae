// What ran so far.
#pragma once
#include <cotan/torch/explain.hpp>
#include <cotan/torch/run.hpp>
#include <mutex>

#include "torch/graph/programs.hpp"

namespace cotan::torch::detail {

struct Runs {
  std::recursive_mutex mutex;
  Programs programs;
  RunStats stats;
  int depth = 0;  ///< runs that are not done, each inside of the one before
  std::shared_ptr<const Compiled> last;
  bool last_is_new = false;
  std::function<void(const RunReport&)> sink;
};
Runs& runs();
/// Of the last run.
RunReport report_of(const Runs& runs);

}  // namespace cotan::torch::detail
