// cotan::optax: optimizers, schedules, losses and projections as in optax.
#pragma once
#include <cotan/optax/contrib.hpp>
#include <cotan/optax/losses.hpp>
#include <cotan/optax/microbatching.hpp>
#include <cotan/optax/numerics.hpp>
#include <cotan/optax/optimizers.hpp>
#include <cotan/optax/projections.hpp>
#include <cotan/optax/schedules.hpp>
#include <cotan/optax/tree_utils.hpp>

/// `optax`, names and defaults as there. Optimizers are gradient transformations: pure functions whose state is a
/// pytree, so that a step of training is one jitted program.
namespace cotan::optax {}
