# Puts what is kept into /work/out.
cd /work/src
out=/work/out
cp libnettle.a tools/nettle-hash "$out/artifacts/"
if [ -s libhogweed.a ]; then cp libhogweed.a "$out/artifacts/"; fi
make -s install-headers includedir=/work/check/include > /dev/null
tar --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner -C /work/check/include -cf - . \
    | gzip -9n > "$out/artifacts/headers.tar.gz"
# configure links the assembly that it chose into the top folder.
for source in *.asm; do
    object=${source%.asm}.o
    if [ -h "$source" ] && [ -f "$object" ]; then
        cp "$object" "$out/assembly/$object"
        printf '%s\t%s\n' "$object" "$(readlink "$source")"
    fi
done > "$out/assembly/sources.tsv"
