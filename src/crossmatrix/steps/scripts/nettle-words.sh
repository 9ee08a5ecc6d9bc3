# What the library says of itself. In: EMULATOR, clean
sed -n 's/^PACKAGE_STRING *= *//p; s/^#define PACKAGE_STRING "\(.*\)"/\1/p' /work/src/config.make /work/src/config.h > /scratch/out/version.txt
clean $EMULATOR /work/out/artifacts/nettle-hash --version >> /scratch/out/version.txt 2>&1 || true
cat /scratch/out/version.txt
clean NETTLE_FAT_VERBOSE=1 $EMULATOR /work/out/artifacts/workload list > /dev/null 2> /scratch/out/cpu.txt || echo "crossmatrix: the workload ended with exit code $?" >> /scratch/out/cpu.txt
cat /scratch/out/cpu.txt
