// torch.optim: optimizers, learning rates that change, clipping, averages of parameters.
#pragma once
#include <cotan/torch/optim/optimizers.hpp>
