# Builds libraries, the command-line tool and test programs, and runs none of them. In: JOBS; the arguments are the words
# of the harness for the tests whose programs are wanted, none for all.
cd /work/src
# 1.1.1 has no build_sw; its `all` builds the same.
if grep -q '^build_sw:' Makefile; then target=build_sw; else target=all; fi

# Each test program is linked to the whole library, and that is most of the work.
printf 'crossmatrix-%%:\n\t@echo $($*)\n' > /work/check/say.mk
say() { make -s --no-print-directory -f Makefile -f /work/check/say.mk "crossmatrix-$1"; }
programs=
if [ $# -gt 0 ] && [ "$target" = build_sw ]; then programs=$(say PROGRAMS | perl /work/programs.pl "$@"); fi
if [ -z "$programs" ]; then
    make -j"$JOBS" "$target"
else
    echo "test programs: $programs"
    make -j"$JOBS" build_libs
    # Tests start the scripts too, and on native cells everything through one of them, util/wrap.pl.
    make -j"$JOBS" apps/openssl $programs $(say SCRIPTS)
fi
