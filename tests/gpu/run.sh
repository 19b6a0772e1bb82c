#!/bin/sh
# Everything that a machine with a GPU should check and measure, in under five minutes after the
# build: the tests, compute-sanitizer, the kernels in GB/s beside a copy on the device, whole jobs
# and requests with their transfers. Needs nvcc and a driver.
#
#   tests/gpu/run.sh [OUTPUT]      OUTPUT: keeps the report there too
cd "$(dirname "$0")/../.." || exit 2
report=${1:-/dev/null}
build=${BUILD:-build/gpu}
failed=0

if ! nvidia-smi -L >/dev/null 2>&1; then
    echo 'SKIPPED: no GPU here (nvidia-smi finds none)'
    exit 77
fi

say() {
    printf '%s\n' "$*" | tee -a "$report"
}

# step TITLE COMMAND...: the command's last lines, or all of them where it fails.
step() {
    title=$1
    shift
    start=$(date +%s)
    log=$(mktemp)
    if timeout 280 "$@" >"$log" 2>&1; then
        say "ok      $title, $(($(date +%s) - start)) s"
        tail -n "$lines" "$log" | tee -a "$report"
    else
        failed=1
        say "FAILED  $title, $(($(date +%s) - start)) s"
        tee -a "$report" <"$log"
    fi
    rm -f "$log"
}

# Compiled for this very device: what is timed and checked is what would be shipped for it.
arch=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader | head -n 1 | tr -d .)
code="-gencode arch=compute_$arch,code=sm_$arch -lineinfo"
home=$(dirname "$(dirname "$(command -v nvcc)")")
export LD_LIBRARY_PATH="$home/lib64${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
export TENSORD="$build/tensord"
programs=$build/cuda-test

: >>"$report"
say "GPU: $(nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader)"
say "CUDA: $(nvcc --version | tail -n 2 | head -n 1)"
lines=0
step "build for sm_$arch" make -j"$(nproc)" BUILD="$build" CUDA_TEST_CODE="$code" programs-cuda
[ $failed = 0 ] || exit 1

lines=20
step 'tests' sh tests/gpu/check.sh
if sanitizer=$(command -v compute-sanitizer || ls "$home/bin/compute-sanitizer" 2>/dev/null); then
    lines=1
    for tool in memcheck racecheck initcheck synccheck; do
        step "compute-sanitizer $tool" "$sanitizer" --tool $tool --error-exitcode 1 \
            "$programs/kernels_sample"
    done
    step 'compute-sanitizer memcheck, hostile indices' "$sanitizer" --tool memcheck \
        --error-exitcode 1 "$programs/kernels_hostile" 7
else
    say 'not run: compute-sanitizer is not here'
fi

lines=100
step 'kernels' "$programs/kernels_bench"
TENSORD=$programs/tensord
step 'requests' "$programs/served_bench"
exit $failed
