// COTAN_VECTORIZED: a function whose loops the compiler should vectorise. g++ 12 does that at -O3 alone, clang at -O2
// too.
#pragma once

#if defined(__clang__)
#define COTAN_VECTORIZED
#else
#define COTAN_VECTORIZED [[gnu::optimize("O3")]]
#endif
