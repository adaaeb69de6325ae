// Work on many seeds in child processes, so that a crash or a hang is a finding like any other, and names its seed.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

struct Finding {
  std::uint64_t seed;
  std::string fault;  ///< what `work` answered, or how the child ended
};

/// Runs `work` on seeds 0 … count - 1; what answers something is a finding. Children are this executable, started again
/// for the test that is running, so call it once in a test and before anything that the test need not repeat. Stops
/// after `most_findings`. COTAN_TEST_CHILDREN says how many of them work at once, each on its piece of the seeds (1).
std::vector<Finding> in_children(std::uint64_t count, const std::function<std::string(std::uint64_t seed)>& work,
                                 std::size_t most_findings = 3);
