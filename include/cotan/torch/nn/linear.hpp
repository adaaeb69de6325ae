// torch::nn: layers that multiply with matrices, and look up rows.
#pragma once
#include <cotan/torch/nn/functional.hpp>
#include <cotan/torch/nn/module.hpp>

namespace cotan::torch::nn {

/// Of modules with a bias, and the dtype and device of parameters.
struct LinearOptions {
  bool bias = true;
  std::optional<DType> dtype = {};
  std::string device = "";
};

/// Gives its input.
struct Identity {
  Tensor operator()(const Input& x) const { return *x; }  ///< x
};

/// x weightᵀ + bias; weight[out, in].
class Linear {
 public:
  Linear() = default;
  Linear(std::int64_t in_features, std::int64_t out_features, const LinearOptions& options = {},
         std::source_location where = COTAN_HERE);
  Tensor operator()(const Input& x) const { return functional::linear(*x, weight, bias); }  ///< x[…, in]
  Parameter weight, bias;
  COTAN_TREE(weight, bias)
};

/// functional::bilinear; weight[out, in1, in2].
class Bilinear {
 public:
  Bilinear() = default;
  Bilinear(std::int64_t in1_features, std::int64_t in2_features, std::int64_t out_features,
           const LinearOptions& options = {}, std::source_location where = COTAN_HERE);
  /// x1[…, in1], x2[…, in2].
  Tensor operator()(const Input& x1, const Tensor& x2) const { return functional::bilinear(*x1, x2, weight, bias); }
  Parameter weight, bias;
  COTAN_TREE(weight, bias)
};

/// Of Embedding.
struct EmbeddingLayerOptions {
  std::optional<std::int64_t> padding_idx = {};  ///< this row is 0 and stays it
  std::optional<DType> dtype = {};
  std::string device = "";
};
/// The rows of weight[rows, width] that indices name.
class Embedding {
 public:
  Embedding() = default;
  Embedding(std::int64_t num_embeddings, std::int64_t embedding_dim, const EmbeddingLayerOptions& options = {},
            std::source_location where = COTAN_HERE);
  /// Of integers of any shape.
  Tensor operator()(const Input& indices) const {
    return functional::embedding(*indices, weight, {.padding_idx = padding_idx});
  }
  Parameter weight;
  std::optional<std::int64_t> padding_idx;
  COTAN_TREE(weight)
};

/// Axes start_dim to end_dim joined.
struct Flatten {
  int start_dim = 1, end_dim = -1;
  Tensor operator()(const Input& x) const;  ///< x in another shape
};
/// An axis cut into several.
struct Unflatten {
  int dim = 1;
  Shape sizes = {};
  Tensor operator()(const Input& x) const;  ///< x in another shape
};

}  // namespace cotan::torch::nn
