// The transforms: a typed skin over cotan::flat. Functions take and return pytrees (tree.hpp).
#pragma once
#include <cotan/transforms/checkpoint.hpp>
#include <cotan/transforms/custom_gradient.hpp>
#include <cotan/transforms/custom_rules.hpp>
#include <cotan/transforms/fwd_and_bwd.hpp>
#include <cotan/transforms/grad.hpp>
#include <cotan/transforms/jacobian.hpp>
#include <cotan/transforms/jit.hpp>
#include <cotan/transforms/linearize.hpp>
#include <cotan/transforms/make_jaxpr.hpp>
#include <cotan/transforms/named.hpp>
#include <cotan/transforms/residuals.hpp>
#include <cotan/transforms/vmap.hpp>
