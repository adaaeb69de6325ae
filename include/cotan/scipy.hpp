// cotan::scipy: everything of it.
#pragma once
#include <cotan/scipy/cluster.hpp>
#include <cotan/scipy/fft.hpp>
#include <cotan/scipy/integrate.hpp>
#include <cotan/scipy/interpolate.hpp>
#include <cotan/scipy/linalg.hpp>
#include <cotan/scipy/ndimage.hpp>
#include <cotan/scipy/optimize.hpp>
#include <cotan/scipy/signal.hpp>
#include <cotan/scipy/spatial.hpp>
#include <cotan/scipy/special.hpp>
#include <cotan/scipy/stats.hpp>
