# The outputs of the fixed inputs. In: EMULATOR, clean
clean $EMULATOR /work/out/artifacts/workload vectors > /scratch/vectors.json
mv /scratch/vectors.json /scratch/out/vectors.json
