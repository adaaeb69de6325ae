#!/usr/bin/env bash
# Fetches a WebGPU library (Dawn) and its header from npm into the user's cache, once. Without npm, or without a network, the
# build goes on without the device 'webgpu'.
set -euo pipefail
cd "$(dirname "$0")"

read -r versions <webgpu_version  # library-header: the header must not be older than the library
library=bun-webgpu-linux-x64@${versions%-*}
header=react-native-webgpu@${versions#*-}
root=${COTAN_WEBGPU_ROOT:-${XDG_CACHE_HOME:-$HOME/.cache}/cotan/webgpu-$versions}
[[ -f $root/include/webgpu.h && -f $root/lib/libwebgpu_wrapper.so ]] && exit 0

if ! command -v npm >/dev/null; then
  echo "setup: no npm, so there will be no device 'webgpu' (npm install it, or set COTAN_WEBGPU_ROOT)" >&2
  exit 0
fi
echo "setup: fetching $library and the header of $header"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fetch() {  # PACKAGE FILE DIRECTORY
  (cd "$work" && npm pack --silent "$1" >name 2>log) || { cat "$work/log" >&2; return 1; }
  tar -xzf "$work/$(tail -n 1 "$work/name")" -C "$work" "package/$2"
  mkdir -p "$3" && mv "$work/package/$2" "$3/"
}
fetch "$library" libwebgpu_wrapper.so "$root/lib" && fetch "$header" cpp/webgpu/webgpu.h "$root/include" ||
  { echo "setup: npm failed; there will be no device 'webgpu'" >&2; exit 0; }
