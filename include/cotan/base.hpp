// Arrays, transforms and the namespaces numpy, lax, fft, linalg, nn, random, tree: everything but the libraries on top.
#pragma once
// First, so that what compilers say of wrong arguments comes by few headers.
// clang-format off
#include <cotan/array.hpp>
#include <cotan/tree.hpp>
#include <cotan/transforms/transformed.hpp>
#include <cotan/transforms.hpp>
#include <cotan/control_flow.hpp>
// clang-format on
#include <cotan/assume_finite.hpp>
#include <cotan/callbacks.hpp>
#include <cotan/collectives.hpp>
#include <cotan/debug.hpp>
#include <cotan/device.hpp>
#include <cotan/dtype.hpp>
#include <cotan/eager.hpp>
#include <cotan/error.hpp>
#include <cotan/experimental/checkify.hpp>
#include <cotan/experimental/jet.hpp>
#include <cotan/fft.hpp>
#include <cotan/flatten_util.hpp>
#include <cotan/image.hpp>
#include <cotan/io.hpp>
#include <cotan/lax.hpp>
#include <cotan/linalg.hpp>
#include <cotan/nn.hpp>
#include <cotan/numpy.hpp>
#include <cotan/numpy/complex.hpp>
#include <cotan/numpy/dlpack.hpp>
#include <cotan/ops.hpp>
#include <cotan/platform.hpp>
#include <cotan/profile.hpp>
#include <cotan/random.hpp>
#include <cotan/solvers.hpp>
#include <cotan/test_util.hpp>
#include <cotan/transforms/custom_batching.hpp>
#include <cotan/tree_devices.hpp>
#include <cotan/version.hpp>
