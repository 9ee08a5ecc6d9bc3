# Puts what is kept into /work/out.
cd /work/src
out=/work/out
cp libcrypto.a libssl.a apps/openssl "$out/artifacts/"
tar --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner -C include -cf - openssl | gzip -9n > "$out/artifacts/headers.tar.gz"
# The build's own rules say which objects come from assembly.
perl -ne '
    if (m{^(\S+\.o):\s*(\S+\.(?:S|s|asm))(?:\s|$)} && -f $1) {
        my ($object, $source) = ($1, $2);
        my ($name) = $object =~ m{([^/]+)$};
        print "$object\t$name\t$source\n" if !$seen{$name}++;
    }
' Makefile | sort > /work/check/assembly
while IFS='	' read -r object name source; do
    cp "$object" "$out/assembly/$name"
    printf '%s\t%s\n' "$name" "$source"
done < /work/check/assembly > "$out/assembly/sources.tsv"
