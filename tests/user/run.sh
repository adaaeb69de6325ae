#!/usr/bin/env bash
# Builds and runs tests/user/*.cpp as a user would, outside the source tree.
# usage: run.sh program|find_package BUILD_DIR
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$2" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
unset LD_LIBRARY_PATH  # programs find the library by themselves

# $1: the folder of cotan.pc. Compiles and runs the programs that follow.
by_pkg_config() {
  export PKG_CONFIG_PATH=$1
  shift
  for source in "$@"; do
    name=$(basename "$source" .cpp)
    cp "$source" "$name.cpp"
    ${CXX:-c++} -std=c++20 "$name.cpp" $(pkg-config --cflags --libs cotan) -o "$name"
    echo "== $name"
    "./$name" "$(pkg-config --modversion cotan)"
  done
}

case $1 in
  program)
    by_pkg_config "$build" "$here"/*.cpp
    # Installed, and moved after that.
    cmake --install "$build" --prefix "$work/first" >install.log
    mv first moved
    by_pkg_config "$(dirname "$(find "$work/moved" -name cotan.pc)")" "$here/version.cpp"
    for file in LICENSE README.md CHANGELOG.md docs/from_jax.md docs/tutorials/01_arrays.cpp; do
      [[ -s moved/share/doc/cotan/$file ]] || { echo "$file is not installed" >&2; exit 1; }
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
