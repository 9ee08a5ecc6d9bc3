# Builds libraries, programs and test programs, and runs none of them. In: JOBS NM
cd /work/src
make -j"$JOBS"
# Makefiles know their tests; nothing else prints the list.
mkdir -p /work/suite
printf 'crossmatrix-list:\n\t@echo $(TS_ALL)\n' > /work/suite/list.mk
for part in tools testsuite examples; do
    make -s --no-print-directory -C "$part" -f Makefile -f /work/suite/list.mk crossmatrix-list | tr ' ' '\n' \
        > "/work/suite/$part.list"
    make -j"$JOBS" -C "$part" $(cat "/work/suite/$part.list")
done
# symbols-test reads these instead of running nm, which the emulator's image lacks.
for library in libnettle.a libhogweed.a; do
    if [ -s "$library" ]; then $NM -g "$library" > "/work/suite/$library.nm"; fi
done
