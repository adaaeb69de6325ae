// Tuning: tries the ways to cut up a matrix product on the device itself, and keeps the fastest (matmul_table.hpp). It
// takes seconds per product, so it is done only where it was asked for: autotune(true), or COTAN_WEBGPU_TUNE=1.
#pragma once
#include <functional>

#include "backend/webgpu/routines/matmul.hpp"

namespace cotan::webgpu {

/// Seconds that a product takes with a tile.
using TileTimer = std::function<double(const MatmulProblem&, const MatmulTile&)>;

/// Tries tiles for a product whose class has none yet, if tuning is on. A tile that does not work is left out.
void tune_if_wanted(const MatmulProblem& problem, const Capabilities& device);
/// The fastest of the candidates by `timer`; `progress` gets a line for each.
std::optional<MatmulTile> fastest_tile(const MatmulProblem& problem, const Capabilities& device, const TileTimer& timer,
                                       const std::function<void(const std::string&)>& progress);
/// On the device in use, by the host's clock.
double time_on_device(const MatmulProblem& problem, const MatmulTile& tile);
/// Takes the place of time_on_device, for tests; an empty one ends that.
void set_tile_timer(TileTimer timer);

}  // namespace cotan::webgpu
