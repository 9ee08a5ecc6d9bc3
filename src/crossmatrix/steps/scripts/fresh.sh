# Refuses a source that was configured before: it would bring objects of another compiler into this build.
stale=$(find /work/src \( -name '*.o' -o -name '*.lo' -o -name config.status -o -name configdata.pm \) -print | head -n 3)
if [ -n "$stale" ]; then
    echo "crossmatrix: the source is dirty, it holds what an earlier build left:" >&2
    echo "$stale" >&2
    echo "crossmatrix: clean the tree (git clean -xdf) and try again" >&2
    exit 1
fi
