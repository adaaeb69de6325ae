// torch.optim: optimizers, learning rates that change, clipping, averages of parameters.
#pragma once
#include <cotan/torch/optim/clip_grad.hpp>
#include <cotan/torch/optim/lr_scheduler.hpp>
#include <cotan/torch/optim/optimizers.hpp>
#include <cotan/torch/optim/swa_utils.hpp>
