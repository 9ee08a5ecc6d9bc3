#!/bin/sh
# Take kernel headers and gcc's run-time sources out of Debian's packages, without installing these.
set -eu

mkdir -p packages kernel gcc /opt/sysroot
# apt's own user cannot write here; apt then says so and goes on as root.
(cd packages && apt-get -o Acquire::Retries=3 download gcc-12-source linux-libc-dev linux-libc-dev-arm64-cross)

for name in linux-libc-dev linux-libc-dev-arm64-cross; do
    mkdir "kernel/$name"
    dpkg-deb --extract packages/"$name"_*.deb "kernel/$name"
done

dpkg-deb --fsys-tarfile packages/gcc-12-source_*.deb |
    tar --extract --to-stdout --wildcards './usr/src/gcc-12/gcc-12.*.tar.xz' |
    tar --extract --xz --directory gcc --strip-components=1 --wildcards '*/libgcc' '*/include/longlong.h'

for package in packages/*.deb; do
    dpkg-deb --show --showformat '${Package}=${Version}\n' "$package"
done >/opt/sysroot/versions
rm -r packages
