# Time, by the library's own program; on native cells alone. In: clean
clean /usr/bin/perl /scratch/speed.pl 5 \
    /work/out/artifacts/openssl speed -seconds 1 sha256 aes-256-cbc rsa2048 ecdsap256 > /scratch/out/speed.txt
cat /scratch/out/speed.txt
