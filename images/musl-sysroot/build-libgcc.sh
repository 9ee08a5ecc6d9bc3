#!/bin/sh
# Compile the run-time functions that compilers call (128-bit integers, long double, cache maintenance) for both byte
# orders of aarch64, from gcc's own sources. Debian has them for little endian only, and a whole cross compiler would
# take many minutes. Both byte orders are made alike, so that they can be compared. x86_64 takes Debian's archive.
set -eu

source=/build/gcc/libgcc
# Parts of libgcc2.c, by the macros that select them.
parts='_absvdi2 _absvsi2 _addvdi3 _addvsi3 _ashldi3 _ashrdi3 _bswapdi2 _bswapsi2 _clear_cache _clrsbdi2 _clrsbsi2 _clz
    _clzdi2 _clzsi2 _cmpdi2 _ctzdi2 _ctzsi2 _divdc3 _divdi3 _divmoddi4 _divsc3 _divtc3 _ffsdi2 _ffssi2 _fixdfdi
    _fixsfdi _fixunsdfdi _fixunssfdi _floatdidf _floatdisf _floatundidf _floatundisf _lshrdi3 _moddi3 _muldc3 _muldi3
    _mulsc3 _multc3 _mulvdi3 _mulvsi3 _negdi2 _negvdi2 _negvsi2 _paritydi2 _paritysi2 _popcount_tab _popcountdi2
    _popcountsi2 _powidf2 _powisf2 _powitf2 _subvdi3 _subvsi3 _ucmpdi2 _udiv_w_sdiv _udivdi3 _udivmoddi4 _umoddi3'

libgcc() { # TRIPLE BYTE-ORDER
    compile="aarch64-linux-gnu-gcc-12 $2 -O2 -fPIC -ffunction-sections -fno-stack-protector -mno-outline-atomics -w \
        -fbuilding-libgcc -Dinhibit_libc -DIN_GCC -DIN_LIBGCC2 \
        -I/build/libgcc -I$source/config/aarch64 -I$source/soft-fp -I$source -I/build/gcc/include"
    objects="/build/libgcc-$1"
    mkdir "$objects"
    for part in $parts; do
        echo "$compile -DL$part -c $source/libgcc2.c -o $objects/$part.o"
    done >"$objects.commands"
    # The x87 format (xf) is not for this machine.
    for file in "$source"/soft-fp/*tf*.c "$source/config/aarch64/sfp-exceptions.c" \
        "$source/config/aarch64/sync-cache.c"; do
        case "$file" in *xf*) continue ;; esac
        echo "$compile -c $file -o $objects/$(basename "$file" .c).o"
    done >>"$objects.commands"
    xargs -d '\n' -P "$(nproc)" -n 1 sh -c <"$objects.commands"
    aarch64-linux-gnu-ar rcs "/opt/sysroot/$1/lib/libgcc.a" "$objects"/*.o
}

# Start-up objects and an unwinder's archive that compilers name when they link: C needs no more than this handle.
start_files() { # TRIPLE COMPILER BINUTILS-PREFIX
    echo 'void *__dso_handle __attribute__((visibility("hidden"))) = 0;' | $2 -x c -c -o "/opt/sysroot/$1/lib/crtbeginT.o" -
    echo '' | $2 -x c -c -o "/opt/sysroot/$1/lib/crtend.o" -
    "$3ar" rcs "/opt/sysroot/$1/lib/libgcc_eh.a"
}

libgcc aarch64-linux-musl -mlittle-endian
libgcc aarch64_be-linux-musl -mbig-endian
cp "$(gcc-12 -print-libgcc-file-name)" /opt/sysroot/x86_64-linux-musl/lib/libgcc.a
start_files aarch64-linux-musl 'aarch64-linux-gnu-gcc-12 -mlittle-endian' aarch64-linux-gnu-
start_files aarch64_be-linux-musl 'aarch64-linux-gnu-gcc-12 -mbig-endian' aarch64-linux-gnu-
start_files x86_64-linux-musl gcc-12 ''

{
    dpkg-query --show --showformat '${Package}=${Version}\n' gcc-12 gcc-12-aarch64-linux-gnu libgcc-12-dev
} | sed 's/^/built-with-/' >>/opt/sysroot/versions
