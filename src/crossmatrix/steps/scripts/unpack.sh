# Unpacks /work/source.tar into a fresh /work/src.
if [ -e /work/src ]; then
    echo "crossmatrix: /work/src exists already; a build needs a fresh tree" >&2
    exit 1
fi
mkdir /work/src
tar -xf /work/source.tar -C /work/src --strip-components=1 --no-same-owner
rm -f /work/source.tar
# A tree that was configured before would bring objects of another compiler into this build.
stale=$(find /work/src \( -name '*.o' -o -name '*.lo' -o -name config.status -o -name configdata.pm \) -print | head -n 3)
if [ -n "$stale" ]; then
    echo "crossmatrix: the source is dirty, it holds what an earlier build left:" >&2
    echo "$stale" >&2
    echo "crossmatrix: clean the tree (git clean -xdf) and try again" >&2
    exit 1
fi
mkdir -p /work/out/artifacts /work/out/assembly
