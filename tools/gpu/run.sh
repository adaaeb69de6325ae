#!/usr/bin/env bash
# On a machine with an NVIDIA GPU, after tools/gpu/pack.sh elsewhere: runs the tests of the device 'webgpu' and then the
# benchmarks beside JAX (and PyTorch with --torch) on the same card. Reports go to the folder that is given (build/gpu-results).
# --fuzz: instead the random programs of a nightly run, on all cores, and those for the GPU.
set -uo pipefail
cd "$(dirname "$0")/../.."

results=build/gpu-results
peers=jax,native,copy
fuzz=
for argument in "$@"; do
  case $argument in
    --torch) peers=jax,torch,native,copy ;;
    --fuzz) fuzz=1 ;;
    --help) sed -n '2,4s/^# //p' "$0"; exit 0 ;;
    *) results=$argument ;;
  esac
done
mkdir -p "$results"
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
for part in lib app; do tar -xJf "build/device/$part.tar.xz" -C "$place" || exit 1; done
# Headless: NVIDIA's driver as Vulkan finds it without a screen.
echo '{"file_format_version": "1.0.0", "ICD": {"library_path": "libEGL_nvidia.so.0", "api_version": "1.3.0"}}' >"$place/icd.json"
export LD_LIBRARY_PATH=$place/app:$place/lib COTAN_WEBGPU_LIBRARY=$place/lib/libwebgpu_wrapper.so
export VK_ICD_FILENAMES=${VK_ICD_FILENAMES:-$place/icd.json}

nvidia-smi --query-gpu=name,driver_version --format=csv,noheader
failed=0
run() {  # PROGRAM FILTER
  "$place/app/$1" --gtest_brief=1 --gtest_filter="$2" >"$results/$1.log" 2>&1 || failed=1
  grep -E "FAILED|PASSED" "$results/$1.log" | tail -n 20
}
if [[ $fuzz ]]; then
  COTAN_NIGHTLY=1 COTAN_TEST_CHILDREN=$(nproc) COTAN_CACHE_DIR=off COTAN_VERIFY=1 run test_native 'Programs/*'
  COTAN_TEST_CHILDREN=4 COTAN_CACHE_DIR=off run test_native 'WebGpuPrograms/*'
  exit $failed
fi
run test_webgpu '*'
run test_cases 'WebGpu*'
run test_control '*webgpu*'
COTAN_NIGHTLY=1 run test_dlm '*webgpu*'
python3 bench/run.py --gpu --program "$place/app/cotan_bench" --peers "$peers" --compiles 0 --output "$results/gpu" || failed=1
exit $failed
