// Entry point of test executables that have none of their own.
#include "support/run_tests.hpp"

int main(int argc, char** argv) { return run_tests(argc, argv); }
