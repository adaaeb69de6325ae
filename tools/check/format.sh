#!/usr/bin/env bash
# Whether all sources are as clang-format 19 writes them; --write makes them so. Another version formats otherwise, so it must
# be this one.
set -euo pipefail
cd "$(dirname "$0")/../.."
tool=clang-format-19
command -v $tool >/dev/null || { echo "format: there is no $tool; tools/setup.sh installs it (Debian: apt-get install $tool)" >&2; exit 1; }
mode=(--dry-run -Werror --ferror-limit=3)
[[ ${1:-} == --write ]] && mode=(-i)
find src include apps bench tests docs \( -name '*.hpp' -o -name '*.cpp' -o -name '*.h' \) -print0 |
  xargs -0 -P "$(nproc)" -n 40 $tool "${mode[@]}"
