#!/bin/sh
# Write /usr/local/bin/<triple>-{gcc,g++,ar,...}: Debian's compilers, made to compile for musl and link statically.
#
# Headers: musl's and gcc's own, no others. Linking: a specs file puts musl's start-up files, libc and libgcc in the
# place of glibc's. Compiling goes through ccache, whose key holds the compiler's exact version. C++ has no standard
# library here: the compiler and C's headers alone.
set -eu

wrap() { # TRIPLE PACKAGE TOOL-PREFIX LINKER-FLAGS COMPILER-FLAG...
    triple=$1 package=$2 prefix=$3 linker=$4
    shift 4
    root=/opt/sysroot/$triple
    compiler=${prefix}gcc-12
    version=$(dpkg-query --show --showformat '${Version}' "$package")

    cat >"$root/gcc.specs" <<SPECS
*link:
-nostdlib -static $linker -X

*startfile:
$root/lib/crt1.o $root/lib/crti.o $root/lib/crtbeginT.o

*endfile:
$root/lib/crtend.o $root/lib/crtn.o

*link_libgcc:
-L$root/lib

*libgcc:
-lgcc

*lib:
-lc

SPECS

    driver="ccache $compiler -specs=$root/gcc.specs -static $*"
    headers="-nostdinc -isystem $root/include -isystem $("$compiler" -print-file-name=include)"
    cache="export CCACHE_COMPILERCHECK='string:$package $version' CCACHE_DIR=\"\${CCACHE_DIR:-/ccache}\"
# ccache fails where it cannot write.
[ -w \"\$CCACHE_DIR\" ] || export CCACHE_DISABLE=1"
    cat >"/usr/local/bin/$triple-gcc" <<WRAPPER
#!/bin/sh
$cache
exec $driver $headers "\$@"
WRAPPER
    cat >"/usr/local/bin/$triple-g++" <<WRAPPER
#!/bin/sh
$cache
exec $driver -fno-exceptions -fno-rtti -isystem $root/include/c++ $headers "\$@"
WRAPPER
    chmod 755 "/usr/local/bin/$triple-gcc" "/usr/local/bin/$triple-g++"
    for tool in ar nm objcopy objdump ranlib readelf strip; do
        ln -s "/usr/bin/$prefix$tool" "/usr/local/bin/$triple-$tool"
    done
}

# Outline atomics call functions of libgcc that choose at run time; without them every cell runs the same code.
wrap aarch64-linux-musl gcc-12-aarch64-linux-gnu aarch64-linux-gnu- '-EL -maarch64linux' \
    -mlittle-endian -mno-outline-atomics
wrap aarch64_be-linux-musl gcc-12-aarch64-linux-gnu aarch64-linux-gnu- '-EB -maarch64linuxb' \
    -mbig-endian -mno-outline-atomics
wrap x86_64-linux-musl gcc-12 '' '-m elf_x86_64'
