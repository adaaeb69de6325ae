// cotan::random: jax.random. Keys are u32[2] arrays.
#pragma once
#include <cotan/random/choosing.hpp>
#include <cotan/random/continuous.hpp>
#include <cotan/random/discrete.hpp>
#include <cotan/random/gamma.hpp>
#include <cotan/random/keys.hpp>
#include <cotan/random/matrices.hpp>
