// What the driver of Fourier transforms needs from an instruction set: transforms side by side, one in each lane of
// vectors, so that all of their steps are whole vectors. One file per set provides it (fft_avx512.cpp, …), and the best
// one is chosen at run time.
#pragma once
#include <cotan/array.hpp>
#include <cstdint>
#include <vector>

namespace cotan::native {

/// One pass of a transform of radix * done * rest elements: it reads [done, radix, rest], multiplies by twiddle
/// factors, transforms along the radix and leaves [radix, done, rest].
template <class T>
struct FftPass {
  int radix;  ///< one of fft_radices
  std::int64_t done, rest;
  std::vector<T> twiddles;  ///< (re, im) at [done, radix]
  std::vector<T> roots;     ///< of an odd radix: (re, im)
};
constexpr int fft_radices[] = {8, 7, 5, 4, 3, 2};

/// At least two of them.
template <class T>
using FftPasses = std::vector<FftPass<T>>;

/// Complex numbers in memory, of which vectors are read or written: those of neighbouring lanes are neighbours.
template <class T>
struct FftMemory {
  T *re, *im;
  std::int64_t stride;  ///< from a vector to the next, in elements of T
  bool side_by_side;    ///< im is next to re, and so on; else parts are arrays of their own
};

template <class T>
struct FftKernels {
  int lanes;
  /// A transform in every lane, from memory to memory. `tiles`: two times `length` vectors of pairs.
  void (*columns)(const FftPasses<T>& passes, const FftMemory<T>& from, const FftMemory<T>& to, T* tiles);
  /// The same to a tile, a vector of real parts and one of imaginary ones for each element: the one of `tiles` that is
  /// returned.
  T* (*columns_to_tile)(const FftPasses<T>& passes, const FftMemory<T>& from, T* tiles);
  /// From a tile.
  void (*columns_of_tile)(const FftPasses<T>& passes, const T* from, const FftMemory<T>& to, T* tiles);
  /// Multiplies `count` elements of a tile, a multiple of the lanes, by factors; in squares of as many elements as
  /// there are lanes, element and lane change places. Square s begins at to + s * to_stride. `factors` is of vectors
  /// like the tile; where `coarse` is given, they are multiplied by those numbers, one for each element, coarse_stride
  /// apart.
  void (*turn)(std::int64_t count, const T* tile, const T* factors, std::int64_t factor_stride, const T* coarse,
               std::int64_t coarse_stride, T* to, std::int64_t to_stride);
};

/// Whether fft_pairs_p is a routine for operands of this type; short ones are kernels, which are computed together with
/// what is around them.
bool has_fft_routine(const AbstractValue& type, std::int64_t axis);

/// The kernels for this machine; T is float or double.
template <class T>
const FftKernels<T>& fft_kernels();

}  // namespace cotan::native
