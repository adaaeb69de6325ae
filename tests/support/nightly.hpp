// What an ordinary run of the tests leaves to `make nightly`.
#pragma once
#include <cstdlib>

/// COTAN_NIGHTLY=1: everything, which takes hours.
inline bool is_nightly() {
  const char* set = std::getenv("COTAN_NIGHTLY");
  return set && *set && *set != '0';
}
