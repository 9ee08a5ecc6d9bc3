# Runs upstream's tests, in a copy because some write beside themselves. In: EMULATOR JOBS
mkdir -p /scratch/out /scratch/src /scratch/tmp
CROSSMATRIX_SUITE_LOG=/scratch/out/suite.log
: > "$CROSSMATRIX_SUITE_LOG"
tar -C /work/src --exclude='*.o' -cf - . | tar -C /scratch/src -xf -
cat > /scratch/nm <<'NM'
#!/bin/sh
# Gives what the build's own nm said.
for last; do :; done
exec cat "/work/suite/${last##*/}.nm"
NM
chmod +x /scratch/nm
export CROSSMATRIX_SUITE_LOG EMULATOR srcdir=. EXEEXT= NM=/scratch/nm TMPDIR=/scratch/tmp
(
    code=0
    cd /scratch/src/testsuite
    # The slow ones first, so that none of them is left running alone in the end.
    slow='keygen|redc|random-prime|rsa-sec-decrypt|ecdsa|ecc-s'
    # Either of the two may find none.
    {
        grep -E "$slow" /work/suite/testsuite.list || true
        grep -v -E "$slow" /work/suite/testsuite.list || true
    } > /scratch/suite.list
    # The tests of these folders use the same file names, so they run one after another, a block each.
    set -- tools examples
    perl /scratch/suite.pl plan "$(($(wc -w < /scratch/suite.list) + $#))"
    xargs -P "$JOBS" -I '{}' perl /scratch/suite.pl case '{}' sh ../run-tests '{}' < /scratch/suite.list > /dev/null \
        || code=1
    for part in "$@"; do
        cd "/scratch/src/$part"
        perl /scratch/suite.pl case "$part" sh ../run-tests $(cat "/work/suite/$part.list") > /dev/null || code=1
    done
    echo "$code" > /scratch/suite.code
) &
suite=$!
tail -n +1 -f -s 0.2 --pid="$suite" "$CROSSMATRIX_SUITE_LOG"
wait "$suite" || true
exit "$(cat /scratch/suite.code)"
