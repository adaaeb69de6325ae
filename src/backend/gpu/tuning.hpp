// Tuning: tries the ways to cut up a matrix product on the device itself, and keeps the fastest (matmul_table.hpp). It
// takes seconds per product, so it is done only where it was asked for: autotune(true), or COTAN_WEBGPU_TUNE=1.
#pragma once
#include <functional>

#include "backend/gpu/routines/matmul.hpp"
#include "core/jaxpr.hpp"

namespace cotan::gpu {

/// Seconds that a product takes with a tile.
using TileTimer = std::function<double(const MatmulProblem&, const MatmulTile&)>;

/// Tries tiles for a product whose class has none yet, if tuning is on. A tile that does not work is left out.
/// `on_device`: the timer of the device, unless there is another.
void tune_if_wanted(const MatmulProblem& problem, const Capabilities& device, const TileTimer& on_device);
/// The fastest of the candidates by `timer`; `progress` gets a line for each.
std::optional<MatmulTile> fastest_tile(const MatmulProblem& problem, const Capabilities& device, const TileTimer& timer,
                                       const std::function<void(const std::string&)>& progress);
/// Takes the place of the device's own, for tests; an empty one ends that.
void set_tile_timer(TileTimer timer);

/// Runs a program so many times, and waits until the device has done so.
using Runs = std::function<void(int calls)>;
/// A timer for a device by the host's clock: `compile` gives a program with its arguments.
double time_of_tile(const MatmulProblem& problem, const MatmulTile& tile,
                    const std::function<Runs(const JaxprPtr& program, const Arrays& args)>& compile);

}  // namespace cotan::gpu
