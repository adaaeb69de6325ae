// cotan's side of: a step of Adam over the leaves of a large model, its parameters and state given away at each call.
#include <cotan/optax.hpp>
#include <memory>

#include "cotan_case.hpp"

namespace bench {
namespace {

using ct::Array;
namespace optax = cotan::optax;

using Leaves = std::vector<Array>;
struct Training {
  Leaves params;
  optax::State state;
};

/// `leaves` shapes that repeat matrices and vectors of a transformer; peers/inputs.py has the same.
Leaves model(const Parameters& p, std::uint32_t seed) {
  const std::int64_t width = p["width"];
  const std::vector<ct::Shape> block{{width}, {width, 4 * width}, {4 * width}, {4 * width, width}, {width, width}};
  Leaves out;
  for (std::int64_t i = 0; i < p["leaves"]; ++i)
    out.push_back(
        random_array(block[static_cast<std::size_t>(i) % block.size()], seed + static_cast<std::uint32_t>(i)));
  return out;
}

const Register all[] = {
    {"cotan", "adam",
     [](const Parameters& p) {
       const auto optimizer = optax::adam({.learning_rate = 1e-3});
       const auto step = [optimizer](const Training& t, const Leaves& gradients) {
         const auto [updates, next] = optimizer.update(gradients, t.state, t.params);
         return Training{optax::apply_updates(t.params, updates), next};
       };
       const auto compiled = ct::jit(step, {.donate = {0}});
       const Leaves params = model(p, 1), gradients = model(p, 1001);
       const auto training = std::make_shared<Training>(Training{model(p, 1), optimizer.init(params)});
       Case made = jitted([step](const Training& t, const Leaves& g) { return step(t, g); },
                          Training{params, optimizer.init(params)}, gradients);
       // Numbers of the first step; what is timed goes on from step to step.
       made.check = [=] { return summary(ct::jit(step)(Training{params, optimizer.init(params)}, gradients).params); };
       made.call = [=] {
         *training = compiled(*training, gradients);
         wait_for(training->params);
       };
       made.peak = {};
       return made;
     }},
};

}  // namespace
}  // namespace bench
