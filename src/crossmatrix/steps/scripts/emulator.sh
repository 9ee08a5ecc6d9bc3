# Whether a program of the build starts at all; if not, nothing that follows tells anything about the library.
# In: EMULATOR (empty on native cells), clean (starts a program with the profile's environment alone)
mkdir -p /scratch/out/evidence
: > /scratch/out/emulator.txt
if [ -n "$EMULATOR" ]; then
    if ! command -v "$EMULATOR" > /dev/null; then
        echo "crossmatrix: infrastructure: the emulator $EMULATOR is not in this image" >&2
        exit 127
    fi
    "$EMULATOR" --version > /scratch/out/emulator.txt
    cat /scratch/out/emulator.txt
fi
code=0
clean $EMULATOR /work/out/artifacts/workload list > /scratch/list.json 2> /scratch/list.err || code=$?
cat /scratch/list.err >&2
if [ "$code" = 126 ] || [ "$code" = 127 ] || grep -q 'Exec format error\|Invalid ELF image\|Could not open' /scratch/list.err; then
    echo "crossmatrix: infrastructure: ${EMULATOR:-this machine} cannot start a program of the build (exit code $code)" >&2
    exit 126
fi
if [ "$code" != 0 ]; then
    echo "crossmatrix: the workload program ends with exit code $code at its start; the stages that follow show why"
fi
