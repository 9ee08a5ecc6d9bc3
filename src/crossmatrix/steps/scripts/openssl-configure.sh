# In: CC CXX AR RANLIB FLAGS; the arguments are Configure's.
cd /work/src
CC=$CC CXX=$CXX AR=$AR RANLIB=$RANLIB perl ./Configure "$@" $FLAGS
perl configdata.pm --dump > /work/out/artifacts/configure-summary.txt
