// Arrays, transforms and the namespaces numpy, lax, fft, linalg, nn, random, tree: everything but the libraries on top.
#pragma once
#include <cotan/array.hpp>
#include <cotan/control_flow.hpp>
#include <cotan/debug.hpp>
#include <cotan/device.hpp>
#include <cotan/dtype.hpp>
#include <cotan/error.hpp>
#include <cotan/fft.hpp>
#include <cotan/io.hpp>
#include <cotan/lax.hpp>
#include <cotan/linalg.hpp>
#include <cotan/nn.hpp>
#include <cotan/numpy.hpp>
#include <cotan/profile.hpp>
#include <cotan/random.hpp>
#include <cotan/transforms.hpp>
#include <cotan/tree.hpp>
