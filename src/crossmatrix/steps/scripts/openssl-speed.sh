# Time, by the library's own program; on native cells alone. In: clean
clean /work/out/artifacts/openssl speed -seconds 1 -mr sha256 aes-256-cbc rsa2048 ecdsap256 > /scratch/out/speed.txt 2>&1
cat /scratch/out/speed.txt
