// Counts every allocation of the process by operator new, those inside the library too.
#pragma once
#include <cstdint>

// A sanitizer has its own.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define COUNTS_ALLOCATIONS
/// So far.
std::int64_t allocations();
#endif
