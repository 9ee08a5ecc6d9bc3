# Builds libraries, programs and test programs, and runs none of them. In: JOBS
cd /work/src
# 1.1.1 has no build_sw; its `all` builds the same.
if grep -q '^build_sw:' Makefile; then target=build_sw; else target=all; fi
make -j"$JOBS" "$target"
