# Time, by the library's own program; on native cells alone. In: clean
clean /usr/bin/perl /scratch/speed.pl 5 /work/src/examples/nettle-benchmark sha256 aes256 > /scratch/out/speed.txt
cat /scratch/out/speed.txt
