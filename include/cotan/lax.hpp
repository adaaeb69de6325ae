// cotan::lax: the primitives by name, and operations NumPy has no name for. Dtypes and shapes promote here
// too.
#pragma once
#include <cotan/lax/aliases.hpp>
#include <cotan/lax/conv.hpp>
#include <cotan/lax/elementwise.hpp>
#include <cotan/lax/fft.hpp>
#include <cotan/lax/indexing.hpp>
#include <cotan/lax/padding.hpp>
#include <cotan/lax/products.hpp>
#include <cotan/lax/random_bits.hpp>
#include <cotan/lax/reductions.hpp>
#include <cotan/lax/shape.hpp>
#include <cotan/lax/sorting.hpp>
#include <cotan/lax/special.hpp>
#include <cotan/lax/windows.hpp>

/// `jax.lax`: primitives by their names, and operations that NumPy has no name for; what a comment here does not say is
/// as there. Unlike JAX's, operands of different dtypes promote and shapes broadcast. Control flow (scan, while_loop,
/// cond …) is here too, by `<cotan/control_flow.hpp>`, and what solves equations by `<cotan/solvers.hpp>`.
///
///     ct::Array y = ct::lax::rsqrt(x), window = ct::lax::dynamic_slice(x, {i, 0}, {1, 8});
namespace cotan::lax {}
