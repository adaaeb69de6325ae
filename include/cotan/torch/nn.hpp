// torch::nn: modules, their functional forms, and functions of whole modules.
#pragma once
#include <cotan/torch/nn/activation.hpp>
#include <cotan/torch/nn/attention.hpp>
#include <cotan/torch/nn/container.hpp>
#include <cotan/torch/nn/convolution.hpp>
#include <cotan/torch/nn/functional.hpp>
#include <cotan/torch/nn/init.hpp>
#include <cotan/torch/nn/linear.hpp>
#include <cotan/torch/nn/loss.hpp>
#include <cotan/torch/nn/module.hpp>
#include <cotan/torch/nn/normalization.hpp>
#include <cotan/torch/nn/pooling.hpp>
#include <cotan/torch/nn/recurrent.hpp>
