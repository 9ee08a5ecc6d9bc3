#!/bin/sh
# Build musl for each target, static only, and put the kernel's headers beside its own.
set -eu

tarball=$(ls sources/musl[-_]*.tar.* | head -n 1)
mkdir musl
tar --extract --file "$tarball" --directory musl --strip-components=1
version=$(cat musl/VERSION)

build() { # TRIPLE COMPILER BINUTILS-PREFIX
    mkdir "build-$1"
    (
        cd "build-$1"
        CC=$2 AR=$3ar RANLIB=$3ranlib ../musl/configure --target="$1" --prefix="/opt/sysroot/$1" \
            --disable-shared --disable-wrapper
        make -j "$(nproc)" lib/libc.a
        make install-libs install-headers
    ) >"build-$1.log" 2>&1 || {
        tail -n 40 "build-$1.log" >&2
        exit 1
    }
    rm -r "build-$1"
}

build aarch64-linux-musl 'aarch64-linux-gnu-gcc-12 -mno-outline-atomics' aarch64-linux-gnu-
build aarch64_be-linux-musl 'aarch64-linux-gnu-gcc-12 -mno-outline-atomics -mbig-endian' aarch64-linux-gnu-
build x86_64-linux-musl gcc-12 ''

arm=kernel/linux-libc-dev-arm64-cross/usr/aarch64-linux-gnu/include
intel=kernel/linux-libc-dev/usr/include
for triple in aarch64-linux-musl aarch64_be-linux-musl; do
    cp -r $arm/linux $arm/asm $arm/asm-generic "/opt/sysroot/$triple/include/"
done
cp -r $intel/linux $intel/asm-generic $intel/x86_64-linux-gnu/asm /opt/sysroot/x86_64-linux-musl/include/

# C++ without its library: the headers that only forward to C. nettle's C++ test needs no more.
for triple in aarch64-linux-musl aarch64_be-linux-musl x86_64-linux-musl; do
    mkdir "/opt/sysroot/$triple/include/c++"
    for header in assert ctype errno float limits stddef stdint stdio stdlib string time; do
        echo "#include <$header.h>" >"/opt/sysroot/$triple/include/c++/c$header"
    done
done

echo "musl=$version" >>/opt/sysroot/versions
