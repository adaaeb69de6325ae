// Files: NumPy's arrays, weights, tokenizers, texts and tokens to train on.
#pragma once
#include <cotan/io/datasets.hpp>
#include <cotan/io/npy.hpp>
#include <cotan/io/safetensors.hpp>
#include <cotan/io/tokenizer.hpp>
#include <cotan/io/train_bpe.hpp>
