#!/bin/sh
# Packs the static tool: static.sh STATIC_TOOL CPU TOOL OUTPUT_FOLDER; prints the paths.
#
#   warmwire-VERSION-linux-CPU-static.tar.xz   the tool as one file that needs no library, manual, completions, licences
#   warmwire-VERSION-linux-CPU.oci.tar         an image of nothing but the tool and CA certificates (OCI layout)
#
# STATIC_TOOL is what `cross.sh tool CPU-unknown-linux-musl` made. TOOL runs on this machine and writes the texts. The image
# needs umoci and Debian's package ca-certificates, whose certificates it contains; none that somebody added to the machine.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/.." && pwd)
static=${1:?static tool} cpu=${2:?processor} tool=${3:?tool that runs here}
mkdir -p "${4:?output folder}"
output=$(cd "$4" && pwd)
version=$(sed -n 's/^version = "\(.*\)"/\1/p' "$root/Cargo.toml" | head -n 1)
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -C "$root" log -1 --format=%ct 2>/dev/null || date +%s)}
export SOURCE_DATE_EPOCH
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
umask 022
export TZ=UTC

name=warmwire-$version-linux-$cpu-static
install -D -m 755 "$static" "$work/$name/warmwire"
sh "$here/texts.sh" "$tool" "$work/$name/share"
(cd "$root" && cargo xtask supply --licences) >"$work/$name/licences.txt"
cp "$root/LICENSE-MIT" "$root/LICENSE-APACHE" "$root/README.md" "$work/$name/"
tar -C "$work" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" -cJf "$output/$name.tar.xz" "$name"
echo "$output/$name.tar.xz"

certificates=/usr/share/ca-certificates/mozilla
command -v umoci >/dev/null && [ -d $certificates ] ||
	{ echo "static.sh: an image needs the packages umoci and ca-certificates" >&2; exit 1; }
case $cpu in x86_64) architecture=amd64 ;; aarch64) architecture=arm64 ;; *) architecture=$cpu ;; esac
files=$work/files
mkdir -p "$files/etc/ssl/certs" "$files/licences" "$files/tmp"
cp "$work/$name/warmwire" "$files/warmwire"
cp "$work/$name/licences.txt" "$root/LICENSE-MIT" "$root/LICENSE-APACHE" "$files/licences/"
cat $certificates/*.crt >"$files/etc/ssl/certs/ca-certificates.crt"
chmod 1777 "$files/tmp"
find "$files" -exec touch -hd "@$SOURCE_DATE_EPOCH" {} +
layout=$work/layout
date=$(date -u -d "@$SOURCE_DATE_EPOCH" +%Y-%m-%dT%H:%M:%SZ)
umoci init --layout "$layout"
umoci new --image "$layout:$version"
for path in etc licences tmp warmwire; do
	umoci insert --history.created "$date" --history.created_by "packaging/static.sh" --image "$layout:$version" \
		"$files/$path" "/$path"
done
umoci config --image "$layout:$version" --created "$date" --history.created "$date" --architecture "$architecture" --os linux \
	--config.entrypoint /warmwire --config.user 65534:65534 --config.workingdir /tmp \
	--config.label "org.opencontainers.image.licenses=MIT OR Apache-2.0" \
	--config.label "org.opencontainers.image.version=$version"
umoci gc --layout "$layout"
image=$output/warmwire-$version-linux-$cpu.oci.tar
tar -C "$layout" --sort=name --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX --mtime="@$SOURCE_DATE_EPOCH" -cf "$image" .
echo "$image"
