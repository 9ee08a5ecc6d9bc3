#!/bin/sh
# The last step of every image: the ordinary user, its folders, and the list of what is installed.
#
#   finish-image.sh [NAME=VERSION ...]
#
# The list is /etc/crossmatrix/packages.json, {"name": "exact version"}: every Debian package, the arguments, and the
# lines of /opt/sysroot/versions where there is one (what was built from source).
set -eu

if ! getent passwd builder >/dev/null; then
    groupadd --gid 1000 builder
    useradd --uid 1000 --gid 1000 --no-create-home --home-dir /scratch --shell /bin/sh builder
fi
mkdir -p /work /ccache /etc/crossmatrix
mkdir -p -m 1777 /scratch
# A named volume that is mounted the first time takes over the owner of the folder that it covers.
chown builder:builder /work /ccache

{
    dpkg-query --show --showformat '${db:Status-Abbrev}\t${Package}\t${Version}\n' |
        awk -F '\t' '$1 ~ /^.i/ { print $2 "\t" $3 }'
    for entry in "$@"; do printf '%s\t%s\n' "${entry%%=*}" "${entry#*=}"; done
    if [ -f /opt/sysroot/versions ]; then tr '=' '\t' </opt/sysroot/versions; fi
} | LC_ALL=C sort -u | awk -F '\t' '
    BEGIN { printf "{" }
    { printf "%s\n  \"%s\": \"%s\"", (NR > 1 ? "," : ""), $1, $2 }
    END { print "\n}" }
' >/etc/crossmatrix/packages.json

rm -rf /var/lib/apt/lists/* /var/cache/apt/* /var/log/apt /var/log/dpkg.log /usr/share/doc/* /usr/share/man/*
