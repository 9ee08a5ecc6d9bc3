# In: CC CXX AR RANLIB NM FLAGS HOST; the arguments are configure's.
cd /work/src
# Programs that run while it is built are compiled for this machine.
if [ -z "${CC_FOR_BUILD:-}" ] || ! command -v "$CC_FOR_BUILD" > /dev/null; then
    for compiler in gcc clang cc; do
        if command -v "$compiler" > /dev/null; then break; fi
    done
    CC_FOR_BUILD=$compiler
fi
export CC_FOR_BUILD
if [ -n "$FLAGS" ]; then set -- "$@" "CFLAGS=-O2 -g $FLAGS" "CXXFLAGS=-O2 -g $FLAGS"; fi
code=0
./configure --build="$(./config.guess)" --host="$HOST" "$@" "CC=$CC" "CXX=$CXX" "AR=$AR" "RANLIB=$RANLIB" "NM=$NM" \
    > /work/check/configure.log 2>&1 || code=$?
if [ "$code" != 0 ]; then
    tail -n 50 config.log
    cat /work/check/configure.log
    exit 1
fi
cat /work/check/configure.log
sed -n '/summary of build options/,$p' /work/check/configure.log > /work/out/artifacts/configure-summary.txt
