#!/usr/bin/env bash
# Packs what a machine with a GPU needs to run the tests and the benchmarks without building or installing anything: the
# library, everything it links but libc, Dawn, the Vulkan loader, the test programs. Goes to build/device (about 50 MB).
# pack.sh [--to FOLDER] [PROGRAM…]: elsewhere, and other programs (under build/release) than the tests and cotan_bench.
set -euo pipefail
cd "$(dirname "$0")/../.."

build=build/release
out=build/device
[[ ${1:-} == --to ]] && { out=$2; shift 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$out" "$work/lib" "$work/app"

[[ $# -gt 0 ]] || set -- bench/cotan_{bench,gpt2} tests/test_{webgpu,cases,control,dlm,native}
programs=("${@/#/$build/}")
for file in "${programs[@]}"; do
  [[ -f $file ]] || { echo "pack: $file is missing; build it first: cmake --build --preset release" >&2; exit 1; }
done
cp -L "${programs[@]}" "$build/libcotan.so.0" "$work/app/"

# What the machine has anyway stays behind. ICU's tables are large and never read here: a stub stands in for them.
linked() { ldd "$@" | awk '$2 == "=>" && $3 ~ /^\// {print $3}' | sort -u; }
while read -r library; do
  case $(basename "$library") in
    libc.so* | libm.so* | libgcc_s.so* | libcotan.so* | libicudata.so* | libz3.so*) ;;
    *) cp -L "$library" "$work/lib/" ;;
  esac
done < <(linked "${programs[@]}" "$build/libcotan.so.0")
icu=$(linked "$build/libcotan.so.0" | grep -o 'libicudata\.so\.[0-9]*' | head -n 1 || true)
if [[ -n $icu ]]; then
  echo "const char icudt${icu##*.}_dat[64] = {0};" | ${CC:-cc} -x c -shared -fPIC -Wl,-soname,"$icu" -o "$work/lib/$icu" -
fi
# Nor does LLVM call its solver.
llvm=$(linked "$build/libcotan.so.0" | grep libLLVM | head -n 1)
solver=$(linked "$build/libcotan.so.0" | grep -o 'libz3\.so\.[0-9]*' | head -n 1 || true)
if [[ -n $solver ]]; then
  nm -D --undefined-only "$llvm" | awk '$2 ~ /^Z3_/ {print "void " $2 "(void) {}"}' |
    ${CC:-cc} -x c -shared -fPIC -Wl,-soname,"$solver" -o "$work/lib/$solver" -
fi
cp -L "$(ldconfig -p | awk '/libvulkan.so.1 .*x86-64/ {print $NF; exit}')" "$work/lib/libvulkan.so.1"
read -r versions <tools/webgpu_version
cp "${COTAN_WEBGPU_ROOT:-${XDG_CACHE_HOME:-$HOME/.cache}/cotan/webgpu-$versions}/lib/libwebgpu_wrapper.so" "$work/lib/"

strip -s "$work"/lib/* "$work"/app/* 2>/dev/null || true
for part in lib app; do tar -C "$work" -c "$part" | xz -9 >"$out/$part.tar.xz"; done
ls -l "$out"
