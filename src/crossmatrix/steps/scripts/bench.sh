# Measures the workload's algorithms; the arguments choose some. In: EMULATOR PLUGIN JOBS VARIABLES
mkdir -p /scratch/out
TMPDIR=/scratch perl /scratch/bench.pl --workload /work/out/artifacts/workload --output /scratch/out/bench.json \
    --emulator "$EMULATOR" --plugin "$PLUGIN" --jobs "$JOBS" --variables "$VARIABLES" -- "$@"
