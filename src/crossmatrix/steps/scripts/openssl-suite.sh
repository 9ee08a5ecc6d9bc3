# Runs upstream's harness on a tree that cannot be written. In: EMULATOR JOBS; the arguments are the harness's.
mkdir -p /scratch/out /scratch/results /scratch/tmp
CROSSMATRIX_SUITE_LOG=/scratch/out/suite.log
: > "$CROSSMATRIX_SUITE_LOG"
# The harness starts each test file with HARNESS_PERL: that is where blocks and durations come from.
cat > /scratch/recipe <<'RECIPE'
#!/bin/sh
for last; do :; done
name=${last##*/}
exec perl /scratch/suite.pl case "${name%.t}" perl "$@"
RECIPE
chmod +x /scratch/recipe
cd /work/src
export CROSSMATRIX_SUITE_LOG
export SRCTOP=/work/src BLDTOP=/work/src PERL=perl EXE_EXT= RESULT_D=/scratch/results TMPDIR=/scratch/tmp
export HARNESS_JOBS="$JOBS" HARNESS_PERL=/scratch/recipe
FIPSKEY=$(sed -n 's/^FIPSKEY=//p' Makefile)
export FIPSKEY
if [ -n "$EMULATOR" ]; then export EXE_SHELL="$EMULATOR"; fi
(
    code=0
    perl test/run_tests.pl "$@" 2>&1 || code=$?
    echo "$code" > /scratch/suite.code
) | perl /scratch/suite.pl lines &
suite=$!
tail -n +1 -f -s 0.2 --pid="$suite" "$CROSSMATRIX_SUITE_LOG"
wait "$suite" || true
exit "$(cat /scratch/suite.code)"
