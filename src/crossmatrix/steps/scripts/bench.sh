# Measures: executed instructions under the emulator, time without one. In: EMULATOR PLUGIN JOBS VARIABLES (one NAME=VALUE
# a line, all that the measured program sees); the arguments are algorithms, none for all.
mkdir -p /scratch/out
set -- --jobs "$JOBS" --variables "$VARIABLES" "$@"
if [ -n "$EMULATOR" ]; then set -- --emulator "$EMULATOR" --plugin "$PLUGIN" "$@"; fi
perl /scratch/bench.pl --workload /work/out/artifacts/workload --output /scratch/out/bench.json "$@"
