// cotan::torch: PyTorch's tensors, modules and optimizers on cotan's compiler. Not part of cotan.hpp.
#pragma once
#include <cotan/torch/amp.hpp>
#include <cotan/torch/autograd.hpp>
#include <cotan/torch/creation.hpp>
#include <cotan/torch/elementwise.hpp>
#include <cotan/torch/explain.hpp>
#include <cotan/torch/func.hpp>
#include <cotan/torch/linalg.hpp>
#include <cotan/torch/nn.hpp>
#include <cotan/torch/optim.hpp>
#include <cotan/torch/run.hpp>
#include <cotan/torch/tensor.hpp>
#include <cotan/torch/tensor_index.hpp>
#include <cotan/torch/utils/checkpoint.hpp>
#include <cotan/torch/utils/data.hpp>
#include <cotan/torch/views.hpp>
