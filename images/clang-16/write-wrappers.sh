#!/bin/sh
# Write /usr/local/bin/<triple>-{clang,clang++,ar,...}: clang for musl, linking statically.
#
# The assembler is LLVM's own. So is the linker, but for big endian: lld learnt to link big-endian aarch64 after
# version 16, so GNU ld does it there. ar and its like are GNU's; they do not touch code. Compiling goes through
# ccache, whose key holds the compiler's exact version. C++ has no standard library here: the compiler and C's headers
# alone.
set -eu

version=$(dpkg-query --show --showformat '${Version}' clang-16)

wrap() { # TRIPLE TOOL-PREFIX LINKER COMPILER-FLAG...
    triple=$1 prefix=$2 linker=$3
    shift 3
    root=/opt/sysroot/$triple
    cache="export CCACHE_COMPILERCHECK='string:clang-16 $version' CCACHE_DIR=\"\${CCACHE_DIR:-/ccache}\"
# ccache fails where it cannot write.
[ -w \"\$CCACHE_DIR\" ] || export CCACHE_DISABLE=1"
    # Options that matter to one phase alone would else be warned of in the others, and configure scripts read that.
    # --gcc-toolchain keeps the build machine's own start-up files and libgcc out.
    flags="--target=$triple --sysroot=$root --gcc-toolchain=$root"
    flags="$flags --start-no-unused-arguments -static --rtlib=libgcc --unwindlib=none"
    flags="$flags --ld-path=$linker $* --end-no-unused-arguments"
    cxx="-nostdinc++ --start-no-unused-arguments -nostdlib++ --end-no-unused-arguments -fno-exceptions -fno-rtti"
    cat >"/usr/local/bin/$triple-clang" <<WRAPPER
#!/bin/sh
$cache
exec ccache clang-16 $flags "\$@"
WRAPPER
    cat >"/usr/local/bin/$triple-clang++" <<WRAPPER
#!/bin/sh
$cache
exec ccache clang++-16 $flags $cxx -isystem $root/include/c++ "\$@"
WRAPPER
    chmod 755 "/usr/local/bin/$triple-clang" "/usr/local/bin/$triple-clang++"
    for tool in ar nm objcopy objdump ranlib readelf strip; do
        ln -s "/usr/bin/$prefix$tool" "/usr/local/bin/$triple-$tool"
    done
}

# Outline atomics call functions of libgcc that choose at run time; without them every cell runs the same code.
wrap aarch64-linux-musl aarch64-linux-gnu- /usr/bin/ld.lld-16 -mno-outline-atomics
wrap aarch64_be-linux-musl aarch64-linux-gnu- /usr/bin/aarch64-linux-gnu-ld -mno-outline-atomics
wrap x86_64-linux-musl '' /usr/bin/ld.lld-16
