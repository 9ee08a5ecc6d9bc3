#!/bin/sh
# Fail the image's build unless every compiler makes programs for the machine and byte order that its name says.
#
#   check-image.sh C-COMPILER C++-COMPILER
set -eu

cd "$(mktemp -d)"
printf '#include <stdio.h>\n#include <linux/version.h>\nint main(int n, char **v) { printf("%%Lf\\n", (long double)n * n); return n / 2; }\n' >c.c
printf '#include <cstdio>\nstruct s { virtual int f() { return 1; } };\nint main() { s x; unsigned long n = x.f(); printf("%%lu\\n", n); }\n' >cxx.cxx

check() { # TRIPLE MACHINE DATA
    "$1-$cc" -O2 -o c c.c
    "$1-$cxx" -O2 -o cxx cxx.cxx
    for program in c cxx; do
        LC_ALL=C readelf --file-header --program-headers $program >header
        grep -q "Machine:  *$2" header && grep -q "Data:.*$3" header || {
            echo "$1: $program is for another machine or byte order:" >&2
            cat header >&2
            exit 1
        }
        if grep -q INTERP header; then
            echo "$1: $program is not static" >&2
            exit 1
        fi
    done
}

cc=$1 cxx=$2
check aarch64-linux-musl AArch64 'little endian'
check aarch64_be-linux-musl AArch64 'big endian'
check x86_64-linux-musl 'Advanced Micro Devices X86-64' 'little endian'
test "$(./c)" = 1.000000 || { echo 'the x86_64 program does not run' >&2; exit 1; }
# The compiler of the build machine itself, for programs that run while building.
echo 'int main(void) { return 0; }' >host.c
gcc -o host host.c && ./host
