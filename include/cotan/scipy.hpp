// cotan::scipy: everything of it.
#pragma once
#include <cotan/scipy/linalg.hpp>
#include <cotan/scipy/special.hpp>
#include <cotan/scipy/stats.hpp>
