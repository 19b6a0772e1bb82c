#!/bin/sh
# Runs the tests of kernels/cuda that are built beside $TENSORD: on a GPU where there is one, else
# on ptxemu, which interprets the same PTX on the CPU with several interleavings and looks for
# races. Says which. Skipped (77) where neither is there, or where nvcc was not, to build them.
cd "$(dirname "$0")/../.." || exit 2
build=${TENSORD:-build/tensord}
build=${build%/*}
programs=$build/cuda-test
failed=0

skip() {
    echo "SKIPPED: $1"
    exit 77
}

# run NAME [VARIABLE=VALUE...]: one line; the output where it fails, or where the interpreter has
# something to report (the device that served_failures loses on purpose is reported too).
run() {
    name=$1
    shift
    start=$(date +%s)
    if output=$(env -u TENSORD_DEVICE "$@" LD_LIBRARY_PATH="$library" TENSORD="$programs/tensord" \
        "$programs/$name" 2>&1 </dev/null) &&
        { [ "$name" = served_failures ] || ! printf %s "$output" | grep -q '^ptxemu: '; }; then
        verdict=ok
    else
        verdict=FAILED
        failed=1
        printf '%s\n' "$output" | tail -n 40 | sed 's/^/    | /'
    fi
    printf '%-8s %-18s %-76s %3d s\n' "$verdict" "$name" "$*" $(($(date +%s) - start))
}

[ -x "$programs/kernels_golden" ] || skip 'the CUDA backend is not built: no nvcc here'
if nvidia-smi -L >/dev/null 2>&1; then
    device=$(nvidia-smi -L | head -n 1)
    library=$(dirname "$(dirname "$(command -v nvcc)")")/lib64
elif [ -e "$build/ptxemu/libcudart.so.13" ]; then
    device='ptxemu, which interprets PTX on the CPU: no GPU here'
    library=$build/ptxemu
    export ON_PTXEMU=1
else
    skip 'no GPU here, and no ptxemu to interpret for one'
fi
echo "CUDA tests run on: $device"

run kernels_golden PTXEMU_SEED=0
run kernels_golden PTXEMU_SEED=5 PTXEMU_RACE=1
run kernels_random PTXEMU_SEED=7 PTXEMU_QUANTUM=13
run kernels_hostile PTXEMU_SEED=0
run kernels_launches PTXEMU_SEED=0
run kernels_lane PTXEMU_SEED=0
for seed in 1 2 3; do
    run kernels_sample PTXEMU_SEED=$seed PTXEMU_QUANTUM=$((17 * seed))
done
run kernels_sample PTXEMU_SEED=4 PTXEMU_QUANTUM=50 PTXEMU_RACE=1
run kernels_failures PTXEMU_SEED=0
run served PTXEMU_SEED=0
run http_golden TENSORD_DEVICE=cuda TENSORD_CUDA_THRESHOLD=0 TENSORD_DEFAULT_BAD_INDICES=error
run served_failures PTXEMU_SEED=0
exit $failed
