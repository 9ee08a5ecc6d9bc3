# Compiles the workload against the build. In: CC FLAGS; the arguments are its C files.
cd /work/workload
# <nettle/sha2.h> is the build's own tree by another name.
mkdir -p /work/check/headers
ln -sfn /work/src /work/check/headers/nettle
libraries=$(sed -n 's/^LIBS *= *//p' /work/src/config.make)
$CC $FLAGS -std=gnu11 -O2 -g -static -Ilibraries/common -I/work/check/headers -o /work/out/artifacts/workload "$@" \
    -L/work/src -lhogweed -lnettle $libraries
