// What every test executable's main does.
#pragma once

/// Runs all gtests; fails a test that leaves more or fewer buffers alive than it found.
int run_tests(int argc, char** argv);
