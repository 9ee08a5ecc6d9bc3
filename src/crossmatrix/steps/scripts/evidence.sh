# Runs the fixed workload once, counted. In: EMULATOR PLUGIN, clean
if [ -n "$EMULATOR" ]; then
    clean $EMULATOR -plugin "$PLUGIN,out=/scratch/out/evidence/count-%p.json" /work/out/artifacts/workload evidence
else
    clean /work/out/artifacts/workload evidence
fi
