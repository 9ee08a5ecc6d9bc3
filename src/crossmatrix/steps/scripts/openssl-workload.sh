# Compiles the workload against the build. In: CC FLAGS; the arguments are its C files.
cd /work/workload
libraries=$(sed -n -e 's/^CNF_EX_LIBS=//p' -e 's/^EX_LIBS=//p' /work/src/Makefile)
$CC $FLAGS -std=gnu11 -O2 -g -static -Ilibraries/common -I/work/src/include -o /work/out/artifacts/workload "$@" \
    /work/src/libcrypto.a $libraries
