// Everything: arrays, transforms and the namespaces numpy, lax, fft, linalg, nn, random, tree (base.hpp), and the
// libraries scipy, optim and dlm.
#pragma once
#include <cotan/base.hpp>
#include <cotan/dlm.hpp>
#include <cotan/ode.hpp>
#include <cotan/optim.hpp>
#include <cotan/scipy.hpp>
#include <cotan/scipy/sparse_linalg.hpp>
