#!/usr/bin/env bash
# Installs the Debian 12 packages that the build needs, and only those that are missing; with the argument `nightly` also what
# `make nightly` needs.
set -euo pipefail

packages=(g++ cmake ninja-build make ccache pkg-config libfmt-dev libcli11-dev nlohmann-json3-dev libgtest-dev
          libbenchmark-dev libopenblas-dev liblapacke-dev zlib1g-dev libutf8proc-dev libmpfr-dev llvm-19-dev python3 clang-format-19
          libvulkan1 chromium-common)  # the Vulkan loader, and a software driver for tests of the device 'webgpu'
command -v npm >/dev/null || packages+=(npm)
[[ ${1:-} == nightly ]] && packages+=(clang-19 clang-tidy-19)

if ! command -v dpkg-query >/dev/null; then
  echo "setup: not a Debian system, nothing checked. Needed (Debian names): ${packages[*]}" >&2
  exit 0
fi

missing=()
for package in "${packages[@]}"; do
  status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
  [[ $status == installed ]] || missing+=("$package")
done
[[ ${#missing[@]} -eq 0 ]] && exec "$(dirname "$0")/setup_webgpu.sh"

by_hand() {
  echo "setup: $1. Install by hand, as root:" >&2
  echo "  apt-get update && apt-get install -y ${missing[*]}" >&2
  exit 1
}

as_root=()
if [[ $(id -u) -ne 0 ]]; then
  command -v sudo >/dev/null || by_hand "packages are missing, and there is no root and no sudo"
  as_root=(sudo)
fi
command -v apt-get >/dev/null || by_hand "packages are missing, and there is no apt-get"

echo "setup: installing ${missing[*]}"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
{
  "${as_root[@]}" apt-get -qq update &&
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
      apt-get -qq install -y --no-install-recommends "${missing[@]}"
} >"$log" 2>&1 || { cat "$log" >&2; by_hand "apt-get failed"; }
exec "$(dirname "$0")/setup_webgpu.sh"
