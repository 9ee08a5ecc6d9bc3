# Compares what the compiler makes with the target, before anything is configured with it.
# In: CC FLAGS CLASS DATA MACHINE TARGET
mkdir -p /work/check
cd /work/check
printf 'int main(void)\n{\n    return 0;\n}\n' > check.c
if ! $CC $FLAGS -c check.c -o check.o; then
    echo "crossmatrix: the compiler '$CC $FLAGS' cannot compile an empty program" >&2
    exit 1
fi
# ELF header: magic, class, byte order; the machine stands at byte 18 in the file's own order.
set -- $(od -A n -t u1 -N 20 check.o)
if [ "$1 $2 $3 $4" != "127 69 76 70" ]; then
    echo "crossmatrix: the compiler '$CC $FLAGS' makes no ELF object" >&2
    exit 1
fi
class=$5
data=$6
shift 18
if [ "$data" = 2 ]; then machine=$(($1 * 256 + $2)); else machine=$(($2 * 256 + $1)); fi
if [ "$class $data $machine" != "$CLASS $DATA $MACHINE" ]; then
    echo "crossmatrix: the compiler '$CC $FLAGS' compiles for another machine than $TARGET:" >&2
    echo "crossmatrix: ELF class, byte order and machine are $class $data $machine, not $CLASS $DATA $MACHINE" >&2
    exit 1
fi
if ! $CC $FLAGS check.o -o check; then
    echo "crossmatrix: the compiler '$CC $FLAGS' cannot link an empty program for $TARGET" >&2
    exit 1
fi
