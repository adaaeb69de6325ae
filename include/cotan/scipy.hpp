// cotan::scipy: everything of it.
#pragma once
#include <cotan/scipy/special.hpp>
#include <cotan/scipy/stats.hpp>
