#include <cotan/torch/utils/checkpoint.hpp>
#include <mutex>
#include <set>

#include "torch/graph/modes.hpp"

namespace cotan::torch::detail {

namespace {

/// Programs are found by the address of the policy, which therefore never ends.
void keep_for_ever(const PolicyPtr& policy) {
  static auto& mutex = *new std::mutex;
  static auto& all = *new std::set<PolicyPtr>;
  std::lock_guard lock(mutex);
  all.insert(policy);
}

}  // namespace

RegionScope::RegionScope(const PolicyPtr& policy) : former_(modes().region) {
  if (!policy) throw_with_line<ValueError>("[checkpoint] the policy is undefined; take one of cotan::policy.");
  keep_for_ever(policy);
  modes().region = std::make_shared<const Region>(Region{former_, policy});
}
RegionScope::~RegionScope() { modes().region = former_; }

}  // namespace cotan::torch::detail
