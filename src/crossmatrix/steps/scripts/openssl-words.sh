# What the library says of itself. In: EMULATOR, clean
openssl=/work/out/artifacts/openssl
clean $EMULATOR "$openssl" version -a > /scratch/out/version.txt 2>&1 || echo "crossmatrix: openssl version -a ended with exit code $?" >> /scratch/out/version.txt
cat /scratch/out/version.txt
# `info` came with 3.0; before, and where it says nothing, the line in `version -a` is all there is.
code=0
clean $EMULATOR "$openssl" info -cpusettings > /scratch/out/cpu.txt 2>&1 || code=$?
if [ "$code" != 0 ]; then
    grep '^CPUINFO:' /scratch/out/version.txt > /scratch/out/cpu.txt || echo "crossmatrix: openssl info -cpusettings ended with exit code $code" > /scratch/out/cpu.txt
fi
cat /scratch/out/cpu.txt
