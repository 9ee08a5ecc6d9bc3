#!/bin/sh
# What a person would type for one cell: unpack, configure, build, test, with `docker run` and a volume for the tree.
# usage: by_hand.sh LIBRARY VARIANT COMPILER TARGET QEMU TOOLCHAIN_IMAGE EMULATOR_IMAGE TARBALL
set -eu
library=$1 variant=$2 compiler=$3 target=$4 qemu=$5 toolchain=$6 emulator=$7 tarball=$8
volume=by-hand-$$
trap 'docker volume rm -f "$volume" > /dev/null' EXIT
docker volume create "$volume" > /dev/null
run() {
    image=$1
    shift
    docker run --rm -i --network none -v "$volume:/work" -w /work "$image" sh -eu -c "$@"
}

if [ "$library" = openssl ]; then
    options="linux-aarch64 no-shared no-module no-async"
    if [ "$variant" = no-asm ]; then options="$options no-asm"; fi
    run "$toolchain" "mkdir src && tar -xzf - -C src --strip-components=1 && cd src &&
        CCACHE_DISABLE=1 CC=$target-$compiler AR=$target-ar RANLIB=$target-ranlib perl ./Configure $options &&
        CCACHE_DISABLE=1 make -j2" < "$tarball"
    run "$emulator" "cd src && EXE_SHELL=$qemu HARNESS_JOBS=2 make run_tests TESTS='test_evp* test_sha test_internal_*'"
else
    case $compiler in gcc) cxx=g++ ;; *) cxx=clang++ ;; esac
    options="--host=$target --enable-mini-gmp --disable-shared --disable-documentation --disable-openssl"
    if [ "$variant" = no-asm ]; then
        options="$options --disable-assembler"
    else
        options="$options --disable-fat --enable-arm64-crypto"
    fi
    run "$toolchain" "mkdir src && tar -xzf - -C src --strip-components=1 && cd src && export CCACHE_DISABLE=1 &&
        CC_FOR_BUILD=gcc CC=$target-$compiler CXX=$target-$cxx AR=$target-ar RANLIB=$target-ranlib ./configure $options && make -j2 && (make -j2 check EMULATOR=true || true)" < "$tarball"
    # symbols-test wants nm, and the emulator's image has none; sha1-huge-test is none of `make check`. The others are run
    # one after another, as `make check` does.
    run "$emulator" "cd src/testsuite &&
        NETTLE_TEST_SEED=0 EMULATOR=$qemu srcdir=. sh ../run-tests \$(ls -d *-test | grep -v -e symbols-test -e sha1-huge-test)"
fi
