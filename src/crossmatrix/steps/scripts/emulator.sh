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
# What the emulator says in its own name, and is no warning, it says of itself: a CPU model or a property it does not have.
if [ -n "$EMULATOR" ] && [ "$code" != 0 ] && [ "$code" -lt 128 ] && [ ! -s /scratch/list.json ] &&
    refusal=$(grep "^$EMULATOR: " /scratch/list.err | grep -v ': warning: ' | head -n 1) && [ -n "$refusal" ]; then
    echo "crossmatrix: infrastructure: the emulator refuses to start with this profile: $refusal" >&2
    case $refusal in
    *'CPU model'*) echo "crossmatrix: its CPU models: $("$EMULATOR" -cpu help | sed 1d | xargs)" >&2 ;;
    esac
    exit 126
fi
if [ "$code" != 0 ]; then
    echo "crossmatrix: the workload program ends with exit code $code at its start; the stages that follow show why"
fi
