// Files: NumPy's arrays, weights, tokenizers, texts and tokens to train on.
#pragma once
#include <cotan/io/npy.hpp>
#include <cotan/io/safetensors.hpp>
