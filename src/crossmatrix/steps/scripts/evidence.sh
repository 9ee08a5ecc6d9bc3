# Runs the fixed workload once, counted. In: EMULATOR PLUGIN, clean
mkdir -p /scratch/cores /scratch/out/evidence
cd /scratch/cores
# What is counted must be what is looked into.
sha256sum /work/out/artifacts/workload | cut -d ' ' -f 1 > /scratch/out/evidence/workload.sha256
code=0
if [ -n "$EMULATOR" ]; then
    # Where it dies, qemu's core file says at which instruction; its notes come first, the rest is memory.
    ulimit -c unlimited 2> /dev/null || true
    clean $EMULATOR -plugin "$PLUGIN,out=/scratch/out/evidence/count-%p.json" /work/out/artifacts/workload evidence || code=$?
    for core in *.core; do
        if [ -f "$core" ]; then head -c 65536 "$core" > "/scratch/out/evidence/$core"; fi
        rm -f "$core"
    done
else
    clean /work/out/artifacts/workload evidence || code=$?
fi
exit "$code"
