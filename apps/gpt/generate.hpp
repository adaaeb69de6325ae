// Text from a model: the prompt in one call, then one compiled loop per piece of text, with keys and values of what was
// read kept.
#pragma once
#include <cotan/io.hpp>
#include <functional>
#include <string>

#include "model.hpp"

namespace gpt {

struct Sampling {
  std::int64_t tokens = 100;
  double temperature = 1.0;  ///< 0: always the most likely token
  std::int64_t top_k = 0;    ///< 0: all
  double top_p = 1.0;        ///< the most likely tokens that have this probability together
  std::uint64_t seed = 0;
  std::int64_t samples = 1;  ///< side by side
  std::int64_t piece = 16;   ///< tokens per call: text appears in such pieces
};

/// Tokens after the prompt, by sample. `show` gets those of each piece as they come: [samples][piece]; it may stop by
/// false. Ends at `end` where that is a token.
std::vector<std::vector<std::int32_t>> generate(
    const Gpt& net, const std::vector<std::int32_t>& prompt, const Sampling& sampling, std::int32_t end,
    const std::function<bool(const std::vector<std::vector<std::int32_t>>&)>& show = {});

}  // namespace gpt
