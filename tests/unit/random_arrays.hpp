// Arrays of random numbers of any dtype, for tests of routines.
#pragma once
#include <cmath>
#include <cotan/cotan.hpp>
#include <random>

#include "core/backend.hpp"
#include "core/typed.hpp"

namespace random_arrays {

using namespace cotan;
using Integer = std::int64_t;

enum class Values { plain, special, few };

class Source {
 public:
  Source(std::uint64_t seed, Backend& backend) : engine_(seed), backend_(backend) {}

  std::mt19937_64& engine() { return engine_; }
  Integer between(Integer lo, Integer hi) {
    return lo + static_cast<Integer>(engine_() % static_cast<std::uint64_t>(hi - lo + 1));
  }
  /// Floats in [-2, 2], some of them special; integers of any size, or few different ones.
  Array array(DType dtype, const Shape& shape, Values values = Values::plain) {
    auto [array, buffer] = allocate(backend_, {dtype, shape, false});
    dispatch(dtype, [&, &memory = buffer, n = array.size()]<class T>() {
      T* const x = reinterpret_cast<T*>(memory->data());
      constexpr float special[] = {NAN, -NAN, INFINITY, -INFINITY, 0.0f, -0.0f};
      for (Integer i = 0; i < n; ++i) {
        const Integer r = between(0, 4000);
        if constexpr (std::is_same_v<T, bool>)
          x[i] = r % 2 != 0;
        else if constexpr (std::is_integral_v<T>)
          x[i] = static_cast<T>(values == Values::few ? r % 5 : static_cast<Integer>(engine_()));
        else
          x[i] = T(values == Values::special && r % 5 == 0 ? special[r % 6]
                   : values == Values::few                 ? static_cast<float>(r % 5)
                                                           : static_cast<float>(r) / 1000 - 2);
      }
    });
    return array;
  }
  Array indices(DType dtype, const Shape& shape, Integer lo, Integer hi) {
    auto [array, buffer] = allocate(backend_, {dtype, shape, false});
    dispatch(dtype, [&, &memory = buffer, n = array.size()]<class T>() {
      for (Integer i = 0; i < n; ++i)
        reinterpret_cast<T*>(memory->data())[i] = convert<T>(static_cast<std::int32_t>(between(lo, hi)));
    });
    return array;
  }

 private:
  std::mt19937_64 engine_;
  Backend& backend_;
};

}  // namespace random_arrays
