#!/usr/bin/env bash
# clang-tidy 19 over the library, or over the folders and files that are named, with the checks of .clang-tidy. Takes the compile
# commands of the preset clang, where every file is compiled by itself: `make tidy` configures it.
set -euo pipefail
cd "$(dirname "$0")/../.."
tool=clang-tidy-19
command -v $tool >/dev/null || { echo "tidy: there is no $tool; tools/setup.sh nightly installs it" >&2; exit 1; }
[[ -f build/clang/compile_commands.json ]] || { echo "tidy: configure first: cmake --preset clang" >&2; exit 1; }
# The compile commands name what the build makes: precompiled headers, and the header with the version.
made=$(ninja -C build/clang -t targets all | sed -n 's|^\(CMakeFiles/[^:]*\.pch\):.*|\1|p')
# shellcheck disable=SC2086  # several names
ninja -C build/clang cotan_version $made >/dev/null
find "${@:-src}" -name '*.cpp' -print0 | sort -z |
  xargs -0 -P "$(nproc)" -n 1 $tool --quiet -p build/clang --extra-arg=-Wno-everything
