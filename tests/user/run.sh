#!/usr/bin/env bash
# Builds and runs tests/user/*.cpp as a user would, outside the source tree.
# usage: run.sh program|find_package BUILD_DIR
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$2" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

case $1 in
  program)
    export PKG_CONFIG_PATH=$build
    for source in "$here"/*.cpp; do
      name=$(basename "$source" .cpp)
      cp "$source" "$name.cpp"
      ${CXX:-c++} -std=c++20 "$name.cpp" $(pkg-config --cflags --libs cotan) -o "$name"
      echo "== $name"
      "./$name"
    done ;;
  find_package)
    cmake --install "$build" --prefix "$work/prefix" >install.log
    cmake -S "$here/find_package" -B build -DCMAKE_PREFIX_PATH="$work/prefix" >configure.log
    cmake --build build --parallel 2
    for program in build/bin/*; do
      echo "== $(basename "$program")"
      "$program"
    done ;;
  *) echo "usage: $0 program|find_package BUILD_DIR" >&2; exit 2 ;;
esac
