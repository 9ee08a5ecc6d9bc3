# Unpacks /work/source.tar into a fresh /work/src.
if [ -e /work/src ]; then
    echo "crossmatrix: /work/src exists already; a build needs a fresh tree" >&2
    exit 1
fi
mkdir /work/src
tar -xf /work/source.tar -C /work/src --strip-components=1 --no-same-owner
rm -f /work/source.tar
mkdir -p /work/out/artifacts /work/out/assembly
