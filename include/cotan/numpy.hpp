// cotan::numpy: NumPy's names over Arrays. Operands broadcast and promote as in JAX.
#pragma once
#include <cotan/numpy/comparison.hpp>
#include <cotan/numpy/constants.hpp>
#include <cotan/numpy/creation.hpp>
#include <cotan/numpy/dtypes.hpp>
#include <cotan/numpy/editing.hpp>
#include <cotan/numpy/elementwise.hpp>
#include <cotan/numpy/functional.hpp>
#include <cotan/numpy/indexing.hpp>
#include <cotan/numpy/polynomials.hpp>
#include <cotan/numpy/products.hpp>
#include <cotan/numpy/reductions.hpp>
#include <cotan/numpy/sets.hpp>
#include <cotan/numpy/shape.hpp>
#include <cotan/numpy/sorting.hpp>
#include <cotan/numpy/statistics.hpp>
#include <cotan/numpy/windows.hpp>
