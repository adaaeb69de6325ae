// torch::nn::functional, which PyTorch users call F: layers as functions.
#pragma once
#include <cotan/torch/elementwise.hpp>
#include <cotan/torch/nn/functional/activations.hpp>
#include <cotan/torch/nn/functional/attention.hpp>
#include <cotan/torch/nn/functional/convolution.hpp>
#include <cotan/torch/nn/functional/losses.hpp>
#include <cotan/torch/nn/functional/normalization.hpp>
#include <cotan/torch/nn/functional/pooling.hpp>

/// `torch.nn.functional`.
namespace cotan::torch::nn::functional {
using torch::relu;
using torch::sigmoid;
using torch::tanh;
}  // namespace cotan::torch::nn::functional

namespace cotan::torch {
// What PyTorch has in torch, too, or DESIGN.md promises there.
using nn::functional::adaptive_avg_pool1d;
using nn::functional::alpha_dropout;
using nn::functional::avg_pool1d;
using nn::functional::batch_norm;
using nn::functional::bilinear;
using nn::functional::binary_cross_entropy_with_logits;
using nn::functional::celu;
using nn::functional::conv1d;
using nn::functional::conv2d;
using nn::functional::conv3d;
using nn::functional::conv_transpose1d;
using nn::functional::conv_transpose2d;
using nn::functional::conv_transpose3d;
using nn::functional::cosine_embedding_loss;
using nn::functional::cosine_similarity;
using nn::functional::cross_entropy;
using nn::functional::dropout;
using nn::functional::embedding;
using nn::functional::group_norm;
using nn::functional::hinge_embedding_loss;
using nn::functional::instance_norm;
using nn::functional::kl_div;
using nn::functional::layer_norm;
using nn::functional::log_softmax;
using nn::functional::margin_ranking_loss;
using nn::functional::max_pool1d;
using nn::functional::max_pool2d;
using nn::functional::pairwise_distance;
using nn::functional::pixel_shuffle;
using nn::functional::pixel_unshuffle;
using nn::functional::poisson_nll_loss;
using nn::functional::prelu;
using nn::functional::rms_norm;
using nn::functional::selu;
using nn::functional::softmax;
}  // namespace cotan::torch
