#!/usr/bin/env bash
# Whether the public headers give a user no warning: with g++ and, where it is installed, with clang 19. Programs that use much of
# them (tests/user) are compiled too, since templates warn where they are used. With --each every header is also compiled by itself.
set -euo pipefail
cd "$(dirname "$0")/../.."
flags=(-std=c++20 -fsyntax-only -Iinclude -Wall -Wextra -Wconversion -Wshadow -pedantic -Werror)
compilers=("${CXX:-c++}")
for other in g++ clang++-19; do
  command -v $other >/dev/null && [[ ${compilers[0]} != *$other* ]] && compilers+=($other)
done
for compiler in "${compilers[@]}"; do
  sign=()
  "$compiler" --version | grep -q clang && sign=(-Wno-sign-conversion)  # there a part of -Wconversion
  for program in tests/user/*.cpp; do
    "$compiler" "${flags[@]}" "${sign[@]}" "$program"
  done
  [[ ${1:-} == --each ]] || continue
  find include -name '*.hpp' | sort | while read -r header; do
    "$compiler" "${flags[@]}" "${sign[@]}" -x c++ - <<<"#include <${header#include/}>" || { echo "$header" >&2; exit 1; }
  done
done
