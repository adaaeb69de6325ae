// Loops over lists of arrays, for what is computed row by row.
#pragma once
#include <cotan/control_flow.hpp>

namespace cotan::linalg {

/// body(carries, slices of xs) -> carries, slices of ys; gives the last carries, then the ys.
inline Arrays scanned(const FlatFn& body, const Arrays& init, const Arrays& xs, bool reverse = false) {
  const flat::Paths paths = [](std::size_t i) { return "array " + std::to_string(i); };
  return flat::scan(body, init, xs, {.reverse = reverse}, paths, paths);
}

}  // namespace cotan::linalg
