# What the library says of itself. In: EMULATOR, clean
sed -n 's/^#define PACKAGE_STRING "\(.*\)"/\1/p' /work/src/config.h > /scratch/out/version.txt
code=0
clean $EMULATOR /work/out/artifacts/nettle-hash --version >> /scratch/out/version.txt 2>&1 || true
cat /scratch/out/version.txt
# qemu itself is linked with the host's libnettle, which would answer too: so the variable goes to the program alone.
# (The comma trap of -E does not matter for this value.)
if [ -n "$EMULATOR" ]; then
    clean $EMULATOR -E NETTLE_FAT_VERBOSE=1 /work/out/artifacts/workload list > /dev/null 2> /scratch/out/cpu.txt || code=$?
else
    clean NETTLE_FAT_VERBOSE=1 /work/out/artifacts/workload list > /dev/null 2> /scratch/out/cpu.txt || code=$?
fi
if [ "$code" != 0 ]; then echo "crossmatrix: the workload ended with exit code $code" >> /scratch/out/cpu.txt; fi
cat /scratch/out/cpu.txt
