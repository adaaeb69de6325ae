// Devices: where arrays live and programs run.
#pragma once
#include <cotan/array.hpp>
#include <string_view>
#include <vector>

namespace cotan {

/// The devices of this build. Whether this machine has the GPU that "webgpu" needs shows when it is used.
std::vector<Device> devices();
/// The device that new arrays are made on; at first the one that COTAN_DEVICE names, else "native".
Device default_device();
/// Makes it the one of that name; another raises DeviceError.
void default_device(std::string_view name, const std::source_location& where = COTAN_HERE);
/// A copy of `x` on another device, or `x` itself if it is there already.
Array device_put(const ArrayLike& x, std::string_view device);
/// How many threads programs on the native device may use, the caller included. At first COTAN_NUM_THREADS, else
/// the number of cores that this process may run on. Results do not depend on it.
int num_threads();
/// Takes effect with the next program; `n` must be at least 1.
void set_num_threads(int n);
/// Waits until `x` has been computed, and returns it.
Array block_until_ready(const Array& x);
/// Whether `x` has been computed, without waiting: block_until_ready(x) would return at once.
bool is_ready(const Array& x);
/// Starts to copy `x` to the host and returns at once; item() and to_vector() then wait for what is left of it.
/// Nothing to do where host and device share memory.
void copy_to_host_async(const Array& x);

/// While on, programs that are compiled for "webgpu" try the ways to cut up each matrix product of a new size, which
/// takes seconds, and keep the fastest for this and later processes. Also switched on by COTAN_WEBGPU_TUNE=1.
void autotune(bool on);
/// Whether it is on.
bool autotune();

}  // namespace cotan
